# JSON, read and written.
# Not ConvertFrom-Json and ConvertTo-Json: in 5.1 they end at 2 MB of text, turn lists of one into single values and cut depth.

function ConvertFrom-JsonElement([Xml.XmlElement]$Node) {
    switch ($Node.GetAttribute('type')) {
        'object' {
            $map = @{}
            foreach ($child in $Node.ChildNodes) { $map[$child.LocalName] = ConvertFrom-JsonElement $child }
            return $map
        }
        'array' {
            $list = New-Object Collections.ArrayList
            foreach ($child in $Node.ChildNodes) { [void]$list.Add((ConvertFrom-JsonElement $child)) }
            return , $list
        }
        'number' {
            $culture = [Globalization.CultureInfo]::InvariantCulture
            # A double would round what a qword of the registry holds; what no long holds stays a decimal.
            if ($Node.InnerText -match '^-?[0-9]{1,20}$') { $number = [decimal]::Parse($Node.InnerText, $culture) }
            else { $number = [double]::Parse($Node.InnerText, $culture) }
            if ($number -eq [math]::Floor($number) -and [math]::Abs($number) -le [long]::MaxValue) { return [long]$number }
            return $number
        }
        'boolean' { return $Node.InnerText -eq 'true' }
        'null' { return $null }
        default { return $Node.InnerText }
    }
}

function ConvertFrom-JsonBytes([byte[]]$Bytes) {
    $document = New-Object Xml.XmlDocument
    $document.PreserveWhitespace = $true
    $quotas = [Xml.XmlDictionaryReaderQuotas]::Max
    $document.Load([Runtime.Serialization.Json.JsonReaderWriterFactory]::CreateJsonReader($Bytes, $quotas))
    return ConvertFrom-JsonElement $document.DocumentElement
}

function ConvertTo-JsonText($Value) {
    if ($null -eq $Value) { return 'null' }
    if ($Value -is [bool]) { return $Value.ToString().ToLowerInvariant() }
    if ($Value -is [string]) {
        $text = $Value.Replace('\', '\\').Replace('"', '\"').Replace("`r", '\r').Replace("`n", '\n').Replace("`t", '\t')
        return '"' + [regex]::Replace($text, '[^\x20-\x7e]', { param($match) '\u{0:x4}' -f [int][char]$match.Value }) + '"'
    }
    if ($Value -is [Collections.IDictionary]) {
        $pairs = foreach ($key in $Value.Keys) { (ConvertTo-JsonText ([string]$key)) + ':' + (ConvertTo-JsonText $Value[$key]) }
        return '{' + ($pairs -join ',') + '}'
    }
    if ($Value -is [Collections.IEnumerable]) {
        $items = foreach ($item in $Value) { ConvertTo-JsonText $item }
        return '[' + ($items -join ',') + ']'
    }
    return [Convert]::ToString($Value, [Globalization.CultureInfo]::InvariantCulture)
}

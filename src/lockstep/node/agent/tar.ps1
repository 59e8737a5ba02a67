# Archives of tar, packed by gzip. Source of the format: POSIX.1-2017, pax (ustar and pax headers); GNU tar manual, "Basic Tar Format".

$TarRecords = 1MB

function Get-TarText([byte[]]$Block, [int]$Offset, [int]$Length) {
    $end = [array]::IndexOf($Block, [byte]0, $Offset, $Length)
    if ($end -ge 0) { $Length = $end - $Offset }
    return [Text.Encoding]::UTF8.GetString($Block, $Offset, $Length)
}

# A number in octal digits, or, where its first bit is set, in binary.
function Get-TarNumber([byte[]]$Block, [int]$Offset, [int]$Length) {
    if ($Block[$Offset] -band 0x80) {
        $number = [long]0
        foreach ($i in 1..($Length - 1)) {
            if ($number -gt 0xffffffffffff) { throw (New-Unsafe 'It is damaged: a member is too large for any disk.') }
            $number = $number * 256 + $Block[$Offset + $i]
        }
        return $number
    }
    $text = (Get-TarText $Block $Offset $Length).Trim()
    if ($text -notmatch '^[0-7]*$') { throw (New-Unsafe 'It is damaged: a header has a number that is none.') }
    if (-not $text) { return [long]0 }
    return [Convert]::ToInt64($text, 8)
}

function Assert-TarHeader([byte[]]$Block) {
    # The sum of all bytes, with the field of the sum taken as blanks.
    $sum = 8 * 32
    for ($i = 0; $i -lt 512; $i++) { if ($i -lt 148 -or $i -ge 156) { $sum += $Block[$i] } }
    if ($sum -ne (Get-TarNumber $Block 148 8)) { throw (New-Unsafe 'It is damaged: a header has another checksum than its bytes.') }
}

# What follows a header: so many bytes, filled up to whole blocks.
function Skip-Tar($Tar, [long]$Size) {
    $length = [long][math]::Ceiling($Size / 512) * 512
    $skipped = (Copy-Stream $Tar.stream $null $length).size
    $Tar.size += $skipped
    if ($skipped -ne $length) { throw (New-Unsafe 'It is cut off.') }
}

function Read-TarData($Tar, [long]$Size) {
    if ($Size -gt $TarRecords) { throw (New-Unsafe 'It is damaged: a name is longer than any can be.') }
    $bytes = New-Object byte[] ([int]([math]::Ceiling($Size / 512) * 512))
    $Tar.size += $bytes.Length
    if ((Read-Block $Tar.stream $bytes $bytes.Length) -ne $bytes.Length) { throw (New-Unsafe 'It is cut off.') }
    return , $bytes
}

# The records of a pax header, each `<length> <key>=<value>` and a line feed, length in bytes of it all.
function Read-PaxRecords([byte[]]$Bytes, [int]$Size, $Into) {
    $at = 0
    while ($at -lt $Size) {
        $blank = [array]::IndexOf($Bytes, [byte]32, $at, [math]::Min(10, $Size - $at))
        $digits = if ($blank -gt $at) { [Text.Encoding]::ASCII.GetString($Bytes, $at, $blank - $at) } else { '' }
        if ($digits -notmatch '^[1-9][0-9]*$' -or $at + [int]$digits -gt $Size -or $at + [int]$digits -le $blank + 1) {
            throw (New-Unsafe 'It is damaged: a header of pax cannot be read.')
        }
        $record = [Text.Encoding]::UTF8.GetString($Bytes, $blank + 1, $at + [int]$digits - $blank - 2)
        $key, $value = $record -split '=', 2
        $Into[$key] = $value
        $at += [int]$digits
    }
}

# Read to the end of the archive: nothing may come after it but zeros, and gzip's own count of the bytes has to agree.
function Assert-TarEnd($Tar, $File) {
    $buffer = New-Object byte[] 65536
    while ($count = Read-Block $Tar.stream $buffer $buffer.Length) {
        $Tar.size += $count
        $Tar.after += $count
        if ([Text.Encoding]::ASCII.GetString($buffer, 0, $count).Trim([char]0) -or $Tar.after -gt 16MB) {
            throw (New-Unsafe 'Something comes after its end.')
        }
    }
    # A gzip file ends with the count of what it holds, modulo 2^32. Source: RFC 1952, 2.3.1.
    $last = New-Object byte[] 4
    [void]$File.Seek(-4, 'End')
    [void](Read-Block $File $last 4)
    if ([BitConverter]::ToUInt32($last, 0) -ne $Tar.size % 0x100000000) { throw (New-Unsafe 'It is cut off, or something comes after its end.') }
}

# The path and the size of the member whose header this is. What headers before it said of it counts more, and only for it.
function Read-TarMember([byte[]]$Block, $Said) {
    $name = Get-TarText $Block 0 100
    # Old headers, and GNU's, have other things where POSIX has the beginning of a long path.
    if ((Get-TarText $Block 257 6) -eq 'ustar' -and $Block[345]) { $name = (Get-TarText $Block 345 155) + '/' + $name }
    $size = Get-TarNumber $Block 124 12
    if ($Said.ContainsKey('path')) { $name = $Said['path'] }
    if ($Said.ContainsKey('size')) {
        if ($Said['size'] -notmatch '^[0-9]{1,15}$') { throw (New-Unsafe 'It is damaged: a header of pax has a size that is none.') }
        $size = [long]$Said['size']
    }
    foreach ($key in $Said.Keys) { if ($key -like 'GNU.sparse.*') { throw (New-Unsafe "Its member $(Get-ShownName $name) is a sparse file.") } }
    return @{ name = $name; size = $size }
}

function Expand-TarGz($File, $Selection) {
    $tar = @{ stream = New-Object IO.Compression.GZipStream $File, ([IO.Compression.CompressionMode]::Decompress), $true; size = [long]0; after = [long]0 }
    $block = New-Object byte[] 512
    $always = @{}
    $said = @{}
    while ($true) {
        $count = Read-Block $tar.stream $block 512
        $tar.size += $count
        if ($count -lt 512) { throw (New-Unsafe $(if ($tar.size) { 'It is cut off.' } else { 'It is no tar.gz.' })) }
        if ($block[0] -eq 0 -and -not [Text.Encoding]::ASCII.GetString($block).Trim([char]0)) { break }
        Assert-TarHeader $block
        $type = [string][char]$block[156]
        if ($type -cin 'L', 'K', 'x', 'g') {
            $size = Get-TarNumber $block 124 12
            Add-Seen $Selection '' $size
            $bytes = Read-TarData $tar $size
            if ($type -ceq 'L') { $said['path'] = Get-TarText $bytes 0 ([int]$size) }
            if ($type -ceq 'x') { Read-PaxRecords $bytes $size $said }
            if ($type -ceq 'g') { Read-PaxRecords $bytes $size $always }
            continue
        }
        foreach ($key in $always.Keys) { if (-not $said.ContainsKey($key)) { $said[$key] = $always[$key] } }
        $member = Read-TarMember $block $said
        $said = @{}
        $path = Get-MemberPath $member.name
        $isFolder = $type -eq '5' -or ($type -cin '0', "`0", '7' -and ($member.name.EndsWith('/') -or -not $path))
        if ($type -cnotin '0', "`0", '5', '7') { throw (New-Unsafe "Its member $(Get-ShownName $member.name) is a link or a device.") }
        if ($isFolder) { Add-Seen $Selection '' 0; continue }
        Add-Seen $Selection $path $member.size
        $target = Get-Target $Selection $path
        if ($null -eq $target) { Skip-Tar $tar $member.size; continue }
        Save-Member $Selection $target $tar.stream $member.size
        $tar.size += $member.size
        $rest = (512 - $member.size % 512) % 512
        if ($rest) { $tar.size += $rest; if ((Read-Block $tar.stream $block $rest) -ne $rest) { throw (New-Unsafe 'It is cut off.') } }
    }
    Assert-TarEnd $tar $File
}

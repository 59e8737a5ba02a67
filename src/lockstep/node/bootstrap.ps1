# Reads one line of JSON, {"script": [lines], "request": ..., "end": true}, and runs the script with the request.
# $input, because [Console]::In is empty in a PSRP runspace. .NET's JSON reader, because ConvertFrom-Json of 5.1 ends at 2 MB.
$ProgressPreference = 'SilentlyContinue'
$ErrorActionPreference = 'Stop'
Add-Type -AssemblyName System.Runtime.Serialization
$bytes = [Text.Encoding]::ASCII.GetBytes(@($input) -join '')
$document = New-Object Xml.XmlDocument
$document.PreserveWhitespace = $true
$quotas = [Xml.XmlDictionaryReaderQuotas]::Max
$document.Load([Runtime.Serialization.Json.JsonReaderWriterFactory]::CreateJsonReader($bytes, $quotas))
# That reader takes a text that is cut off for a whole one: half a request must not be carried out.
if ($null -eq $document.DocumentElement['end']) { throw 'The request did not arrive whole: was the connection lost?' }
# Line by line: each escaped character begins a node of its own, and .NET takes the square of their number to join an element's nodes.
$lines = foreach ($line in $document.DocumentElement['script'].ChildNodes) { $line.InnerText }
& ([scriptblock]::Create($lines -join "`n")) $document.DocumentElement['request']

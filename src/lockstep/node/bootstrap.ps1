$ProgressPreference='SilentlyContinue';$ErrorActionPreference='Stop'
Add-Type -AssemblyName System.Runtime.Serialization
$b=[Text.Encoding]::ASCII.GetBytes(@($input)-join'')
$d=New-Object Xml.XmlDocument
$d.PreserveWhitespace=$true
$d.Load([Runtime.Serialization.Json.JsonReaderWriterFactory]::CreateJsonReader($b,[Xml.XmlDictionaryReaderQuotas]::Max))
&([ScriptBlock]::Create($d.DocumentElement['script'].InnerText))$d.DocumentElement['request']

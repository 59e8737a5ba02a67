# Lockstep's agent. It reads and applies state on one Windows node; what it can do is written in contract.json, and nothing else.
# Windows PowerShell 5.1 and .NET Framework 4.7.2 must run it, in powershell.exe and in a PSRP runspace alike. ASCII only.
# bootstrap.ps1 hands over the request as the XML element that .NET's JSON reader makes of it.
param([Xml.XmlElement]$Element)
Set-StrictMode -Version Latest
$ErrorActionPreference = 'Stop'
$ProgressPreference = 'SilentlyContinue'

#region JSON
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
            $number = [double]::Parse($Node.InnerText, [Globalization.CultureInfo]::InvariantCulture)
            if ($number -eq [math]::Floor($number)) { return [long]$number }
            return $number
        }
        'boolean' { return $Node.InnerText -eq 'true' }
        'null' { return $null }
        default { return $Node.InnerText }
    }
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
#endregion

#region Errors

# An exception that carries an error of the contract.
function New-Failure([string]$Code, [string]$Message, [hashtable]$More = @{}) {
    $exception = New-Object InvalidOperationException $Message
    $exception.Data['lockstep'] = @{ code = $Code; message = $Message } + $More
    return $exception
}

function Get-InnermostException([Exception]$Exception) {
    while ($Exception.InnerException) { $Exception = $Exception.InnerException }
    return $Exception
}

# The error of the contract that an error record stands for.
function Get-Failure($Record) {
    $exception = Get-InnermostException $Record.Exception
    if ($exception.Data.Contains('lockstep')) { return $exception.Data['lockstep'] }
    $code = 'io'
    $number = $exception.HResult -band 0xffff
    if ($exception -is [ComponentModel.Win32Exception]) { $number = $exception.NativeErrorCode }
    # ERROR_ACCESS_DENIED, ERROR_SHARING_VIOLATION, ERROR_LOCK_VIOLATION, ERROR_SERVICE_DOES_NOT_EXIST
    if ($exception -is [UnauthorizedAccessException] -or $exception -is [Security.SecurityException] -or $number -eq 5) { $code = 'denied' }
    elseif ($exception -is [IO.IOException] -and $number -in 32, 33) { $code = 'in_use' }
    elseif ($exception -is [ComponentModel.Win32Exception] -and $number -eq 1060) { $code = 'missing' }
    return @{ code = $code; message = $exception.Message.Trim() }
}
#endregion

#region Files

function Get-Parent([string]$Path) { return $Path -replace '[\\/][^\\/]*$', '' }

function Get-Sha256([byte[]]$Bytes) {
    # This class, because SHA256.Create() fails on a node in FIPS mode before .NET Framework 4.8.
    $algorithm = New-Object Security.Cryptography.SHA256CryptoServiceProvider
    try { return [BitConverter]::ToString($algorithm.ComputeHash($Bytes)).Replace('-', '').ToLowerInvariant() }
    finally { $algorithm.Dispose() }
}

# A file's bytes, or $null when there is no file. Others may go on reading and writing it.
function Read-Bytes([string]$Path, [long]$Limit = [int]::MaxValue) {
    if ([IO.Directory]::Exists($Path)) { throw (New-Failure 'is_directory' "$Path is a folder, not a file.") }
    try { $stream = [IO.File]::Open($Path, 'Open', 'Read', 'ReadWrite, Delete') }
    catch {
        $exception = Get-InnermostException $_.Exception
        if ($exception -is [IO.FileNotFoundException] -or $exception -is [IO.DirectoryNotFoundException]) { return $null }
        throw
    }
    try {
        if ($stream.Length -gt $Limit) { throw (New-Failure 'too_large' "$Path has $($stream.Length) bytes; at most $Limit are read.") }
        $memory = New-Object IO.MemoryStream
        $stream.CopyTo($memory)
        return , $memory.ToArray()
    }
    finally { $stream.Dispose() }
}

# Bytes that are on the disk, not only in its cache, when this returns.
function Write-Bytes([string]$Path, [byte[]]$Bytes) {
    $stream = [IO.File]::Create($Path, 65536, 'WriteThrough')
    try {
        $stream.Write($Bytes, 0, $Bytes.Length)
        $stream.Flush($true)
    }
    finally { $stream.Dispose() }
}

# A virus scanner or an indexer opens a new file for a moment: try again for a second before it counts as in use.
function Invoke-Patiently([scriptblock]$Action) {
    for ($attempt = 1; ; $attempt++) {
        try { return & $Action }
        catch {
            if ($attempt -ge 6 -or (Get-Failure $_).code -ne 'in_use') { throw }
            Start-Sleep -Milliseconds 200
        }
    }
}

function Remove-File([string]$Path) {
    if ([IO.File]::Exists($Path)) { Invoke-Patiently { [IO.File]::Delete($Path) } }
}

# Put $Source where $Target is, whether that exists or not; what it replaces becomes $Backup. Each is one step of the file system.
function Move-Over([string]$Source, [string]$Target, [string]$Backup) {
    if ([IO.File]::Exists($Target)) { Invoke-Patiently { [IO.File]::Replace($Source, $Target, $Backup) } }
    else { Invoke-Patiently { [IO.File]::Move($Source, $Target) } }
}

# The two renames of Replace are not one step where power fails between them: then the new file waits beside no file (or, on the way
# back, the rejected one has its name already), and the former content has another. Returns that name; $null when nothing of the
# kind happened.
function Get-HalfExchanged([string]$Path) {
    $halfway = [IO.File]::Exists("$Path.lockstep-new") -or [IO.File]::Exists("$Path.rejected")
    if ([IO.File]::Exists($Path) -or -not $halfway) { return $null }
    foreach ($aside in "$Path.lockstep-mid", "$Path.lockstep-old") { if ([IO.File]::Exists($aside)) { return $aside } }
    return $null
}

# Take such an exchange back.
function Restore-HalfExchanged([string]$Path) {
    $aside = Get-HalfExchanged $Path
    if ($aside) { Invoke-Patiently { [IO.File]::Move($aside, $Path) } }
}

# Keep a file as `<path>.<UTC time>.bak`, and return that name.
function Save-Backup([string]$Source, [string]$Path, [string]$Time) {
    $format = 'yyyyMMddTHHmmssZ'
    $moment = [datetime]::ParseExact($Time, $format, [Globalization.CultureInfo]::InvariantCulture)
    while ([IO.File]::Exists("$Path.$($moment.ToString($format)).bak")) { $moment = $moment.AddSeconds(1) }
    $backup = "$Path.$($moment.ToString($format)).bak"
    Invoke-Patiently { [IO.File]::Move($Source, $backup) }
    return $backup
}

function Get-Time { return [datetime]::UtcNow.ToString('yyyyMMddTHHmmssZ', [Globalization.CultureInfo]::InvariantCulture) }
#endregion

#region Programs

# One argument as CommandLineToArgvW and the C runtime read it: .NET Framework has no list of arguments to give instead.
function ConvertTo-Argument([string]$Text) {
    if ($Text -match '^[^\s"]+$') { return $Text }
    return '"' + ($Text -replace '(\\*)"', '$1$1\"' -replace '(\\+)$', '$1$1') + '"'
}

# Run a program to its end or to the time limit. Of its output the first mebibyte of characters is kept, the rest is read and dropped.
function Invoke-Program([string]$Path, $Arguments, [double]$Seconds) {
    $start = New-Object Diagnostics.ProcessStartInfo
    $start.FileName = $Path
    $start.Arguments = @($Arguments | ForEach-Object { ConvertTo-Argument $_ }) -join ' '
    $start.UseShellExecute = $false
    $start.CreateNoWindow = $true
    $start.RedirectStandardInput = $true
    $start.RedirectStandardOutput = $true
    $start.RedirectStandardError = $true
    $start.StandardOutputEncoding = New-Object Text.UTF8Encoding $false
    $start.StandardErrorEncoding = $start.StandardOutputEncoding
    $watch = [Diagnostics.Stopwatch]::StartNew()
    $process = [Diagnostics.Process]::Start($start)
    try {
        $process.StandardInput.Close()
        $readers = $process.StandardOutput, $process.StandardError
        $buffers = (New-Object char[] 65536), (New-Object char[] 65536)
        $texts = (New-Object Text.StringBuilder), (New-Object Text.StringBuilder)
        $tasks = New-Object Threading.Tasks.Task[] 2
        foreach ($i in 0, 1) { $tasks[$i] = $readers[$i].ReadAsync($buffers[$i], 0, 65536) }
        $open = New-Object Collections.ArrayList (, @(0, 1))
        $grace = $null
        while ($open.Count -and $watch.Elapsed.TotalSeconds -lt $Seconds) {
            # A program that ended may have left a child that holds its output open: that is not waited for.
            if ($process.HasExited) {
                if ($null -eq $grace) { $grace = [Diagnostics.Stopwatch]::StartNew() }
                if ($grace.Elapsed.TotalSeconds -gt 2) { break }
            }
            $waiting = [Threading.Tasks.Task[]]@($open | ForEach-Object { $tasks[$_] })
            $first = [Threading.Tasks.Task]::WaitAny($waiting, 50)
            if ($first -lt 0) { continue }
            $i = $open[$first]
            $count = $tasks[$i].Result
            if ($count -eq 0) { $open.RemoveAt($first); continue }
            if ($texts[$i].Length -lt 1MB) { [void]$texts[$i].Append($buffers[$i], 0, $count) }
            $tasks[$i] = $readers[$i].ReadAsync($buffers[$i], 0, 65536)
        }
        $left = [int][math]::Max(0, ($Seconds - $watch.Elapsed.TotalSeconds) * 1000)
        $ended = $process.WaitForExit($left)
        if (-not $ended) {
            try { $process.Kill() } catch { if (-not $process.HasExited) { throw } }
            [void]$process.WaitForExit(5000)
        }
        foreach ($i in 0, 1) { if ($texts[$i].Length -gt 1MB) { $texts[$i].Length = 1MB } }
        $exitCode = if ($process.HasExited) { $process.ExitCode } else { -1 }
        return @{ exit_code = $exitCode; stdout = $texts[0].ToString(); stderr = $texts[1].ToString(); timed_out = -not $ended }
    }
    finally { $process.Dispose() }
}

# The program that a command line names: quoted, or up to `.exe`, or the first word.
function Get-ProgramPath([string]$CommandLine) {
    $text = [Environment]::ExpandEnvironmentVariables($CommandLine.Trim()) -replace '^\\\?\?\\', '' -replace '^\\SystemRoot\\', "$env:SystemRoot\"
    if ($text -match '^"([^"]*)"') { return $Matches[1] }
    if ($text -match '^(.*?\.exe)(\s|$)') { return $Matches[1] }
    return ($text -split '\s', 2)[0]
}

# The full path of the program of `program.run` and `program.check`, or $null when it is not there.
function Resolve-Program($Operation) {
    $path = $Operation['path']
    if ($null -eq $path) {
        if (-not (Get-NodeService $Operation['service'])) { return $null }
        $path = Get-ProgramPath (Get-BinaryPath $Operation['service'])
        if ($Operation['sibling']) { $path = (Get-Parent $path) + '\' + $Operation['sibling'] }
    }
    if ([IO.File]::Exists($path)) { return $path }
    return $null
}
#endregion

#region Services

$ServiceStates = @{ Running = 'running'; Stopped = 'stopped'; StartPending = 'start_pending'; StopPending = 'stop_pending'; Paused = 'paused' }
$ServiceControl = "$env:SystemRoot\System32\sc.exe"

function Get-NodeService([string]$Name) {
    try { return Get-Service -Name ([WildcardPattern]::Escape($Name)) }
    catch {
        if ($_.FullyQualifiedErrorId -like 'NoServiceFoundForGivenName*') { return $null }
        throw
    }
}

function Get-Definition([string]$Name, [string]$Value) {
    $key = Get-Item -LiteralPath "HKLM:\SYSTEM\CurrentControlSet\Services\$Name"
    try { return $key.GetValue($Value, '', 'DoNotExpandEnvironmentNames') } finally { $key.Close() }
}

function Get-BinaryPath([string]$Name) { return [string](Get-Definition $Name 'ImagePath') }

# By sc.exe, because 5.1 gives a service's process and exit code through CIM only. Its words are translated, their order is not.
function Get-ServiceProcess([string]$Name) {
    $output = (Invoke-Program $ServiceControl @('queryex', $Name) 30).stdout
    $codes = [regex]::Matches($output, ':\s*(\d+)\s+\(0x[0-9a-fA-F]+\)')
    $exitCode = 0
    if ($codes.Count -gt 0) { $exitCode = [long]$codes[0].Groups[1].Value }
    # ERROR_SERVICE_SPECIFIC_ERROR: the service's own code comes next.
    if ($exitCode -eq 1066 -and $codes.Count -gt 1) { $exitCode = [long]$codes[1].Groups[1].Value }
    $processId = 0
    if ($output -match 'PID\s*:\s*(\d+)') { $processId = [int]$Matches[1] }
    elseif ([string](Get-NodeService $Name).Status -ne 'Stopped') {
        # An sc.exe that tells no PID (Wine's): the newest process of the service's program.
        $program = Get-ProgramPath (Get-BinaryPath $Name)
        $process = Get-Process | Where-Object { $_.Path -eq $program } | Sort-Object StartTime | Select-Object -Last 1
        if ($process) { $processId = $process.Id }
    }
    return @{ process_id = $processId; exit_code = $exitCode }
}

# Wait for one of the states, at most to the limit; the state at the end.
function Wait-Service($Service, [string[]]$States, [double]$Seconds) {
    $watch = [Diagnostics.Stopwatch]::StartNew()
    while ($true) {
        $Service.Refresh()
        $state = [string]$Service.Status
        if ($state -in $States -or $watch.Elapsed.TotalSeconds -ge $Seconds) { return $state }
        Start-Sleep -Milliseconds 50
    }
}

function Stop-NodeService($Service, [double]$Seconds, [bool]$Force) {
    $name = $Service.ServiceName
    # A service that is just starting or stopping takes no order.
    $state = Wait-Service $Service @('Running', 'Stopped', 'Paused') $Seconds
    if ($state -in 'Running', 'Paused') {
        try { $Service.Stop() }
        catch { if ((Wait-Service $Service @('Stopped', 'StopPending') 0) -notin 'Stopped', 'StopPending') { throw } }
        $state = Wait-Service $Service @('Stopped') $Seconds
    }
    if ($state -eq 'Stopped') { return }
    if (-not $Force) { throw (New-Failure 'timeout' "$name did not stop within $Seconds s: it is $($ServiceStates[$state]).") }
    $processId = (Get-ServiceProcess $name).process_id
    if ($processId) { Stop-Process -Id $processId -Force }
    if ((Wait-Service $Service @('Stopped') 10) -ne 'Stopped') {
        throw (New-Failure 'timeout' "$name did not stop within $Seconds s, and ending its process $processId did not help.")
    }
}

function New-ServiceFailure($Name, [string]$What, $Seconds) {
    $exitCode = (Get-ServiceProcess $Name).exit_code
    $more = @{ exit_code = $exitCode }
    if ($null -ne $Seconds) { $more['after_seconds'] = [math]::Round($Seconds, 1) }
    return New-Failure 'service_failed' "$Name $What, with exit code $exitCode." $more
}

function Start-NodeService($Service, [double]$Seconds, [double]$Settle) {
    $name = $Service.ServiceName
    try { $Service.Start() }
    catch {
        $reason = Get-Failure $_
        if ($reason.code -eq 'denied') { throw }
        # It may run by now: a recovery action, or another service that needs it, started it.
        if ((Wait-Service $Service @() 0) -notin 'Running', 'StartPending') {
            throw (New-ServiceFailure $name "did not start: $($reason.message.TrimEnd('.'))" $null)
        }
    }
    $state = Wait-Service $Service @('Running', 'Stopped') $Seconds
    if ($state -eq 'Stopped') { throw (New-ServiceFailure $name 'did not start: it stopped' $null) }
    if ($state -ne 'Running') { throw (New-Failure 'timeout' "$name did not come up within $Seconds s: it is $($ServiceStates[$state]).") }
    $watch = [Diagnostics.Stopwatch]::StartNew()
    $first = $null
    if ($Settle -gt 0) { $first = (Get-ServiceProcess $name).process_id }
    $state = Wait-Service $Service @('Stopped', 'StopPending') ($Settle - $watch.Elapsed.TotalSeconds)
    if ($state -ne 'Running') {
        $up = $watch.Elapsed.TotalSeconds
        [void](Wait-Service $Service @('Stopped') 5)
        throw (New-ServiceFailure $name "stopped $([math]::Round($up, 1)) s after it had started" $up)
    }
    # Windows' recovery actions may have started it anew between two looks.
    $last = (Get-ServiceProcess $name).process_id
    if ($null -ne $first -and $first -ne $last) {
        throw (New-ServiceFailure $name "did not stay up for $Settle s: its process ended, and Windows started another" $watch.Elapsed.TotalSeconds)
    }
    return $last
}

# Restart a service and those of $Names (they depend on it); process id of the service and names of the dependents.
function Restart-NodeService([string]$Name, [string[]]$Names, [double]$Seconds, [double]$Settle, [bool]$Force) {
    $service = Get-NodeService $Name
    if (-not $service) { throw (New-Failure 'missing' "There is no service $Name.") }
    $dependents = @($service.DependentServices | Where-Object { [string]$_.Status -ne 'Stopped' -or $_.ServiceName -in $Names })
    foreach ($dependent in $dependents) { Stop-NodeService $dependent $Seconds $Force }
    Stop-NodeService $service $Seconds $Force
    $processId = Start-NodeService $service $Seconds $Settle
    # Windows lists dependents in the order of stopping.
    [array]::Reverse($dependents)
    foreach ($dependent in $dependents) {
        $dependent.Refresh()
        if ([string]$dependent.Status -eq 'Stopped') { [void](Start-NodeService $dependent $Seconds 0) }
    }
    return @{ process_id = $processId; dependents = @($dependents | ForEach-Object { $_.ServiceName }) }
}

function Set-BinaryPath([string]$Name, [string]$CommandLine) {
    $done = Invoke-Program $ServiceControl @('config', $Name, 'binPath=', $CommandLine) 60
    if ($done.exit_code -eq 5) { throw (New-Failure 'denied' $done.stdout.Trim()) }
    if ($done.exit_code -ne 0) { throw (New-Failure 'io' "sc.exe config $Name ended with $($done.exit_code): $($done.stdout.Trim())") }
    if ((Get-BinaryPath $Name) -cne $CommandLine) { throw (New-Failure 'io' "sc.exe config $Name did not set the command line as given.") }
}
#endregion

#region Read operations

function Read-System {
    $version = Get-ItemProperty -LiteralPath 'HKLM:\SOFTWARE\Microsoft\Windows NT\CurrentVersion'
    $numbers = 'CurrentMajorVersionNumber', 'CurrentMinorVersionNumber', 'CurrentBuildNumber', 'UBR' | ForEach-Object { $version.$_ }
    return @{ build = $numbers -join '.'; product = [string]$version.ProductName; computer_name = $env:COMPUTERNAME }
}

function Read-File($Operation) {
    $limit = 10MB
    if ($Operation.ContainsKey('max_bytes')) { $limit = $Operation['max_bytes'] }
    $path = $Operation['path']
    $aside = Get-HalfExchanged $path
    if ($aside) { $path = $aside }
    $bytes = Read-Bytes $path $limit
    if ($null -eq $bytes) { return @{ exists = $false } }
    return @{ exists = $true; size = $bytes.Length; sha256 = Get-Sha256 $bytes; content = [Convert]::ToBase64String($bytes) }
}

function Read-Service($Operation) {
    $name = $Operation['name']
    $service = Get-NodeService $name
    if (-not $service) { return @{ exists = $false } }
    $state = $ServiceStates[[string]$service.Status]
    if (-not $state) { $state = 'other' }
    $start = switch (Get-Definition $name 'Start') { 2 { 'automatic' } 3 { 'manual' } 4 { 'disabled' } default { 'other' } }
    return @{ exists = $true; state = $state; start_type = $start; binary_path = Get-BinaryPath $name } + (Get-ServiceProcess $name)
}

function Read-Program($Operation) {
    $program = Resolve-Program $Operation
    if (-not $program) { return @{ found = $false } }
    $done = Invoke-Program $program $Operation['arguments'] $Operation['timeout_seconds']
    if ($done.stderr.Length -gt 64KB) { $done.stderr = $done.stderr.Substring(0, 64KB) }
    return @{ found = $true; program = $program } + $done
}

function Read-Transaction($Operation) {
    $journal = Get-JournalPath $Operation['name']
    return @{ pending = [IO.File]::Exists($journal) -or [IO.File]::Exists("$journal.lockstep-new") }
}
#endregion

#region Journal
# What was there before a transaction, so that any later run can put it back or finish. It is on the disk before the first step.
# phase `applying`: not decided yet; what to go back to is in `steps` and in the `.lockstep-old` files.
# phase `committed`: decided; only files that are no longer needed are left to remove.

function Get-JournalPath([string]$Name) { return "$env:ProgramData\lockstep\transactions\$Name.json" }

# The journal decides what a service runs: nobody but administrators may write one. ProgramData itself lets every user create folders.
function Assert-JournalFolder {
    $root = "$env:ProgramData\lockstep"
    if (-not [IO.Directory]::Exists($root)) {
        [void][IO.Directory]::CreateDirectory($root)
        $acl = Get-Acl -LiteralPath $root
        $acl.SetSecurityDescriptorSddlForm('O:BAD:PAI(A;OICI;FA;;;SY)(A;OICI;FA;;;BA)', 'Access, Owner')
        Set-Acl -LiteralPath $root -AclObject $acl
    }
    [void][IO.Directory]::CreateDirectory("$root\transactions")
    foreach ($folder in $root, "$root\transactions") {
        $owner = Get-Owner $folder
        if ($owner -in 'S-1-5-18', 'S-1-5-32-544') { continue }
        $probe = "$folder\owner.lockstep-new"
        Write-Bytes $probe @()
        $own = Get-Owner $probe
        Remove-File $probe
        if ($owner -ne $own) { throw (New-Failure 'denied' "$folder belongs to $owner, who is no administrator: look at it and remove it.") }
    }
}

function Get-Owner([string]$Path) { return (Get-Acl -LiteralPath $Path).GetOwner([Security.Principal.SecurityIdentifier]).Value }

function Read-Journal([string]$Path) {
    Restore-HalfExchanged $Path
    $bytes = Read-Bytes $Path
    if ($null -eq $bytes) { return $null }
    try {
        $document = New-Object Xml.XmlDocument
        $document.PreserveWhitespace = $true
        $quotas = [Xml.XmlDictionaryReaderQuotas]::Max
        $document.Load([Runtime.Serialization.Json.JsonReaderWriterFactory]::CreateJsonReader($bytes, $quotas))
        $journal = ConvertFrom-JsonElement $document.DocumentElement
        if ($journal['contract'] -ne 1 -or -not $journal['phase']) { throw 'it is of another contract' }
        return $journal
    }
    catch { throw (New-Failure 'io' "$Path cannot be understood ($($_.Exception.Message)): look at it and remove it.") }
}

function Write-Journal([string]$Path, $Journal) {
    $steps = @($Journal.steps | ForEach-Object { $step = @{} + $_; $step.Remove('touched'); $step })
    $text = ConvertTo-JsonText @{ contract = 1; phase = $Journal.phase; time = $Journal.time; steps = $steps }
    Write-Bytes "$Path.lockstep-new" ([Text.Encoding]::ASCII.GetBytes($text))
    Move-Over "$Path.lockstep-new" $Path "$Path.lockstep-mid"
    Remove-File "$Path.lockstep-mid"
}

# The former state of what an operation changes; $null for one that changes nothing.
function New-JournalStep($Operation) {
    switch -Wildcard ($Operation['op']) {
        'file.*' {
            $path = $Operation['path']
            return @{ kind = 'file'; name = $path; existed = [IO.File]::Exists($path); backup = $Operation['backup'] -eq $true; touched = $false }
        }
        'service.configure' {
            $former = if (Get-NodeService $Operation['name']) { Get-BinaryPath $Operation['name'] } else { '' }
            return @{ kind = 'definition'; name = $Operation['name']; former = $former; touched = $false }
        }
        'service.restart' {
            $service = Get-NodeService $Operation['name']
            $running = $service -and [string]$service.Status -ne 'Stopped'
            $dependents = @(if ($service) { $service.DependentServices | Where-Object { [string]$_.Status -ne 'Stopped' } | ForEach-Object { $_.ServiceName } })
            return @{
                kind = 'restart'; name = $Operation['name']; running = [bool]$running; dependents = $dependents; touched = $false
                seconds = $Operation['timeout_seconds']; settle = $Operation['settle_seconds']
            }
        }
    }
    return $null
}
#endregion

#region Apply operations

function Assert-Expected([string]$Path, $Found, $Expected) {
    if ($Found -eq $Expected) { return }
    $there, $wanted = $Found, $Expected | ForEach-Object { if ($_) { "SHA-256 $_" } else { 'no file' } }
    throw (New-Failure 'conflict' "$Path was changed by somebody else: expected $wanted, found $there.")
}

function Get-FileSha256([string]$Path) {
    $bytes = Read-Bytes $Path
    if ($null -eq $bytes) { return $null }
    return Get-Sha256 $bytes
}

# The former content becomes `.lockstep-old`, once: where an interrupted apply has left one, that is what to go back to.
function Get-AsidePath([string]$Path) {
    if ([IO.File]::Exists("$Path.lockstep-old")) { return "$Path.lockstep-mid" }
    return "$Path.lockstep-old"
}

function Write-File($Operation, $Step) {
    $path = $Operation['path']
    $wanted = Get-Sha256 $Operation['bytes']
    $found = Get-FileSha256 $path
    if ($found -eq $wanted) { return @{ changed = $false; sha256 = $wanted } }
    Assert-Expected $path $found $Operation['expect_sha256']
    $Step.touched = $true
    $parent = Get-Parent $path
    if ($parent.Length -gt 2) { [void][IO.Directory]::CreateDirectory($parent) }
    Write-Bytes "$path.lockstep-new" $Operation['bytes']
    $aside = Get-AsidePath $path
    Move-Over "$path.lockstep-new" $path $aside
    # Somebody may have written between the look and the exchange.
    if ([IO.File]::Exists($aside)) { Assert-Expected $path (Get-FileSha256 $aside) $Operation['expect_sha256'] }
    return @{ changed = $true; sha256 = $wanted }
}

function Remove-NodeFile($Operation, $Step) {
    $path = $Operation['path']
    $found = Get-FileSha256 $path
    if ($null -eq $found) { return @{ changed = $false } }
    Assert-Expected $path $found $Operation['expect_sha256']
    $Step.touched = $true
    $aside = Get-AsidePath $path
    Remove-File "$path.lockstep-mid"
    Invoke-Patiently { [IO.File]::Move($path, $aside) }
    return @{ changed = $true }
}

function Set-NodeService($Operation, $Step) {
    $name = $Operation['name']
    if (-not (Get-NodeService $name)) { throw (New-Failure 'missing' "There is no service $name.") }
    $found = Get-BinaryPath $name
    if ($found -ceq $Operation['binary_path']) { return @{ changed = $false } }
    if ($found -cne $Operation['expect_binary_path']) {
        throw (New-Failure 'conflict' "The command line of $name was changed by somebody else since it was read.")
    }
    $Step.touched = $true
    Set-BinaryPath $name $Operation['binary_path']
    return @{ changed = $true }
}

function Restart-Step($Operation, $Step) {
    $Step.touched = $true
    $done = Restart-NodeService $Operation['name'] $Step.dependents $Operation['timeout_seconds'] $Operation['settle_seconds'] $false
    return @{ process_id = $done.process_id; restarted_dependents = $done.dependents }
}

function Test-Program($Operation) {
    $watch = [Diagnostics.Stopwatch]::StartNew()
    for ($attempts = 1; ; $attempts++) {
        $program = Resolve-Program $Operation
        if (-not $program) {
            $named = @($Operation['path'], $Operation['service'], $Operation['sibling'] | Where-Object { $_ }) -join ' '
            throw (New-Failure 'missing' "There is no program $named")
        }
        $left = [math]::Max(1, $Operation['timeout_seconds'] - $watch.Elapsed.TotalSeconds)
        $done = Invoke-Program $program $Operation['arguments'] $left
        $absent = @($Operation['must_contain'] | Where-Object { -not $done.stdout.Contains($_) })
        if ($done.exit_code -eq 0 -and -not $done.timed_out -and -not $absent) { return @{ attempts = $attempts } }
        if ($watch.Elapsed.TotalSeconds + 0.5 -ge $Operation['timeout_seconds']) { break }
        Start-Sleep -Milliseconds 500
    }
    $reason = "ended with exit code $($done.exit_code)"
    if ($done.timed_out) { $reason = 'did not end in time' }
    elseif ($done.exit_code -eq 0) { $reason = "does not show $($absent -join ', ')" }
    $output = ($done.stdout + $done.stderr).Trim()
    if ($output.Length -gt 4000) { $output = $output.Substring($output.Length - 4000) }
    $more = @{ exit_code = $done.exit_code; output = $output }
    throw (New-Failure 'check_failed' "$program $reason, after $attempts attempts in $($Operation['timeout_seconds']) s." $more)
}
#endregion

#region Transaction

# Put one step back. Safe to repeat, whatever of it is done already. Returns the file that keeps rejected content, if any.
function Undo-Step($Step) {
    $name = $Step.name
    switch ($Step.kind) {
        'definition' { if ($Step.former -and (Get-BinaryPath $name) -cne $Step.former) { Set-BinaryPath $name $Step.former } }
        'file' {
            $rejected = $null
            if ([IO.File]::Exists("$name.lockstep-old")) {
                if ([IO.File]::Exists($name)) { $rejected = "$name.rejected" }
                Move-Over "$name.lockstep-old" $name "$name.rejected"
            }
            elseif (-not $Step.existed -and [IO.File]::Exists($name)) {
                $rejected = "$name.rejected"
                Move-Over $name $rejected "$name.lockstep-mid"
            }
            Remove-File "$name.lockstep-new"
            Remove-File "$name.lockstep-mid"
            return $rejected
        }
    }
}

function Undo-Restart($Step) {
    $service = Get-NodeService $Step.name
    if (-not $service) { return }
    if ($Step.running) { [void](Restart-NodeService $Step.name $Step.dependents $Step.seconds $Step.settle $true) }
    else { Stop-NodeService $service $Step.seconds $true }
}

# Go back to the former state: files and definitions in reverse order, then the services on top of them.
function Undo-Transaction([string]$Path, $Journal) {
    $problems = New-Object Collections.ArrayList
    $rejected = New-Object Collections.ArrayList
    $steps = @($Journal.steps | Where-Object { $_.touched })
    [array]::Reverse($steps)
    foreach ($step in @($steps | Where-Object { $_.kind -ne 'restart' }) + @($steps | Where-Object { $_.kind -eq 'restart' })) {
        try {
            if ($step.kind -eq 'restart') { Undo-Restart $step; continue }
            $kept = Undo-Step $step
            if ($kept) { [void]$rejected.Add($kept) }
        }
        catch { [void]$problems.Add("$($step.kind) $($step.name): $((Get-Failure $_).message)") }
    }
    if (-not $problems.Count) {
        try { Remove-File $Path } catch { [void]$problems.Add((Get-Failure $_).message) }
    }
    return @{ rolled_back = -not $problems.Count; rollback_errors = $problems; rejected = $rejected }
}

# The transaction is decided: keep or drop what was there before. Safe to repeat. Returns the backups.
function Complete-Transaction([string]$Path, $Journal) {
    $backups = New-Object Collections.ArrayList
    foreach ($step in @($Journal.steps | Where-Object { $_.kind -eq 'file' })) {
        $old = "$($step.name).lockstep-old"
        if ($step.backup -and [IO.File]::Exists($old)) { [void]$backups.Add((Save-Backup $old $step.name $Journal.time)) }
        foreach ($end in 'lockstep-old', 'lockstep-new', 'lockstep-mid', 'rejected') { Remove-File "$($step.name).$end" }
    }
    Remove-File "$Path.lockstep-mid"
    Remove-File $Path
    return , $backups
}

# The journal that holds from here on: what an interrupted apply left, and the former state of what else is about to change.
function Start-Transaction([string]$Path, $Operations) {
    Assert-JournalFolder
    $journal = Read-Journal $Path
    if ($journal -and $journal.phase -eq 'committed') {
        [void](Complete-Transaction $Path $journal)
        $journal = $null
    }
    if (-not $journal) { $journal = @{ steps = (New-Object Collections.ArrayList) } }
    foreach ($step in $journal.steps) {
        $step.touched = $true
        if ($step.kind -eq 'file') { Restore-HalfExchanged $step.name }
    }
    $journal.phase = 'applying'
    $journal.time = Get-Time
    foreach ($operation in $Operations) {
        $new = New-JournalStep $operation
        if (-not $new) { continue }
        $known = $journal.steps | Where-Object { $_.kind -eq $new.kind -and $_.name -eq $new.name } | Select-Object -First 1
        if ($known) {
            foreach ($key in 'backup', 'seconds', 'settle') { if ($new.ContainsKey($key)) { $known[$key] = $new[$key] } }
        }
        else {
            # Without a journal that speaks of it, a `.lockstep-old` is nothing to go back to, but it may be all that is left of a text.
            if ($new.kind -eq 'file' -and [IO.File]::Exists("$($new.name).lockstep-old")) {
                [void](Save-Backup "$($new.name).lockstep-old" $new.name $journal.time)
            }
            [void]$journal.steps.Add($new)
        }
    }
    Write-Journal $Path $journal
    return $journal
}

function Invoke-Step($Operation, $Journal) {
    $kind = @{ 'file.write' = 'file'; 'file.remove' = 'file'; 'service.configure' = 'definition'; 'service.restart' = 'restart' }[$Operation['op']]
    $name = if ($kind -eq 'file') { $Operation['path'] } else { $Operation['name'] }
    $step = $Journal.steps | Where-Object { $_.kind -eq $kind -and $_.name -eq $name } | Select-Object -First 1
    switch ($Operation['op']) {
        'file.write' { return Write-File $Operation $step }
        'file.remove' { return Remove-NodeFile $Operation $step }
        'service.configure' { return Set-NodeService $Operation $step }
        'service.restart' { return Restart-Step $Operation $step }
        'program.check' { return Test-Program $Operation }
    }
}

function Invoke-Apply($Request) {
    $path = Get-JournalPath $Request['transaction']
    $response = @{ ok = $false; results = (New-Object Collections.ArrayList) }
    try { $journal = Start-Transaction $path $Request['operations'] }
    catch { return $response + @{ error = Get-Failure $_; rolled_back = $true } }
    foreach ($operation in $Request['operations']) {
        try { [void]$response.results.Add(@{ op = $operation['op']; ok = $true } + (Invoke-Step $operation $journal)) }
        catch {
            $failed = $response.results.Add(@{ op = $operation['op']; ok = $false; error = Get-Failure $_ })
            return $response + @{ failed_step = $failed } + (Undo-Transaction $path $journal)
        }
    }
    try {
        $journal.phase = 'committed'
        Write-Journal $path $journal
    }
    catch { return $response + @{ error = Get-Failure $_ } + (Undo-Transaction $path $journal) }
    try { $backups = Complete-Transaction $path $journal }
    catch {
        $failure = Get-Failure $_
        $failure.message = 'Everything was applied, but what was there before could not be cleared away: ' + $failure.message
        return $response + @{ error = $failure; rolled_back = $false }
    }
    $response.ok = $true
    return $response + @{ backups = $backups }
}
#endregion

#region Request

$Known = @{
    'system.read'       = @{ mode = 'read'; needs = @(); may = @() }
    'file.read'         = @{ mode = 'read'; needs = @('path'); may = @('max_bytes') }
    'service.read'      = @{ mode = 'read'; needs = @('name'); may = @() }
    'program.run'       = @{ mode = 'read'; needs = @('timeout_seconds'); may = @('path', 'service', 'sibling', 'arguments') }
    'transaction.read'  = @{ mode = 'read'; needs = @('name'); may = @() }
    'file.write'        = @{ mode = 'apply'; needs = @('path', 'content', 'expect_sha256'); may = @('backup') }
    'file.remove'       = @{ mode = 'apply'; needs = @('path', 'expect_sha256'); may = @('backup') }
    'service.configure' = @{ mode = 'apply'; needs = @('name', 'binary_path', 'expect_binary_path'); may = @() }
    'service.restart'   = @{ mode = 'apply'; needs = @('name', 'timeout_seconds', 'settle_seconds'); may = @() }
    'program.check'     = @{ mode = 'apply'; needs = @('timeout_seconds', 'must_contain'); may = @('path', 'service', 'sibling', 'arguments') }
}

# The session has checked every value against the contract; here is refused what this agent does not know, before anything is done.
function Assert-Request($Request) {
    if ($Request['mode'] -notin 'read', 'apply') { throw (New-Failure 'invalid' "Unknown mode '$($Request['mode'])'.") }
    if ($Request['mode'] -eq 'apply' -and [string]$Request['transaction'] -notmatch '^[a-z0-9][a-z0-9-]{0,62}$') {
        throw (New-Failure 'invalid' 'apply needs the name of a transaction.')
    }
    if (-not $Request['operations']) { throw (New-Failure 'invalid' 'There are no operations.') }
    foreach ($operation in $Request['operations']) {
        $op = [string]$operation['op']
        $rule = $Known[$op]
        if (-not $rule -or $rule.mode -ne $Request['mode']) { throw (New-Failure 'invalid' "'$op' is no operation of mode $($Request['mode']).") }
        foreach ($key in $rule.needs) { if (-not $operation.ContainsKey($key)) { throw (New-Failure 'invalid' "$op needs $key.") } }
        foreach ($key in $operation.Keys) {
            if ($key -notin (@('op') + $rule.needs + $rule.may)) { throw (New-Failure 'invalid' "$op does not know $key.") }
        }
        if ($op -eq 'file.write') {
            try { $operation['bytes'] = [Convert]::FromBase64String($operation['content']) }
            catch { throw (New-Failure 'invalid' "The content for $($operation['path']) is not base64.") }
            $operation.Remove('content')
        }
    }
}

function Invoke-Read($Request) {
    $results = New-Object Collections.ArrayList
    foreach ($operation in $Request['operations']) {
        $op = $operation['op']
        try {
            $result = switch ($op) {
                'system.read' { Read-System }
                'file.read' { Read-File $operation }
                'service.read' { Read-Service $operation }
                'program.run' { Read-Program $operation }
                'transaction.read' { Read-Transaction $operation }
            }
            [void]$results.Add(@{ op = $op; ok = $true } + $result)
        }
        catch { [void]$results.Add(@{ op = $op; ok = $false; error = Get-Failure $_ }) }
    }
    return @{ ok = $true; results = $results }
}

# One apply of a name at a time: an agent whose connection was lost may still be at work. Windows gives the mutex back when its owner dies.
function Invoke-Alone([string]$Name, [scriptblock]$Action) {
    $mutex = New-Object Threading.Mutex $false, "Global\lockstep-$Name"
    try {
        try { $mine = $mutex.WaitOne(30000) } catch [Threading.AbandonedMutexException] { $mine = $true }
        if (-not $mine) { throw (New-Failure 'in_use' "Another apply of $Name has been at work on this node for 30 s: let it end, then run again.") }
        try { return & $Action } finally { $mutex.ReleaseMutex() }
    }
    finally { $mutex.Dispose() }
}

$mode = 'read'
try {
    $request = ConvertFrom-JsonElement $Element
    if ($request['mode'] -eq 'apply') { $mode = 'apply' }
    Assert-Request $request
    if ($mode -eq 'read') { $response = Invoke-Read $request }
    else { $response = Invoke-Alone $request['transaction'] { Invoke-Apply $request } }
}
catch { $response = @{ ok = $false; results = @(); error = Get-Failure $_ } }
'-----BEGIN LOCKSTEP RESPONSE-----'
ConvertTo-JsonText (@{ contract = 1; mode = $mode } + $response)
'-----END LOCKSTEP RESPONSE-----'
#endregion

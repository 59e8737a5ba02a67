# Files: read, written and removed whole; what they replace is kept aside until the transaction is decided.

function Get-Parent([string]$Path) { return $Path -replace '[\\/][^\\/]*$', '' }

# Make the folder that a file is going to be in.
function New-ParentFolder([string]$Path) {
    $parent = Get-Parent $Path
    if ($parent.Length -gt 2) { [void][IO.Directory]::CreateDirectory($parent) }
}

function Get-Sha256([byte[]]$Bytes) { return (Copy-Stream (New-Object IO.MemoryStream (, $Bytes)) $null).sha256 }

# A stream of a file's bytes, or $null when there is no file. Others may go on reading and writing it.
function Open-File([string]$Path) {
    if ([IO.Directory]::Exists($Path)) { throw (New-Failure 'is_directory' "$Path is a folder, not a file.") }
    try { return [IO.File]::Open($Path, 'Open', 'Read', 'ReadWrite, Delete') }
    catch {
        $exception = Get-InnermostException $_.Exception
        if ($exception -is [IO.FileNotFoundException] -or $exception -is [IO.DirectoryNotFoundException]) { return $null }
        throw
    }
}

# A file's bytes, or $null when there is no file.
function Read-Bytes([string]$Path, [long]$Limit = [int]::MaxValue) {
    $stream = Open-File $Path
    if ($null -eq $stream) { return $null }
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

function Assert-Expected([string]$Path, $Found, $Expected) {
    if ($Found -eq $Expected) { return }
    $there, $wanted = $Found, $Expected | ForEach-Object { if ($_) { "SHA-256 $_" } else { 'no file' } }
    throw (New-Failure 'conflict' "$Path was changed by somebody else: expected $wanted, found $there.")
}

# A file's size and SHA-256, or $null when there is no file.
function Get-Digest([string]$Path) {
    $stream = Open-File $Path
    if ($null -eq $stream) { return $null }
    try { return Copy-Stream $stream $null } finally { $stream.Dispose() }
}

function Get-FileSha256([string]$Path) {
    $digest = Get-Digest $Path
    if ($digest) { return $digest.sha256 }
    return $null
}

# The former content becomes `.lockstep-old`, once: where an interrupted apply has left one, that is what to go back to.
function Get-AsidePath([string]$Path) {
    if ([IO.File]::Exists("$Path.lockstep-old")) { return "$Path.lockstep-mid" }
    return "$Path.lockstep-old"
}

function Get-FormerFile($Operation) {
    return @{ existed = [IO.File]::Exists($Operation['path']); backup = $Operation['backup'] -eq $true }
}

$Operations['file.read'] = @{
    mode = 'read'; needs = @('path'); may = @('max_bytes')
    do   = {
        param($Operation)
        $limit = 10MB
        if ($Operation.ContainsKey('max_bytes')) { $limit = $Operation['max_bytes'] }
        $path = $Operation['path']
        $aside = Get-HalfExchanged $path
        if ($aside) { $path = $aside }
        $bytes = Read-Bytes $path $limit
        if ($null -eq $bytes) { return @{ exists = $false } }
        return @{ exists = $true; size = $bytes.Length; sha256 = Get-Sha256 $bytes; content = [Convert]::ToBase64String($bytes) }
    }
}

$Operations['file.digest'] = @{
    mode = 'read'; needs = @('path'); may = @()
    do   = {
        param($Operation)
        $path = $Operation['path']
        $aside = Get-HalfExchanged $path
        if ($aside) { $path = $aside }
        $digest = Get-Digest $path
        if (-not $digest) { return @{ exists = $false } }
        return @{ exists = $true } + $digest
    }
}

$Operations['file.write'] = @{
    mode   = 'apply'; needs = @('path', 'content', 'expect_sha256'); may = @('backup')
    kind   = 'file'; name = 'path'
    check  = {
        param($Operation)
        try { $Operation['bytes'] = [Convert]::FromBase64String($Operation['content']) }
        catch { throw (New-Failure 'invalid' "The content for $($Operation['path']) is not base64.") }
        $Operation.Remove('content')
    }
    former = { param($Operation) Get-FormerFile $Operation }
    do     = {
        param($Operation, $Step)
        $path = $Operation['path']
        $wanted = Get-Sha256 $Operation['bytes']
        $found = Get-FileSha256 $path
        if ($found -eq $wanted) { return @{ changed = $false; sha256 = $wanted } }
        Assert-Expected $path $found $Operation['expect_sha256']
        $Step.touched = $true
        New-ParentFolder $path
        Write-Bytes "$path.lockstep-new" $Operation['bytes']
        $aside = Get-AsidePath $path
        Move-Over "$path.lockstep-new" $path $aside
        # Somebody may have written between the look and the exchange.
        if ([IO.File]::Exists($aside)) { Assert-Expected $path (Get-FileSha256 $aside) $Operation['expect_sha256'] }
        return @{ changed = $true; sha256 = $wanted }
    }
}

$Operations['file.remove'] = @{
    mode   = 'apply'; needs = @('path', 'expect_sha256'); may = @('backup')
    kind   = 'file'; name = 'path'
    former = { param($Operation) Get-FormerFile $Operation }
    do     = {
        param($Operation, $Step)
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
}

$Kinds['file'] = @{
    renew  = @('backup')
    resume = { param($Step) Restore-HalfExchanged $Step.name }
    admit  = {
        # Without a journal that speaks of it, a `.lockstep-old` is nothing to go back to, but it may be all that is left of a text.
        param($Step, $Journal)
        $old = "$($Step.name).lockstep-old"
        if ([IO.File]::Exists($old)) { [void](Save-Backup $old $Step.name $Journal.time) }
    }
    undo   = {
        param($Step)
        $name = $Step.name
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
    finish = {
        param($Step, $Journal)
        $old = "$($Step.name).lockstep-old"
        if ($Step.backup -and [IO.File]::Exists($old)) { Save-Backup $old $Step.name $Journal.time }
        foreach ($end in 'lockstep-old', 'lockstep-new', 'lockstep-mid', 'rejected') { Remove-File "$($Step.name).$end" }
    }
}

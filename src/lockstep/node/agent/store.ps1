# The store: what was downloaded and checked, apart from what runs. An entry is a folder, whole once it has its name and its manifest.
# Beside the entries: `<SHA-256>.lockstep-part`, a download; `<SHA-256>.lockstep-upload`, what a controller sends piece by piece;
# `<entry>.lockstep-new`, what is being unpacked; `trash`, what could not be removed while a process had it.

$EntryName = '^[a-z0-9][a-z0-9-]{0,62}-[0-9A-Za-z][0-9A-Za-z.+-]{0,62}-[0-9a-f]{12}$'

function Join-Names([string]$Folder, [string]$Name) { return [IO.Path]::Combine($Folder, $Name) }

# What an entry's manifest says, or $null where the entry is not whole: files are looked at, not read.
function Read-Manifest([string]$Folder) {
    $bytes = Read-Bytes (Join-Names $Folder 'manifest.json') 10MB
    if ($null -eq $bytes) { return $null }
    try {
        $manifest = ConvertFrom-JsonBytes $bytes
        if ($manifest['manifest'] -ne 1) { return $null }
        foreach ($file in $manifest.files) {
            $found = New-Object IO.FileInfo (Join-Names $Folder $file.name)
            if (-not $found.Exists -or $found.Length -ne $file.size) { return $null }
        }
        return $manifest
    }
    catch { return $null }
}

function Write-Manifest([string]$Folder, $Operation, $Files) {
    $manifest = @{ manifest = 1; name = $Operation['name']; version = $Operation['version']; sha256 = $Operation['sha256']; files = $Files }
    Write-Bytes (Join-Names $Folder 'manifest.json') ([Text.Encoding]::ASCII.GetBytes((ConvertTo-JsonText $manifest)))
}

# Nobody but administrators may change what is going to run.
function Assert-StoreFolder([string]$Root) {
    if ([IO.Directory]::Exists($Root)) { Assert-OwnFolder $Root } else { New-OwnFolder $Root }
}

# Take a file or a folder out of the way: removed, or, where a process has it, moved into the store's trash, for a later time.
# $false where neither can be done: it is where it was.
function Clear-Way([string]$Path, [string]$Root) {
    $isFolder = [IO.Directory]::Exists($Path)
    if (-not $isFolder -and -not [IO.File]::Exists($Path)) { return $true }
    $trash = Join-Names $Root 'trash'
    try {
        if (-not $isFolder) { [IO.File]::Delete($Path); return $true }
    }
    catch { Start-Sleep -Milliseconds 200 }
    try {
        [void][IO.Directory]::CreateDirectory($trash)
        $name = $Path -replace '^.*[\\/]', ''
        for ($number = 1; ; $number++) {
            $place = Join-Names $trash "$name.$(Get-Time).$number"
            if (-not [IO.File]::Exists($place) -and -not [IO.Directory]::Exists($place)) { break }
        }
        if ($isFolder) { Invoke-Patiently { [IO.Directory]::Move($Path, $place) } } else { Invoke-Patiently { [IO.File]::Move($Path, $place) } }
    }
    catch { return $false }
    [void](Remove-Trash $place)
    return $true
}

# Remove a file or a folder with what is in it, as far as no process has it; whether all is gone.
function Remove-Trash([string]$Path) {
    try {
        if ([IO.Directory]::Exists($Path)) { [IO.Directory]::Delete($Path, $true) } else { [IO.File]::Delete($Path) }
        return $true
    }
    catch { return $false }
}

# Remove what is in the trash, as far as no process has it any more; whether something went.
function Clear-Trash([string]$Root) {
    $trash = Join-Names $Root 'trash'
    $changed = $false
    if (-not [IO.Directory]::Exists($trash)) { return $false }
    foreach ($path in [IO.Directory]::GetFileSystemEntries($trash)) { if (Remove-Trash $path) { $changed = $true } }
    if (-not [IO.Directory]::GetFileSystemEntries($trash).Count) { [void](Remove-Trash $trash) }
    return $changed
}

function Get-Entries([string]$Root) {
    if (-not [IO.Directory]::Exists($Root)) { return }
    foreach ($folder in [IO.Directory]::GetDirectories($Root)) {
        $name = $folder -replace '^.*[\\/]', ''
        if ($name -cnotmatch $EntryName) { continue }
        @{ name = $name; folder = $folder; manifest = Read-Manifest $folder }
    }
}

$Operations['store.read'] = @{
    mode = 'read'; needs = @('root'); may = @()
    do   = {
        param($Operation)
        $root = $Operation['root']
        $entries = foreach ($entry in Get-Entries $root | Where-Object { $_.manifest }) {
            $files = @{}
            foreach ($file in $entry.manifest.files) { $files[$file.name] = @{ size = $file.size; sha256 = $file.sha256 } }
            @{ entry = $entry.name; name = $entry.manifest.name; version = $entry.manifest.version; sha256 = $entry.manifest.sha256; files = $files }
        }
        $uploads = @{}
        if ([IO.Directory]::Exists($root)) {
            foreach ($path in [IO.Directory]::GetFiles($root, '*.lockstep-upload')) {
                if ($path -match '([0-9a-f]{64})\.lockstep-upload$') { $uploads[$Matches[1]] = (New-Object IO.FileInfo $path).Length }
            }
        }
        return @{ entries = @($entries); uploads = $uploads; free_bytes = Get-FreeSpace $root }
    }
}

# Bring what is asked for into a file; where it is, with its size and its SHA-256.
function Receive-Artifact($Operation) {
    $root, $digest, $source = $Operation['root'], $Operation['sha256'], $Operation['source']
    $part = Join-Names $root "$digest.lockstep-part"
    if ($source['uploaded']) {
        $part = Join-Names $root "$digest.lockstep-upload"
        $sent = Get-Digest $part
        if (-not $sent) { throw (New-Failure 'missing' "Nothing of it was sent to the node: $part is not there.") }
        return @{ path = $part } + $sent
    }
    if ($source['url']) { return @{ path = $part } + (Receive-Url $source $part $Operation['timeout_seconds']) }
    return @{ path = $part } + (Receive-Path $source['path'] $part)
}

# Make a new folder of a download, which gets its manifest last.
function New-Entry([string]$Folder, $Operation, $Download) {
    [void][IO.Directory]::CreateDirectory($Folder)
    if ($Operation['format'] -eq 'file') {
        $name = $Operation['members'][0]['to']
        Invoke-Patiently { [IO.File]::Move($Download.path, (Join-Names $Folder $name)) }
        $files = @(@{ name = $name; size = $Download.size; sha256 = $Download.sha256 })
    }
    else { $files = Expand-Artifact $Download.path $Operation['format'] $Operation['members'] $Folder }
    Write-Manifest $Folder $Operation $files
}

$Operations['store.add'] = @{
    mode  = 'apply'; needs = @('root', 'name', 'version', 'sha256', 'source', 'format', 'members', 'timeout_seconds'); may = @()
    check = {
        param($Operation)
        $from, $to = @{}, @{ 'manifest.json' = $true }
        foreach ($member in $Operation['members']) {
            if ((Get-NameProblem $member['to']) -or $to[$member['to']]) { throw (New-Failure 'invalid' "store.add cannot call a file $(Get-ShownName $member['to']).") }
            $to[$member['to']] = $true
            if ($from[[string]$member['from']]) { throw (New-Failure 'invalid' "store.add asks twice for $(Get-ShownName $member['from']).") }
            $from[[string]$member['from']] = $true
        }
        if ($Operation['format'] -eq 'file' -and $to.Count -ne 2) { throw (New-Failure 'invalid' 'store.add needs one member, the name that the file gets.') }
    }
    do    = {
        param($Operation)
        $root, $digest = $Operation['root'], $Operation['sha256']
        $entry = "$($Operation['name'])-$($Operation['version'])-$($digest.Substring(0, 12))"
        $folder = Join-Names $root $entry
        $manifest = Read-Manifest $folder
        if ($manifest -and $manifest.sha256 -eq $digest) {
            $there = @($manifest.files | ForEach-Object { $_.name })
            if (-not @($Operation['members'] | Where-Object { $_['to'] -notin $there })) { return @{ changed = $false; entry = $entry; size = 0 } }
        }
        Assert-StoreFolder $root
        [void](Clear-Trash $root)
        foreach ($left in "$folder.lockstep-new", (Join-Names $root "$digest.lockstep-part")) {
            if (-not (Clear-Way $left $root)) { throw (New-Failure 'in_use' "$left is left from a former run, and another process holds it open.") }
        }
        $keep = $false
        try {
            $got = Receive-Artifact $Operation
            $keep = [bool]$Operation['source']['uploaded']
            if ($got.sha256 -ne $digest) {
                $keep = $false
                throw (New-Failure 'checksum_mismatch' "$($Operation['name']) $($Operation['version']): expected SHA-256 $digest, found $($got.sha256) ($($got.size) bytes).")
            }
            New-Entry "$folder.lockstep-new" $Operation $got
            # Before the entry is one, so that no interruption leaves a download beside it that nobody asks for again.
            if (-not $keep) { [void](Clear-Way $got.path $root) }
            if (-not (Clear-Way $folder $root)) { throw (New-Failure 'in_use' "$folder is not whole and has to be replaced, but another process holds a file of it open.") }
            Invoke-Patiently { [IO.Directory]::Move("$folder.lockstep-new", $folder) }
            $keep = $false
            return @{ changed = $true; entry = $entry; size = $got.size }
        }
        finally {
            [void](Clear-Way "$folder.lockstep-new" $root)
            [void](Clear-Way (Join-Names $root "$digest.lockstep-part") $root)
            if (-not $keep) { [void](Clear-Way (Join-Names $root "$digest.lockstep-upload") $root) }
        }
    }
}

$Operations['store.upload'] = @{
    mode  = 'apply'; needs = @('root', 'sha256', 'offset', 'content'); may = @()
    check = {
        param($Operation)
        try { $Operation['bytes'] = [Convert]::FromBase64String($Operation['content']) }
        catch { throw (New-Failure 'invalid' 'The piece of store.upload is not base64.') }
        $Operation.Remove('content')
    }
    do    = {
        param($Operation)
        $root, $offset, $bytes = $Operation['root'], $Operation['offset'], $Operation['bytes']
        Assert-StoreFolder $root
        $path = Join-Names $root "$($Operation['sha256']).lockstep-upload"
        $stream = Invoke-Patiently { [IO.File]::Open($path, 'OpenOrCreate', 'Write', 'Read') }
        try {
            $size = $stream.Length
            if ($size -ne $offset) { throw (New-Failure 'conflict' "$path has $size bytes, and the piece belongs after $offset.") }
            [void]$stream.Seek(0, 'End')
            try {
                $stream.Write($bytes, 0, $bytes.Length)
                $stream.Flush($true)
            }
            catch {
                try { $stream.SetLength($size) } catch { }
                throw
            }
            return @{ size = $stream.Length }
        }
        finally { $stream.Dispose() }
    }
}

$Operations['store.prune'] = @{
    mode = 'apply'; needs = @('root', 'keep'); may = @()
    do   = {
        param($Operation)
        $root = $Operation['root']
        $changed = $false
        $removed = New-Object Collections.ArrayList
        foreach ($entry in @(Get-Entries $root)) {
            if ($entry.manifest -and $entry.name -in $Operation['keep']) { continue }
            if (-not (Clear-Way $entry.folder $root)) { continue }
            $changed = $true
            if ($entry.manifest) { [void]$removed.Add($entry.name) }
        }
        if ([IO.Directory]::Exists($root)) {
            $left = @([IO.Directory]::GetFiles($root, '*.lockstep-part')) + @([IO.Directory]::GetFiles($root, '*.lockstep-upload')) +
            @([IO.Directory]::GetDirectories($root, '*.lockstep-new'))
            foreach ($path in $left) { if (Remove-Trash $path) { $changed = $true } }
            if (Clear-Trash $root) { $changed = $true }
        }
        return @{ changed = $changed; removed = $removed }
    }
}

# Folders, and who may use them.

function Get-FolderAccess([string]$Path) { return (Get-Acl -LiteralPath $Path).GetSecurityDescriptorSddlForm('Access') }

function Set-FolderAccess([string]$Path, [string]$Access, [string]$Sections = 'Access') {
    $acl = Get-Acl -LiteralPath $Path
    $acl.SetSecurityDescriptorSddlForm($Access, $Sections)
    Set-Acl -LiteralPath $Path -AclObject $acl
}

# A list as Windows spells it: `SY` for S-1-5-18, `FA` for 0x1f01ff. Any folder's descriptor does to ask.
function ConvertTo-KnownAccess([string]$Access) {
    $acl = Get-Acl -LiteralPath $env:SystemRoot
    try { $acl.SetSecurityDescriptorSddlForm($Access, 'Access') }
    catch { throw (New-Failure 'invalid' "$Access is no access list in SDDL, or names an account that this node does not know.") }
    return $acl.GetSecurityDescriptorSddlForm('Access')
}

# What two lists have to have in common to be the same: whether they are protected, and their own entries, in whatever order.
function Get-AccessEntry([string]$Access) {
    if ($Access -match '^D:[^(]*P') { 'P' }
    [regex]::Matches($Access, '\([^()]*\)') | ForEach-Object { $_.Value } | Where-Object { $_ -notmatch '^\([^;]*;(..)*ID' } | Sort-Object -Unique
}

function Test-SameAccess([string]$One, [string]$Other) {
    return (@(Get-AccessEntry $One) -join '') -eq (@(Get-AccessEntry $Other) -join '')
}

# The folders that have to be made for this one, the outermost first.
function Get-MissingFolder([string]$Path) {
    $missing = New-Object Collections.ArrayList
    $place = $Path.TrimEnd('\')
    while ($place.Length -gt 2 -and -not [IO.Directory]::Exists($place)) {
        [void]$missing.Insert(0, $place)
        $place = Get-Parent $place
    }
    return $missing
}

$Operations['folder.read'] = @{
    mode = 'read'; needs = @('path'); may = @()
    do   = {
        param($Operation)
        $path = $Operation['path']
        if (-not [IO.Directory]::Exists($path)) { return @{ exists = $false } }
        return @{ exists = $true; access = Get-FolderAccess $path; owner = Get-Owner $path }
    }
}

$Operations['folder.ensure'] = @{
    mode   = 'apply'; needs = @('path'); may = @('access')
    kind   = 'folder'; name = 'path'
    check  = { param($Operation) if ($Operation['access']) { $Operation['access'] = ConvertTo-KnownAccess $Operation['access'] } }
    former = {
        param($Operation)
        $path = $Operation['path']
        $access = if ([IO.Directory]::Exists($path)) { Get-FolderAccess $path } else { $null }
        return @{ made = @(Get-MissingFolder $path); access = $access }
    }
    do     = {
        param($Operation, $Step)
        $path, $access = $Operation['path'], $Operation['access']
        $created = -not [IO.Directory]::Exists($path)
        if ($created) {
            $Step.touched = $true
            [void][IO.Directory]::CreateDirectory($path)
        }
        $changed = $access -and -not (Test-SameAccess (Get-FolderAccess $path) $access)
        if ($changed) {
            $Step.touched = $true
            Set-FolderAccess $path $access
        }
        return @{ changed = $created -or [bool]$changed; created = $created }
    }
}

$Kinds['folder'] = @{
    undo = {
        param($Step)
        $access = $Step['access']
        if ($access -and [IO.Directory]::Exists($Step.name) -and -not (Test-SameAccess (Get-FolderAccess $Step.name) $access)) {
            Set-FolderAccess $Step.name $access
        }
        # What was made goes, as far as nobody has put anything into it.
        $made = @($Step['made'])
        [array]::Reverse($made)
        foreach ($path in $made) {
            if (-not [IO.Directory]::Exists($path)) { continue }
            if ([IO.Directory]::GetFileSystemEntries($path).Length) { return }
            [IO.Directory]::Delete($path, $false)
        }
    }
}

# HKEY_LOCAL_MACHINE for PowerShell for Linux: the keys that Get-Item gives, as .NET's RegistryKey, on a file that stands for the
# registry: {HKLM\key: {name: {kind, value}}}, kinds and values as the contract has them. Any other kind is one it has no word for.
# $env:LOCKSTEP_STUB_DENIED: a key that must not be changed.
Set-StrictMode -Version Latest

$File = 'C:\lockstep-stubs\registry.json'
$Native = @{ string = 'String'; expand_string = 'ExpandString'; multi_string = 'MultiString'; dword = 'DWord'; qword = 'QWord'; binary = 'Binary' }

# Names are found whatever their case.
function Read-Registry {
    $registry = @{}
    if (-not [IO.File]::Exists($File)) { return $registry }
    $found = [IO.File]::ReadAllText($File) | ConvertFrom-Json -AsHashtable
    foreach ($key in $found.Keys) {
        $registry[$key] = @{}
        foreach ($name in $found[$key].Keys) { $registry[$key][$name] = $found[$key][$name] }
    }
    $registry
}

function Write-Registry($Registry) { [IO.File]::WriteAllText($File, ($Registry | ConvertTo-Json -Depth 9)) }

function Test-Below([string]$Path, [string]$Parent) { $Path -eq $Parent -or $Path.StartsWith("$Parent\", 'OrdinalIgnoreCase') }

function Assert-Allowed([string]$Path) {
    if ($env:LOCKSTEP_STUB_DENIED -and (Test-Below $Path $env:LOCKSTEP_STUB_DENIED)) {
        throw [Security.SecurityException]'Requested registry access is not allowed.'
    }
}

function Edit-Registry([string]$Path, [scriptblock]$Change) {
    Assert-Allowed $Path
    $registry = Read-Registry
    & $Change $registry
    Write-Registry $registry
}

function Get-Kind($Entry) { if ($Native.ContainsKey($Entry.kind)) { $Native[$Entry.kind] } else { 'None' } }

function Get-Native($Entry) {
    switch ($Entry.kind) {
        'dword' { return [BitConverter]::ToInt32([BitConverter]::GetBytes([uint32]$Entry.value), 0) }
        'qword' { return [BitConverter]::ToInt64([BitConverter]::GetBytes([uint64]$Entry.value), 0) }
        'binary' { return , [Convert]::FromBase64String($Entry.value) }
        'multi_string' { return , [string[]]@($Entry.value) }
        default { return $Entry.value }
    }
}

function New-Entry($Value, [string]$Kind) {
    $ours = $Native.Keys | Where-Object { $Native[$_] -eq $Kind }
    $plain = switch ($ours) {
        'dword' { [BitConverter]::ToUInt32([BitConverter]::GetBytes([int]$Value), 0) }
        'qword' { [BitConverter]::ToUInt64([BitConverter]::GetBytes([long]$Value), 0) }
        'binary' { [Convert]::ToBase64String($Value) }
        default { $Value }
    }
    if ($ours -eq 'multi_string') { $plain = @($Value) }
    @{ kind = $ours; value = $plain }
}

function New-Key([string]$Path) {
    $key = [pscustomobject]@{ Name = $Path }
    $members = @{
        Close         = { }
        GetValueNames = { $values = (Read-Registry)[$this.Name]; if ($values) { $values.Keys } }
        GetValueKind  = { param($name) Get-Kind (Read-Registry)[$this.Name][$name] }
        GetValue      = {
            param($name, $default, $options)
            $values = (Read-Registry)[$this.Name]
            if ($values -and $values.ContainsKey($name)) { return , (Get-Native $values[$name]) }
            return , $default
        }
        SetValue      = {
            param($name, $value, $kind)
            $path, $entry = $this.Name, (New-Entry $value $kind)
            Edit-Registry $path { param($registry) $registry[$path][$name] = $entry }
        }
        DeleteValue   = { param($name, $throw) $path = $this.Name; Edit-Registry $path { param($registry) $registry[$path].Remove($name) } }
        OpenSubKey    = {
            param($name, $writable)
            $path = "$($this.Name)\$name"
            if ($writable) { Assert-Allowed $path }
            if (@((Read-Registry).Keys | Where-Object { Test-Below $_ $path })) { New-Key $path }
        }
        CreateSubKey  = {
            param($name, $check, $options)
            $path = "$($this.Name)\$name"
            Edit-Registry $path { param($registry) if (-not $registry.ContainsKey($path)) { $registry[$path] = @{} } }
            New-Key $path
        }
        DeleteSubKey  = { param($name, $throw) $path = "$($this.Name)\$name"; Edit-Registry $path { param($registry) $registry.Remove($path) } }
    }
    foreach ($name in $members.Keys) { $key | Add-Member ScriptMethod $name $members[$name] }
    $key | Add-Member ScriptProperty ValueCount { @($this.GetValueNames()).Count }
    $key | Add-Member ScriptProperty SubKeyCount { $path = $this.Name; @((Read-Registry).Keys | Where-Object { $_ -ne $path -and (Test-Below $_ $path) }).Count }
    $key
}

function Get-Item {
    [CmdletBinding()] param([string]$LiteralPath)
    $quotas = @{ MaxMemoryPerShellMB = '1024'; MaxProcessesPerShell = '25'; MaxShellsPerUser = '30' }
    if ($LiteralPath -like 'WSMan:\localhost\Shell\*') { return [pscustomobject]@{ Value = $quotas[($LiteralPath -split '\\')[-1]] } }
    $path = $LiteralPath.Replace('HKLM:', 'HKLM').TrimEnd('\')
    if ($path -ne 'HKLM' -and -not @((Read-Registry).Keys | Where-Object { Test-Below $_ $path })) {
        throw [Management.Automation.ItemNotFoundException]"Cannot find path '$LiteralPath' because it does not exist."
    }
    New-Key $path
}

Export-ModuleMember -Function Get-Item

# The registry: values of HKEY_LOCAL_MACHINE, as the 64-bit Windows sees them.
# By .NET, because the paths of PowerShell's provider split at every `/`, which names of keys may have, and because it tells kinds.

$RegistryKinds = @{ String = 'string'; ExpandString = 'expand_string'; MultiString = 'multi_string'; DWord = 'dword'; QWord = 'qword'; Binary = 'binary' }

# A process of 32 bits would be given another SOFTWARE.
function Get-Hive {
    if ([Environment]::Is64BitProcess) { return Get-Item -LiteralPath 'HKLM:\' }
    return [Microsoft.Win32.RegistryKey]::OpenBaseKey('LocalMachine', 'Registry64')
}

# The path of a key below the hive.
function Get-KeyPath([string]$Key) { return ($Key -replace '\\+', '\').Trim('\').Substring(4).Trim('\') }

# Do something with a key, which is $null where there is none.
function Use-RegistryKey([string]$Key, [bool]$Writable, [scriptblock]$Action) {
    $opened = (Get-Hive).OpenSubKey((Get-KeyPath $Key), $Writable)
    try { return & $Action $opened } finally { if ($opened) { $opened.Close() } }
}

# .NET tells numbers with a sign; the registry has none.
function ConvertFrom-RegistryValue($Value, [string]$Kind) {
    switch ($Kind) {
        'dword' { return [BitConverter]::ToUInt32([BitConverter]::GetBytes([int]$Value), 0) }
        'qword' { return [BitConverter]::ToUInt64([BitConverter]::GetBytes([long]$Value), 0) }
        'binary' { return [Convert]::ToBase64String($Value) }
        'multi_string' { return , @($Value) }
        default { return [string]$Value }
    }
}

function ConvertTo-RegistryValue($Value, [string]$Kind) {
    switch ($Kind) {
        'dword' { return [BitConverter]::ToInt32([BitConverter]::GetBytes([uint32]$Value), 0) }
        'qword' { return [BitConverter]::ToInt64([BitConverter]::GetBytes([uint64]$Value), 0) }
        'binary' { return , [Convert]::FromBase64String($Value) }
        'multi_string' { return , [string[]]@($Value) }
        default { return [string]$Value }
    }
}

# A value: exists, kind, value. A kind that the contract has no word for (REG_NONE, REG_LINK, ...) is `other`, and has no value.
function Get-RegistryValue([string]$Key, [string]$Name) {
    return Use-RegistryKey $Key $false {
        param($Opened)
        if (-not $Opened -or $Name -notin @($Opened.GetValueNames())) { return @{ exists = $false } }
        $kind = $RegistryKinds[[string]$Opened.GetValueKind($Name)]
        if (-not $kind) { return @{ exists = $true; kind = 'other' } }
        $value = $Opened.GetValue($Name, $null, 'DoNotExpandEnvironmentNames')
        return @{ exists = $true; kind = $kind; value = ConvertFrom-RegistryValue $value $kind }
    }
}

# A value's data; $null where there is none.
function Get-RegistryData([string]$Key, [string]$Name) { return (Get-RegistryValue $Key $Name)['value'] }

function Set-RegistryValue([string]$Key, [string]$Name, $Value, [string]$Kind) {
    $opened = (Get-Hive).CreateSubKey((Get-KeyPath $Key))
    $native = $RegistryKinds.Keys | Where-Object { $RegistryKinds[$_] -eq $Kind }
    try { $opened.SetValue($Name, (ConvertTo-RegistryValue $Value $Kind), $native) } finally { $opened.Close() }
}

function Remove-RegistryValue([string]$Key, [string]$Name) {
    Use-RegistryKey $Key $true { param($Opened) if ($Opened) { $Opened.DeleteValue($Name, $false) } }
}

# Remove a key that has neither values nor keys.
function Remove-EmptyKey([string]$Path) {
    $empty = Use-RegistryKey "HKLM\$Path" $false { param($Opened) $Opened -and -not $Opened.SubKeyCount -and -not $Opened.ValueCount }
    if ($empty) { (Get-Hive).DeleteSubKey($Path, $false) }
}

function Test-RegistryKey([string]$Key) { return Use-RegistryKey $Key $false { param($Opened) [bool]$Opened } }

# The keys that have to be made for this one, the uppermost first.
function Get-MissingKey([string]$Key) {
    $path = ''
    foreach ($part in (Get-KeyPath $Key) -split '\\') {
        $path = "$path\$part".Trim('\')
        if (-not (Test-RegistryKey "HKLM\$path")) { $path }
    }
}

# Whether two values are the same, letter by letter; $null is no value.
function Test-SameValue($One, $Other) {
    if ($null -eq $One -or $null -eq $Other) { return $null -eq $One -and $null -eq $Other }
    return (ConvertTo-JsonText $One) -ceq (ConvertTo-JsonText $Other)
}

function Assert-ExpectedValue($Operation, $Found) {
    $same = Test-SameValue $Found['value'] $Operation['expect']
    if ($Found['kind'] -eq 'other' -or -not $same) {
        throw (New-Failure 'conflict' "$($Operation['key']), value '$($Operation['name'])', was changed by somebody else since it was read.")
    }
}

# Refuse a value that is none of its kind.
function Assert-RegistryValue($Operation) {
    $kind, $value = $Operation['kind'], $Operation['value']
    $list = $value -is [Collections.ArrayList]
    $fits = switch ($kind) {
        'dword' { $value -is [long] -and $value -ge 0 -and $value -le 4294967295 }
        'qword' { ($value -is [long] -or $value -is [decimal]) -and $value -ge 0 -and $value -le [uint64]::MaxValue }
        'multi_string' { $list -and '' -notin $value }
        default { $value -is [string] }
    }
    if ($fits -and $kind -eq 'binary') {
        try { [void][Convert]::FromBase64String($value) } catch { $fits = $false }
    }
    if (-not $fits) { throw (New-Failure 'invalid' "$($Operation['key']), value '$($Operation['name'])': what is to be written is no $kind.") }
}

# A key's path never has two backslashes, so this names one value and no other.
function Get-ValueSubject($Operation) { return 'HKLM\' + (Get-KeyPath $Operation['key']) + '\\' + $Operation['name'] }

function Get-FormerValue($Operation) {
    $key, $name = $Operation['key'], $Operation['name']
    return @{ key = $key; value_name = $name; made = @(Get-MissingKey $key); former = Get-RegistryValue $key $name }
}

$Operations['registry.read'] = @{
    mode = 'read'; needs = @('key', 'name'); may = @()
    do   = { param($Operation) Get-RegistryValue $Operation['key'] $Operation['name'] }
}

$Operations['registry.write'] = @{
    mode   = 'apply'; needs = @('key', 'name', 'kind', 'value', 'expect'); may = @()
    kind   = 'registry'; name = { param($Operation) Get-ValueSubject $Operation }
    check  = { param($Operation) Assert-RegistryValue $Operation }
    former = { param($Operation) Get-FormerValue $Operation }
    do     = {
        param($Operation, $Step)
        $found = Get-RegistryValue $Operation['key'] $Operation['name']
        if ($found['kind'] -eq $Operation['kind'] -and (Test-SameValue $found['value'] $Operation['value'])) { return @{ changed = $false } }
        Assert-ExpectedValue $Operation $found
        $Step.touched = $true
        Set-RegistryValue $Operation['key'] $Operation['name'] $Operation['value'] $Operation['kind']
        return @{ changed = $true }
    }
}

$Operations['registry.remove'] = @{
    mode   = 'apply'; needs = @('key', 'name', 'expect'); may = @()
    kind   = 'registry'; name = { param($Operation) Get-ValueSubject $Operation }
    former = { param($Operation) Get-FormerValue $Operation }
    do     = {
        param($Operation, $Step)
        $found = Get-RegistryValue $Operation['key'] $Operation['name']
        if (-not $found['exists']) { return @{ changed = $false } }
        Assert-ExpectedValue $Operation $found
        $Step.touched = $true
        Remove-RegistryValue $Operation['key'] $Operation['name']
        return @{ changed = $true }
    }
}

$Kinds['registry'] = @{
    undo = {
        param($Step)
        $former = $Step['former']
        # What has no word in the contract was a conflict, and was left alone.
        if ($former['kind'] -eq 'other') { return }
        $found = Get-RegistryValue $Step['key'] $Step['value_name']
        if ($former['exists']) {
            $same = $found['kind'] -eq $former['kind'] -and (Test-SameValue $found['value'] $former['value'])
            if (-not $same) { Set-RegistryValue $Step['key'] $Step['value_name'] $former['value'] $former['kind'] }
            return
        }
        if ($found['exists']) { Remove-RegistryValue $Step['key'] $Step['value_name'] }
        $made = @($Step['made'])
        [array]::Reverse($made)
        foreach ($key in $made) { Remove-EmptyKey $key }
    }
}

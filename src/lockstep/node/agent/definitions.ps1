# What a service is registered as: read from the registry, changed by sc.exe, and read again, because sc.exe's words are no proof.

$StartOptions = @{ automatic = 'auto'; delayed = 'delayed-auto'; manual = 'demand'; disabled = 'disabled' }
$RecoveryActions = @('none', 'restart', 'reboot', 'run')
$DefinitionKeys = @('binary_path', 'display_name', 'description', 'start_type', 'depends_on', 'environment', 'recovery')

function Get-ServiceKey([string]$Name) { return "HKLM\SYSTEM\CurrentControlSet\Services\$Name" }

# Recovery actions as the registry has them: five numbers of 32 bits (reset period, two offsets, count of actions, offset of the
# actions), then two for each action: type and delay. Source: [MS-SCMR] 2.2.37, SERVICE_FAILURE_ACTIONS_WOW64, and 2.2.19, SC_ACTION.
function ConvertFrom-FailureActions($Bytes, $NonCrash) {
    if ($null -eq $Bytes -or $Bytes.Length -lt 20) { return $null }
    $count = [BitConverter]::ToInt32($Bytes, 12)
    if ($count -lt 1 -or $Bytes.Length -lt 20 + 8 * $count) { return $null }
    $actions = for ($at = 20; $at -lt 20 + 8 * $count; $at += 8) {
        $type = [BitConverter]::ToUInt32($Bytes, $at)
        @{ action = if ($type -lt 4) { $RecoveryActions[$type] } else { 'none' }; delay_milliseconds = [BitConverter]::ToUInt32($Bytes, $at + 4) }
    }
    return @{ reset_seconds = [BitConverter]::ToUInt32($Bytes, 0); actions = @($actions); on_non_crash = $NonCrash -eq 1 }
}

function ConvertTo-FailureActions($Recovery) {
    $numbers = @($Recovery['reset_seconds'], 0, 0, $Recovery['actions'].Count, 20)
    foreach ($action in $Recovery['actions']) {
        $numbers += [array]::IndexOf($RecoveryActions, $action['action'])
        $numbers += $action['delay_milliseconds']
    }
    return , [byte[]]@($numbers | ForEach-Object { [BitConverter]::GetBytes([uint32]$_) })
}

# A registered service's definition, with the keys of service.define.
function Get-ServiceDefinition([string]$Name) {
    $names = 'ImagePath', 'DisplayName', 'Description', 'Start', 'DelayedAutostart', 'DependOnService', 'DependOnGroup', 'ObjectName',
        'Environment', 'FailureActions', 'FailureActionsOnNonCrashFailures'
    $values = @{}
    $key = Get-Item -LiteralPath "HKLM:\SYSTEM\CurrentControlSet\Services\$Name"
    try { foreach ($one in $names) { $values[$one] = $key.GetValue($one, $null, 'DoNotExpandEnvironmentNames') } } finally { $key.Close() }
    $start = switch ($values['Start']) { 2 { 'automatic' } 3 { 'manual' } 4 { 'disabled' } default { 'other' } }
    if ($start -eq 'automatic' -and $values['DelayedAutostart'] -eq 1) { $start = 'delayed' }
    # A group that a service needs is told by a `+`. Source: Microsoft Learn, CreateServiceW, lpDependencies.
    $groups = @($values['DependOnGroup'] | Where-Object { $_ } | ForEach-Object { "+$_" })
    return @{
        binary_path  = [string]$values['ImagePath']
        display_name = if ($values['DisplayName']) { [string]$values['DisplayName'] } else { $Name }
        description  = [string]$values['Description']
        start_type   = $start
        depends_on   = @($values['DependOnService'] | Where-Object { $_ }) + $groups
        account      = [string]$values['ObjectName']
        environment  = @($values['Environment'] | Where-Object { $_ })
        recovery     = ConvertFrom-FailureActions $values['FailureActions'] $values['FailureActionsOnNonCrashFailures']
    }
}

# One text for all that means the same.
function Get-RecoveryText($Recovery) {
    if ($null -eq $Recovery -or -not $Recovery['actions'].Count) { return '' }
    $actions = @($Recovery['actions'] | ForEach-Object { "$($_['action'])/$($_['delay_milliseconds'])" }) -join '/'
    return "$($Recovery['reset_seconds']) $($Recovery['on_non_crash']) $actions"
}

function Test-SameDefinition([string]$Key, $One, $Other) {
    switch ($Key) {
        'recovery' { return (Get-RecoveryText $One) -eq (Get-RecoveryText $Other) }
        'depends_on' { return (@($One | Sort-Object) -join '/') -eq (@($Other | Sort-Object) -join '/') }
        'environment' { return (ConvertTo-JsonText @($One)) -ceq (ConvertTo-JsonText @($Other)) }
        default { return $One -ceq $Other }
    }
}

# The keys in which two definitions differ, of those that are wanted.
function Get-DefinitionDifference($Found, $Wanted) {
    return @($DefinitionKeys | Where-Object { $Wanted.ContainsKey($_) -and -not (Test-SameDefinition $_ $Found[$_] $Wanted[$_]) })
}

function New-MarkedFailure([string]$Name) {
    return New-Failure 'io' "$Name was deleted, and is still there because some program has it open: close what shows services (services.msc, Task Manager), or restart Windows, then run again."
}

# sc.exe takes `option=` and its value as two arguments. Source: Microsoft Learn, "sc.exe create".
function Invoke-ServiceControl([string[]]$Arguments) {
    $done = Invoke-Program $ServiceControl $Arguments 60
    if ($done.exit_code -eq 0) { return }
    $verb, $name = $Arguments[0, 1]
    # ERROR_ACCESS_DENIED, ERROR_SERVICE_DOES_NOT_EXIST, ERROR_SERVICE_MARKED_FOR_DELETE, ERROR_SERVICE_EXISTS
    switch ($done.exit_code) {
        5 { throw (New-Failure 'denied' $done.stdout.Trim()) }
        1060 { throw (New-Failure 'missing' "There is no service $name.") }
        1072 { throw (New-MarkedFailure $name) }
        1073 { throw (New-Failure 'conflict' "$name was registered by somebody else since it was read.") }
    }
    throw (New-Failure 'io' "sc.exe $verb $name ended with $($done.exit_code): $($done.stdout.Trim())")
}

# What sc.exe sets of a recovery. An action that does nothing has no word; without any action, all of it is deleted.
function Set-Recovery([string]$Name, $Recovery) {
    if ($null -eq $Recovery -or -not $Recovery['actions'].Count) {
        Invoke-ServiceControl 'failure', $Name, 'reset=', '0', 'actions=', ''
        return
    }
    $reset = if ($Recovery['reset_seconds'] -eq 4294967295) { 'INFINITE' } else { [string]$Recovery['reset_seconds'] }
    $actions = $Recovery['actions'] | ForEach-Object { if ($_['action'] -eq 'none') { '' } else { $_['action'] }; [string]$_['delay_milliseconds'] }
    Invoke-ServiceControl 'failure', $Name, 'reset=', $reset, 'actions=', ($actions -join '/')
    $flag = if ($Recovery['on_non_crash']) { '1' } else { '0' }
    Invoke-ServiceControl 'failureflag', $Name, $flag
}

# Where a service manager says yes and keeps nothing (Wine's), the registry gets it: Windows' own reads it from there too.
function Set-UnkeptDefinition([string]$Name, [string[]]$Different, $Wanted) {
    $key = Get-ServiceKey $Name
    if ('start_type' -in $Different -and $Wanted['start_type'] -in 'automatic', 'delayed') {
        Set-RegistryValue $key 'DelayedAutostart' ([int]($Wanted['start_type'] -eq 'delayed')) 'dword'
    }
    if ('recovery' -notin $Different) { return }
    if (-not (Get-RecoveryText $Wanted['recovery'])) { Remove-RegistryValue $key 'FailureActions'; return }
    Set-RegistryValue $key 'FailureActions' ([Convert]::ToBase64String((ConvertTo-FailureActions $Wanted['recovery']))) 'binary'
    Set-RegistryValue $key 'FailureActionsOnNonCrashFailures' ([int]$Wanted['recovery']['on_non_crash']) 'dword'
}

# Make a registered service what is wanted, where it differs, and make sure that it is.
function Set-ServiceDefinition([string]$Name, $Wanted) {
    $found = Get-ServiceDefinition $Name
    $different = Get-DefinitionDifference $found $Wanted
    $options = @(switch ($different) {
        'binary_path' { 'binPath=', $Wanted['binary_path'] }
        'start_type' { if ($Wanted['start_type'] -ne 'other') { 'start=', $StartOptions[$Wanted['start_type']] } }
        'display_name' { 'DisplayName=', $Wanted['display_name'] }
        # `/` alone takes all of them away.
        'depends_on' { 'depend=', $(if ($Wanted['depends_on'].Count) { @($Wanted['depends_on']) -join '/' } else { '/' }) }
    })
    # A service manager that forgets the dependencies of which nothing is said (Wine's) is told them again.
    if ($options -and 'depends_on' -notin $different -and $found['depends_on'].Count) { $options += 'depend=', ($found['depends_on'] -join '/') }
    if ($options) { Invoke-ServiceControl (@('config', $Name) + $options) }
    if ('description' -in $different) { Invoke-ServiceControl 'description', $Name, $Wanted['description'] }
    if ('recovery' -in $different) { Set-Recovery $Name $Wanted['recovery'] }
    if ('environment' -in $different) {
        if ($Wanted['environment'].Count) { Set-RegistryValue (Get-ServiceKey $Name) 'Environment' $Wanted['environment'] 'multi_string' }
        else { Remove-RegistryValue (Get-ServiceKey $Name) 'Environment' }
    }
    $left = Get-DefinitionDifference (Get-ServiceDefinition $Name) $Wanted
    if (-not $left) { return }
    Set-UnkeptDefinition $Name $left $Wanted
    $left = Get-DefinitionDifference (Get-ServiceDefinition $Name) $Wanted
    if ($left) { throw (New-Failure 'io' "sc.exe did not set $($left -join ', ') of $Name as given.") }
}

function Remove-NodeService([string]$Name) {
    $service = Get-NodeService $Name
    if (-not $service) { return }
    foreach ($dependent in $service.DependentServices) { Stop-NodeService $dependent 30 $true }
    Stop-NodeService $service 30 $true
    Invoke-ServiceControl 'delete', $Name
    # It goes when the last program that has it open lets go of it.
    $watch = [Diagnostics.Stopwatch]::StartNew()
    while ((Get-NodeService $Name) -and $watch.Elapsed.TotalSeconds -lt 5) { Start-Sleep -Milliseconds 100 }
}

$Operations['service.define'] = @{
    mode   = 'apply'; needs = @('name', 'expect_binary_path'); may = $DefinitionKeys
    kind   = 'definition'; name = 'name'
    check  = {
        param($Operation)
        if ($Operation['name'] -match '[\\/]') { throw (New-Failure 'invalid' "'$($Operation['name'])' is no name for a service.") }
    }
    former = {
        param($Operation)
        if (-not (Get-NodeService $Operation['name'])) { return @{ existed = $false } }
        return @{ existed = $true; former = Get-ServiceDefinition $Operation['name'] }
    }
    do     = {
        param($Operation, $Step)
        $name, $expected = $Operation['name'], $Operation['expect_binary_path']
        $created = -not (Get-NodeService $name)
        if ($created) {
            if ($null -ne $expected) { throw (New-Failure 'missing' "There is no service $name.") }
            if (-not $Operation['binary_path']) { throw (New-Failure 'missing' "There is no service $name, and no command line to register it with.") }
        }
        else {
            $found = Get-ServiceDefinition $name
            if (-not (Get-DefinitionDifference $found $Operation)) { return @{ changed = $false; created = $false } }
            if ((Get-RegistryData (Get-ServiceKey $name) 'DeleteFlag') -eq 1) { throw (New-MarkedFailure $name) }
            if ($found['binary_path'] -cne $expected -and $found['binary_path'] -cne $Operation['binary_path']) {
                throw (New-Failure 'conflict' "The command line of $name was changed by somebody else since it was read.")
            }
        }
        $Step.touched = $true
        if ($created) {
            $start = if ($Operation['start_type']) { $StartOptions[$Operation['start_type']] } else { 'demand' }
            Invoke-ServiceControl 'create', $name, 'binPath=', $Operation['binary_path'], 'start=', $start
        }
        Set-ServiceDefinition $name $Operation
        return @{ changed = $true; created = $created }
    }
}

$Kinds['definition'] = @{
    undo = {
        param($Step)
        if (-not $Step.existed) { Remove-NodeService $Step.name; return }
        if (-not (Get-NodeService $Step.name)) { throw (New-Failure 'missing' "There is no service $($Step.name) any more.") }
        Set-ServiceDefinition $Step.name $Step.former
    }
}

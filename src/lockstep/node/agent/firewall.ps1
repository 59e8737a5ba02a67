# Rules of Windows' firewall: read from the registry, because the cmdlets take seconds for it; changed by the cmdlets.

$FirewallRules = 'HKLM\SYSTEM\CurrentControlSet\Services\SharedAccess\Parameters\FirewallPolicy\FirewallRules'

# A rule as the registry has it. Source of the form: [MS-GPFAS] 2.2.2.19, "Firewall Rule and the Firewall Rule Grammar Rule":
# v2.31|Action=Allow|Active=TRUE|Dir=In|Profile=Domain|Protocol=6|LPort=10250|LPort2_10=30000-32767|Name=kubelet|
function Get-FirewallEntry([string]$Name) {
    $text = [string](Get-RegistryData $FirewallRules $Name)
    if (-not $text) { return $null }
    $rule = @{ display_name = $Name; enabled = $false; direction = 'inbound'; action = 'allow'; protocol = 'any' }
    $ports = New-Object Collections.ArrayList
    $profiles = New-Object Collections.ArrayList
    foreach ($field in $text -split '\|') {
        $key, $value = $field -split '=', 2
        switch ($key) {
            'Action' { $rule.action = if ($value -eq 'Block') { 'block' } else { 'allow' } }
            'Active' { $rule.enabled = $value -eq 'TRUE' }
            'Dir' { $rule.direction = if ($value -eq 'Out') { 'outbound' } else { 'inbound' } }
            'Protocol' { $rule.protocol = switch ($value) { '6' { 'tcp' } '17' { 'udp' } default { $value } } }
            'LPort' { [void]$ports.Add($value) }
            'LPort2_10' { [void]$ports.Add($value) }
            'Profile' { [void]$profiles.Add($value) }
            'Name' { $rule.display_name = $value }
        }
    }
    return @{ rule = $rule + @{ local_ports = $ports }; profiles = $profiles }
}

# Create a rule, or change one that is there: what else somebody made it say (addresses, programs) stays.
function Set-FirewallEntry([string]$Name, $Rule, $Profiles, [bool]$Exists) {
    $wanted = @{
        Name = $Name; Direction = $Rule.direction; Action = $Rule.action; Protocol = $Rule.protocol
        Profile = [string[]]@('Any'); LocalPort = [string[]]@('Any'); Enabled = 'False'
    }
    if ($Rule.enabled) { $wanted['Enabled'] = 'True' }
    if ($Rule.local_ports.Count) { $wanted['LocalPort'] = [string[]]@($Rule.local_ports) }
    if ($Profiles.Count) { $wanted['Profile'] = [string[]]@($Profiles) }
    if ($Exists) { Set-NetFirewallRule @wanted -NewDisplayName $Rule.display_name }
    else { [void](New-NetFirewallRule @wanted -DisplayName $Rule.display_name) }
}

function Assert-FirewallCommand {
    if (-not (Get-Command -Name New-NetFirewallRule -ErrorAction Ignore)) {
        throw (New-Failure 'missing' 'This Windows has no New-NetFirewallRule: its module NetSecurity is not there.')
    }
}

function Test-SameRule($One, $Other) {
    foreach ($key in 'display_name', 'enabled', 'direction', 'action', 'protocol') { if ($One[$key] -cne $Other[$key]) { return $false } }
    return (@($One.local_ports | Sort-Object) -join ',') -eq (@($Other.local_ports | Sort-Object) -join ',')
}

function Get-FormerFirewall($Operation) {
    $found = Get-FirewallEntry $Operation['name']
    if (-not $found) { return @{ existed = $false } }
    return @{ existed = $true; rule = $found.rule; profiles = $found.profiles }
}

$Operations['firewall.read'] = @{
    mode = 'read'; needs = @('names'); may = @()
    do   = {
        param($Operation)
        $rules = @{}
        foreach ($name in $Operation['names']) {
            $found = Get-FirewallEntry $name
            $rules[$name] = if ($found) { $found.rule } else { $null }
        }
        return @{ rules = $rules }
    }
}

$Operations['firewall.write'] = @{
    mode   = 'apply'; needs = @('name', 'display_name', 'direction', 'action', 'protocol', 'local_ports'); may = @()
    kind   = 'firewall'; name = 'name'
    former = { param($Operation) Get-FormerFirewall $Operation }
    do     = {
        param($Operation, $Step)
        $found = Get-FirewallEntry $Operation['name']
        $rule = @{ enabled = $true }
        foreach ($key in 'display_name', 'direction', 'action', 'protocol', 'local_ports') { $rule[$key] = $Operation[$key] }
        if ($found -and (Test-SameRule $found.rule $rule)) { return @{ changed = $false } }
        Assert-FirewallCommand
        $Step.touched = $true
        Set-FirewallEntry $Operation['name'] $rule @() ([bool]$found)
        return @{ changed = $true }
    }
}

$Operations['firewall.remove'] = @{
    mode   = 'apply'; needs = @('name'); may = @()
    kind   = 'firewall'; name = 'name'
    former = { param($Operation) Get-FormerFirewall $Operation }
    do     = {
        param($Operation, $Step)
        if (-not (Get-FirewallEntry $Operation['name'])) { return @{ changed = $false } }
        Assert-FirewallCommand
        $Step.touched = $true
        Remove-NetFirewallRule -Name $Operation['name']
        return @{ changed = $true }
    }
}

$Kinds['firewall'] = @{
    undo = {
        param($Step)
        $found = Get-FirewallEntry $Step.name
        if ($Step.existed) {
            if (-not $found -or -not (Test-SameRule $found.rule $Step.rule)) {
                Set-FirewallEntry $Step.name $Step.rule $Step.profiles ([bool]$found)
            }
        }
        elseif ($found) { Remove-NetFirewallRule -Name $Step.name }
    }
}

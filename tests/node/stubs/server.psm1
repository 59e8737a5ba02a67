# What Windows Server has and neither PowerShell for Linux nor the Windows stand-in: the cmdlets of ServerManager, NetSecurity and
# Defender. State is in files of C:\lockstep-stubs; firewall rules are in the registry, the stand-in's or a file's.
Set-StrictMode -Version Latest

$Folder = 'C:\lockstep-stubs'
$FirewallRules = 'HKLM:\SYSTEM\CurrentControlSet\Services\SharedAccess\Parameters\FirewallPolicy\FirewallRules'

function Read-StubState([string]$Name) {
    $path = "$Folder\$Name.json"
    if (-not [IO.File]::Exists($path)) { return @{} }
    [IO.File]::ReadAllText($path) | ConvertFrom-Json -AsHashtable
}

function Write-StubState([string]$Name, $State) {
    if ($IsWindows) { [void][IO.Directory]::CreateDirectory($Folder) }
    [IO.File]::WriteAllText("$Folder\$Name.json", ($State | ConvertTo-Json -Depth 9))
}

# Features: {name: state}, the states as Get-WindowsFeature spells them.
function Get-WindowsFeature {
    $state = Read-StubState features
    foreach ($name in $state.Keys) { [pscustomobject]@{ Name = $name; InstallState = $state[$name] } }
}

function Install-WindowsFeature {
    [CmdletBinding()] param([string[]]$Name, [string]$Source)
    $state = Read-StubState features
    $pending = $false
    foreach ($one in $Name) {
        if ($state[$one] -eq 'Removed' -and -not $Source) {
            throw "The request to add or remove features on the specified server failed.`nInstallation of one or more roles, role services, or features failed.`nThe source files could not be found. Use the `"Source`" option to specify the location of the files. Error: 0x800f081f"
        }
        if ($one -like '*full*') { throw 'There is not enough space on the disk. Error: 0x80070070' }
        if ($one -eq 'Hyper-V-PowerShell') { $state[$one] = 'Installed' } else { $state[$one] = 'InstallPending'; $pending = $true }
    }
    Write-StubState features $state
    [pscustomobject]@{ Success = $true; RestartNeeded = if ($pending) { 'Yes' } else { 'No' }; ExitCode = 'Success' }
}

# One value of the registry; $null removes it.
function Set-StubValue([string]$Key, [string]$Name, $Value) {
    if ($IsWindows) {
        if (-not (Test-Path -LiteralPath $Key)) { [void](New-Item -Path $Key -Force) }
        if ($null -eq $Value) { Microsoft.PowerShell.Management\Remove-ItemProperty -LiteralPath $Key -Name $Name }
        else { Microsoft.PowerShell.Management\Set-ItemProperty -LiteralPath $Key -Name $Name -Value $Value }
        return
    }
    $state = Read-StubState registry
    $known = $Key.Replace('HKLM:', 'HKLM')
    if (-not $state.ContainsKey($known)) { $state[$known] = @{} }
    if ($null -eq $Value) { $state[$known].Remove($Name) } else { $state[$known][$Name] = @{ kind = 'string'; value = $Value } }
    Write-StubState registry $state
}

function Get-StubValue([string]$Key, [string]$Name) {
    if ($IsWindows) {
        if (-not (Test-Path -LiteralPath $Key)) { return $null }
        return (Microsoft.PowerShell.Management\Get-Item -LiteralPath $Key).GetValue($Name)
    }
    $values = (Read-StubState registry)[$Key.Replace('HKLM:', 'HKLM')]
    if ($values -and $values.ContainsKey($Name)) { return $values[$Name].value }
}

# A rule's text by the grammar of [MS-GPFAS] 2.2.2.19; $Rest are the fields that the cmdlets here do not know.
function Join-Rule($Name, $Direction, $Action, $Protocol, $LocalPort, $Profile, $Enabled, [string[]]$Rest) {
    $number = switch ($Protocol) { 'tcp' { '6' } 'udp' { '17' } 'any' { '' } default { $Protocol } }
    $fields = @("Action=$(if ($Action -eq 'block') { 'Block' } else { 'Allow' })", "Active=$(([string]$Enabled).ToUpperInvariant())")
    $fields += "Dir=$(if ($Direction -eq 'outbound') { 'Out' } else { 'In' })"
    $fields += @($Profile | Where-Object { $_ -ne 'Any' } | ForEach-Object { "Profile=$_" })
    if ($number) { $fields += "Protocol=$number" }
    $fields += @($LocalPort | Where-Object { $_ -ne 'Any' } | ForEach-Object { if ($_ -match '-') { "LPort2_10=$_" } else { "LPort=$_" } })
    'v2.31|' + ((@($fields) + @($Rest | Where-Object { $_ }) + "Name=$Name") -join '|') + '|'
}

function New-NetFirewallRule {
    [CmdletBinding()] param($Name, $DisplayName, $Direction, $Action, $Protocol, [string[]]$LocalPort, [string[]]$Profile, $Enabled)
    if (Get-StubValue $FirewallRules $Name) { throw "Cannot create a file when that file already exists." }
    if ($DisplayName -eq 'refused') { throw [ComponentModel.Win32Exception]5 }
    Set-StubValue $FirewallRules $Name (Join-Rule $DisplayName $Direction $Action $Protocol $LocalPort $Profile $Enabled)
    [pscustomobject]@{ Name = $Name }
}

function Set-NetFirewallRule {
    [CmdletBinding()] param($Name, $NewDisplayName, $Direction, $Action, $Protocol, [string[]]$LocalPort, [string[]]$Profile, $Enabled)
    $former = Get-StubValue $FirewallRules $Name
    if (-not $former) { throw "No MSFT_NetFirewallRule objects found with property 'InstanceID' equal to '$Name'." }
    $known = '^(v\d|Action=|Active=|Dir=|Profile=|Protocol=|LPort|Name=)'
    $rest = @($former -split '\|' | Where-Object { $_ -and $_ -notmatch $known })
    Set-StubValue $FirewallRules $Name (Join-Rule $NewDisplayName $Direction $Action $Protocol $LocalPort $Profile $Enabled $rest)
}

function Remove-NetFirewallRule {
    [CmdletBinding()] param($Name)
    if (-not (Get-StubValue $FirewallRules $Name)) { throw "No MSFT_NetFirewallRule objects found with property 'InstanceID' equal to '$Name'." }
    Set-StubValue $FirewallRules $Name $null
}

# Defender: {present, processes, paths, governed}; what is governed by a policy takes nothing, and says nothing of it.
function Get-MpPreference {
    [CmdletBinding()] param()
    $state = Read-StubState defender
    if ($state['present'] -eq $false) { throw 'Operation failed with the following error: 0x800106ba' }
    [pscustomobject]@{ ExclusionProcess = $state['processes']; ExclusionPath = $state['paths'] }
}

function Add-MpPreference {
    [CmdletBinding()] param([string[]]$ExclusionProcess, [string[]]$ExclusionPath)
    $state = Read-StubState defender
    if ($state['governed']) { return }
    $state['processes'] = @($state['processes'] | Where-Object { $_ }) + @($ExclusionProcess | Where-Object { $_ })
    $state['paths'] = @($state['paths'] | Where-Object { $_ }) + @($ExclusionPath | Where-Object { $_ })
    Write-StubState defender $state
}

function Remove-MpPreference {
    [CmdletBinding()] param([string[]]$ExclusionProcess, [string[]]$ExclusionPath)
    $state = Read-StubState defender
    $state['processes'] = @($state['processes'] | Where-Object { $_ -and $_ -notin $ExclusionProcess })
    $state['paths'] = @($state['paths'] | Where-Object { $_ -and $_ -notin $ExclusionPath })
    Write-StubState defender $state
}

Export-ModuleMember -Function Get-WindowsFeature, Install-WindowsFeature, New-NetFirewallRule, Set-NetFirewallRule,
    Remove-NetFirewallRule, Get-MpPreference, Add-MpPreference, Remove-MpPreference

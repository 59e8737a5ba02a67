# What the agent uses of Windows and PowerShell for Linux lacks: services, access lists. State is in files of $env:LOCKSTEP_STUBS,
# one JSON file a service, what services are defined as in the registry (registry.psm1); a service behaves as the first line of its configuration says, as testservice does.
Set-StrictMode -Version Latest

function Read-State([string]$Name) { Get-Content -Raw -LiteralPath "$env:LOCKSTEP_STUBS/$Name.json" | ConvertFrom-Json -AsHashtable }

function Write-State($State) { $State | ConvertTo-Json | Set-Content -LiteralPath "$env:LOCKSTEP_STUBS/$($State.name).json" }

function Test-State([string]$Name) { Test-Path -LiteralPath "$env:LOCKSTEP_STUBS/$Name.json" }

function Get-Defined([string]$Name, [string]$Value) {
    (Get-Item -LiteralPath "HKLM:\SYSTEM\CurrentControlSet\Services\$Name").GetValue($Value, $null, 'DoNotExpandEnvironmentNames')
}

function Get-Now { [DateTimeOffset]::UtcNow.ToUnixTimeMilliseconds() / 1000 }

# A service that was to die has died when somebody looks.
function Update-State([string]$Name) {
    $state = Read-State $Name
    if ($state.state -eq 'Running' -and $state.behaviour[0] -in 'die', 'crash' -and (Get-Now) -ge $state.dies_at) {
        $state.state = 'Stopped'
        $state.process_id = 0
        $state.specific = $state.behaviour[0] -eq 'die'
        $state.exit_code = if ($state.specific) { [int]$state.behaviour[2] } else { 1067 }
        Write-State $state
    }
    $state
}

function Start-State([string]$Name) {
    foreach ($other in @(Get-Defined $Name DependOnService | Where-Object { $_ -and (Test-State $_) })) {
        if ((Update-State $other).state -eq 'Stopped') { Start-State $other }
        if ((Read-State $other).state -eq 'Stopped') { throw [InvalidOperationException]'The dependency service or group failed to start.' }
    }
    $state = Read-State $Name
    $path = ((Get-Defined $Name ImagePath) -split ' service ', 2)[1] -replace '^\S+ ', ''
    $path = if ($path.StartsWith('"')) { ($path -split '"')[1] } else { ($path -split ' ')[0] }
    $state.behaviour = @(([IO.File]::ReadAllText($path) -split "`n")[0] -split ' ')
    $state.process_id = Get-Random -Minimum 5000 -Maximum 60000
    $state.exit_code = 0
    $state.specific = $false
    switch ($state.behaviour[0]) {
        'hang' { $state.state = 'StartPending' }
        'refuse' { $state.state = 'Stopped'; $state.process_id = 0; $state.exit_code = [int]$state.behaviour[1]; $state.specific = $true }
        default {
            $state.state = 'Running'
            if ($state.behaviour[0] -in 'die', 'crash') { $state.dies_at = (Get-Now) + [double]$state.behaviour[1] }
        }
    }
    Write-State $state
}

function Stop-State([string]$Name) {
    $state = Update-State $Name
    if ($state.state -ne 'Running') { throw [InvalidOperationException]"Cannot stop service '$Name' on computer '.'." }
    if ($state.behaviour[0] -eq 'deaf') { $state.state = 'StopPending' } else { $state.state = 'Stopped'; $state.process_id = 0 }
    Write-State $state
}

function New-ServiceObject([string]$Name) {
    $service = [pscustomobject]@{ ServiceName = $Name }
    $service | Add-Member ScriptProperty Status { (Update-State $this.ServiceName).state }
    $service | Add-Member ScriptMethod Refresh { }
    $service | Add-Member ScriptMethod Start { Start-State $this.ServiceName }
    $service | Add-Member ScriptMethod Stop { Stop-State $this.ServiceName }
    $service | Add-Member ScriptProperty DependentServices {
        $all = Get-ChildItem -LiteralPath $env:LOCKSTEP_STUBS -Filter *.json | ForEach-Object { Read-State $_.BaseName }
        @($all | Where-Object { (Get-Defined $_.name DependOnService) -contains $this.ServiceName } | ForEach-Object { New-ServiceObject $_.name })
    }
    $service
}

function Get-Service {
    [CmdletBinding()] param([string]$Name)
    $plain = [WildcardPattern]::Unescape($Name)
    if (Test-State $plain) { return New-ServiceObject $plain }
    $exception = [InvalidOperationException]"Cannot find any service with service name '$plain'."
    $record = [Management.Automation.ErrorRecord]::new($exception, 'NoServiceFoundForGivenName', 'ObjectNotFound', $plain)
    $PSCmdlet.ThrowTerminatingError($record)
}

function Stop-Process {
    [CmdletBinding()] param([int]$Id, [switch]$Force)
    foreach ($file in Get-ChildItem -LiteralPath $env:LOCKSTEP_STUBS -Filter *.json) {
        $state = Read-State $file.BaseName
        if ($state.process_id -eq $Id) { $state.state = 'Stopped'; $state.process_id = 0; $state.exit_code = 1067; Write-State $state; return }
    }
    throw [InvalidOperationException]"Cannot find a process with the process identifier $Id."
}

function Get-ItemProperty {
    [CmdletBinding()] param([string]$LiteralPath)
    if ($LiteralPath -ne 'HKLM:\SOFTWARE\Microsoft\Windows NT\CurrentVersion') { throw "The stub has no $LiteralPath" }
    [pscustomobject]@{
        CurrentMajorVersionNumber = 10; CurrentMinorVersionNumber = 0; CurrentBuildNumber = '20348'; UBR = 2582
        ProductName = 'Windows Server 2022 Datacenter'
    }
}

function Get-CimInstance {
    [CmdletBinding()] param([string]$ClassName, [string[]]$Property, [int]$OperationTimeoutSec)
    $all = @{
        Win32_ComputerSystem = @{ HypervisorPresent = $true; TotalPhysicalMemory = [uint64]17179869184 }
        Win32_Processor      = @{ VirtualizationFirmwareEnabled = $false }
    }
    [pscustomobject]$all[$ClassName]
}

# $env:LOCKSTEP_STUB_OWNER: whose every folder is, where it is not the administrators'; files belong to who writes them.
# Access lists are in a file, by path; what has none there inherits all of its own.
$AccessFile = 'C:\lockstep-stubs\access.json'
$Inherited = '(A;OICIID;FA;;;SY)(A;OICIID;FA;;;BA)(A;OICIID;0x1200a9;;;BU)'

function Read-Access { if ([IO.File]::Exists($AccessFile)) { [IO.File]::ReadAllText($AccessFile) | ConvertFrom-Json -AsHashtable } else { @{} } }

function Get-Acl {
    [CmdletBinding()] param([string]$LiteralPath)
    $owner = 'S-1-5-32-544'
    if ($env:LOCKSTEP_STUB_OWNER -and [IO.Directory]::Exists($LiteralPath)) { $owner = $env:LOCKSTEP_STUB_OWNER }
    $known = Read-Access
    $acl = [pscustomobject]@{ Owner = $owner; Access = if ($known.ContainsKey($LiteralPath)) { $known[$LiteralPath] } else { "D:AI$Inherited" } }
    $acl | Add-Member ScriptMethod GetOwner { [pscustomobject]@{ Value = $this.Owner } }
    $acl | Add-Member ScriptMethod GetSecurityDescriptorSddlForm { $this.Access }
    $acl | Add-Member ScriptMethod SetSecurityDescriptorSddlForm {
        param($sddl, $sections)
        $list = $sddl -replace '^O:[A-Z]{2}', ''
        if ($list -notmatch '^D:(P|AI|AR)*(\(A;([A-Z]{2})*;[^;()]+;;;[^;()]+\))*$') { throw [ArgumentException]'The SDDL form of a security descriptor object is invalid.' }
        $this.Access = $list -replace 'S-1-5-18\)', 'SY)' -replace 'S-1-5-32-544\)', 'BA)' -replace ';0x1f01ff;', ';FA;'
    }
    $acl
}

function Set-Acl {
    [CmdletBinding()] param([string]$LiteralPath, $AclObject)
    if ($env:LOCKSTEP_STUB_DENIED -eq $LiteralPath) { throw [UnauthorizedAccessException]'Attempted to perform an unauthorized operation.' }
    $known = Read-Access
    $list = $AclObject.Access -replace '\([^()]*ID;[^()]*\)', ''
    $known[$LiteralPath] = if ($list -match '^D:[^(]*P') { $list } else { $list + $Inherited }
    [IO.File]::WriteAllText($AccessFile, ($known | ConvertTo-Json))
}

Export-ModuleMember -Function Get-Service, Stop-Process, Get-ItemProperty, Get-CimInstance, Get-Acl, Set-Acl

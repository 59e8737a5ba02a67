# The machine below Windows, and what it waits for. By the registry and .NET where these tell: CIM is slow, and sometimes broken.

$CurrentVersion = 'HKLM\SOFTWARE\Microsoft\Windows NT\CurrentVersion'
# It is kept in memory, so it is gone after a boot.
$BootKey = 'HKLM\SOFTWARE\LockstepBoot'

# What an action gives; $null where it fails, because Windows does not tell then.
function Get-Told([scriptblock]$Action) { try { return & $Action } catch { return $null } }

# ComputerInfo is .NET Framework's: it asks GlobalMemoryStatusEx.
function Get-PhysicalMemory($System) {
    $bytes = Get-Told {
        Add-Type -AssemblyName Microsoft.VisualBasic
        (New-Object Microsoft.VisualBasic.Devices.ComputerInfo).TotalPhysicalMemory
    }
    if ($null -eq $bytes -and $System) { $bytes = $System.TotalPhysicalMemory }
    return $bytes
}

# A key for each logical processor; the number that .NET tells ends at 64.
function Get-ProcessorCount {
    $count = Use-RegistryKey 'HKLM\HARDWARE\DESCRIPTION\System\CentralProcessor' $false { param($Opened) if ($Opened) { $Opened.SubKeyCount } }
    if ($count) { return $count }
    return [Environment]::ProcessorCount
}

function Get-FixedDrive {
    foreach ($drive in [IO.DriveInfo]::GetDrives()) {
        if ([string]$drive.DriveType -ne 'Fixed' -or -not $drive.IsReady -or $drive.Name -notmatch '^[A-Za-z]:\\$') { continue }
        @{ drive = $drive.Name.TrimEnd('\'); size_bytes = $drive.TotalSize; free_bytes = $drive.TotalFreeSpace }
    }
}

# Source: Microsoft's own PendingReboot of ComputerManagementDsc, which asks the same.
function Get-PendingReason {
    $windows = 'HKLM\SOFTWARE\Microsoft\Windows\CurrentVersion'
    $control = 'HKLM\SYSTEM\CurrentControlSet\Control'
    if (Test-RegistryKey "$windows\Component Based Servicing\RebootPending") { 'component_servicing' }
    if (Test-RegistryKey "$windows\WindowsUpdate\Auto Update\RebootRequired") { 'windows_update' }
    if (Get-RegistryData "$control\Session Manager" 'PendingFileRenameOperations' | Where-Object { $_ }) { 'file_renames' }
    $names = 'ActiveComputerName', 'ComputerName' | ForEach-Object { [string](Get-RegistryData "$control\ComputerName\$_" 'ComputerName') }
    if ($names[0] -ne $names[1]) { 'computer_name' }
}

function Get-ShellQuota([string]$Name) { return Get-Told { [long](Get-Item -LiteralPath "WSMan:\localhost\Shell\$Name").Value } }

$Operations['machine.read'] = @{
    mode = 'read'; needs = @(); may = @()
    do   = {
        param($Operation)
        $system = Get-Told { Get-CimInstance -ClassName Win32_ComputerSystem -Property HypervisorPresent, TotalPhysicalMemory -OperationTimeoutSec 20 }
        $processor = Get-Told { Get-CimInstance -ClassName Win32_Processor -Property VirtualizationFirmwareEnabled -OperationTimeoutSec 20 | Select-Object -First 1 }
        $culture = [Globalization.CultureInfo]::InvariantCulture
        return @{
            edition                 = [string](Get-RegistryData $CurrentVersion 'EditionID')
            installation            = [string](Get-RegistryData $CurrentVersion 'InstallationType')
            memory_bytes            = Get-PhysicalMemory $system
            processors              = Get-ProcessorCount
            disks                   = @(Get-FixedDrive)
            hypervisor_present      = if ($system) { $system.HypervisorPresent } else { $null }
            virtualization_firmware = if ($processor) { $processor.VirtualizationFirmwareEnabled } else { $null }
            reboot_pending          = @(Get-PendingReason)
            boot_marker             = Get-RegistryData $BootKey 'marker'
            # TickCount is a signed number of 32 bits, which is below 0 from the 25th day on.
            uptime_ms               = [long][Environment]::TickCount -band 0xFFFFFFFFL
            utc                     = [datetime]::UtcNow.ToString("yyyy-MM-dd'T'HH:mm:ss'Z'", $culture)
            winrm                   = @{
                max_memory_mb = Get-ShellQuota 'MaxMemoryPerShellMB'
                max_processes = Get-ShellQuota 'MaxProcessesPerShell'
                max_shells    = Get-ShellQuota 'MaxShellsPerUser'
            }
        }
    }
}

# shutdown.exe tells by its exit code alone what went wrong in any language. Source of the reason 2:4, "Operating System:
# Reconfiguration": Microsoft Learn, "shutdown" and "System Shutdown Reason Codes".
$Operations['system.restart'] = @{
    mode = 'apply'; needs = @('marker', 'delay_seconds', 'reason'); may = @()
    after_commit = $true
    do   = {
        param($Operation)
        $key = (Get-Hive).CreateSubKey((Get-KeyPath $BootKey), 'Default', 'Volatile')
        try { $key.SetValue('marker', $Operation['marker'], 'String') } finally { $key.Close() }
        # A comment has 512 characters at most.
        $reason = $Operation['reason']
        if ($reason.Length -gt 512) { $reason = $reason.Substring(0, 512) }
        $arguments = '/r', '/t', [string]$Operation['delay_seconds'], '/c', $reason, '/d', 'p:2:4'
        $done = Invoke-Program "$env:SystemRoot\System32\shutdown.exe" $arguments 60
        if ($done.exit_code -eq 0) { return @{ scheduled = $true } }
        Remove-RegistryValue $BootKey 'marker'
        $code = if ($done.exit_code -eq 5) { 'denied' } else { 'io' }
        throw (New-Failure $code "shutdown.exe ended with $($done.exit_code): $(($done.stdout + $done.stderr).Trim())")
    }
}

# Windows itself.

$Operations['system.read'] = @{
    mode = 'read'; needs = @(); may = @()
    do   = {
        param($Operation)
        $version = Get-ItemProperty -LiteralPath 'HKLM:\SOFTWARE\Microsoft\Windows NT\CurrentVersion'
        $numbers = 'CurrentMajorVersionNumber', 'CurrentMinorVersionNumber', 'CurrentBuildNumber', 'UBR' | ForEach-Object { $version.$_ }
        # What GetComputerNameEx calls ComputerNamePhysicalDnsHostname, by which kubelet names its node.
        $hostName = Get-RegistryData 'HKLM\SYSTEM\CurrentControlSet\Services\Tcpip\Parameters' 'Hostname'
        if (-not $hostName) { $hostName = $env:COMPUTERNAME }
        return @{ build = $numbers -join '.'; product = [string]$version.ProductName; computer_name = $env:COMPUTERNAME; host_name = $hostName }
    }
}

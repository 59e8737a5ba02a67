# Windows itself.

$Operations['system.read'] = @{
    mode = 'read'; needs = @(); may = @()
    do   = {
        param($Operation)
        $version = Get-ItemProperty -LiteralPath 'HKLM:\SOFTWARE\Microsoft\Windows NT\CurrentVersion'
        $numbers = 'CurrentMajorVersionNumber', 'CurrentMinorVersionNumber', 'CurrentBuildNumber', 'UBR' | ForEach-Object { $version.$_ }
        return @{ build = $numbers -join '.'; product = [string]$version.ProductName; computer_name = $env:COMPUTERNAME }
    }
}

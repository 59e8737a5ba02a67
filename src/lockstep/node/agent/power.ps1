# The active power scheme: read from the registry, set by powercfg.exe.

$PowerSchemes = 'HKLM\SYSTEM\CurrentControlSet\Control\Power\User\PowerSchemes'
$PowerConfiguration = "$env:SystemRoot\System32\powercfg.exe"

# The GUID of the active scheme in lower case; $null where Windows keeps none.
function Get-PowerScheme {
    $scheme = [string](Get-RegistryData $PowerSchemes 'ActivePowerScheme')
    if (-not $scheme) { return $null }
    return $scheme.Trim('{', '}').ToLowerInvariant()
}

function Set-PowerScheme([string]$Scheme) {
    $done = Invoke-Program $PowerConfiguration @('/setactive', $Scheme) 60
    if ((Get-PowerScheme) -eq $Scheme) { return }
    # It says "Invalid Parameters" of a scheme that is not there as of any other mistake, in the language of Windows.
    $words = ($done.stdout + $done.stderr).Trim()
    if ($done.exit_code -ne 0) { throw (New-Failure 'missing' "Windows has no power scheme $Scheme that it could make the active one: powercfg.exe ended with $($done.exit_code), $words") }
    throw (New-Failure 'io' "powercfg.exe ended well, but the active power scheme is $(Get-PowerScheme): a policy may govern it.")
}

$Operations['power.read'] = @{
    mode = 'read'; needs = @(); may = @()
    do   = { param($Operation) return @{ scheme = Get-PowerScheme } }
}

$Operations['power.write'] = @{
    mode   = 'apply'; needs = @('scheme'); may = @()
    kind   = 'power'; name = { 'the active scheme' }
    former = { param($Operation) return @{ scheme = Get-PowerScheme } }
    do     = {
        param($Operation, $Step)
        if ((Get-PowerScheme) -eq $Operation['scheme']) { return @{ changed = $false } }
        if (-not [IO.File]::Exists($PowerConfiguration)) { throw (New-Failure 'missing' "There is no $PowerConfiguration.") }
        $Step.touched = $true
        Set-PowerScheme $Operation['scheme']
        return @{ changed = $true }
    }
}

$Kinds['power'] = @{
    undo = { param($Step) if ($Step.scheme -and (Get-PowerScheme) -ne $Step.scheme) { Set-PowerScheme $Step.scheme } }
}

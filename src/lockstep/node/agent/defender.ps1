# Microsoft Defender's exclusions: added to those that are there, never taken from them, but for what goes back.

# The exclusions; $null where there is no Defender, or none that tells: it is switched off, or a policy hides them even from
# administrators ("N/A: ..." then stands for the list).
function Get-Exclusion {
    if (-not (Get-Command -Name Get-MpPreference -ErrorAction Ignore)) { return $null }
    try { $found = Get-MpPreference } catch { return $null }
    $processes = @($found.ExclusionProcess | Where-Object { $_ })
    $paths = @($found.ExclusionPath | Where-Object { $_ })
    if (@($processes + $paths | Where-Object { $_ -like 'N/A:*' })) { return $null }
    return @{ processes = $processes; paths = $paths }
}

# Those of an operation that are not there yet.
function Get-NewExclusion($Operation) {
    $found = Get-Exclusion
    if (-not $found) { return $null }
    return @{
        processes = @($Operation['processes'] | Where-Object { $_ -notin $found.processes })
        paths     = @($Operation['paths'] | Where-Object { $_ -notin $found.paths })
    }
}

# The arguments of Add-MpPreference and Remove-MpPreference; empty lists are none.
function Get-ExclusionArgument($Lists) {
    $arguments = @{}
    if ($Lists.processes.Count) { $arguments['ExclusionProcess'] = [string[]]@($Lists.processes) }
    if ($Lists.paths.Count) { $arguments['ExclusionPath'] = [string[]]@($Lists.paths) }
    return $arguments
}

$Operations['defender.read'] = @{
    mode = 'read'; needs = @(); may = @()
    do   = {
        param($Operation)
        $found = Get-Exclusion
        if (-not $found) { return @{ present = $false; processes = @(); paths = @() } }
        return @{ present = $true } + $found
    }
}

$Operations['defender.exclude'] = @{
    mode   = 'apply'; needs = @('processes', 'paths'); may = @()
    kind   = 'exclusions'
    name   = { param($Operation) @($Operation['processes']) + @($Operation['paths']) -join ', ' }
    former = {
        param($Operation)
        $new = Get-NewExclusion $Operation
        if (-not $new) { return @{ processes = @(); paths = @() } }
        return $new
    }
    do     = {
        param($Operation, $Step)
        $new = Get-NewExclusion $Operation
        if (-not $new) { throw (New-Failure 'missing' 'There is no Microsoft Defender here, or it does not tell its exclusions.') }
        $arguments = Get-ExclusionArgument $new
        if (-not $arguments.Count) { return @{ changed = $false } }
        $Step.touched = $true
        Add-MpPreference @arguments
        $left = Get-NewExclusion $Operation
        $ignored = @(if ($left) { $left.processes; $left.paths })
        if ($ignored) {
            throw (New-Failure 'denied' "Microsoft Defender did not take these exclusions, because a policy or its tamper protection governs them: $($ignored -join ', ').")
        }
        return @{ changed = $true }
    }
}

$Kinds['exclusions'] = @{
    undo = {
        param($Step)
        $found = Get-Exclusion
        if (-not $found) { return }
        $arguments = Get-ExclusionArgument @{
            processes = @($Step.processes | Where-Object { $_ -in $found.processes })
            paths     = @($Step.paths | Where-Object { $_ -in $found.paths })
        }
        if ($arguments.Count) { Remove-MpPreference @arguments }
    }
}

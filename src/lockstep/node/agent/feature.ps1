# Features of Windows Server, by the cmdlets that only Windows Server has.

$FeatureStates = @{
    Installed = 'installed'; Available = 'available'; Removed = 'removed'
    InstallPending = 'install_pending'; UninstallPending = 'uninstall_pending'
}

# All features by name. None where this Windows has no such cmdlet: a client, or a server without ServerManager.
# Not by -Name: asked for all, a name that Windows does not know is no error, and an error is one of Windows.
function Get-FeatureTable {
    $table = @{}
    if (-not (Get-Command -Name Get-WindowsFeature -ErrorAction Ignore)) { return $table }
    foreach ($feature in Get-WindowsFeature) { $table[$feature.Name] = [string]$feature.InstallState }
    return $table
}

# What Windows says of a failed installation, with the code of the contract and what to do about it.
function New-FeatureFailure([string[]]$Names, [string]$Words) {
    $list = $Names -join ', '
    # CBS_E_SOURCE_MISSING, CBS_E_DOWNLOAD_FAILURE, CBS_E_GROUPPOLICY_DISALLOWED. Source: Microsoft Learn, "Configure a Windows
    # Repair Source".
    if ($Words -match '0x800f081f|0x800f0906|0x800f0907') {
        return New-Failure 'missing' "The files of $list are not on this node, and Windows Update does not give them: name a -Source, such as the sources\sxs folder of this build's medium. Windows said: $Words"
    }
    # ERROR_DISK_FULL
    if ($Words -match '0x80070070') { return New-Failure 'no_space' "There is no space for ${list}: $Words" }
    if ($Words -match '0x80070005') { return New-Failure 'denied' "Installing $list was refused: $Words" }
    return New-Failure 'io' "Windows did not install ${list}: $Words"
}

$Operations['feature.read'] = @{
    mode = 'read'; needs = @('names'); may = @()
    do   = {
        param($Operation)
        $table = Get-FeatureTable
        $features = @{}
        foreach ($name in $Operation['names']) {
            $features[$name] = 'unknown'
            if ($table.ContainsKey($name)) { $features[$name] = $FeatureStates[$table[$name]] }
        }
        return @{ features = $features }
    }
}

# What is installed stays when the transaction is taken back: to remove a feature takes a restart, and harms nobody by being there.
$Operations['feature.install'] = @{
    mode = 'apply'; needs = @('names'); may = @('source')
    do   = {
        param($Operation)
        if (-not (Get-Command -Name Install-WindowsFeature -ErrorAction Ignore)) {
            throw (New-Failure 'missing' 'This Windows has no Install-WindowsFeature: only Windows Server has.')
        }
        $table = Get-FeatureTable
        $unknown = @($Operation['names'] | Where-Object { -not $table.ContainsKey($_) })
        if ($unknown) { throw (New-Failure 'missing' "This Windows has no feature $($unknown -join ', ').") }
        $states = @($Operation['names'] | ForEach-Object { $table[$_] })
        $open = @($Operation['names'] | Where-Object { $table[$_] -notin 'Installed', 'InstallPending' })
        if (-not $open) { return @{ changed = $false; restart_needed = $states -contains 'InstallPending' } }
        $wanted = @{ Name = [string[]]$open; WarningAction = 'SilentlyContinue' }
        if ($Operation['source']) { $wanted['Source'] = $Operation['source'] }
        try { $done = Install-WindowsFeature @wanted }
        catch { throw (New-FeatureFailure $open (Get-FeatureWords $_)) }
        if (-not $done.Success) { throw (New-FeatureFailure $open "exit code $($done.ExitCode)") }
        # Maybe counts as yes: that is what Windows says where it cannot know.
        $restart = [string]$done.RestartNeeded -ne 'No' -or $states -contains 'InstallPending'
        return @{ changed = $true; restart_needed = $restart }
    }
}

# The words of an error, and the number that Windows keeps beside them.
function Get-FeatureWords($Record) {
    $exception = Get-InnermostException $Record.Exception
    $words = $exception.Message.Trim()
    $number = '0x{0:x8}' -f $exception.HResult
    if ($words -notmatch '0x[0-9a-fA-F]{8}' -and $number -notlike '0x8013*') { $words = "$words ($number)" }
    return $words
}

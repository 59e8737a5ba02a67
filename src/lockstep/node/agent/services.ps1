# Services: their state, stops and restarts with those that depend on them.

$ServiceStates = @{ Running = 'running'; Stopped = 'stopped'; StartPending = 'start_pending'; StopPending = 'stop_pending'; Paused = 'paused' }
$ServiceControl = "$env:SystemRoot\System32\sc.exe"

function Get-NodeService([string]$Name) {
    try { return Get-Service -Name ([WildcardPattern]::Escape($Name)) }
    catch {
        if ($_.FullyQualifiedErrorId -like 'NoServiceFoundForGivenName*') { return $null }
        throw
    }
}

function Get-BinaryPath([string]$Name) { return [string](Get-RegistryData (Get-ServiceKey $Name) 'ImagePath') }

# By sc.exe, because 5.1 gives a service's process and exit code through CIM only. Its words are translated, their order is not.
function Get-ServiceProcess([string]$Name) {
    $output = (Invoke-Program $ServiceControl @('queryex', $Name) 30).stdout
    $codes = [regex]::Matches($output, ':\s*(\d+)\s+\(0x[0-9a-fA-F]+\)')
    $exitCode = 0
    if ($codes.Count -gt 0) { $exitCode = [long]$codes[0].Groups[1].Value }
    # ERROR_SERVICE_SPECIFIC_ERROR: the service's own code comes next.
    if ($exitCode -eq 1066 -and $codes.Count -gt 1) { $exitCode = [long]$codes[1].Groups[1].Value }
    $processId = 0
    if ($output -match 'PID\s*:\s*(\d+)') { $processId = [int]$Matches[1] }
    elseif ([string](Get-NodeService $Name).Status -ne 'Stopped') {
        # An sc.exe that tells no PID (Wine's): the newest process of the service's program.
        $program = Get-ProgramPath (Get-BinaryPath $Name)
        $process = Get-Process | Where-Object { $_.Path -eq $program } | Sort-Object StartTime | Select-Object -Last 1
        if ($process) { $processId = $process.Id }
    }
    return @{ process_id = $processId; exit_code = $exitCode }
}

# Wait for one of the states, at most to the limit; the state at the end.
function Wait-Service($Service, [string[]]$States, [double]$Seconds) {
    $watch = [Diagnostics.Stopwatch]::StartNew()
    while ($true) {
        $Service.Refresh()
        $state = [string]$Service.Status
        if ($state -in $States -or $watch.Elapsed.TotalSeconds -ge $Seconds) { return $state }
        Start-Sleep -Milliseconds 50
    }
}

function Stop-NodeService($Service, [double]$Seconds, [bool]$Force) {
    $name = $Service.ServiceName
    # A service that is just starting or stopping takes no order.
    $state = Wait-Service $Service @('Running', 'Stopped', 'Paused') $Seconds
    if ($state -in 'Running', 'Paused') {
        try { $Service.Stop() }
        catch { if ((Wait-Service $Service @('Stopped', 'StopPending') 0) -notin 'Stopped', 'StopPending') { throw } }
        $state = Wait-Service $Service @('Stopped') $Seconds
    }
    if ($state -eq 'Stopped') { return }
    if (-not $Force) { throw (New-Failure 'timeout' "$name did not stop within $Seconds s: it is $($ServiceStates[$state]).") }
    $processId = (Get-ServiceProcess $name).process_id
    if ($processId) { Stop-Process -Id $processId -Force }
    if ((Wait-Service $Service @('Stopped') 10) -ne 'Stopped') {
        throw (New-Failure 'timeout' "$name did not stop within $Seconds s, and ending its process $processId did not help.")
    }
}

function New-ServiceFailure($Name, [string]$What, $Seconds) {
    $exitCode = (Get-ServiceProcess $Name).exit_code
    $more = @{ exit_code = $exitCode }
    if ($null -ne $Seconds) { $more['after_seconds'] = [math]::Round($Seconds, 1) }
    return New-Failure 'service_failed' "$Name $What, with exit code $exitCode." $more
}

# What keeps a service from starting: those that it depends on and that do not run, as a part of a sentence.
function Get-NotRunning([string]$Name) {
    $found = ''
    # A name with a plus sign is a group's.
    foreach ($other in (Get-ServiceDefinition $Name)['depends_on'] | Where-Object { $_ -notlike '+*' }) {
        $service = Get-NodeService $other
        if (-not $service) { $found += " (it depends on $other, which is not registered)" }
        elseif ([string]$service.Status -ne 'Running') {
            $found += " (it depends on $other, which is $($ServiceStates[[string]$service.Status]), exit code $((Get-ServiceProcess $other).exit_code))"
        }
    }
    return $found
}

function Start-NodeService($Service, [double]$Seconds, [double]$Settle) {
    $name = $Service.ServiceName
    try { $Service.Start() }
    catch {
        $reason = Get-Failure $_
        if ($reason.code -eq 'denied') { throw }
        # It may run by now: a recovery action, or another service that needs it, started it.
        if ((Wait-Service $Service @() 0) -notin 'Running', 'StartPending') {
            throw (New-ServiceFailure $name "did not start: $($reason.message.TrimEnd('.'))$(Get-NotRunning $name)" $null)
        }
    }
    $state = Wait-Service $Service @('Running', 'Stopped') $Seconds
    if ($state -eq 'Stopped') { throw (New-ServiceFailure $name 'did not start: it stopped' $null) }
    if ($state -ne 'Running') { throw (New-Failure 'timeout' "$name did not come up within $Seconds s: it is $($ServiceStates[$state]).") }
    $watch = [Diagnostics.Stopwatch]::StartNew()
    $first = $null
    if ($Settle -gt 0) { $first = (Get-ServiceProcess $name).process_id }
    $state = Wait-Service $Service @('Stopped', 'StopPending') ($Settle - $watch.Elapsed.TotalSeconds)
    if ($state -ne 'Running') {
        $up = $watch.Elapsed.TotalSeconds
        [void](Wait-Service $Service @('Stopped') 5)
        throw (New-ServiceFailure $name "stopped $([math]::Round($up, 1)) s after it had started" $up)
    }
    # Windows' recovery actions may have started it anew between two looks.
    $last = (Get-ServiceProcess $name).process_id
    if ($null -ne $first -and $first -ne $last) {
        throw (New-ServiceFailure $name "did not stay up for $Settle s: its process ended, and Windows started another" $watch.Elapsed.TotalSeconds)
    }
    return $last
}

# Restart a service and those of $Names (they depend on it); process id of the service and names of the dependents.
function Restart-NodeService([string]$Name, [string[]]$Names, [double]$Seconds, [double]$Settle, [bool]$Force) {
    $service = Get-NodeService $Name
    if (-not $service) { throw (New-Failure 'missing' "There is no service $Name.") }
    $dependents = @($service.DependentServices | Where-Object { [string]$_.Status -ne 'Stopped' -or $_.ServiceName -in $Names })
    foreach ($dependent in $dependents) { Stop-NodeService $dependent $Seconds $Force }
    Stop-NodeService $service $Seconds $Force
    $processId = Start-NodeService $service $Seconds $Settle
    # Windows lists dependents in the order of stopping.
    [array]::Reverse($dependents)
    foreach ($dependent in $dependents) {
        $dependent.Refresh()
        if ([string]$dependent.Status -eq 'Stopped') { [void](Start-NodeService $dependent $Seconds 0) }
    }
    return @{ process_id = $processId; dependents = @($dependents | ForEach-Object { $_.ServiceName }) }
}

$Operations['service.read'] = @{
    mode = 'read'; needs = @('name'); may = @()
    do   = {
        param($Operation)
        $name = $Operation['name']
        $service = Get-NodeService $name
        if (-not $service) { return @{ exists = $false } }
        $state = $ServiceStates[[string]$service.Status]
        if (-not $state) { $state = 'other' }
        $definition = Get-ServiceDefinition $name
        # A text of a DLL, `@%SystemRoot%\...dll,-1`: Windows finds it.
        if ($definition['display_name'].StartsWith('@')) { $definition['display_name'] = $service.DisplayName }
        return @{ exists = $true; state = $state } + $definition + (Get-ServiceProcess $name)
    }
}

# What ran, and is to run again: the service and those that depend on it.
function Get-FormerRun($Operation) {
    $service = Get-NodeService $Operation['name']
    $running = $service -and [string]$service.Status -ne 'Stopped'
    $dependents = @(if ($service) { $service.DependentServices | Where-Object { [string]$_.Status -ne 'Stopped' } | ForEach-Object { $_.ServiceName } })
    $settle = if ($Operation.ContainsKey('settle_seconds')) { $Operation['settle_seconds'] } else { 0 }
    return @{ running = [bool]$running; dependents = $dependents; seconds = $Operation['timeout_seconds']; settle = $settle }
}

$Operations['service.stop'] = @{
    mode   = 'apply'; needs = @('name', 'timeout_seconds'); may = @()
    kind   = 'restart'; name = 'name'
    former = { param($Operation) Get-FormerRun $Operation }
    do     = {
        param($Operation, $Step)
        $service = Get-NodeService $Operation['name']
        if (-not $service) { throw (New-Failure 'missing' "There is no service $($Operation['name']).") }
        $dependents = @($service.DependentServices | Where-Object { [string]$_.Status -ne 'Stopped' })
        $running = [string]$service.Status -ne 'Stopped'
        $Step.touched = $true
        foreach ($dependent in $dependents) { Stop-NodeService $dependent $Operation['timeout_seconds'] $false }
        Stop-NodeService $service $Operation['timeout_seconds'] $false
        return @{ changed = $running; stopped_dependents = @($dependents | ForEach-Object { $_.ServiceName }) }
    }
}

$Operations['service.restart'] = @{
    mode   = 'apply'; needs = @('name', 'timeout_seconds', 'settle_seconds'); may = @()
    kind   = 'restart'; name = 'name'
    former = { param($Operation) Get-FormerRun $Operation }
    do     = {
        param($Operation, $Step)
        $Step.touched = $true
        $done = Restart-NodeService $Operation['name'] $Step.dependents $Operation['timeout_seconds'] $Operation['settle_seconds'] $false
        return @{ process_id = $done.process_id; restarted_dependents = $done.dependents }
    }
}

$Kinds['restart'] = @{
    # A service comes back up on top of the files and definitions that it reads.
    last  = $true
    renew = @('seconds', 'settle')
    undo  = {
        param($Step)
        $service = Get-NodeService $Step.name
        if (-not $service) { return }
        if ($Step.running) { [void](Restart-NodeService $Step.name $Step.dependents $Step.seconds $Step.settle $true) }
        else { Stop-NodeService $service $Step.seconds $true }
    }
}

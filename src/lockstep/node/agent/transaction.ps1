# An apply: all of its operations or none, by way of the journal.

# What a journal step is about.
function Get-Subject($Rule, $Operation) {
    if ($Rule['name'] -is [scriptblock]) { return & $Rule['name'] $Operation }
    return $Operation[$Rule['name']]
}

function Find-Step($Journal, [string]$Kind, [string]$Name) {
    return $Journal.steps | Where-Object { $_.kind -eq $Kind -and $_.name -eq $Name } | Select-Object -First 1
}

# The former state of what an operation changes: one step or more, none for one that changes nothing to put back.
function Get-FormerStep($Operation) {
    $rule = $Operations[$Operation['op']]
    if (-not $rule['former']) { return }
    foreach ($former in & $rule['former'] $Operation) {
        $step = @{ kind = $rule['kind']; name = Get-Subject $rule $Operation; touched = $false }
        foreach ($key in $former.Keys) { $step[$key] = $former[$key] }
        $step
    }
}

# Do what the kind of a step has for this moment, if anything.
function Invoke-Kind([string]$Moment, $Step, $Journal) {
    $action = $Kinds[$Step.kind][$Moment]
    if ($action) { & $action $Step $Journal }
}

# Go back to the former state: in reverse order, then what comes last, on top of the rest.
function Undo-Transaction([string]$Path, $Journal) {
    $problems = New-Object Collections.ArrayList
    $rejected = New-Object Collections.ArrayList
    $steps = @($Journal.steps | Where-Object { $_.touched })
    [array]::Reverse($steps)
    foreach ($step in @($steps | Where-Object { -not $Kinds[$_.kind]['last'] }) + @($steps | Where-Object { $Kinds[$_.kind]['last'] })) {
        try { foreach ($kept in Invoke-Kind 'undo' $step $Journal) { if ($kept) { [void]$rejected.Add($kept) } } }
        catch { [void]$problems.Add("$($step.kind) $($step.name): $((Get-Failure $_).message)") }
    }
    if (-not $problems.Count) {
        try { Remove-File $Path } catch { [void]$problems.Add((Get-Failure $_).message) }
    }
    return @{ rolled_back = -not $problems.Count; rollback_errors = $problems; rejected = $rejected }
}

# The transaction is decided: keep or drop what was there before. Safe to repeat. Returns the backups.
function Complete-Transaction([string]$Path, $Journal) {
    $backups = New-Object Collections.ArrayList
    foreach ($step in $Journal.steps) {
        foreach ($backup in Invoke-Kind 'finish' $step $Journal) { [void]$backups.Add($backup) }
    }
    Remove-File "$Path.lockstep-mid"
    Remove-File $Path
    return , $backups
}

# The journal that holds from here on: what an interrupted apply left, and the former state of what else is about to change.
function Start-Transaction([string]$Path, $Wanted) {
    Assert-JournalFolder
    $journal = Read-Journal $Path
    if ($journal -and $journal.phase -eq 'committed') {
        [void](Complete-Transaction $Path $journal)
        $journal = $null
    }
    if (-not $journal) { $journal = @{ steps = (New-Object Collections.ArrayList) } }
    foreach ($step in $journal.steps) {
        $step.touched = $true
        [void](Invoke-Kind 'resume' $step $journal)
    }
    $journal.phase = 'applying'
    $journal.time = Get-Time
    foreach ($operation in $Wanted) {
        foreach ($new in Get-FormerStep $operation) {
            $known = Find-Step $journal $new.kind $new.name
            if ($known) { foreach ($key in $Kinds[$new.kind]['renew']) { if ($new.ContainsKey($key)) { $known[$key] = $new[$key] } } }
            else {
                [void](Invoke-Kind 'admit' $new $journal)
                [void]$journal.steps.Add($new)
            }
        }
    }
    Write-Journal $Path $journal
    return $journal
}

function Invoke-Operation($Operation, $Journal) {
    $rule = $Operations[$Operation['op']]
    $step = $null
    if ($rule['kind']) { $step = Find-Step $Journal $rule['kind'] (Get-Subject $rule $Operation) }
    return & $rule['do'] $Operation $step $Journal
}

# Do the operations before the commit, or those after it; whether all went well. Where one failed, its result is the last.
function Invoke-Operations($Request, $Journal, $Results, [bool]$AfterCommit) {
    foreach ($operation in $Request['operations'] | Where-Object { [bool]$Operations[$_['op']]['after_commit'] -eq $AfterCommit }) {
        try { [void]$Results.Add(@{ op = $operation['op']; ok = $true } + (Invoke-Operation $operation $Journal)) }
        catch {
            [void]$Results.Add(@{ op = $operation['op']; ok = $false; error = Get-Failure $_ })
            return $false
        }
    }
    return $true
}

function Invoke-Apply($Request) {
    $path = Get-JournalPath $Request['transaction']
    $results = New-Object Collections.ArrayList
    $response = @{ ok = $false; results = $results }
    try { $journal = Start-Transaction $path $Request['operations'] }
    catch { return $response + @{ error = Get-Failure $_; rolled_back = $true } }
    if (-not (Invoke-Operations $Request $journal $results $false)) {
        return $response + @{ failed_step = $results.Count - 1 } + (Undo-Transaction $path $journal)
    }
    try {
        $journal.phase = 'committed'
        Write-Journal $path $journal
    }
    catch { return $response + @{ error = Get-Failure $_ } + (Undo-Transaction $path $journal) }
    try { $backups = Complete-Transaction $path $journal }
    catch {
        $failure = Get-Failure $_
        $failure.message = 'Everything was applied, but what was there before could not be cleared away: ' + $failure.message
        return $response + @{ error = $failure; rolled_back = $false }
    }
    $response = $response + @{ backups = $backups }
    if (-not (Invoke-Operations $Request $journal $results $true)) {
        return $response + @{ failed_step = $results.Count - 1; rolled_back = $false; rollback_errors = @(); rejected = @() }
    }
    $response.ok = $true
    return $response
}

$Operations['transaction.read'] = @{
    mode = 'read'; needs = @('name'); may = @()
    do   = {
        param($Operation)
        $journal = Get-JournalPath $Operation['name']
        return @{ pending = [IO.File]::Exists($journal) -or [IO.File]::Exists("$journal.lockstep-new") }
    }
}

# The request: refused as a whole, or carried out; the answer is the last thing that the agent does.

# The session has checked every value against the contract; here is refused what this agent does not know, before anything is done.
function Assert-Request($Request) {
    if ($Request['mode'] -notin 'read', 'apply') { throw (New-Failure 'invalid' "Unknown mode '$($Request['mode'])'.") }
    if ($Request['mode'] -eq 'apply' -and [string]$Request['transaction'] -notmatch '^[a-z0-9][a-z0-9-]{0,62}$') {
        throw (New-Failure 'invalid' 'apply needs the name of a transaction.')
    }
    if (-not $Request['operations']) { throw (New-Failure 'invalid' 'There are no operations.') }
    $left = $Request['operations'].Count
    foreach ($operation in $Request['operations']) {
        $left--
        $op = [string]$operation['op']
        $rule = $Operations[$op]
        if (-not $rule -or $rule.mode -ne $Request['mode']) { throw (New-Failure 'invalid' "'$op' is no operation of mode $($Request['mode']).") }
        foreach ($key in $rule.needs) { if (-not $operation.ContainsKey($key)) { throw (New-Failure 'invalid' "$op needs $key.") } }
        foreach ($key in $operation.Keys) {
            if ($key -notin (@('op') + $rule.needs + $rule.may)) { throw (New-Failure 'invalid' "$op does not know $key.") }
        }
        if ($rule['after_commit'] -and $left) { throw (New-Failure 'invalid' "$op must be the last operation.") }
        if ($rule['check']) { & $rule['check'] $operation }
    }
}

function Invoke-Read($Request) {
    $results = New-Object Collections.ArrayList
    foreach ($operation in $Request['operations']) {
        $op = $operation['op']
        try { [void]$results.Add(@{ op = $op; ok = $true } + (& $Operations[$op]['do'] $operation)) }
        catch { [void]$results.Add(@{ op = $op; ok = $false; error = Get-Failure $_ }) }
    }
    return @{ ok = $true; results = $results }
}

# One apply of a name at a time: an agent whose connection was lost may still be at work. Windows gives the mutex back when its owner dies.
function Invoke-Alone([string]$Name, [scriptblock]$Action) {
    $mutex = New-Object Threading.Mutex $false, "Global\lockstep-$Name"
    try {
        try { $mine = $mutex.WaitOne(30000) } catch [Threading.AbandonedMutexException] { $mine = $true }
        if (-not $mine) { throw (New-Failure 'in_use' "Another apply of $Name has been at work on this node for 30 s: let it end, then run again.") }
        try { return & $Action } finally { $mutex.ReleaseMutex() }
    }
    finally { $mutex.Dispose() }
}

$mode = 'read'
try {
    $request = ConvertFrom-JsonElement $Element
    if ($request['mode'] -eq 'apply') { $mode = 'apply' }
    Assert-Request $request
    if ($mode -eq 'read') { $response = Invoke-Read $request }
    else { $response = Invoke-Alone $request['transaction'] { Invoke-Apply $request } }
}
catch { $response = @{ ok = $false; results = @(); error = Get-Failure $_ } }
'-----BEGIN LOCKSTEP RESPONSE-----'
ConvertTo-JsonText (@{ contract = 1; mode = $mode } + $response)
'-----END LOCKSTEP RESPONSE-----'

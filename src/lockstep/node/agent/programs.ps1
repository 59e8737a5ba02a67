# Programs: run to their end, told what they said.

# One argument as CommandLineToArgvW and the C runtime read it: .NET Framework has no list of arguments to give instead.
function ConvertTo-Argument([string]$Text) {
    if ($Text -match '^[^\s"]+$') { return $Text }
    return '"' + ($Text -replace '(\\*)"', '$1$1\"' -replace '(\\+)$', '$1$1') + '"'
}

# Run a program to its end or to the time limit. Of its output the first mebibyte of characters is kept, the rest is read and dropped.
function Invoke-Program([string]$Path, $Arguments, [double]$Seconds) {
    $start = New-Object Diagnostics.ProcessStartInfo
    $start.FileName = $Path
    $start.Arguments = @($Arguments | ForEach-Object { ConvertTo-Argument $_ }) -join ' '
    $start.UseShellExecute = $false
    $start.CreateNoWindow = $true
    $start.RedirectStandardInput = $true
    $start.RedirectStandardOutput = $true
    $start.RedirectStandardError = $true
    $start.StandardOutputEncoding = New-Object Text.UTF8Encoding $false
    $start.StandardErrorEncoding = $start.StandardOutputEncoding
    $watch = [Diagnostics.Stopwatch]::StartNew()
    $process = [Diagnostics.Process]::Start($start)
    try {
        $process.StandardInput.Close()
        $readers = $process.StandardOutput, $process.StandardError
        $buffers = (New-Object char[] 65536), (New-Object char[] 65536)
        $texts = (New-Object Text.StringBuilder), (New-Object Text.StringBuilder)
        $tasks = New-Object Threading.Tasks.Task[] 2
        foreach ($i in 0, 1) { $tasks[$i] = $readers[$i].ReadAsync($buffers[$i], 0, 65536) }
        $open = New-Object Collections.ArrayList (, @(0, 1))
        $grace = $null
        while ($open.Count -and $watch.Elapsed.TotalSeconds -lt $Seconds) {
            # A program that ended may have left a child that holds its output open: that is not waited for.
            if ($process.HasExited) {
                if ($null -eq $grace) { $grace = [Diagnostics.Stopwatch]::StartNew() }
                if ($grace.Elapsed.TotalSeconds -gt 2) { break }
            }
            $waiting = [Threading.Tasks.Task[]]@($open | ForEach-Object { $tasks[$_] })
            $first = [Threading.Tasks.Task]::WaitAny($waiting, 50)
            if ($first -lt 0) { continue }
            $i = $open[$first]
            $count = $tasks[$i].Result
            if ($count -eq 0) { $open.RemoveAt($first); continue }
            if ($texts[$i].Length -lt 1MB) { [void]$texts[$i].Append($buffers[$i], 0, $count) }
            $tasks[$i] = $readers[$i].ReadAsync($buffers[$i], 0, 65536)
        }
        $left = [int][math]::Max(0, ($Seconds - $watch.Elapsed.TotalSeconds) * 1000)
        $ended = $process.WaitForExit($left)
        if (-not $ended) {
            try { $process.Kill() } catch { if (-not $process.HasExited) { throw } }
            [void]$process.WaitForExit(5000)
        }
        foreach ($i in 0, 1) { if ($texts[$i].Length -gt 1MB) { $texts[$i].Length = 1MB } }
        $exitCode = if ($process.HasExited) { $process.ExitCode } else { -1 }
        return @{ exit_code = $exitCode; stdout = $texts[0].ToString(); stderr = $texts[1].ToString(); timed_out = -not $ended }
    }
    finally { $process.Dispose() }
}

# The same of a program that was asked for; where Windows cannot start it, the error names it: Windows' own words do not.
function Invoke-Asked([string]$Path, $Arguments, [double]$Seconds) {
    try { return Invoke-Program $Path $Arguments $Seconds }
    catch {
        $failure = Get-Failure $_
        throw (New-Failure $failure.code "$Path cannot be run: $($failure.message)")
    }
}

# The program that a command line names: quoted, or up to `.exe`, or the first word.
function Get-ProgramPath([string]$CommandLine) {
    $text = [Environment]::ExpandEnvironmentVariables($CommandLine.Trim()) -replace '^\\\?\?\\', '' -replace '^\\SystemRoot\\', "$env:SystemRoot\"
    if ($text -match '^"([^"]*)"') { return $Matches[1] }
    if ($text -match '^(.*?\.exe)(\s|$)') { return $Matches[1] }
    return ($text -split '\s', 2)[0]
}

# The full path of the program of `program.run` and `program.check`, or $null when it is not there.
function Resolve-Program($Operation) {
    $path = $Operation['path']
    if ($null -eq $path) {
        if (-not (Get-NodeService $Operation['service'])) { return $null }
        $path = Get-ProgramPath (Get-BinaryPath $Operation['service'])
        if ($Operation['sibling']) { $path = (Get-Parent $path) + '\' + $Operation['sibling'] }
    }
    if ([IO.File]::Exists($path)) { return $path }
    return $null
}

$Operations['program.run'] = @{
    mode = 'read'; needs = @('timeout_seconds'); may = @('path', 'service', 'sibling', 'arguments')
    do   = {
        param($Operation)
        $program = Resolve-Program $Operation
        if (-not $program) { return @{ found = $false } }
        $done = Invoke-Asked $program $Operation['arguments'] $Operation['timeout_seconds']
        if ($done.stderr.Length -gt 64KB) { $done.stderr = $done.stderr.Substring(0, 64KB) }
        return @{ found = $true; program = $program } + $done
    }
}

$Operations['program.check'] = @{
    mode = 'apply'; needs = @('timeout_seconds', 'must_contain'); may = @('path', 'service', 'sibling', 'arguments')
    do   = {
        param($Operation)
        $watch = [Diagnostics.Stopwatch]::StartNew()
        for ($attempts = 1; ; $attempts++) {
            $program = Resolve-Program $Operation
            if (-not $program) {
                $named = @($Operation['path'], $Operation['service'], $Operation['sibling'] | Where-Object { $_ }) -join ' '
                throw (New-Failure 'missing' "There is no program $named")
            }
            $left = [math]::Max(1, $Operation['timeout_seconds'] - $watch.Elapsed.TotalSeconds)
            $done = Invoke-Asked $program $Operation['arguments'] $left
            $absent = @($Operation['must_contain'] | Where-Object { -not $done.stdout.Contains($_) })
            if ($done.exit_code -eq 0 -and -not $done.timed_out -and -not $absent) { return @{ attempts = $attempts } }
            if ($watch.Elapsed.TotalSeconds + 0.5 -ge $Operation['timeout_seconds']) { break }
            Start-Sleep -Milliseconds 500
        }
        $reason = "ended with exit code $($done.exit_code)"
        if ($done.timed_out) { $reason = 'did not end in time' }
        elseif ($done.exit_code -eq 0) { $reason = "does not show $($absent -join ', ')" }
        $output = ($done.stdout + $done.stderr).Trim()
        if ($output.Length -gt 4000) { $output = $output.Substring($output.Length - 4000) }
        $more = @{ exit_code = $done.exit_code; output = $output }
        throw (New-Failure 'check_failed' "$program $reason, after $attempts attempts in $($Operation['timeout_seconds']) s." $more)
    }
}

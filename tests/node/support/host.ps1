# Runs commands one after the other, each in a runspace of its own with standard input as $input: as a PSRP host does, and without
# the second that a PowerShell takes to start. One JSON order a line in, one JSON answer a line out.
# A command may interrupt itself: it sets $TripWire and sleeps; nothing of it runs after that, as when its process dies.
param([Parameter(ValueFromRemainingArguments)][string[]]$Stubs)
$state = [Management.Automation.Runspaces.InitialSessionState]::CreateDefault2()
$state.ImportPSModule($Stubs)
while ($null -ne ($line = [Console]::In.ReadLine())) {
    $order = $line | ConvertFrom-Json
    [Environment]::CurrentDirectory = $order.folder
    foreach ($name in $order.environment.PSObject.Properties) { [Environment]::SetEnvironmentVariable($name.Name, $name.Value) }
    $wire = [Threading.ManualResetEvent]::new($false)
    $runspace = [runspacefactory]::CreateRunspace($state)
    $runspace.Open()
    [void]$runspace.SessionStateProxy.Path.SetLocation($order.folder)
    $runspace.SessionStateProxy.SetVariable('TripWire', $wire)
    $shell = [powershell]::Create()
    $shell.Runspace = $runspace
    $null = $shell.AddScript($order.script)
    $given = [Management.Automation.PSDataCollection[psobject]]::new()
    foreach ($text in $order.input) { $given.Add($text) }
    $given.Complete()
    $output = [Management.Automation.PSDataCollection[psobject]]::new()
    $running = $shell.BeginInvoke($given, $output)
    $tripped = [Threading.WaitHandle]::WaitAny(@($running.AsyncWaitHandle, $wire)) -eq 1
    $failure = ''
    if ($tripped) { $shell.Stop() }
    else { try { $shell.EndInvoke($running) } catch { $failure = $_.Exception.InnerException.Message } }
    $errors = @($shell.Streams.Error | ForEach-Object { [string]$_ }) + $failure
    @{ stdout = ($output | ForEach-Object { [string]$_ }) -join "`n"; stderr = ($errors -join "`n").Trim(); tripped = $tripped } | ConvertTo-Json -Compress
    $shell.Dispose()
    $runspace.Dispose()
}

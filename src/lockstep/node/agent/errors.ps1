# Errors of the contract, and what of Windows' they stand for.

# An exception that carries an error of the contract.
function New-Failure([string]$Code, [string]$Message, [hashtable]$More = @{}) {
    $exception = New-Object InvalidOperationException $Message
    $exception.Data['lockstep'] = @{ code = $Code; message = $Message } + $More
    return $exception
}

function Get-InnermostException([Exception]$Exception) {
    while ($Exception.InnerException) { $Exception = $Exception.InnerException }
    return $Exception
}

# The error of the contract that an error record stands for.
function Get-Failure($Record) {
    $exception = Get-InnermostException $Record.Exception
    if ($exception.Data.Contains('lockstep')) { return $exception.Data['lockstep'] }
    $code = 'io'
    $number = $exception.HResult -band 0xffff
    if ($exception -is [ComponentModel.Win32Exception]) { $number = $exception.NativeErrorCode }
    $ofWindows = $exception -is [IO.IOException] -or $exception -is [ComponentModel.Win32Exception]
    # ERROR_ACCESS_DENIED, ERROR_SHARING_VIOLATION, ERROR_LOCK_VIOLATION, ERROR_HANDLE_DISK_FULL, ERROR_DISK_FULL,
    # ERROR_SERVICE_DOES_NOT_EXIST
    if ($exception -is [UnauthorizedAccessException] -or $exception -is [Security.SecurityException] -or $number -eq 5) { $code = 'denied' }
    # A program that another process holds open is one that Windows cannot start: its error is no IOException.
    elseif ($ofWindows -and $number -in 32, 33) { $code = 'in_use' }
    elseif ($ofWindows -and $number -in 39, 112) { $code = 'no_space' }
    elseif ($exception -is [ComponentModel.Win32Exception] -and $number -eq 1060) { $code = 'missing' }
    return @{ code = $code; message = $exception.Message.Trim() }
}

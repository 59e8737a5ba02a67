# Downloads: by HTTP or from a share, into a file. Header fields, passwords and what stands after `?` in an address are never shown.

# What a download tries again for: the answers of a server that is busy or starts, and whatever the network does.
$BusyAnswers = 408, 429, 500, 502, 503, 504
$MostAttempts = 4

function Get-ShownAddress([Uri]$Address) { return "$($Address.Scheme)://$($Address.Authority)$($Address.AbsolutePath)" }

# A failed download. $Again: another attempt may go better.
function New-FailedDownload([string]$Message, [bool]$Again = $false) {
    $exception = New-Failure 'download_failed' $Message
    $exception.Data['again'] = $Again
    return $exception
}

# An address that the user gave. A cast would show it where it is none.
function ConvertTo-Address([string]$Text, [string]$What) {
    $address = $null
    if ([Uri]::TryCreate($Text, [UriKind]::Absolute, [ref]$address) -and $address.Scheme -in 'http', 'https') { return $address }
    throw (New-FailedDownload "The $What is no address of http or https.")
}

function Get-Proxy([string]$Text) {
    $given = ConvertTo-Address $Text 'proxy'
    $proxy = New-Object Net.WebProxy "$($given.Scheme)://$($given.Authority)"
    if ($given.UserInfo) {
        $name, $password = $given.UserInfo -split ':', 2
        $proxy.Credentials = New-Object Net.NetworkCredential ([Uri]::UnescapeDataString($name)), ([Uri]::UnescapeDataString([string]$password))
    }
    return $proxy
}

# Some header fields have a property of their own, and .NET Framework refuses to set them otherwise.
function Set-Header($Request, [string]$Name, [string]$Value) {
    try {
        switch ($Name) {
            'Accept' { $Request.Accept = $Value }
            'User-Agent' { $Request.UserAgent = $Value }
            'Referer' { $Request.Referer = $Value }
            'Host' { $Request.Host = $Value }
            default { $Request.Headers.Add($Name, $Value) }
        }
    }
    catch { throw (New-FailedDownload "The header field $Name cannot be sent: its name or its value is not allowed.") }
}

function New-WebRequest([Uri]$Address, $Source, [long]$Milliseconds) {
    $request = [Net.WebRequest]::Create("$(Get-ShownAddress $Address)$($Address.Query)")
    $request.AllowAutoRedirect = $false
    $request.KeepAlive = $false
    $request.Timeout = [int][math]::Min($Milliseconds, [long]60000)
    $request.ReadWriteTimeout = $request.Timeout
    $request.UserAgent = 'lockstep'
    if ($Source['proxy']) { $request.Proxy = Get-Proxy $Source['proxy'] }
    # What the user gave for one server is not for another that it points to.
    $origin = ConvertTo-Address $Source['url'] 'URL'
    if ($Address.Scheme -ne $origin.Scheme -or $Address.Authority -ne $origin.Authority) { return $request }
    if ($origin.UserInfo) {
        $bytes = [Text.Encoding]::UTF8.GetBytes([Uri]::UnescapeDataString($origin.UserInfo))
        $request.Headers.Add('Authorization', 'Basic ' + [Convert]::ToBase64String($bytes))
    }
    if ($Source['headers']) {
        foreach ($name in $Source['headers'].Keys) {
            if ($name -eq 'Authorization') { $request.Headers.Remove($name) }
            Set-Header $request $name $Source['headers'][$name]
        }
    }
    return $request
}

# A server's answer to a request, whatever its status.
function Get-Answer($Request) {
    try { return $Request.GetResponse() }
    catch {
        for ($exception = $_.Exception; $exception; $exception = $exception.InnerException) {
            if ($exception -is [Net.WebException] -and $exception.Response) { return $exception.Response }
        }
        throw
    }
}

# One attempt. $Progress is told the address that is asked, how many bytes came and how many were announced.
function Receive-Once($Source, [string]$Target, $Progress, $Watch) {
    $address = ConvertTo-Address $Source['url'] 'URL'
    for ($hops = 0; ; $hops++) {
        $Progress.address = Get-ShownAddress $address
        $left = $Progress.seconds * 1000 - $Watch.ElapsedMilliseconds
        $request = New-WebRequest $address $Source ([math]::Max([long]1, [long]$left))
        try {
            $answer = Get-Answer $request
            $status = [int]$answer.StatusCode
            if ($status -in 301, 302, 303, 307, 308) {
                $location = $answer.Headers.Get('Location')
                $next = $null
                if (-not $location -or -not [Uri]::TryCreate($address, $location, [ref]$next) -or $next.Scheme -notin 'http', 'https') {
                    throw (New-FailedDownload "$($Progress.address) answered $status and points to no address of http or https.")
                }
                if ($hops -ge 10) { throw (New-FailedDownload "$($Progress.address) is where ten redirections led to, and it answered with another.") }
                $address = $next
                continue
            }
            if ($status -ne 200) { throw (New-FailedDownload "$($Progress.address) answered $status $($answer.StatusDescription)." ($status -in $BusyAnswers)) }
            $Progress.announced = $answer.ContentLength
            if ($Progress.announced -gt 0) { Assert-Space $Target $Progress.announced $Progress.address }
            $copied = Copy-ToFile $answer.GetResponseStream() $Target ([long]::MaxValue) {
                param($Size)
                $Progress.size = $Size
                if ($Watch.Elapsed.TotalSeconds -ge $Progress.seconds) { throw (New-Failure 'timeout' '') }
            }
            if ($Progress.announced -ge 0 -and $copied.size -ne $Progress.announced) { throw (New-FailedDownload '' $true) }
            return $copied
        }
        finally { $request.Abort() }
    }
}

# What an attempt failed of, in words that say how far it came, and whether another may go better.
function Get-DownloadFailure($Record, $Progress, $Watch) {
    $exception = Get-InnermostException $Record.Exception
    $failure = Get-Failure $Record
    $own = $exception.Data.Contains('lockstep')
    if ($own -and $failure.message) { return @{ code = $failure.code; message = $failure.message; again = [bool]$exception.Data['again'] } }
    $isDisk = $failure.code -in 'no_space', 'denied', 'in_use' -and $exception -isnot [Net.Sockets.SocketException]
    if ($isDisk) { return @{ code = $failure.code; message = "$($Progress.address): $($failure.message)"; again = $false } }
    if ($exception -is [Security.Authentication.AuthenticationException]) {
        return @{ code = 'download_failed'; message = "$($Progress.address): $($failure.message)"; again = $false }
    }
    $whole = if ($Progress.announced -ge 0) { " of $($Progress.announced)" }
    if ($Watch.Elapsed.TotalSeconds -ge $Progress.seconds) {
        return @{ code = 'timeout'; message = "$($Progress.address) took longer than $($Progress.seconds) s: $($Progress.size)$whole bytes had come."; again = $false }
    }
    $words = if ($failure.message) { ": $($failure.message.TrimEnd('.'))" }
    $message = "$($Progress.address) did not answer$words."
    if ($null -ne $Progress.announced) { $message = "$($Progress.address) was cut off after $($Progress.size)$whole bytes$words." }
    return @{ code = 'download_failed'; message = $message; again = $true }
}

# Fetch a URL into a file, with further attempts while there is time; size and SHA-256.
function Receive-Url($Source, [string]$Target, [double]$Seconds) {
    # Windows PowerShell may offer no more than TLS 1.0 by itself; where the system decides (0), it offers what is good.
    if ([int][Net.ServicePointManager]::SecurityProtocol) {
        [Net.ServicePointManager]::SecurityProtocol = [Net.ServicePointManager]::SecurityProtocol -bor [Net.SecurityProtocolType]::Tls12
    }
    $watch = [Diagnostics.Stopwatch]::StartNew()
    for ($attempt = 1; ; $attempt++) {
        $progress = @{ seconds = $Seconds; address = ''; size = 0; announced = $null }
        try { return Receive-Once $Source $Target $progress $watch }
        catch {
            $failure = Get-DownloadFailure $_ $progress $watch
            $pause = [math]::Pow(2, $attempt - 1)
            if ($failure.again -and $attempt -lt $MostAttempts -and $watch.Elapsed.TotalSeconds + $pause -lt $Seconds) {
                Start-Sleep -Milliseconds ($pause * 1000)
                continue
            }
            $attempts = if ($attempt -gt 1) { " That was attempt $attempt." }
            throw (New-Failure $failure.code ($failure.message + $attempts))
        }
    }
}

# Copy from a folder or a share; size and SHA-256.
function Receive-Path([string]$Path, [string]$Target) {
    $hint = ''
    if ($Path.StartsWith('\\')) { $hint = ' A session over WinRM has no credentials for another machine, unless it is made with CredSSP or with Kerberos delegation.' }
    try { $stream = Open-File $Path }
    catch {
        $failure = Get-Failure $_
        if ($failure.code -eq 'in_use') { throw }
        if ($failure.code -ne 'denied') { $hint = '' }
        throw (New-FailedDownload "$Path cannot be read: $($failure.message)$hint")
    }
    if ($null -eq $stream) { throw (New-FailedDownload "$Path is not there.$hint") }
    try {
        Assert-Space $Target $stream.Length $Path
        return Copy-ToFile $stream $Target
    }
    finally { $stream.Dispose() }
}

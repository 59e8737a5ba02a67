# Data of any size, a mebibyte at a time.

# Copy a stream to its end, or so many bytes of it; size and SHA-256 of what was copied. Without a target it is only read.
# $EachBlock, where given, is told after each block how many bytes there are by now.
function Copy-Stream($Source, $Target, [long]$Length = [long]::MaxValue, $EachBlock) {
    # This class, because SHA256.Create() fails on a node in FIPS mode before .NET Framework 4.8.
    $algorithm = New-Object Security.Cryptography.SHA256CryptoServiceProvider
    try {
        $buffer = New-Object byte[] 1MB
        $size = [long]0
        while ($size -lt $Length) {
            $count = $Source.Read($buffer, 0, [int][math]::Min([long]$buffer.Length, $Length - $size))
            if ($count -eq 0) { break }
            [void]$algorithm.TransformBlock($buffer, 0, $count, $null, 0)
            if ($null -ne $Target) { $Target.Write($buffer, 0, $count) }
            $size += $count
            if ($EachBlock) { & $EachBlock $size }
        }
        [void]$algorithm.TransformFinalBlock($buffer, 0, 0)
        return @{ size = $size; sha256 = [BitConverter]::ToString($algorithm.Hash).Replace('-', '').ToLowerInvariant() }
    }
    finally { $algorithm.Dispose() }
}

# Copy a stream into a new file that is on the disk, not only in its cache, when this returns.
function Copy-ToFile($Source, [string]$Path, [long]$Length = [long]::MaxValue, $EachBlock) {
    $stream = [IO.File]::Create($Path, 65536, 'None')
    try {
        $copied = Copy-Stream $Source $stream $Length $EachBlock
        $stream.Flush($true)
    }
    finally { $stream.Dispose() }
    return $copied
}

# Read so many bytes, fewer only where the stream ends; how many there were.
function Read-Block($Source, [byte[]]$Buffer, [int]$Count) {
    $size = 0
    while ($size -lt $Count) {
        $got = $Source.Read($Buffer, $size, $Count - $size)
        if ($got -eq 0) { break }
        $size += $got
    }
    return $size
}

# Free bytes where a path is or is going to be.
function Get-FreeSpace([string]$Path) {
    while ($Path -match '[\\/]' -and -not [IO.Directory]::Exists($Path)) { $Path = Get-Parent $Path }
    $drive = New-Object IO.DriveInfo $Path
    if (-not $drive.IsReady) { throw (New-Failure 'io' "There is no drive $Path, or it is not ready.") }
    return $drive.AvailableFreeSpace
}

# Say so at once where there is no room, instead of after all but the last byte.
function Assert-Space([string]$Path, [long]$Size, [string]$What) {
    $free = Get-FreeSpace $Path
    if ($free -lt $Size) { throw (New-Failure 'no_space' "$What has $Size bytes, and the drive of $Path has $free bytes free.") }
}

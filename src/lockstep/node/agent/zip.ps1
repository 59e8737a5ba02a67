# Archives of zip: by the directory at their end, which has more to check than .NET's own reader shows. Source of the format: PKWARE
# APPNOTE.TXT, 4.3 and 4.4. Archives larger than 4 GiB (zip64) are not read: nothing that a node runs comes in one.

function Get-Word([byte[]]$Bytes, [int]$At) { return [int][BitConverter]::ToUInt16($Bytes, $At) }

function Get-Long([byte[]]$Bytes, [int]$At) { return [long][BitConverter]::ToUInt32($Bytes, $At) }

# So many bytes of a file from a place on.
function Read-At($File, [long]$At, [long]$Count) {
    if ($At + $Count -gt $File.Length) { throw (New-Unsafe 'It is damaged: its directory points past its end.') }
    $bytes = New-Object byte[] $Count
    [void]$File.Seek($At, 'Begin')
    [void](Read-Block $File $bytes $Count)
    return , $bytes
}

# Where the directory is: the last record of the file says it, before a comment that ends with the file.
function Find-ZipDirectory($File) {
    $length = [math]::Min([long]$File.Length, [long]65557)
    $tail = Read-At $File ($File.Length - $length) $length
    for ($at = $length - 22; $at -ge 0; $at--) {
        if ($tail[$at] -ne 0x50 -or (Get-Long $tail $at) -ne 0x06054b50) { continue }
        if ($at + 22 + (Get-Word $tail ($at + 20)) -ne $length) { throw (New-Unsafe 'It is cut off, or something comes after its end.') }
        return @{ count = Get-Word $tail ($at + 10); size = Get-Long $tail ($at + 12); offset = Get-Long $tail ($at + 16) }
    }
    throw (New-Unsafe 'It is no zip, or it is cut off.')
}

function Assert-ZipMember($Member, [int]$Flags, [long]$Attributes) {
    $shown = "Its member $(Get-ShownName $Member.name)"
    # What a Unix says of a file is in the upper half: the type is the first four bits. 4 is a folder, 8 a file, a a link.
    if ((($Attributes -shr 28) -band 0xf) -notin 0, 4, 8 -or $Attributes -band 0x400) { throw (New-Unsafe "$shown is a link or a device.") }
    if ($Flags -band 0x2041) { throw (New-Unsafe "$shown is encrypted.") }
    if ($Member.method -notin 0, 8) { throw (New-Unsafe "$shown is packed by method $($Member.method), which is not read.") }
    if ($Member.size -eq 0xffffffffL -or $Member.packed -eq 0xffffffffL -or $Member.offset -eq 0xffffffffL) { throw (New-Unsafe "$shown needs zip64, which is not read.") }
    if ($Member.method -eq 0 -and $Member.size -ne $Member.packed) { throw (New-Unsafe "It is damaged: $shown has two sizes.") }
}

# The members that are wanted, after all of them were looked at.
function Read-ZipDirectory($File, $Selection) {
    $directory = Find-ZipDirectory $File
    $bytes = Read-At $File $directory.offset $directory.size
    $at = 0
    for ($left = $directory.count; $left -gt 0; $left--) {
        if ($at + 46 -gt $bytes.Length -or (Get-Long $bytes $at) -ne 0x02014b50) { throw (New-Unsafe 'It is damaged: its directory cannot be read.') }
        $length = Get-Word $bytes ($at + 28)
        $next = $at + 46 + $length + (Get-Word $bytes ($at + 30)) + (Get-Word $bytes ($at + 32))
        if ($next -gt $bytes.Length) { throw (New-Unsafe 'It is damaged: its directory cannot be read.') }
        $member = @{ name = [Text.Encoding]::UTF8.GetString($bytes, $at + 46, $length); method = Get-Word $bytes ($at + 10) }
        $member.packed = Get-Long $bytes ($at + 20)
        $member.size = Get-Long $bytes ($at + 24)
        $member.offset = Get-Long $bytes ($at + 42)
        Assert-ZipMember $member (Get-Word $bytes ($at + 8)) (Get-Long $bytes ($at + 38))
        $at = $next
        $path = Get-MemberPath $member.name
        if ($member.name.EndsWith('/') -or -not $path) { Add-Seen $Selection '' 0; continue }
        Add-Seen $Selection $path $member.size
        $member.target = Get-Target $Selection $path
        if ($null -ne $member.target) { $member }
    }
    if ($at -ne $bytes.Length) { throw (New-Unsafe 'It is damaged: its directory cannot be read.') }
}

function Expand-Zip($File, $Selection) {
    foreach ($member in @(Read-ZipDirectory $File $Selection)) {
        $header = Read-At $File $member.offset 30
        if ((Get-Long $header 0) -ne 0x04034b50) { throw (New-Unsafe 'It is damaged: a member is not where its directory says.') }
        $length = Get-Word $header 26
        $name = [Text.Encoding]::UTF8.GetString((Read-At $File ($member.offset + 30) $length))
        if ($name -cne $member.name) { throw (New-Unsafe "Its member $(Get-ShownName $member.name) has another name in its place.") }
        [void]$File.Seek($member.offset + 30 + $length + (Get-Word $header 28), 'Begin')
        if ($member.method -eq 0) { Save-Member $Selection $member.target $File $member.size; continue }
        $stream = New-Object IO.Compression.DeflateStream $File, ([IO.Compression.CompressionMode]::Decompress), $true
        Save-Member $Selection $member.target $stream $member.size
        if (Read-Block $stream (New-Object byte[] 1) 1) { throw (New-Unsafe "Its member $(Get-ShownName $member.name) is larger than it says.") }
    }
}

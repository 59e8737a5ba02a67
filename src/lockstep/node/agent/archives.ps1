# What every archive is held to, whatever its format: plain files with plain names, and an end to their size.

$MostUnpacked = 4GB
$MostMembers = 100000
# Names that Windows gives to devices, in every folder and with every ending. Source: Microsoft Learn, "Naming Files, Paths, and Namespaces".
$DeviceNames = '^(con|prn|aux|nul|conin\$|conout\$|com[0-9\u00b9\u00b2\u00b3]|lpt[0-9\u00b9\u00b2\u00b3])\s*(\.|$)'

function New-Unsafe([string]$Message) { return New-Failure 'unsafe_archive' "$Message Nothing of it was unpacked." }

# A name as it can be shown: what comes from outside may hold anything.
function Get-ShownName([string]$Name) {
    $text = [regex]::Replace($Name, '[^\x20-\x7e]', '?')
    if ($text.Length -gt 200) { return $text.Substring(0, 200) + '...' }
    return $text
}

# What keeps a file of this name from being no more than a file of its folder on Windows, or $null.
function Get-NameProblem([string]$Name) {
    if ($Name -eq '..') { return 'leads out of the archive''s folder' }
    if ($Name -match '[\x00-\x1f<>"|?*\\/:]') { return 'has a character that no file name has on Windows' }
    if ($Name -match '[. ]$' -or -not $Name) { return 'has a part that Windows takes for another name' }
    if ($Name -match $DeviceNames) { return 'has the name of a device of Windows' }
    return $null
}

# A member's path without what says nothing: './' before it, '/' after it. Throws for one that is more than a path within its folder.
function Get-MemberPath([string]$Name) {
    $path = $Name -replace '^(\./)+', '' -replace '/$', ''
    if ($path -in '', '.') { return '' }
    foreach ($part in $path.Split('/')) {
        $problem = Get-NameProblem $part
        if ($path.StartsWith('/') -or $path -match '^[A-Za-z]:') { $problem = 'is a full path' }
        if ($problem) { throw (New-Unsafe "Its member $(Get-ShownName $Name) $problem.") }
    }
    return $path
}

# Which members are wanted, where they go, and what of it is done.
function New-Selection($Members, [string]$Folder) {
    return @{ members = $Members; folder = $Folder; files = (New-Object Collections.ArrayList); found = @{}; seen = (New-Object Collections.ArrayList); count = 0; left = $MostUnpacked }
}

# Count a member, whether it is wanted or not.
function Add-Seen($Selection, [string]$Path, [long]$Size) {
    $Selection.count++
    $Selection.left -= $Size
    if ($Selection.count -gt $MostMembers) { throw (New-Unsafe "It has more than $MostMembers members.") }
    if ($Selection.left -lt 0) { throw (New-Unsafe "It unpacks to more than $MostUnpacked bytes.") }
    if ($Path -and $Selection.seen.Count -lt 10) { [void]$Selection.seen.Add((Get-ShownName $Path)) }
}

# The file name that a member gets, or $null for one that nobody wants.
function Get-Target($Selection, [string]$Path) {
    $target = $null
    if (-not $Selection.members.Count) { $target = $Path -replace '^.*/', '' }
    foreach ($member in $Selection.members) { if ($member['from'] -ceq $Path) { $target = $member['to'] } }
    if ($null -eq $target) { return $null }
    if ($Selection.found.ContainsKey($target)) { throw (New-Unsafe "Its member $(Get-ShownName $Path) would overwrite another of the name $target.") }
    $Selection.found[$target] = $true
    return $target
}

# Unpack a member under the name that it gets.
function Save-Member($Selection, [string]$Target, $Stream, [long]$Size) {
    $copied = Copy-ToFile $Stream ([IO.Path]::Combine($Selection.folder, $Target)) $Size
    if ($copied.size -ne $Size) { throw (New-Unsafe "It ends within $Target, after $($copied.size) of $Size bytes.") }
    [void]$Selection.files.Add(@{ name = $Target; size = $copied.size; sha256 = $copied.sha256 })
}

function Assert-AllFound($Selection) {
    foreach ($member in $Selection.members) {
        if ($Selection.found.ContainsKey($member['to'])) { continue }
        $more = if ($Selection.count -gt $Selection.seen.Count) { ', ...' }
        throw (New-Failure 'missing' "The archive has no $($member['from']). It has $($Selection.seen -join ', ')$more")
    }
    if (-not $Selection.files.Count) { throw (New-Failure 'missing' 'The archive has no files.') }
}

# Unpack the wanted members of an archive into a folder; a list of what is there then: name, size, sha256.
function Expand-Artifact([string]$Path, [string]$Format, $Members, [string]$Folder) {
    $selection = New-Selection $Members $Folder
    $file = Open-File $Path
    try {
        if ($Format -eq 'zip') { Expand-Zip $file $selection } else { Expand-TarGz $file $selection }
    }
    catch {
        $exception = Get-InnermostException $_.Exception
        if ($exception -is [IO.InvalidDataException]) { throw (New-Unsafe "It is damaged: $($exception.Message)") }
        throw
    }
    finally { $file.Dispose() }
    Assert-AllFound $selection
    return , $selection.files
}

# What was there before a transaction, so that any later run can put it back or finish. It is on the disk before the first step.
# phase `applying`: not decided yet; what to go back to is in `steps` and in the `.lockstep-old` files.
# phase `committed`: decided; only files that are no longer needed are left to remove.

function Get-JournalPath([string]$Name) { return "$env:ProgramData\lockstep\transactions\$Name.json" }

# A folder for administrators alone.
function New-OwnFolder([string]$Path) {
    [void][IO.Directory]::CreateDirectory($Path)
    Set-FolderAccess $Path 'O:BAD:PAI(A;OICI;FA;;;SY)(A;OICI;FA;;;BA)' 'Access, Owner'
}

# The journal decides what a service runs: nobody but administrators may write one. ProgramData itself lets every user create folders.
function Assert-JournalFolder {
    $root = "$env:ProgramData\lockstep"
    if (-not [IO.Directory]::Exists($root)) { New-OwnFolder $root }
    [void][IO.Directory]::CreateDirectory("$root\transactions")
    foreach ($folder in $root, "$root\transactions") { Assert-OwnFolder $folder }
}

# Refuse a folder that belongs to somebody who is no administrator.
function Assert-OwnFolder([string]$Folder) {
    $owner = Get-Owner $Folder
    if ($owner -in 'S-1-5-18', 'S-1-5-32-544') { return }
    $probe = [IO.Path]::Combine($Folder, 'owner.lockstep-new')
    Write-Bytes $probe @()
    $own = Get-Owner $probe
    Remove-File $probe
    if ($owner -ne $own) { throw (New-Failure 'denied' "$Folder belongs to $owner, who is no administrator: look at it and remove it.") }
}

function Get-Owner([string]$Path) { return (Get-Acl -LiteralPath $Path).GetOwner([Security.Principal.SecurityIdentifier]).Value }

function Read-Journal([string]$Path) {
    Restore-HalfExchanged $Path
    $bytes = Read-Bytes $Path
    if ($null -eq $bytes) { return $null }
    try {
        $journal = ConvertFrom-JsonBytes $bytes
        if ($journal['contract'] -ne 1 -or -not $journal['phase']) { throw 'it is of another contract' }
        foreach ($step in $journal.steps) { if (-not $Kinds[$step.kind]) { throw "no step is of kind $($step.kind)" } }
        return $journal
    }
    catch { throw (New-Failure 'io' "$Path cannot be understood ($($_.Exception.Message)): look at it and remove it.") }
}

function Write-Journal([string]$Path, $Journal) {
    $steps = @($Journal.steps | ForEach-Object { $step = @{} + $_; $step.Remove('touched'); $step })
    $text = ConvertTo-JsonText @{ contract = 1; phase = $Journal.phase; time = $Journal.time; steps = $steps }
    Write-Bytes "$Path.lockstep-new" ([Text.Encoding]::ASCII.GetBytes($text))
    Move-Over "$Path.lockstep-new" $Path "$Path.lockstep-mid"
    Remove-File "$Path.lockstep-mid"
}

function Get-Time { return [datetime]::UtcNow.ToString('yyyyMMddTHHmmssZ', [Globalization.CultureInfo]::InvariantCulture) }

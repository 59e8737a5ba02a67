# Programs: a file of the store is put in its place. A program that runs can be renamed, but neither replaced nor removed, so each
# exchange is two renames, and what a process still runs goes into the store's trash.

$Operations['file.install'] = @{
    mode   = 'apply'; needs = @('path', 'root', 'entry', 'file', 'expect_sha256'); may = @()
    kind   = 'program'; name = 'path'
    check  = {
        param($Operation)
        foreach ($key in 'entry', 'file') {
            if (Get-NameProblem $Operation[$key]) { throw (New-Failure 'invalid' "file.install: $(Get-ShownName $Operation[$key]) is no $key of a store.") }
        }
    }
    former = {
        param($Operation)
        return @{ existed = [IO.File]::Exists($Operation['path']); root = $Operation['root'] }
    }
    do     = {
        param($Operation, $Step)
        $path, $root, $entry = $Operation['path'], $Operation['root'], $Operation['entry']
        $folder = Join-Names $root $entry
        if ([IO.Directory]::Exists($root)) { Assert-StoreFolder $root }
        $manifest = Read-Manifest $folder
        if (-not $manifest) { throw (New-Failure 'missing' "The store $root has no whole entry $entry.") }
        $file = $manifest.files | Where-Object { $_.name -eq $Operation['file'] } | Select-Object -First 1
        if (-not $file) { throw (New-Failure 'missing' "The store's entry $entry has no file $($Operation['file']). It has $(@($manifest.files | ForEach-Object { $_.name }) -join ', ')") }
        $found = Get-FileSha256 $path
        if ($found -eq $file.sha256) { return @{ changed = $false; sha256 = $file.sha256 } }
        Assert-Expected $path $found $Operation['expect_sha256']
        $Step.touched = $true
        New-ParentFolder $path
        $source = Join-Names $folder $file.name
        Assert-Space $path $file.size $source
        $stream = Open-File $source
        try { $copied = Copy-ToFile $stream "$path.lockstep-new" } finally { $stream.Dispose() }
        if ($copied.sha256 -ne $file.sha256) {
            # Without its manifest the entry is not whole, and the next run fetches it anew.
            Remove-File (Join-Names $folder 'manifest.json')
            throw (New-Failure 'conflict' "$source is not what was unpacked: expected SHA-256 $($file.sha256), found $($copied.sha256). The entry is no longer used; run again to fetch it anew.")
        }
        $aside = Get-AsidePath $path
        if ($null -ne $found) {
            Assert-Clear $aside $root
            Invoke-Patiently { [IO.File]::Move($path, $aside) }
        }
        Invoke-Patiently { [IO.File]::Move("$path.lockstep-new", $path) }
        # Somebody may have written between the look and the exchange.
        if ($null -ne $found) { Assert-Expected $path (Get-FileSha256 $aside) $Operation['expect_sha256'] }
        return @{ changed = $true; sha256 = $file.sha256 }
    }
}

function Assert-Clear([string]$Path, [string]$Root) {
    if (-not (Clear-Way $Path $Root)) { throw (New-Failure 'in_use' "$Path is left from a former run, and a process still runs it or holds it open.") }
}

$Kinds['program'] = @{
    renew  = @('root')
    resume = { param($Step) Restore-HalfExchanged $Step.name }
    admit  = {
        # Of a program nothing can be lost: a file that no journal speaks of is only in the way.
        param($Step)
        foreach ($end in 'lockstep-old', 'lockstep-mid', 'rejected') { Assert-Clear "$($Step.name).$end" $Step.root }
    }
    undo   = {
        param($Step)
        $name = $Step.name
        $hasOld = [IO.File]::Exists("$name.lockstep-old")
        if ([IO.File]::Exists($name) -and ($hasOld -or -not $Step.existed)) {
            Assert-Clear "$name.rejected" $Step.root
            Invoke-Patiently { [IO.File]::Move($name, "$name.rejected") }
        }
        if ($hasOld) { Invoke-Patiently { [IO.File]::Move("$name.lockstep-old", $name) } }
        foreach ($end in 'lockstep-new', 'lockstep-mid', 'rejected') { [void](Clear-Way "$name.$end" $Step.root) }
    }
    # What cannot even be moved is left for the next install: it does no harm where it is.
    finish = {
        param($Step)
        foreach ($end in 'lockstep-old', 'lockstep-new', 'lockstep-mid', 'rejected') { [void](Clear-Way "$($Step.name).$end" $Step.root) }
    }
}

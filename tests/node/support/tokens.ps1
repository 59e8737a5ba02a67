# What a script says, without what it looks like: its tokens but comments and line breaks, one a line.
param([string]$Path)
$tokens = $errors = $null
$null = [Management.Automation.Language.Parser]::ParseFile($Path, [ref]$tokens, [ref]$errors)
foreach ($token in $tokens) { if ($token.Kind -notin 'Comment', 'NewLine') { "$($token.Kind) $($token.Text)" } }

# What a script uses, by PowerShell's own parser, as one JSON document: `pwsh inspect.ps1 FILE`.
param([string]$Path)
$tokens = $errors = $null
$ast = [Management.Automation.Language.Parser]::ParseFile($Path, [ref]$tokens, [ref]$errors)
$all = $ast.FindAll({ $true }, $true)
$functions = @($all | Where-Object { $_ -is [Management.Automation.Language.FunctionDefinitionAst] } | ForEach-Object { $_.Name })
$commands = foreach ($command in $all | Where-Object { $_ -is [Management.Automation.Language.CommandAst] }) {
    $name = $command.GetCommandName()
    if ($null -eq $name -or $name -in $functions) { continue }
    $first = $command.CommandElements | Select-Object -Skip 1 -First 1
    @{
        name       = $name
        parameters = @($command.CommandElements | Where-Object { $_ -is [Management.Automation.Language.CommandParameterAst] } | ForEach-Object { $_.ParameterName })
        first      = if ($first -is [Management.Automation.Language.StringConstantExpressionAst]) { $first.Value } else { '' }
    }
}
$members = foreach ($member in $all | Where-Object { $_ -is [Management.Automation.Language.MemberExpressionAst] }) {
    $called = $member -is [Management.Automation.Language.InvokeMemberExpressionAst]
    @{
        type = if ($member.Static) { $member.Expression.TypeName.FullName } else { '' }
        name = $member.Member.Extent.Text + $(if ($called) { '/' + @($member.Arguments | Where-Object { $_ }).Count })
    }
}
$types = $all | Where-Object { $_ -is [Management.Automation.Language.TypeExpressionAst] -or $_ -is [Management.Automation.Language.TypeConstraintAst] } |
    ForEach-Object { $_.TypeName.FullName }
@{
    errors    = @($errors | ForEach-Object { $_.Message })
    nodes     = @($all | ForEach-Object { $_.GetType().Name } | Sort-Object -Unique)
    tokens    = @($tokens | ForEach-Object { [string]$_.Kind } | Sort-Object -Unique)
    functions = $functions
    commands  = @($commands)
    members   = @($members)
    types     = @($types | Sort-Object -Unique)
} | ConvertTo-Json -Depth 5

# Lockstep's agent. It reads and applies state on one Windows node; what it can do is written in the contract, and nothing else.
# Windows PowerShell 5.1 and .NET Framework 4.7.2 must run it, in powershell.exe and in a PSRP runspace alike. ASCII only.
# bootstrap.ps1 hands over the request as the XML element that .NET's JSON reader makes of it.
param([Xml.XmlElement]$Element)
Set-StrictMode -Version Latest
$ErrorActionPreference = 'Stop'
$ProgressPreference = 'SilentlyContinue'

# What the parts after this one register. A scope below reads the tables, so no function may have a variable of these names.
#
# $Operations[op] has
#   mode          'read' or 'apply'.
#   needs, may    arguments that it must and that it may have.
#   check         { param($Operation) } refuses values, or makes something else of them, before anything is done.
#   do            { param($Operation, $Step, $Journal) } carries it out and gives its result, a hashtable, and nothing else.
#                 It sets $Step.touched before the first change: only what is touched is put back.
#   after_commit  it comes last in a request, and is done once everything before it is committed. Its failure takes nothing back.
# and, where it changes something that can be put back,
#   kind          the kind of its journal step.
#   name          what the step is about: an argument's name, or { param($Operation) }.
#   former        { param($Operation) } gives what is to be put back, a hashtable. There may be several, for further steps: these
#                 name their own kind and name, and `do` finds them by Find-Step.
$Operations = @{}

# $Kinds[kind], of a journal step, has
#   undo    { param($Step) } puts it back, whatever of it is done already; safe to repeat. Gives the file that keeps rejected content.
#   last    it is put back after all others.
#   renew   keys that count as the latest request has them, although an interrupted one journaled the step.
#   resume  { param($Step) } readies what an interrupted apply left, before anything else is done.
#   admit   { param($Step, $Journal) } clears the way for a step that no journal spoke of.
#   finish  { param($Step, $Journal) } clears away what is not needed once all is decided; safe to repeat. Gives the backups made.
# All but undo may be left out.
$Kinds = @{}

"""The `lockstep` program."""

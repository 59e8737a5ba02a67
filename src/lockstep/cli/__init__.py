"""The `lockstep` program."""

from lockstep.cli.main import main

__all__ = ["main"]

"""What every command of the program shares, and nothing that takes time to import."""

from __future__ import annotations

import argparse
from typing import TypeAlias

Subparsers: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"  # noqa: SLF001 - argparse has no public name for it


class InputError(Exception):
    """What the user gave cannot be used: what, why, and what to do."""

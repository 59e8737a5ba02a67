"""What operations and their results are."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Operation = dict[str, Any]
"""One operation as the contract has it."""

Result = Mapping[str, Any]
"""One operation's result as the contract has it."""

"""What is said of a config.toml, or of settings for one, that cannot be worked with."""

from __future__ import annotations


class ContainerdConfigError(ValueError):
    """A config.toml that cannot be worked with: the message says what, where, what was expected and what to do."""


class SettingsError(ContainerdConfigError):
    """Settings that cannot be planned; `problems` are all that was found, one line each."""

    def __init__(self, problems: tuple[str, ...]) -> None:
        super().__init__("; ".join(problems))
        self.problems = problems

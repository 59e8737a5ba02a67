"""containerd's config.toml: merge what is planned, remove it, see what is there. Pure functions of bytes."""

from lockstep.containerd.effective import Overridden, overridden
from lockstep.containerd.errors import ContainerdConfigError, SettingsError
from lockstep.containerd.going_back import is_too_new, rewritten
from lockstep.containerd.merge import merge, remove
from lockstep.containerd.settings import Settings, settings_from_data
from lockstep.containerd.view import View, inspect

__all__ = [
    "ContainerdConfigError",
    "Overridden",
    "Settings",
    "SettingsError",
    "View",
    "inspect",
    "is_too_new",
    "merge",
    "overridden",
    "remove",
    "rewritten",
    "settings_from_data",
]

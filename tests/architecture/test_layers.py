"""Imports only go downwards: a package imports from the layers below its own, and from itself."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src" / "lockstep"

# From top to bottom. Packages of one layer do not import each other.
LAYERS = (
    {"cli", "ansible"},
    {"report"},
    {"verify", "gitops"},
    {"rules"},
    {"artifacts", "containerd", "kubelet", "runtimeclass", "windows"},
    {"fleet"},
    {"sim"},
    {"node"},
    {"catalog", "knowledge"},
    {"k8s", "finding"},
    {"words"},
)
PLUGINS = ("action_plugins", "filter_plugins")
HEIGHT = {name: len(LAYERS) - index for index, names in enumerate(LAYERS) for name in names}
FILES = sorted(SOURCE.rglob("*.py"))


def package_of(path: Path) -> str:
    return path.relative_to(SOURCE).parts[0].removesuffix(".py")


def imported(path: Path) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            names = [node.module] if node.module != "lockstep" else [f"lockstep.{alias.name}" for alias in node.names]
        else:
            continue
        found |= {name.split(".")[1] for name in names if name.startswith("lockstep.")}
    return found - {"__version__"}


def test_every_package_has_a_layer() -> None:
    packages = {package_of(path) for path in FILES} - {"__init__", "__main__"}
    assert packages == set(HEIGHT)


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_imports_go_downwards(path: Path) -> None:
    own = package_of(path)
    if own in {"__init__", "__main__"}:
        return
    upwards = {name for name in imported(path) if name != own and HEIGHT[name] >= HEIGHT[own]}
    assert not upwards, f"{own} imports {sorted(upwards)}, which stand beside or above it"


@pytest.mark.parametrize("folder", PLUGINS)
def test_plugins_are_thin(folder: str) -> None:
    for path in (ROOT / folder).glob("*.py"):
        assert len(path.read_text(encoding="utf-8").splitlines()) <= 60, f"{path.name} holds more than a plugin should"

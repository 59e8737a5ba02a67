"""A small cluster API: the Node objects that simulated kubelets register, as JSON files that a person can read."""

from __future__ import annotations

import json
import threading
from pathlib import Path
from typing import Any

from lockstep.sim.documents import read_json, write_json


class Cluster:
    """Node objects in a folder, one file a node; all of it as `kubectl get nodes -o json` prints it."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._lock = threading.Lock()

    def get(self, name: str) -> dict[str, Any] | None:
        """Return the Node object of this name."""
        return read_json(self._path(name))

    def put(self, node: dict[str, Any]) -> None:
        """Store a Node object under its metadata.name."""
        with self._lock:
            self._folder.mkdir(parents=True, exist_ok=True)
            write_json(self._path(node["metadata"]["name"]), node)

    def delete(self, name: str) -> bool:
        """Remove a Node object, as `kubectl delete node` does; whether there was one."""
        with self._lock:
            there = self._path(name).is_file()
            self._path(name).unlink(missing_ok=True)
        return there

    def list(self) -> dict[str, Any]:
        """All of them, as a List."""
        files = sorted(self._folder.glob("*.json")) if self._folder.is_dir() else []
        items = [json.loads(path.read_text(encoding="utf-8")) for path in files]
        return {"apiVersion": "v1", "kind": "List", "items": items, "metadata": {"resourceVersion": ""}}

    def _path(self, name: str) -> Path:
        if not name or "/" in name or name.startswith("."):
            raise ValueError(f"{name!r} is no node name")
        return self._folder / f"{name}.json"

"""Artifacts of a node: what is wanted, what is there, and the steps from one to the other; no I/O but in `web`."""

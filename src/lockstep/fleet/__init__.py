"""The description: load it, say where it is wrong, derive plans from it."""

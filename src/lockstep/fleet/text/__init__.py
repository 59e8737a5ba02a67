"""One file's YAML text: its data, its nodes, and the place where each value is written."""

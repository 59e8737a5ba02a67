"""containerd as it behaves on Windows, by version: what it reads from config.toml, refuses, ignores and then lists."""

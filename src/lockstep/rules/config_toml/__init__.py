"""Rules over a config.toml."""

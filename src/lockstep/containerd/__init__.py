"""containerd's config.toml: read it, merge planned keys into it. No I/O."""

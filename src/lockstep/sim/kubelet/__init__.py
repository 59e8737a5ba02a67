"""kubelet as it behaves on Windows, by version: what it refuses, ignores, and registers as a Node."""

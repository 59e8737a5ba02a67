"""The proof that description, nodes and manifests agree."""

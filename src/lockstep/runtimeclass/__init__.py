"""RuntimeClass manifests, rendered from a plan. No I/O beyond reading the templates."""

"""Rendered manifests kept in a folder: what differs from the description, and writing it."""

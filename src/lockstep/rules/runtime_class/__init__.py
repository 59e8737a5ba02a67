"""Rules over a RuntimeClass."""

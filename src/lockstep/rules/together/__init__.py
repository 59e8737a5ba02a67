"""Rules across everything that was given."""

"""What tasks of windows_host do."""

"""The simulated node: a WinRM server that plays Windows nodes."""

"""Windows Kubernetes nodes and their RuntimeClasses, from one description."""

__version__ = "0.1.0"

"""Facts as data, each with its source: Windows builds, Kubernetes minors, containerd series."""

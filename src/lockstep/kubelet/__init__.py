"""KubeletConfiguration and kubelet's command line: read them, merge planned values into them. No I/O."""

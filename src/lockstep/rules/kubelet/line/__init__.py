"""Rules over the command line of kubelet's service."""

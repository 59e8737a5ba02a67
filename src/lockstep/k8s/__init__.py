"""Kubernetes' own rules for names, labels, quantities and taints."""

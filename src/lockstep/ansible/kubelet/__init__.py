"""What tasks of kubelet_config and kubelet_config_info do."""

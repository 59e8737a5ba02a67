"""What tasks of containerd_config and containerd_config_info do."""

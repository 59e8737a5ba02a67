"""Rules over a KubeletConfiguration file."""

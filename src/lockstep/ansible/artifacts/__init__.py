"""What tasks of node_artifacts do."""

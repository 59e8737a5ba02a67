"""What tasks of lockstep_node_info do."""

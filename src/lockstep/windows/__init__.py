"""Windows itself on a node: what a pool's nodes must have, compared with what one has. No I/O."""

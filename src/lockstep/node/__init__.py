"""The agent that reads and applies state on a node, its contract, and the session that runs it."""

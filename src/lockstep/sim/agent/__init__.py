"""The agent's operations on a simulated node, as the contract has them and the agent's own parts do them."""

"""The agent's operations on a simulated node, as contract.json has them and agent.ps1 does them."""

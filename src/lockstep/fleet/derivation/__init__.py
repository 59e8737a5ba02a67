"""From the description to the plan: what every node and every RuntimeClass must be, or why that cannot be."""

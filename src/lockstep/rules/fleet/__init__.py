"""Rules over the description: what the domains know better than the fleet does."""

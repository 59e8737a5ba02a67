"""What is wrong with a description in the eyes of the domains: one rule a module, over the fleet."""

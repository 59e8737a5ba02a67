"""What is given to a check besides a description: files that people already have, read and told apart."""

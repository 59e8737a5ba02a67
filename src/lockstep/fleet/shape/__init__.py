"""What a description may hold: the specification, the validator and the JSON Schema that are made from it."""

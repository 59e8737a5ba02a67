"""What a check says, in the formats that programs read: one module each, `render` from what was checked to text."""

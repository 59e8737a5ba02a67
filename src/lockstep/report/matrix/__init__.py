"""Which container runs on which host: one grid, shown as text, Markdown, JSON, SVG or HTML."""

"""Results as people and programs read them: text, JSON, CSV, Markdown, LaTeX, HTML."""

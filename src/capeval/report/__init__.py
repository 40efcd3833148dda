"""Results in formats for people and programs: text, JSON, CSV, Markdown, LaTeX, HTML."""

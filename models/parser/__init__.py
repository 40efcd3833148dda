"""How the parser of captions is trained; README.md describes it."""

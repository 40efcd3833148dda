"""The pages: handlers that answer with HTML."""

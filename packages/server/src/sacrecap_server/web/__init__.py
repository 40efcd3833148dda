"""HTTP: the application, routes, requests, protection, limits and settings."""

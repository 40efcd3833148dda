"""Storage: the database, its tables, and files in it."""

"""Storage: the database, its tables and migrations, uploaded files, backups."""

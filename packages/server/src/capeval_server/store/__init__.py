"""What is kept: the database, its tables and migrations, uploaded files, backups."""

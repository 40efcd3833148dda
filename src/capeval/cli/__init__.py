"""The command line: one file a subcommand; each parses, calls the library and prints."""

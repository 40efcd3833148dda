"""The captioning subcommands of capeval."""

"""The captioning subcommands of sacrecap."""

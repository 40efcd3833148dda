"""The subcommands serve, submit and study of sacrecap."""

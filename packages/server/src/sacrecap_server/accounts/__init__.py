"""Who may do what: accounts, passwords, tokens, administrators."""

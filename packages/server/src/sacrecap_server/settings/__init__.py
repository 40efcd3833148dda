"""What the operator chooses: options, secrets, and the ways by which mail leaves."""

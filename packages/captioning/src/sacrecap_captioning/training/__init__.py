"""Training: settings, data, losses, the loop, and the folder that a run leaves."""

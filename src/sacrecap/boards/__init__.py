"""Boards: what a contest tells of systems that were scored on hidden references."""

"""The door of a contest: a folder's submissions come in through it, and its board is made anew behind it."""

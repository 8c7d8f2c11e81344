"""Functions that somebody else compiled, and that operators call."""

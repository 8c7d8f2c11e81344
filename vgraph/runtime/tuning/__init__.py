"""The search for the fastest schedule, what it gives back, and what it remembers."""

"""What programs in the language are written with: its names and its decorators."""

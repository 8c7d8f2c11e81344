"""From syntax to the IR: for each piece of the language the checks of it, and beside them what it becomes.

All are functions over a `Context`; `rules.py` has the tables by which they are found.
"""

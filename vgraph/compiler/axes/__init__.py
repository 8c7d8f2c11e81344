"""How the axes of schedules are resolved for one apply: one file per axis, of its name, with `choose`.

A resolver is given what is chosen so far (`base.Choice`) and what is asked for, and gives a value, or refuses what the
operator forbids. What follows from the axis's record in `vgraph/schedule/axes.py` (devices, other axes) is checked
before it is called.
"""

"""Schedules: how a program runs, apart from what it says.

A `Schedule` is a frozen value addressed by label (the operator's name, or the `label=` of an apply). Every axis that is
left out, or given as `vg.AUTO`, is chosen. `ApplySchedule` is its resolved form for one apply, with the reason of every
choice. `AXES` is the one table of what can be asked for (`axes.py`); passes may add options of their own
(`register_option`).
"""

from __future__ import annotations

from vgraph.schedule.axes import *  # noqa: F403
from vgraph.schedule.names import *  # noqa: F403
from vgraph.schedule.record import *  # noqa: F403
from vgraph.schedule.registry import *  # noqa: F403
from vgraph.schedule.schedules import *  # noqa: F403
from vgraph.schedule.values import *  # noqa: F403

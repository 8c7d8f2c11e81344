"""Policies that divide a loop over the members of a set of devices, a file each; `base.py` is what they share."""

from __future__ import annotations

from typing import Final

from vgraph.sharing.affinity_stealing import AffinityStealing
from vgraph.sharing.asym import Asym
from vgraph.sharing.asym_conv import AsymConv
from vgraph.sharing.asym_size import AsymSize
from vgraph.sharing.base import Division, Outcome, Policy, Work, Worker
from vgraph.sharing.chunk_affinity import ChunkAffinity
from vgraph.sharing.fixed import FixedRatio, fixed_ratio
from vgraph.sharing.greedy import Greedy
from vgraph.sharing.hass import Hass
from vgraph.sharing.min_min import MinMin
from vgraph.sharing.naive import Naive
from vgraph.sharing.oracle import Oracle
from vgraph.sharing.qilin import Qilin
from vgraph.sharing.sample_weighted import SampleWeighted
from vgraph.sharing.shared_queue import SharedQueue

NAIVE: Final = Naive()
ASYM: Final = Asym()
ASYM_CONV: Final = AsymConv()
ASYM_SIZE: Final = AsymSize()
SHARED_QUEUE: Final = SharedQueue()
SAMPLE_WEIGHTED: Final = SampleWeighted()
ORACLE: Final = Oracle()
QILIN: Final = Qilin()
MIN_MIN: Final = MinMin()
GREEDY: Final = Greedy()
HASS: Final = Hass()
CHUNK_AFFINITY: Final = ChunkAffinity()
AFFINITY_STEALING: Final = AffinityStealing()

__all__ = [
    "AFFINITY_STEALING", "ASYM", "ASYM_CONV", "ASYM_SIZE", "CHUNK_AFFINITY", "GREEDY", "HASS", "MIN_MIN",
    "NAIVE", "ORACLE", "QILIN", "SAMPLE_WEIGHTED", "SHARED_QUEUE", "AffinityStealing", "Asym", "AsymConv",
    "AsymSize", "ChunkAffinity", "Division", "FixedRatio", "Greedy", "Hass", "MinMin", "Naive", "Oracle",
    "Outcome", "Policy", "Qilin", "SampleWeighted", "SharedQueue", "Work", "Worker", "fixed_ratio",
]  # fmt: skip

"""Runners of compiled code: kernels from memory, from the cache on disk, or compiled now."""

from __future__ import annotations

import functools
import sys
import threading
import warnings
from abc import abstractmethod
from collections import OrderedDict
from typing import TYPE_CHECKING, Any, ClassVar, Final

from vgraph.cache import CacheWarning, cache_key, cached, default_cache, key_text
from vgraph.compiler.frontend import source_parts
from vgraph.garbage import uncollected
from vgraph.runtime.devices.runner import Loaded, Runner
from vgraph.runtime.plan import Plan, plan_of
from vgraph.runtime.prints import warn_of_prints
from vgraph.stamp import code_stamp

if TYPE_CHECKING:
    from vgraph.compiler.backends.base import Backend, SourceText
    from vgraph.compiler.facts import Facts
    from vgraph.compiler.user_passes import UserPass
    from vgraph.runtime.executor import Job

_LOADED: Final = 256
"""Kernels kept in memory, the least recently used go first."""

Place = tuple[str, tuple[str, ...], tuple[bool | int, ...], "Facts"]
"""What kernels are kept by: where they can be called, all texts that they depend on, what is asked, what is known."""
_loaded: OrderedDict[Place, Loaded] = OrderedDict()
_lock = threading.Lock()


class CompiledRunner(Runner):
    """A device with compiled code, which is kept."""

    language: ClassVar[str]
    """What its code is written in, as a title; `suffix`: of files with such code."""
    suffix: ClassVar[str]
    single: int = 0
    """1: code for one thread only, without atomics; 0: for any number."""

    @property
    @abstractmethod
    def backend(self) -> Backend:
        """The backend that emits its code."""

    @property
    def place(self) -> str:
        """What loaded code belongs to inside this process: code of one place cannot be called in another."""
        return self.name

    @abstractmethod
    def stamp(self) -> str:
        """Everything beside the program and vgraph's own code that compiled code depends on."""

    @abstractmethod
    def parts(self, source: SourceText) -> tuple[str, ...]:
        """Everything that the machine code of this text depends on."""

    @abstractmethod
    def compile(self, source: SourceText) -> bytes:
        """Machine code for this device."""

    @abstractmethod
    def load(self, code: bytes, plan: Plan) -> Any:
        """Make machine code ready to run."""

    def build(self, job: Job) -> Loaded:
        """The kernel from memory, from the cache on disk, or compiled now."""
        return self._built(job, self._place(job))

    def _place(self, job: Job) -> Place | None:
        """Where the job's kernel is kept; None: nowhere."""
        source = source_parts(job.algorithm, job.reached)
        warn_of_prints(job.algorithm, source, self.name)
        marks = pass_marks(own_passes())
        if marks is None:
            return None
        asked = ";".join([f"{k}={key_text(v)}" for k, v in sorted(job.schedule.labels.items())])
        flags = (
            job.single,
            job.must_renumber,
            job.overlap is not None,
            job.deterministic,
            job.debug is not None,
            bool(job.members),
            job.mixed,
            job.cut,
        )
        texts = (
            code_stamp(),
            self.name,
            self.stamp(),
            *source,
            key_text(job.signature),
            asked,
            job.divides,
            *marks,
        )
        return self.place, texts, flags, job.facts

    def found(self, place: Place | None) -> Loaded | None:
        """The kernel from memory or from the cache on disk."""
        if place is None:
            return None
        loaded = recall(place)
        if loaded is None:
            loaded = self._from_cache(place)
            if loaded is not None:
                keep(place, loaded)
        return loaded

    def _built(self, job: Job, place: Place | None) -> Loaded:
        loaded = self.found(place)
        if loaded is None:
            with uncollected():
                loaded = self._compile(job, place and _key(place))
            if place is not None:
                keep(place, loaded)
        return loaded

    def _from_cache(self, place: Place) -> Loaded | None:
        cache = default_cache()
        data = cache.get(_key(place)) if cache is not None else None
        if cache is None or data is None:
            return None
        plan, code_key = Plan.unpack(data)
        code = cache.get(code_key)
        return None if code is None else Loaded(plan, self.load(code, plan), True)

    def _compile(self, job: Job, key: str | None) -> Loaded:
        """The program compiled now, its text to machine code only if the cache has none for the same text.

        Without a key the plan is not kept.
        """
        from vgraph.runtime.devices.compiling import compile_program

        compiled, renumbers, moves = compile_program(job, self, own_passes())
        about = {"algorithm": job.algorithm.name, "schedule": str(compiled.schedule), "device": self.name}
        code_key = cache_key(self.parts(compiled.source))
        code, found = cached(code_key, lambda: self.compile(compiled.source), about)
        interface = compiled.source.interface
        plan = plan_of(compiled.kernel, interface, compiled.schedule, renumbers=renumbers, moves=moves)
        cache = default_cache()
        if cache is not None and key is not None:
            cache.put(key, plan.pack(code_key), about)
        return Loaded(plan, self.load(code, plan), found)


def recall(place: Place) -> Loaded | None:
    """The kernel that is in memory."""
    with _lock:
        found = _loaded.get(place)
        if found is not None:
            _loaded.move_to_end(place)
        return found


def keep(place: Place, loaded: Loaded) -> None:
    """Keep a kernel in memory."""
    with _lock:
        _loaded[place] = loaded
        while len(_loaded) > _LOADED:
            _loaded.popitem(last=False)


def _key(place: Place) -> str:
    """The key of its plan in the cache on disk."""
    _, texts, flags, facts = place
    return cache_key((*texts, *map(str, flags), key_text(facts)))


def own_passes() -> tuple[UserPass, ...]:
    """The user's passes. Their module is there once one is registered; without, a warm start loads no passes at all."""
    keeper = sys.modules.get("vgraph.compiler.user_passes")
    return () if keeper is None else keeper.registered()


def pass_marks(own: tuple[UserPass, ...]) -> tuple[str, ...] | None:
    """What of the user's passes is in the key; None, with a warning, if code that they made cannot be kept."""
    if not own:
        return ()
    from vgraph.compiler.fingerprints import NoFingerprintError
    from vgraph.compiler.user_passes import fingerprints

    try:
        return fingerprints(own)
    except NoFingerprintError as error:
        _tell_uncached(str(error))
        return None


@functools.cache
def _tell_uncached(reason: str) -> None:
    warnings.warn(f"programs are compiled anew for each run: {reason}", CacheWarning, stacklevel=5)

"""Runners of compiled code: kernels from memory, from the cache on disk, or compiled now."""

from __future__ import annotations

import functools
import sys
import threading
import warnings
from abc import abstractmethod
from collections import OrderedDict
from typing import TYPE_CHECKING, Any, ClassVar, Final

from vgraph.cache import CacheWarning, cache_key, cached_object, default_cache, key_text
from vgraph.compiler.frontend import source_parts
from vgraph.garbage import uncollected
from vgraph.runtime.devices.runner import Loaded, Runner
from vgraph.runtime.plan import Plan, plan_of
from vgraph.runtime.prints import warn_of_prints
from vgraph.stamp import code_stamp

if TYPE_CHECKING:
    from vgraph.compiler.backends.base import Backend, SourceText
    from vgraph.compiler.user_passes import UserPass
    from vgraph.runtime.executor import Job

_LOADED: Final = 256
"""Kernels kept in memory, the least recently used go first."""

_loaded: OrderedDict[object, Loaded] = OrderedDict()
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
        source = source_parts(job.algorithm, job.reached)
        warn_of_prints(job.algorithm, source, self.name)
        own = own_passes()
        marks = pass_marks(own)
        if marks is None:
            return self._compile(job, own, None)
        asked = ";".join([f"{k}={key_text(v)}" for k, v in sorted(job.schedule.labels.items())])
        flags = (
            job.single,
            job.must_renumber,
            job.overlap is not None,
            job.deterministic,
            job.debug is not None,
            bool(job.members),
            job.mixed,
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
        facts = job.facts
        place = self.place, texts, flags, facts
        with _lock:
            found = _loaded.get(place)
            if found is not None:
                _loaded.move_to_end(place)
                return found
        key = cache_key((*texts, *map(str, flags), key_text(facts)))
        loaded = self._from_cache(key)
        if loaded is None:
            with uncollected():
                loaded = self._compile(job, own, key)
        with _lock:
            _loaded[place] = loaded
            while len(_loaded) > _LOADED:
                _loaded.popitem(last=False)
        return loaded

    def _from_cache(self, key: str) -> Loaded | None:
        cache = default_cache()
        data = cache.get(key) if cache is not None else None
        if cache is None or data is None:
            return None
        plan, code_key = Plan.unpack(data)
        code = cache.get(code_key)
        return None if code is None else Loaded(plan, self.load(code, plan), True)

    def _compile(self, job: Job, own: tuple[UserPass, ...], key: str | None) -> Loaded:
        """The program compiled now, its text to machine code only if the cache has none for the same text.

        Without a key the plan is not kept.
        """
        from vgraph.runtime.devices.compiling import compile_program

        compiled, renumbers, moves = compile_program(job, self, own)
        about = {"algorithm": job.algorithm.name, "schedule": str(compiled.schedule), "device": self.name}
        parts = self.parts(compiled.source)
        code, found = cached_object(parts, lambda: self.compile(compiled.source), about)
        interface = compiled.source.interface
        plan = plan_of(compiled.kernel, interface, compiled.schedule, renumbers=renumbers, moves=moves)
        cache = default_cache()
        if cache is not None and key is not None:
            cache.put(key, plan.pack(cache_key(parts)), about)
        return Loaded(plan, self.load(code, plan), found)


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

"""What the executor asks of a GPU. The tests have a second implementation, which emulates one on the CPU."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Any, Protocol

from numpy.typing import DTypeLike, NDArray


class Launch(Protocol):
    """A kernel that has been started."""

    def done(self) -> bool:
        """Whether it has ended; never waits. Raises InternalError if it failed: then the device is lost."""

    def seconds(self) -> float:
        """How long it ran, by the device's clock; when it has ended."""


class Device(Protocol):
    """One GPU. Arrays on it are opaque (`Any`); all that is asked of it happens one after the other.

    Methods that need memory raise MemoryError.
    """

    @property
    def name(self) -> str:
        """What the manufacturer calls it."""

    @property
    def place(self) -> str:
        """Its name in this process: `cuda:0`."""

    @property
    def multiprocessors(self) -> int:
        """How many there are."""

    @property
    def block(self) -> int:
        """Threads per block of kernels."""

    def block_of(self, kernel: Any) -> int:
        """Threads per block of one, which may be another number."""

    @property
    def xp(self) -> Any:
        """The module with NumPy's functions for its arrays."""

    def current(self) -> AbstractContextManager[Any]:
        """Make it the one that this thread talks to, for the time of a `with` block around everything below."""

    # --- code ---------------------------------------------------------------------------------------------

    def stamp(self) -> str:
        """What machine code for it depends on beside the text. Must not load a compiler."""

    def parts(self, text: str) -> tuple[str, ...]:
        """All that the machine code of a kernel's text depends on."""

    def compile(self, text: str) -> bytes:
        """Machine code of a kernel's text."""

    def load(self, code: bytes) -> Any:
        """The kernel in this machine code, ready to be launched."""

    def room(self, kernel: Any, wanted: int) -> int:
        """Bytes of dynamic shared memory for each of its blocks: those wanted, or the share of a block where as many as
        would run without it share all there is. Its blocks may have so many from now on."""

    def occupancy(self, kernel: Any, shared: int) -> int:
        """Blocks of it that a multiprocessor runs at the same time, each with so much dynamic shared memory."""

    # --- memory -------------------------------------------------------------------------------------------

    def empty(self, shape: tuple[int, ...], dtype: DTypeLike) -> Any:
        """An array of any content."""

    def zeros(self, shape: tuple[int, ...], dtype: DTypeLike) -> Any:
        """An array of zeros."""

    def upload(self, host: NDArray[Any]) -> Any:
        """A copy on the device."""

    def pin(self, host: NDArray[Any]) -> Any:
        """A copy in memory of the host that the device reads over the bus."""

    def download(self, array: Any) -> NDArray[Any]:
        """A copy on the host."""

    def address(self, array: Any) -> int:
        """Where an array begins, as a kernel sees it."""

    def memory(self) -> tuple[int, int]:
        """Bytes that are free, as the driver sees it, and bytes in all."""

    def release(self) -> None:
        """Give memory back that is kept for reuse."""

    def reach(self, other: Any) -> None:
        """Let its kernels use the memory of another device. Raises DeviceError where they cannot."""

    # --- runs ---------------------------------------------------------------------------------------------

    def launch(self, kernel: Any, words: NDArray[Any], grid: int, shared: int = 0) -> Launch:
        """Start `grid` blocks at the same time, with the 8-byte `words` as the one parameter, by value; each with
        `shared` bytes of dynamic shared memory."""

    def read(self, array: Any, start: int, stop: int) -> NDArray[Any]:
        """Elements of a one-dimensional array, also while a kernel runs."""

    def write(self, array: Any, offset: int, data: bytes) -> None:
        """Overwrite bytes of an array, also while a kernel runs."""

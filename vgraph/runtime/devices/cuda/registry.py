"""The GPUs of this process by number, and the way to put something else in their place."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from vgraph.errors import DeviceError
from vgraph.runtime.devices.cuda import detect

if TYPE_CHECKING:
    from vgraph.runtime.devices.cuda.device import Device

_lock = threading.Lock()
_devices: dict[int, Device] = {}
_installed: list[tuple[Device, ...]] = []


@contextmanager
def use(device: Device, *more: Device) -> Iterator[Device]:
    """Run everything that asks for a GPU on `device` inside a `with` block, in all threads: for tests. With `more`,
    they are cuda:0, cuda:1 and so on."""
    found = device, *more
    _installed.append(found)
    try:
        yield device
    finally:
        _installed.remove(found)


def number_of(name: str) -> int | None:
    """The number in `cuda` (0) or `cuda:1`; None if `name` is no name of a GPU."""
    kind, colon, number = name.partition(":")
    if kind != "cuda" or (colon and not (number.isascii() and number.isdigit())):
        return None
    return int(number or 0)


def device_for(number: int = 0, *, asked: str = '"cuda"') -> Device:
    """The GPU of this number. Raises DeviceError, which says in a line what is missing for `device=` as `asked`."""
    if _installed:
        found = _installed[-1]
        if number >= len(found) > 1:
            raise DeviceError(no_such(number, len(found)))
        return found[min(number, len(found) - 1)]
    if (known := _devices.get(number)) is not None:
        return known
    missing = detect.missing()
    if missing is not None:
        raise DeviceError(f"device={asked} needs {missing}")
    with _lock:
        if number not in _devices:
            from vgraph.runtime.devices.cuda.cupy_device import CupyDevice

            _devices[number] = CupyDevice(number)
        return _devices[number]


def no_such(number: int, count: int) -> str:
    """What is said of a GPU that is not there."""
    known = f"they are cuda:0 to cuda:{count - 1}" if count > 1 else "there is only cuda:0"
    return f'device="cuda:{number}": no such GPU; {known}'


def count() -> int:
    """How many GPUs there are, at least one. Raises DeviceError, which says in a line what is missing."""
    device_for(0, asked='"cuda:*"')
    if _installed:
        return len(_installed[-1])
    from cupy.cuda.runtime import getDeviceCount

    return int(getDeviceCount())


def candidate() -> Device | None:
    """The GPU that a run which names no device may take; None if there is none. Quick where there is no driver."""
    if _installed:
        return _installed[-1][0]
    if 0 not in _devices and not detect.likely():
        return None
    try:
        return device_for(0)
    except DeviceError:
        return None


def listed() -> list[tuple[str, str, str, int, int]]:
    """Name, kind, maker's name, multiprocessors and bytes of memory of each GPU."""
    if candidate() is None:
        return []
    rows = []
    for number in range(count()):
        device = device_for(number)
        with device.current():
            rows.append((device.place, "cuda", device.name, device.multiprocessors, device.memory()[1]))
    return rows

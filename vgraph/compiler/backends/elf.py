"""Place an x86-64 ELF object in memory without LLVM.

Importing llvmlite costs some 25 ms, a third of what a warm start may take, and a cached object needs nothing
of it but a linker. This one knows the few relocations that LLVM emits for position-independent code in the
small code model; anything else raises `UnsupportedObject`, and the caller lets LLVM do it.
"""

from __future__ import annotations

import ctypes
import functools
import mmap
import os
import struct
from collections.abc import Callable
from typing import Final

from vgraph.records import dataclass

_PAGE: Final = mmap.PAGESIZE
_NOBITS, _RELA, _SYMTAB, _PROGBITS = 8, 4, 2, 1
_WRITE, _ALLOC, _EXEC, _TLS = 1, 2, 4, 0x400
_UNDEFINED, _ABSOLUTE, _FIRST_RESERVED = 0, 0xFFF1, 0xFF00
_ABS64, _PC64 = 1, 24
_PC32: Final = (2, 4)
_GOT32: Final = (9, 41, 42)
_STUB: Final = bytes((0xFF, 0x25, 0, 0, 0, 0))  # jmp *[rip + 0], the address follows
_STUB_SIZE: Final = 16
_IGNORED: Final = ".eh_frame"


class UnsupportedObject(Exception):
    """The object needs something that this loader does not do."""


@dataclass(frozen=True)
class _Section:
    name: str
    type: int
    flags: int
    offset: int
    size: int
    link: int
    info: int
    align: int


@dataclass(frozen=True)
class _Symbol:
    name: str
    section: int
    value: int


class _Object:
    """The headers of a relocatable file."""

    def __init__(self, data: bytes) -> None:
        if len(data) < 64 or data[:6] != b"\x7fELF\2\1" or data[16:20] != struct.pack("<HH", 1, 62):
            raise UnsupportedObject("not a relocatable x86-64 ELF file")
        self.data = data
        (table,) = struct.unpack_from("<Q", data, 40)
        count, names_index = struct.unpack_from("<HH", data, 60)
        raw = [struct.unpack_from("<IIQQQQIIQQ", data, table + 64 * k) for k in range(count)]
        names = raw[names_index][4]
        self.sections = [
            _Section(self._string(names + h[0]), h[1], h[2], h[4], h[5], h[6], h[7], max(1, h[8]))
            for h in raw
        ]
        self.symbols = [
            s for section in self.sections if section.type == _SYMTAB for s in self._symbols(section)
        ]

    def _string(self, start: int) -> str:
        return self.data[start : self.data.index(b"\0", start)].decode()

    def _symbols(self, section: _Section) -> list[_Symbol]:
        strings = self.sections[section.link].offset
        entries = struct.iter_unpack("<IBBHQQ", self.data[section.offset : section.offset + section.size])
        return [_Symbol(self._string(strings + e[0]), e[3], e[4]) for e in entries]

    def placed(self) -> list[int]:
        """Indices of the sections that occupy memory, executable ones first, writable ones last."""
        chosen = []
        for index, section in enumerate(self.sections):
            if not section.flags & _ALLOC or section.name == _IGNORED or not section.size:
                continue
            if section.type not in (_PROGBITS, _NOBITS) or section.flags & _TLS:
                raise UnsupportedObject(f"section {section.name}")
            chosen.append(index)
        return sorted(chosen, key=lambda k: _protection(self.sections[k]))


def _protection(section: _Section) -> int:
    """0 executable, 1 read-only, 2 writable: also the order in memory."""
    return 0 if section.flags & _EXEC else 2 if section.flags & _WRITE else 1


def _align(value: int, to: int) -> int:
    return -(-value // to) * to


class _Image:
    """The object laid out in one private mapping: code and call stubs, constants and addresses, data."""

    def __init__(self, obj: _Object, resolve: Callable[[str], int]) -> None:
        self.obj, self.resolve = obj, resolve
        self.externals = [s.name for s in obj.symbols if s.section == _UNDEFINED and s.name]
        self.places: dict[int, int] = {}
        self.ends = [0, 0, 0]
        position = 0
        for kind in range(3):
            position = _align(position, _PAGE)
            for index in (k for k in obj.placed() if _protection(obj.sections[k]) == kind):
                position = _align(position, obj.sections[index].align)
                self.places[index] = position
                position += obj.sections[index].size
            if kind == 0:
                self.stubs = position = _align(position, _STUB_SIZE)
                position += _STUB_SIZE * len(self.externals)
            if kind == 1:
                self.table = position = _align(position, 8)
                position += 8 * len(obj.symbols)
            self.ends[kind] = position
        self.base = 0
        self.image = bytearray(_align(position, _PAGE))

    def address_of(self, symbol: _Symbol) -> int:
        """Absolute address of a symbol."""
        if symbol.section == _UNDEFINED:
            return self.resolve(symbol.name)
        if symbol.section == _ABSOLUTE:
            return symbol.value
        if symbol.section >= _FIRST_RESERVED or symbol.section not in self.places:
            raise UnsupportedObject(f"symbol {symbol.name} in section {symbol.section}")
        return self.base + self.places[symbol.section] + symbol.value

    def near_address_of(self, symbol: _Symbol) -> int:
        """Address within reach of a 32-bit displacement: for an external function, its stub."""
        if symbol.section == _UNDEFINED:
            return self.base + self.stubs + _STUB_SIZE * self.externals.index(symbol.name)
        return self.address_of(symbol)

    def fill(self) -> None:
        """Copy the sections, write the stubs, apply the relocations; `base` must be known."""
        for index, place in self.places.items():
            section = self.obj.sections[index]
            if section.type == _PROGBITS:
                self.image[place : place + section.size] = self.obj.data[
                    section.offset : section.offset + section.size
                ]
        for k, name in enumerate(self.externals):
            stub = _STUB + struct.pack("<Q", self.resolve(name))
            self.image[self.stubs + _STUB_SIZE * k : self.stubs + _STUB_SIZE * k + len(stub)] = stub
        for section in self.obj.sections:
            if section.type == _RELA and section.info in self.places:
                entries = self.obj.data[section.offset : section.offset + section.size]
                for offset, info, addend in struct.iter_unpack("<QQq", entries):
                    self._relocate(self.places[section.info] + offset, info & 0xFFFFFFFF, info >> 32, addend)

    def _relocate(self, place: int, kind: int, index: int, addend: int) -> None:
        symbol = self.obj.symbols[index]
        if kind == _ABS64:
            value, form = self.address_of(symbol) + addend, "<Q"
        elif kind == _PC64:
            value, form = self.address_of(symbol) + addend - self.base - place, "<q"
        elif kind in _PC32:
            value, form = self.near_address_of(symbol) + addend - self.base - place, "<i"
        elif kind in _GOT32:
            entry = self.table + 8 * index
            struct.pack_into("<Q", self.image, entry, self.address_of(symbol))
            value, form = entry + addend - place, "<i"
        else:
            raise UnsupportedObject(f"relocation {kind}")
        struct.pack_into(form, self.image, place, value)


@dataclass(frozen=True)
class Mapped:
    """An object in memory: the addresses of the symbols it defines, and where it lies."""

    symbols: dict[str, int]
    base: int
    size: int

    def unmap(self) -> None:
        """Give the memory back; no thread may be inside the code."""
        _libc().munmap(self.base, self.size)


@functools.cache
def _libc() -> ctypes.CDLL:
    libc = ctypes.CDLL(None, use_errno=True)
    libc.mmap.restype = ctypes.c_void_p
    libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long]
    libc.mprotect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
    libc.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
    return libc


def load_elf(data: bytes, resolve: Callable[[str], int]) -> Mapped:
    """Map the object.

    `resolve` gives the address of an external symbol or raises. Raises `UnsupportedObject`, and MemoryError when there
    is no memory to be had.
    """
    try:
        obj = _Object(data)
        image = _Image(obj, resolve)
    except (struct.error, IndexError, ValueError, UnicodeDecodeError) as fault:
        raise UnsupportedObject(f"malformed object: {fault}") from fault
    libc = _libc()
    size = max(len(image.image), _PAGE)
    base = libc.mmap(
        None, size, mmap.PROT_READ | mmap.PROT_WRITE, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, -1, 0
    )
    if base in (None, ctypes.c_void_p(-1).value):
        raise MemoryError(f"{size:,} bytes for machine code")
    image.base = base
    try:
        image.fill()
        ctypes.memmove(base, bytes(image.image), len(image.image))
        start = 0
        for end, access in zip(image.ends, (mmap.PROT_READ | mmap.PROT_EXEC, mmap.PROT_READ), strict=False):
            stop = _align(end, _PAGE)
            if stop > start and libc.mprotect(base + start, stop - start, access) != 0:
                raise MemoryError(f"{size:,} bytes that may be executed: {os.strerror(ctypes.get_errno())}")
            start = stop
    except BaseException:
        libc.munmap(base, size)
        raise
    local = (s for s in obj.symbols if s.name and s.section in image.places)
    return Mapped({s.name: image.address_of(s) for s in local}, base, size)

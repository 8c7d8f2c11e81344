"""The cache: damage, foreign folders and keys, several processes, eviction."""

from __future__ import annotations

import errno
import os
import random
import shutil
import stat
import subprocess
import sys
import warnings
from pathlib import Path

import pytest

from vgraph import cache as cache_module
from vgraph import config, private
from vgraph.cache import CacheWarning, ObjectCache, cache_key, cached_object

ROOT = Path(__file__).parents[2]
KEY = cache_key(("kernel", "text", "cpu"))
CODE = bytes(range(256)) * 40


@pytest.fixture
def cache(tmp_path):
    return ObjectCache(tmp_path / "cache")


def entry(cache, key=KEY):
    return cache.directory / f"{key}.vgo"


def test_round_trip_and_privacy(cache):
    assert cache.get(KEY) is None
    assert not cache.directory.exists()  # looking creates nothing
    cache.put(KEY, CODE, {"what": "test"})
    assert cache.get(KEY) == CODE
    assert ObjectCache(cache.directory).get(KEY) == CODE
    assert stat.S_IMODE(cache.directory.stat().st_mode) == 0o700
    assert stat.S_IMODE(entry(cache).stat().st_mode) == 0o600
    assert b'"what": "test"' in entry(cache).read_bytes()
    assert [p.name for p in cache.directory.iterdir()] == [entry(cache).name]


def test_every_bit_and_every_length_of_an_entry_matter(cache):
    cache.put(KEY, b"a short one", {"what": "test"})
    data = entry(cache).read_bytes()
    damaged = [data[:size] for size in range(len(data))]
    damaged += [
        data[:i] + bytes((data[i] ^ 1 << bit,)) + data[i + 1 :] for i in range(len(data)) for bit in range(8)
    ]
    assert all_ignored(cache, damaged)


def all_ignored(cache, damaged):
    """Whether none of these is taken for the entry, each with a warning."""
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        for data in damaged:
            entry(cache).unlink()  # some file systems write to the disk what replaces something
            entry(cache).write_bytes(data)
            assert cache.get(KEY) is None
    return [w.category for w in seen] == [CacheWarning] * len(damaged)


def test_damage_of_any_kind_is_noticed(cache):
    """Pieces of one entry in another, several flipped bits, pieces moved and doubled."""
    rng = random.Random(7)
    entries = []
    for number in range(4):
        cache.put(KEY, CODE[:: number + 1], {"what": str(number)})
        entries.append(entry(cache).read_bytes())
    damaged = []
    while len(damaged) < 500:
        data, other = bytearray(rng.choice(entries)), rng.choice(entries)
        for _ in range(rng.randint(1, 4)):
            start, size = rng.randrange(len(data)), rng.choice((1, 8, 64, 4096))
            kind = rng.randrange(4)
            if kind == 0:
                data[start] ^= 1 << rng.randrange(8)
            elif kind == 1:
                del data[start : start + size]
            elif kind == 2:
                data[start : start + size] = other[start : start + size]
            else:
                data[start:start] = data[start : start + size]
            data = data or bytearray(b"?")
        if bytes(data) not in entries:
            damaged.append(bytes(data))
    assert all_ignored(cache, damaged)


def test_an_entry_that_somebody_else_signed_is_ignored(cache, tmp_path):
    """All is right with it but the key of its MAC."""
    ObjectCache(cache.directory, key_file=tmp_path / "theirs").put(KEY, CODE)
    with pytest.warns(CacheWarning, match="not signed with the key in"):
        assert cache.get(KEY) is None
    cache.put(KEY, CODE)
    assert cache.get(KEY) == CODE


def test_a_file_that_would_fill_the_memory_is_not_read(cache):
    cache.put(KEY, CODE)
    with open(entry(cache), "r+b") as file:
        file.truncate(1 << 40)  # takes no room on the disk
    with pytest.warns(CacheWarning, match="larger than"):
        assert cache.get(KEY) is None


def test_key_depends_on_every_part_and_their_borders():
    parts = [("a", "b"), ("ab",), ("a", "b", ""), ("b", "a"), ("", "ab"), ()]
    assert len({cache_key(p) for p in parts}) == len(parts)
    assert cache_key(("a", "b")) == cache_key(["a", "b"])


DAMAGE = {
    "empty": lambda data: b"",
    "header cut": lambda data: data[:20],
    "code cut": lambda data: data[:-1],
    "longer": lambda data: data + b"x",
    "first byte": lambda data: b"X" + data[1:],
    "format": lambda data: data[:8] + b"\x63" + data[9:],
    "bit in code": lambda data: data[:-7] + bytes((data[-7] ^ 4,)) + data[-6:],
    "bit in MAC": lambda data: data[:50] + bytes((data[50] ^ 1,)) + data[51:],
    "bit in metadata": lambda data: data.replace(b"test", b"tesu"),
    "bit in metadata size": lambda data: data[:12] + bytes((data[12] ^ 1,)) + data[13:],
    "huge size": lambda data: data[:80] + b"\xff" * 8 + data[88:],
    "another key": lambda data: data[:16] + bytes(32) + data[48:],
    "a text file": lambda data: (
        b"not a cache entry, but long enough to hold a header of the format we use. " * 3
    ),
}


@pytest.mark.parametrize("kind", DAMAGE)
def test_damaged_entry_is_ignored_with_a_warning_and_rebuilt(cache, kind):
    cache.put(KEY, CODE, {"what": "test"})
    data = entry(cache).read_bytes()
    damaged = DAMAGE[kind](data)
    assert damaged != data
    entry(cache).write_bytes(damaged)
    with pytest.warns(CacheWarning, match="ignored"):
        assert cache.get(KEY) is None
    cache.put(KEY, CODE)
    assert cache.get(KEY) == CODE


def test_swapped_entries_are_noticed(cache):
    other = cache_key(("other",))
    cache.put(KEY, CODE)
    cache.put(other, CODE[::-1])
    entry(cache, other).replace(entry(cache))
    with pytest.warns(CacheWarning, match="another key"):
        assert cache.get(KEY) is None


@pytest.mark.parametrize("kind", ["symlink", "folder", "fifo", "writable by others"])
def test_entry_that_is_not_a_private_file_is_ignored(cache, tmp_path, kind):
    cache.put(KEY, CODE)
    match kind:
        case "symlink":
            entry(cache).rename(tmp_path / "elsewhere")
            entry(cache).symlink_to(tmp_path / "elsewhere")
        case "folder":
            entry(cache).unlink()
            entry(cache).mkdir()
        case "fifo":
            entry(cache).unlink()
            os.mkfifo(entry(cache), 0o600)
        case _:
            entry(cache).chmod(0o666)
    with pytest.warns(CacheWarning, match="ignored"):
        assert cache.get(KEY) is None


def make_symlink(path):
    (path.parent / "target").mkdir(mode=0o700)
    path.symlink_to(path.parent / "target")


def make_open(path):
    path.mkdir()
    path.chmod(0o777)


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (make_symlink, "is a symbolic link"),
        (make_open, "can be written by other users"),
        (lambda path: path.write_text("x"), "File exists|is not a folder"),
    ],
)
def test_folder_that_is_not_private_is_refused_once(tmp_path, make, reason):
    make(tmp_path / "cache")
    cache = ObjectCache(tmp_path / "cache")
    with pytest.warns(CacheWarning, match=reason) as seen:
        found = [cache.put(KEY, CODE), cache.get(KEY), cache.put(KEY, CODE)]
    assert found == [None] * 3
    assert len(seen) == 1


def test_folder_of_another_user_is_refused(cache, monkeypatch):
    cache.put(KEY, CODE)
    me = os.geteuid()
    monkeypatch.setattr(private.os, "geteuid", lambda: me + 1)
    with pytest.warns(CacheWarning, match="belongs to another user"):
        assert ObjectCache(cache.directory).get(KEY) is None
    with pytest.warns(CacheWarning, match="ignored"):  # a foreign file in a folder already accepted
        assert cache.get(KEY) is None


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EROFS, errno.EACCES, errno.EDQUOT])
def test_a_disk_that_takes_nothing_only_warns(cache, monkeypatch, code):
    cache.put(KEY, CODE)
    other = cache_key(("other",))

    def refuse(*_):
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(private.os, "replace", refuse)
    with pytest.warns(CacheWarning, match=os.strerror(code)) as seen:
        [cache.put(other, CODE) for _ in range(2)]
    assert len(seen) == 1
    assert cache.get(KEY) == CODE
    assert cache.get(other) is None
    assert [p.name for p in cache.directory.iterdir()] == [entry(cache).name]  # no temporary file left


def test_a_folder_that_cannot_be_made_only_warns(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.warns(CacheWarning, match="no cache"):
        ObjectCache(tmp_path / "file" / "below" / "cache").put(KEY, CODE)


def test_least_recently_used_entries_go_first(tmp_path):
    cache = ObjectCache(tmp_path / "cache", limit=3 * (len(CODE) + 200))
    keys = [cache_key((str(k),)) for k in range(4)]
    for age, key in enumerate(keys[:3]):
        cache.put(key, CODE)
        os.utime(entry(cache, key), (1000 + age, 1000 + age))
    assert cache.get(keys[0]) == CODE  # makes it the youngest
    cache.put(keys[3], CODE)
    assert [cache.get(k) is not None for k in keys] == [True, False, True, True]


def test_an_entry_above_the_limit_is_kept_and_old_temporaries_go(tmp_path):
    cache = ObjectCache(tmp_path / "cache", limit=10)
    cache.put(KEY, CODE)
    assert cache.get(KEY) == CODE
    stale, fresh = cache.directory / ".tmp-1-a", cache.directory / ".tmp-1-b"
    stale.write_text("x")
    fresh.write_text("x")
    os.utime(stale, (1000, 1000))
    cache.put(cache_key(("b",)), CODE)
    assert (stale.exists(), fresh.exists()) == (False, True)
    assert cache.get(KEY) is None


# --- the key --------------------------------------------------------------------------------------------------


@pytest.fixture
def key_file(tmp_path):
    return tmp_path / "state" / "vgraph" / "key"


def test_the_key_is_made_once_and_is_private(tmp_path, key_file):
    cache = ObjectCache(tmp_path / "cache", key_file=key_file)
    assert cache.get(KEY) is None
    assert not key_file.exists()  # looking creates nothing
    cache.put(KEY, CODE)
    assert stat.S_IMODE(key_file.stat().st_mode) == 0o600
    assert stat.S_IMODE(key_file.parent.stat().st_mode) == 0o700
    made = key_file.read_bytes()
    assert len(made) == 32
    ObjectCache(tmp_path / "other", key_file=key_file).put(KEY, CODE)
    assert key_file.read_bytes() == made
    assert list(key_file.parent.iterdir()) == [key_file]


def test_of_two_processes_that_make_the_key_the_first_wins(tmp_path):
    for data in (b"first", b"second"):
        private.write(tmp_path / "key", data, replace=False)
    assert private.read(tmp_path / "key") == b"first"
    assert [path.name for path in tmp_path.iterdir()] == ["key"]


def test_writes_and_reads_may_be_short(cache, monkeypatch):
    write, read = os.write, os.read
    monkeypatch.setattr(private.os, "write", lambda file, data: write(file, data[:1000]))
    monkeypatch.setattr(private.os, "read", lambda file, size: read(file, min(size, 1000)))
    cache.put(KEY, CODE)
    assert cache.get(KEY) == CODE


def test_without_its_key_no_entry_is_taken(tmp_path, key_file):
    ObjectCache(tmp_path / "cache", key_file=key_file).put(KEY, CODE)
    key_file.unlink()
    with pytest.warns(CacheWarning, match="not signed"):
        assert ObjectCache(tmp_path / "cache", key_file=key_file).get(KEY) is None


def spoil(key_file, how):
    """Make the key file unfit for use."""
    match how:
        case "readable":
            key_file.chmod(0o644)
        case "short":
            key_file.write_bytes(b"short")
        case "empty":
            key_file.write_bytes(b"")
        case "a link":
            key_file.rename(key_file.with_name("elsewhere"))
            key_file.symlink_to("elsewhere")
        case "a folder":
            key_file.unlink()
            key_file.mkdir()
        case "no folder for it":
            shutil.rmtree(key_file.parent)
            key_file.parent.write_text("a file")


@pytest.mark.parametrize("how", ["readable", "short", "empty", "a link", "a folder", "no folder for it"])
def test_without_a_key_of_ones_own_there_is_no_cache(tmp_path, key_file, how):
    ObjectCache(tmp_path / "cache", key_file=key_file).put(KEY, CODE)
    spoil(key_file, how)
    cache = ObjectCache(tmp_path / "cache", key_file=key_file)
    with pytest.warns(CacheWarning, match="no cache of compiled code: its key in .*VGRAPH_KEY_FILE") as seen:
        found = [cache.get(KEY), cache.put(KEY, CODE), cache.get(KEY)]
    assert found == [None] * 3
    assert len(seen) == 1


def test_a_user_without_a_home_has_no_cache(monkeypatch):
    def homeless():
        raise RuntimeError("Could not determine home directory.")

    for name in ("VGRAPH_CACHE_DIR", "XDG_CACHE_HOME", "XDG_STATE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(Path, "home", homeless)
    cache_module._tell_homeless.cache_clear()
    with pytest.warns(CacheWarning, match="VGRAPH_CACHE_DIR and VGRAPH_KEY_FILE") as seen:
        found = [cached_object(("k",), lambda: CODE) for _ in range(2)]
    assert found == [(CODE, False)] * 2
    assert len(seen) == 1


# --- several processes ----------------------------------------------------------------------------------------


WRITER = """
import sys
from vgraph.cache import ObjectCache, cache_key
cache, key = ObjectCache(sys.argv[1]), cache_key(("kernel", "text", "cpu"))
code = bytes(range(256)) * 40
bad = 0
for _ in range(300):
    cache.put(key, code)
    found = cache.get(key)
    bad += found != code
print(bad)
"""


def test_two_processes_write_and_read_the_same_key(tmp_path):
    command = [sys.executable, "-W", "error", "-c", WRITER, str(tmp_path / "cache")]
    writers = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT) for _ in range(3)]
    assert [w.communicate(timeout=300)[0].strip() for w in writers] == ["0"] * 3
    assert [p.suffix for p in (tmp_path / "cache").iterdir()] == [".vgo"]


def test_cached_object_builds_once_and_never_keeps_a_failure(tmp_path):
    built = []

    def build():
        built.append(1)
        if len(built) == 1:
            raise RuntimeError("compiler")
        return CODE

    with config.scope(cache_dir=tmp_path / "cache", no_cache=False):
        with pytest.raises(RuntimeError, match="compiler"):
            cached_object(("k",), build)
        assert cached_object(("k",), build) == (CODE, False)
        assert cached_object(("k",), build) == (CODE, True)
        with config.scope(no_cache=True):
            assert cached_object(("k",), build) == (CODE, False)
    assert len(built) == 3


def test_no_warning_in_good_order(cache):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        cache.put(KEY, CODE)
        assert cache.get(KEY) == CODE

"""Whoever can write into the cache's folder makes programs start slowly, and nothing worse.

Every entry that a small run leaves is damaged, swapped and forged; the run is right, warns, and mends the entry.
"""

from __future__ import annotations

import random
import warnings

import pytest
from small_run import run_as_a_new_process

from vgraph import private
from vgraph.cache import CacheWarning, ObjectCache
from vgraph.config import scope


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    """A folder with the entries of the run, by name, and the key that signed them."""
    place = tmp_path_factory.mktemp("kept")
    with scope(cache_dir=place / "cache", key_file=place / "key", no_cache=False):
        run_as_a_new_process()
    entries = {path.name: path.read_bytes() for path in (place / "cache").iterdir()}
    assert len(entries) == 5  # a hash of vgraph's files, the native runtime, its text, the plan, its code
    return entries, (place / "key").read_bytes()


@pytest.fixture
def place(tmp_path, kept):
    entries, key = kept
    (tmp_path / "cache").mkdir(mode=0o700)
    for name, data in entries.items():
        private.write(tmp_path / "cache" / name, data)
    private.write(tmp_path / "key", key)
    with scope(cache_dir=tmp_path / "cache", key_file=tmp_path / "key", no_cache=False):
        yield tmp_path


def content_of(place, name):
    return ObjectCache(place / "cache", key_file=place / "key").get(name.removesuffix(".vgo"))


def is_plan(content):
    return content.startswith(b'{"code"')


def overwrite(path, data):
    path.unlink()
    private.write(path, data)


def sign(place, name, content):
    """Put an entry there as somebody would who has no key but one of his own."""
    forger = ObjectCache(place / "cache", key_file=place / "theirs")
    (place / "cache" / name).unlink()
    forger.put(name.removesuffix(".vgo"), content)


def flip(place, name, others):
    data = bytearray((place / "cache" / name).read_bytes())
    rng = random.Random(name)
    data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
    overwrite(place / "cache" / name, bytes(data))


def truncate(place, name, others):
    data = (place / "cache" / name).read_bytes()
    overwrite(place / "cache" / name, data[: random.Random(name).randrange(len(data))])


def swap(place, name, others):
    overwrite(place / "cache" / name, (place / "cache" / others[0]).read_bytes())


def sign_anew(place, name, others):
    sign(place, name, content_of(place, name))


def sign_no_json(place, name, others):
    sign(place, name, b"{" if is_plan(content_of(place, name)) else b"no code")


def sign_another_entry(place, name, others):
    sign(place, name, content_of(place, others[-1]))


def sign_a_changed_plan(place, name, others):
    content = content_of(place, name)
    sign(place, name, content.replace(b'"vertex"', b'"edge"').replace(b"int64", b"int8") + b" ")


@pytest.mark.parametrize(
    "attack", [flip, truncate, swap, sign_anew, sign_no_json, sign_another_entry, sign_a_changed_plan]
)
def test_a_run_with_any_entry_attacked_is_right_and_mends_it(place, kept, attack):
    names = sorted(kept[0])
    for name in names:
        attack(place, name, [other for other in names if other != name])
        with pytest.warns(CacheWarning, match="ignored") as seen:
            run_as_a_new_process()
        assert {w.category for w in seen} == {CacheWarning}
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert run_as_a_new_process()


def test_a_cache_of_somebody_elses_is_of_no_use(place, kept):
    """As it is from an archive, or from a machine with another key."""
    overwrite(place / "key", bytes(32))
    with pytest.warns(CacheWarning, match="not signed") as seen:
        assert not run_as_a_new_process()
    assert len(seen) == len(kept[0])
    assert run_as_a_new_process()


def test_all_at_once(place, kept):
    rng = random.Random(5)
    for _ in range(8):
        for name in kept[0]:
            path = place / "cache" / name
            data = bytearray(path.read_bytes())
            start = rng.randrange(len(data))
            data[start : start + rng.choice((1, 9, 4000))] = rng.randbytes(rng.choice((0, 1, 9)))
            overwrite(path, bytes(data))
        with pytest.warns(CacheWarning, match="ignored"):
            run_as_a_new_process()

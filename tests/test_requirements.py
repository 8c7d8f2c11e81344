"""The list of what the gate installs: complete, pinned, each file with its hash."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest
from packaging.markers import default_environment
from packaging.requirements import Requirement

ROOT = Path(__file__).parents[1]
EXTRAS = ("plot", "test", "progress", "dev")
"""What `.ci/run` installs beside vgraph itself; `dev` takes `test` and `progress`."""


def wanted() -> list[Requirement]:
    """The requirements of `pyproject.toml` that the gate has."""
    told = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    lists = [told["build-system"]["requires"], told["project"]["dependencies"]]
    lists += [told["project"]["optional-dependencies"][extra] for extra in EXTRAS]
    found = [Requirement(text) for requirements in lists for text in requirements]
    return [r for r in found if r.name != "vgraph"]


def listed() -> list[tuple[Requirement, list[str]]]:
    """Each requirement of the list, with its hashes."""
    text = (ROOT / ".ci" / "requirements.txt").read_text("utf-8")
    entries = re.sub(r"^#.*\n", "", text, flags=re.MULTILINE).replace("\\\n", "").splitlines()
    return [(Requirement(head), hashes) for head, *hashes in (re.split(r"\s+--hash=", e) for e in entries)]


@pytest.mark.parametrize("python", ["3.11", "3.12", "3.13", "3.14"])
@pytest.mark.parametrize("system", ["linux", "darwin"])
def test_the_gate_has_what_is_asked_for(python: str, system: str) -> None:
    place = {**default_environment(), "python_version": python, "python_full_version": f"{python}.0"}
    place["sys_platform"] = system
    pins = {r.name: r for r, _ in listed() if r.marker is None or r.marker.evaluate(place)}
    for requirement in wanted():
        if requirement.marker is None or requirement.marker.evaluate(place):
            (pin,) = pins[requirement.name].specifier
            assert pin.version in requirement.specifier, "renew the list: .ci/lock"


def test_each_is_pinned_with_hashes_and_names_no_place() -> None:
    for requirement, hashes in listed():
        assert [s.operator for s in requirement.specifier] == ["=="]
        assert requirement.url is None
        assert hashes
        assert all(re.fullmatch(r"sha256:[0-9a-f]{64}", h) for h in hashes)
    assert "://" not in (ROOT / ".ci" / "requirements.txt").read_text("utf-8")

"""The runtime tests keep compiled code in a folder of their own, which the processes they start share."""

from __future__ import annotations

import pytest


@pytest.fixture(scope="session", autouse=True)
def private_cache(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("VGRAPH_CACHE_DIR", str(tmp_path_factory.mktemp("cache") / "vgraph"))
        yield

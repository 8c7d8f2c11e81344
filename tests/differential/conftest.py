"""Settings of hypothesis for differential tests."""

from __future__ import annotations

from hypothesis import settings

# On a busy machine a time says nothing.
settings.register_profile("no-deadline", deadline=None)
settings.load_profile("no-deadline")

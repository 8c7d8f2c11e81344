"""Hypothesis without deadlines: on a busy machine a time says nothing."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("no-deadline", deadline=None)
settings.load_profile("no-deadline")

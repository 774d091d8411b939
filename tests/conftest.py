"""Settings that all tests share."""

from hypothesis import settings

settings.register_profile("triage", deadline=None)
settings.load_profile("triage")

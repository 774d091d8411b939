"""Settings that all tests share."""

from hypothesis import settings

settings.register_profile("triage", deadline=None)
settings.register_profile("fast", deadline=None, max_examples=10)
settings.load_profile("triage")

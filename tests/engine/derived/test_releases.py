"""Versions that fail where the others do not."""

from math import isnan

import pytest

from tests.engine.making import BEGIN, Shift, derived, tail, unknown
from triage.engine.frame import Frame


def two_versions(failures: dict[str, object]) -> Frame:
    """Replica a of an old version, b of a new one that began with the window; both get two requests a second."""
    told = {f"http.requests@replica/{name}": 2.0 for name in "ab"} | {f"http.5xx@replica/{name}": 0.0 for name in "ab"}
    told |= {"process.start_time@replica/a": BEGIN - 9000.0, "process.start_time@replica/b": BEGIN + 600.0}
    return derived({**told, **failures}, facts={"image@replica/a": "v1", "image@replica/b": "v2"})


def test_a_new_version_that_fails_alone() -> None:
    """Its share of failures less that of the others."""
    frame = two_versions({"http.5xx@replica/b": Shift(0.0, 1.0), "http.5xx@replica/a": 0.2})
    assert tail(frame, "version.failures") == pytest.approx(0.4)


def test_versions_that_fail_alike() -> None:
    """Then it is not the version."""
    frame = two_versions({"http.5xx@replica/a": 1.0, "http.5xx@replica/b": 1.0})
    assert tail(frame, "version.failures") == pytest.approx(0.0)


def test_one_version_has_nothing_to_compare_with() -> None:
    """Unknown, not zero."""
    told = {"http.requests@replica/a": 2.0, "http.5xx@replica/a": 1.0}
    assert unknown(derived(told, facts={"image@replica/a": "v1"}), "version.failures")


def test_what_fails_long_after_the_old_version_is_gone() -> None:
    """Load has changed since: it need not be the version."""
    old = [2.0] * 20
    frame = two_versions({"http.requests@replica/a": old, "http.5xx@replica/b": lambda t: 1.0 if t > 400 else 0.0})
    assert isnan(tail(frame, "version.failures"))

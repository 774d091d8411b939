"""Conditions on labels that an entry of a dialect makes, matched in linear time: label values may be hostile."""

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import re2

from triage.model.dialect import Entry


def matches(labels: Mapping[str, str], entry: Entry) -> bool:
    """Whether a series passes an entry's conditions; a label that is not there is an empty one."""
    for label, wanted in entry.where.items():
        if fits(wanted.removeprefix("!"), labels.get(label, "")) == wanted.startswith("!"):
            return False
    return True


@lru_cache(maxsize=1 << 16)
def fits(pattern: str, value: str) -> bool:
    """Whether a whole label value matches a pattern (RE2)."""
    return bool(_compiled(pattern).fullmatch(value.encode("utf-8", "replace")))


@lru_cache(maxsize=4096)
def _compiled(pattern: str) -> Any:
    return re2.compile(pattern)

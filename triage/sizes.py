"""Reads the sizes that people type: ``500MB``, ``2GiB``, ``0``."""

import re

from triage.errors import UsageError

_UNITS = {"": 1, "k": 1000, "m": 1000**2, "g": 1000**3, "t": 1000**4, "ki": 2**10, "mi": 2**20, "gi": 2**30, "ti": 2**40}
_SIZE = re.compile(r"(\d{1,12}(?:\.\d{1,6})?)\s*([kmgt]i?)?(b)?", re.ASCII | re.IGNORECASE)


def size(text: str) -> int:
    """Bytes of ``500MB``, ``1.5GiB``, ``0``.

    :raises UsageError: no such size, or a number whose unit nobody says
    """
    found = _SIZE.fullmatch(text.strip())
    if found is None:
        raise UsageError(f"{text!r} is not a size", "write a number with a unit: 500MB, 2GiB; 0 for nothing")
    number, unit, told = found.groups()
    if not (unit or told or float(number) == 0):
        raise UsageError(f"the size {text!r} has no unit", f"write {number}MB or {number}GB")
    return int(float(number) * _UNITS[(unit or "").lower()])

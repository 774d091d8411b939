"""Numbers with units as commands print them: ``98 %``, ``74731MiB``, ``31.9GiB``, ``1040Gi``, ``7998m``, ``690.12 W``."""

from triage.patterns import Pattern

_QUANTITY = Pattern(r"^[~≈]?([+-]?\d[\d,]*(?:\.\d+)?|\.\d+)\s*(\S.*)?$")

_SCALES: dict[str, float] = {
    "%": 0.01,
    **{f"{prefix}{tail}": 1024.0**power for power, prefix in enumerate(("k", "m", "g", "t", "p"), 1) for tail in ("ib", "i")},
    "b": 1.0, "kb": 1e3, "mb": 1e6, "gb": 1e9, "tb": 1e12, "pb": 1e15,
    "w": 1.0, "mw": 1e-3, "kw": 1e3, "mhz": 1e6, "ghz": 1e9, "hz": 1.0, "c": 1.0, "°c": 1.0,
    "ms": 1e-3, "s": 1.0, "sec": 1.0, "secs": 1.0, "us": 1e-6, "µs": 1e-6, "x": 1.0, "": 1.0,
}  # fmt: skip
"""Base units in one of each unit; bytes, watts, hertz, degrees, seconds, shares."""

_BINARY = {"k": 1024.0, "m": 1024.0**2, "g": 1024.0**3, "t": 1024.0**4, "p": 1024.0**5}
"""Letters that tools of the host put behind a size."""


def quantity(text: str, unit: str = "") -> float | None:
    """The value in base units; None if it is no number (``N/A``, ``-``, ``ERR!``).

    :param unit: of a number that has none
    """
    found = _QUANTITY.search(text.strip())
    if found is None:
        return None
    scale = _SCALES.get((found.group(2) or unit).strip().lower())
    return None if scale is None else float(found.group(1).replace(",", "")) * scale


def size(text: str, unit: float = 1.0) -> float | None:
    """Bytes of a size as tools of the host print it: ``1.8T``, ``251Gi``, ``64M``, ``0``.

    :param unit: bytes that a bare number counts
    """
    found = _QUANTITY.search(text.strip())
    if found is None:
        return None
    number, told = float(found.group(1).replace(",", "")), (found.group(2) or "").strip().lower()
    scale = unit if not told else _BINARY.get(told[:1], _SCALES.get(told)) if told[1:] in {"", "i", "ib"} else _SCALES.get(told)
    return None if scale is None else number * scale


def cores(text: str) -> float | None:
    """Cores of ``7998m`` or ``8``."""
    bare = text.strip()
    return quantity(bare[:-1], "ms") if bare.endswith("m") else quantity(bare)

"""Addresses of the places in the walk, as they stand behind the # of a browser: ``finding/retry-storm?at=1764421215``."""

import math
from urllib.parse import quote, unquote

from triage.classes import dataclass

_LONGEST = 2000
_AT = "?at="


@dataclass(frozen=True)
class Stop:
    """One step of the way from the top of the walk to a screen.

    :param name: as the line on top shows it
    :param address: where it is; empty: the top
    """

    name: str
    address: str


def joined(*parts: str) -> str:
    """An address of its parts: ``("finding", "retry-storm")``."""
    return "/".join(quote(part, safe=":.") for part in parts)


def parts_of(address: str) -> tuple[str, ...]:
    """The parts of an address; none for the top of the walk."""
    return tuple(unquote(part) for part in address.split("/")) if address else ()


def link(address: str, moment: float | None) -> str:
    """A place at a moment, as a browser shows it; what is at the end of the recording, or live, has no moment.

    :param moment: Unix seconds
    """
    return f"#/{address}" + (f"{_AT}{moment:.3f}".rstrip("0").rstrip(".") if moment is not None else "")


def read(given: str) -> tuple[str, float | None]:
    """Address and moment of a link; whatever is no link is the top of the walk, and whatever is no moment is the end."""
    address, _, at = given[:_LONGEST].removeprefix("#").removeprefix("/").partition(_AT)
    try:
        moment = float(at)
    except ValueError:
        return address, None
    return address, moment if math.isfinite(moment) else None


def is_piece(part: str) -> bool:
    """Whether a part of an address names a piece of evidence, or a signal."""
    kind, _, name = part.partition(":")
    return name.isdecimal() if kind == "evidence" else kind in ("signal", "missing") and bool(name)

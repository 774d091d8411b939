"""Values with their units in Chinese: ``31 requests/s``, ``40–160 s``, ``1 min 30 s``."""

import re
from functools import cache
from pathlib import Path

_NUMBER = r"[-−+]?(?:\d[\d,.]*|∞)[kMGT]?(?:×10\^-?\d+)?"
_AMOUNT = re.compile(rf"((?:[≥≤<>=~] )?{_NUMBER}(?:–{_NUMBER}| to {_NUMBER})?) ([A-Za-z][A-Za-z ]*?)((?:/(?:s|min|h))?)")
_LENGTH = re.compile(r"\d+ (?:d|h|min|s)(?: \d+ (?:h|min|s))?")
_TIMES = {"d": "天", "h": "小时", "min": "分钟", "s": "秒"}
_PER = {"": "", "/s": "/秒", "/min": "/分钟", "/h": "/小时"}


@cache
def _units() -> dict[str, str]:
    """Nouns that are counted, each with its Chinese and the measure word: ``units.tsv``."""
    lines = (Path(__file__).parent / "units.tsv").read_text(encoding="utf-8").splitlines()[1:]
    return dict(line.split("\t", 1) for line in lines)


def amount(text: str) -> str | None:
    """A value with its unit, or a length of time; None if it is neither."""
    if _LENGTH.fullmatch(text):
        words = text.split()
        return " ".join(f"{count} {_TIMES[unit]}" for count, unit in zip(words[::2], words[1::2], strict=True))
    found = _AMOUNT.fullmatch(text)
    if found is None:
        low, _, high = text.partition(" to ")
        ends = (amount(low), amount(high)) if high else (None, None)
        return f"{ends[0]} 至 {ends[1]}" if all(ends) else None
    count, unit, per = found.groups()
    count = count.replace(" to ", " 到 ")
    if unit in _TIMES and not per:
        return f"{count} {_TIMES[unit]}"
    counted = _units().get(unit) or _units().get(_singular(unit))
    if counted is None:
        return None if not per else f"{count} {unit}{_PER[per]}"
    return f"{count} {counted}{_PER[per]}"


def _singular(noun: str) -> str:
    """The noun of one."""
    if noun == "kinds of failure":
        return "kind of failure"
    if noun.endswith("ies"):
        return f"{noun[:-3]}y"
    return noun[:-2] if noun.endswith(("sses", "xes", "ches")) else noun.removesuffix("s")

"""Reads the moment that a log line carries, in every form that the programs around an inference service use."""

from calendar import timegm
from collections.abc import Callable
from datetime import UTC, datetime

from triage.model.recording import Window
from triage.patterns import Pattern

_HEAD = 160
"""A stamp begins in the first bytes of a line; a date further on is part of the message."""

_MONTHS = {name: number for number, name in enumerate(b"Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split(), 1)}
_MONTH = b"(?:" + b"|".join(_MONTHS) + b")"
_CLOCK = rb"\d\d:\d\d:\d\d"
_FRACTION = rb"(?:[.,]\d{1,9})?"

_FORMS: tuple[tuple[str, bytes], ...] = (
    ("iso", rb"\d{4}-\d\d-\d\d[T _]" + _CLOCK + _FRACTION + rb"(?: ?(?:Z|UTC|[+-]\d\d:?\d\d))?"),
    ("vllm", rb"(?:DEBUG|INFO|WARNING|ERROR|CRITICAL) \d\d-\d\d " + _CLOCK + _FRACTION),
    ("klog", rb"^(?:\[rank\d+\]:)?\[?[IWEFC]\d{3,4} " + _CLOCK + _FRACTION),
    ("syslog", rb"^(?:<\d{1,3}>)?\[?(?:[A-Z][a-z]{2} )?" + _MONTH + rb" [ \d]\d " + _CLOCK + _FRACTION + rb"(?: \d{4})?"),
    ("dated", rb"^\[?" + _MONTH + rb" [ \d]\d \d{4} " + _CLOCK + _FRACTION),
    ("smi", rb"^Timestamp +: [A-Z][a-z]{2} " + _MONTH + rb" [ \d]\d " + _CLOCK + rb" \d{4}"),
    ("clf", rb"\d\d/" + _MONTH + rb"/\d{4}:" + _CLOCK + rb" [+-]\d{4}"),
    ("slashed", rb"^\[?(?:GIN\] |\d{1,8}\] )?\d{4}/\d\d/\d\d (?:- )?" + _CLOCK + _FRACTION),
    ("year-last", rb"^\[?\d\d[-./]\d\d[-./]\d{4}[ T]" + _CLOCK + _FRACTION),
    ("us", rb"^\[\d\d/\d\d/\d{4}-" + _CLOCK + rb"\]"),
    ("uptime", rb"^\[ *\d+\.\d{6}\]"),
    ("epoch", rb"^\[?\d{10}(?:\.\d{1,9})?[\] ,:]"),
    ("clock", rb"^\[?" + _CLOCK + _FRACTION + rb"[\] ]"),
)
STAMP = b"|".join(b"(?:" + pattern.removeprefix(b"^") + b")" for _, pattern in _FORMS)
"""RE2 of a stamp in any form, wherever it stands."""

_STAMP = Pattern(b"|".join(b"(" + pattern + b")" for _, pattern in _FORMS))
_KEYED = Pattern(
    rb'"(?:@timestamp|timestamp|ts|time|start_time|asctime)": ?"?(?:(\d{4}-\d\d-\d\d[T ]'
    + _CLOCK
    + _FRACTION
    + rb"(?: ?(?:Z|[+-]\d\d:?\d\d))?)|(\d{10}(?:\.\d{1,9})?)(\d{3})?\b)"
)
_NAMES = tuple(name for name, _ in _FORMS)
_SINGLE = {name: Pattern(pattern) for name, pattern in _FORMS}
_ANCHOR = Pattern(rb"\[ *(\d+\.\d+)\].*(?:audit\((\d{10}\.\d+):|setting system clock to .*\((\d{10})\))")
_DAY = 86400.0
_SLACK = _DAY
"""How far after the window a stamp without year or day may lie: clocks differ, and a log is read on after the window."""


def boot_time(line: bytes) -> float | None:
    """Unix time of the boot, from a kernel line that carries both the uptime and the time of day; None if it does not."""
    if b"audit(" not in line and b"setting system clock" not in line:
        return None
    found = _ANCHOR.search(line)
    return float(found.group(2) or found.group(3)) - float(found.group(1)) if found else None


class Clock:
    """Reads stamps; what they leave out (year, day, zone) is completed so that they lie before the window's end.

    :param window: the window that the log belongs to
    :param utc_offset: seconds that local time is ahead of UTC, for stamps without a zone
    :param boot: Unix time of the boot, for kernel stamps that count from it; without it they cannot be read
    """

    def __init__(self, window: Window, utc_offset: float = 0.0, boot: float | None = None) -> None:
        self.boot = boot
        self.counts_from_boot = False
        self._latest = window.end + _SLACK
        self._end = window.end
        self._offset = utc_offset
        self._days: dict[bytes, float] = {}
        self._usual = ("iso", 0)  # form and place of the stamp before: most lines of a file are alike
        self._year = datetime.fromtimestamp(self._latest + utc_offset, UTC).year
        self._readers: dict[str, Callable[[bytes], float | None]] = {
            "iso": self._iso, "vllm": self._vllm, "klog": self._klog, "syslog": self._syslog, "dated": self._dated,
            "smi": self._smi, "clf": self._clf,
            "slashed": self._slashed, "year-last": self._year_last,
            "us": self._us, "uptime": self._uptime, "epoch": self._epoch, "clock": self._time_of_day,
        }  # fmt: skip

    def read(self, line: bytes) -> float | None:
        """Unix seconds of the stamp that the line begins with; None if it has none or it is no real date."""
        try:
            if line[:1] == b"{":
                return self._keyed(line)
            head = line[:_HEAD]
            name, begin = self._usual
            found = _SINGLE[name].search(head)
            if found is None or found.start() != begin:
                found = _STAMP.search(head)
                if found is None:
                    return None
                name = _NAMES[found.lastindex - 1]
                self._usual = (name, found.start())
            return self._readers[name](found.group())
        except (ValueError, OverflowError):
            return None

    def _keyed(self, line: bytes) -> float | None:
        """The stamp of a line of JSON."""
        found = _KEYED.search(line)
        if found is None:
            return None
        iso, epoch, millis = found.groups()
        if iso:
            return self._iso(iso)
        return float(epoch) + (float(millis) / 1000.0 if millis else 0.0)

    def _iso(self, text: bytes) -> float:
        """``2026-09-16T13:00:38.123Z``, with ``T``, blank or underscore, with or without fraction and zone."""
        day = self._day(text[:10], lambda: (int(text[:4]), int(text[5:7]), int(text[8:10])))
        fraction, zone = _split_fraction(text[19:])
        return day + _seconds(text[11:19]) + fraction - self._zone(zone)

    def _vllm(self, text: bytes) -> float:
        """``INFO 09-25 17:31:45``."""
        return self._without_year(text.split(b" ", 1)[1])

    def _klog(self, text: bytes) -> float:
        """``I0916 13:00:38.000000`` and ``[E0916 13:00:38.000000``."""
        bare = text.rpartition(b":[")[2].lstrip(b"[")[1:]
        if bare[3:4] == b" ":  # c10 leaves out the month's zero
            bare = b"0" + bare
        return self._without_year(bare[:2] + b"-" + bare[2:])

    def _without_year(self, text: bytes) -> float:
        """``09-25 17:31:45.123``: the last such day before the window's end."""
        day = self._last_day(text[:5], int(text[:2]), int(text[3:5]))
        return day + _seconds(text[6:14]) + _split_fraction(text[14:])[0] - self._offset

    def _syslog(self, text: bytes) -> float:
        """``Sep 16 13:00:38``, with weekday and year as ``dmesg -T`` writes it, with a priority as in ``<6>``."""
        words = text.rpartition(b">")[2].lstrip(b"[").split()
        if words[0] not in _MONTHS:
            words = words[1:]
        month, number, clock = _MONTHS[words[0]], int(words[1]), words[2]
        if len(words) > 3:
            day = self._day(b" ".join((words[3], words[0], words[1])), lambda: (int(words[3]), month, number))
        else:
            day = self._last_day(words[0] + words[1], month, number)
        return day + _seconds(clock[:8]) + _split_fraction(clock[8:])[0] - self._offset

    def _dated(self, text: bytes) -> float:
        """``[Sep 16 2026 13:00:38]``, as NVIDIA's daemons write it."""
        month, number, year, clock = text.lstrip(b"[").split()
        return self._syslog(b" ".join((month, number, clock, year)))

    def _smi(self, text: bytes) -> float:
        """``Timestamp : Wed Sep 16 13:00:38 2026``."""
        return self._syslog(text.partition(b": ")[2])

    def _clf(self, text: bytes) -> float:
        """``16/Sep/2026:13:00:38 +0000``."""
        day = self._day(text[:11], lambda: (int(text[7:11]), _MONTHS[text[3:6]], int(text[:2])))
        return day + _seconds(text[12:20]) - self._zone(text[21:])

    def _slashed(self, text: bytes) -> float:
        """``2026/10/28 18:58:24``."""
        bare = text.rpartition(b"] ")[2].lstrip(b"[").replace(b" - ", b" ", 1)
        day = self._day(bare[:10], lambda: (int(bare[:4]), int(bare[5:7]), int(bare[8:10])))
        return day + _seconds(bare[11:19]) + _split_fraction(bare[19:])[0] - self._offset

    def _year_last(self, text: bytes) -> float:
        """``14-11-2026 21:17:41``: day or month first; where both can be, the day that is nearer to the window."""
        bare = text.lstrip(b"[")
        day = self._day(b"last " + bare[:10], lambda: self._nearer(int(bare[6:10]), int(bare[:2]), int(bare[3:5])))
        return day + _seconds(bare[11:19]) + _split_fraction(bare[19:])[0] - self._offset

    def _nearer(self, year: int, one: int, other: int) -> tuple[int, int, int]:
        """Year, month and day of two numbers of which nothing tells which is the month."""
        orders = [(year, other, one), (year, one, other)]
        starts = {order: start for order in orders if (start := _midnight_or_none(*order)) is not None}
        return min(starts, key=lambda order: abs(starts[order] - self._end), default=orders[0])

    def _us(self, text: bytes) -> float:
        """``[11/12/2026-15:41:49]``, month first."""
        day = self._day(text[1:11], lambda: (int(text[7:11]), int(text[1:3]), int(text[4:6])))
        return day + _seconds(text[12:20]) - self._offset

    def _uptime(self, text: bytes) -> float | None:
        """``[12345.678901]``: seconds since the boot."""
        self.counts_from_boot = True
        return None if self.boot is None else self.boot + float(text.strip(b"[] "))

    def _epoch(self, text: bytes) -> float:
        """Unix seconds."""
        return float(text.strip(b"[] ,:"))

    def _time_of_day(self, text: bytes) -> float:
        """``13:00:38``: the last such time before the window's end (and a little after)."""
        bare = text.strip(b"[] ")
        clock = _seconds(bare[:8]) + _split_fraction(bare[8:])[0] - self._offset
        today = self._end - (self._end % _DAY)
        return max(
            day + clock for day in (today - 2 * _DAY, today - _DAY, today, today + _DAY) if day + clock <= self._end + 60.0
        )

    def _day(self, key: bytes, parts: Callable[[], tuple[int, int, int]]) -> float:
        """Unix time of a day's beginning; remembered, since lines of one day come together."""
        if key not in self._days:
            if len(self._days) > 4096:
                self._days.clear()
            year, month, day = parts()
            self._days[key] = _midnight(year, month, day)
        return self._days[key]

    def _last_day(self, key: bytes, month: int, day: int) -> float:
        """Unix time of the last day of that name that does not lie after the window."""
        if key not in self._days:
            # a 29th of February may be four years back
            candidates = (_midnight_or_none(year, month, day) for year in range(self._year, self._year - 5, -1))
            self._days[key] = next(start for start in candidates if start is not None and start - self._offset <= self._latest)
        return self._days[key]

    def _zone(self, text: bytes) -> float:
        """Seconds that a zone is ahead of UTC."""
        bare = text.strip()
        if not bare:
            return self._offset
        if bare in {b"Z", b"UTC"}:
            return 0.0
        minutes = int(bare[1:3]) * 60 + int(bare[-2:])
        return -60.0 * minutes if bare[:1] == b"-" else 60.0 * minutes


def _seconds(clock: bytes) -> float:
    """Seconds of the day of ``13:00:38``."""
    hours, minutes, seconds = int(clock[:2]), int(clock[3:5]), int(clock[6:8])
    if hours > 23 or minutes > 59 or seconds > 60:
        raise ValueError("no time of day")
    return hours * 3600.0 + minutes * 60.0 + seconds


def _split_fraction(text: bytes) -> tuple[float, bytes]:
    """The fraction of a second at the begin of the text, and the rest."""
    if text[:1] not in {b".", b","}:
        return 0.0, text
    digits = 1
    while digits < len(text) and text[digits : digits + 1].isdigit():
        digits += 1
    return float(b"0." + text[1:digits]), text[digits:]


def _midnight(year: int, month: int, day: int) -> float:
    """Unix time of the begin of a day.

    :raises ValueError: there is no such day
    """
    datetime(year, month, day, tzinfo=UTC)
    return float(timegm((year, month, day, 0, 0, 0)))


def _midnight_or_none(year: int, month: int, day: int) -> float | None:
    try:
        return _midnight(year, month, day)
    except ValueError:
        return None

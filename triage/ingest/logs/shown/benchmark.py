"""Results of load generators: what a client measured, as the spread of each latency and the share of requests that failed.

A result is a list of named numbers in some layout. The name tells which latency it is and which statistic of it, whatever the
program calls its lines: ``Mean TTFT (ms)``, ``Time To First Token (ms)`` under ``p99``, ``p(95)=45.2s``, ``95% in 19 secs``.
"""

from collections.abc import Iterator

import numpy as np

from triage.ingest.logs.durations import span
from triage.ingest.logs.redaction import redacted_bytes
from triage.ingest.logs.shown.form import Shown, Spread, Take
from triage.ingest.logs.shown.quantities import quantity
from triage.model.recording import Subject
from triage.model.vocabulary import Scope
from triage.patterns import Pattern

_BANNER = Pattern(
    rb"(?i)^=+ ?[\w -]*\bbenchmark[\w -]*\bresults? ?=+$|(?:genai-?perf|aiperf) \| |^Running [\d.]+\w+ test @ |^Summary:\s*$"
    rb"|^ *(?:checks|http_req_\w+|iteration_duration)\.{2,}: "
)
_LATENCIES = (
    ("client.ttft", Pattern(r"\bttft\b|time to (?:the )?first token")),
    ("client.itl", Pattern(r"\bitl\b|inter[ -]?token|\btpot\b|time per output token")),
    (
        "client.latency",
        Pattern(r"\be2el?\b|end[ -]to[ -]end|request latency|http req duration|^latency$|^(?:average|slowest)$"),
    ),
)
"""Which latency a name means; the first that fits counts."""

_QUANTILE = Pattern(r"\bp\(?(\d{1,2}(?:\.\d+)?)\)?(?:\b|$)|(?:^| )(\d{1,2}(?:\.\d+)?)%(?: |$)")
_STATISTICS = (
    ("mean", Pattern(r"\b(?:mean|avg|average)\b")), ("0.5", Pattern(r"\b(?:median|med)\b")),
    ("1", Pattern(r"\b(?:max|slowest)\b")),
)  # fmt: skip
_COUNTS = (
    ("failed", Pattern(r"\b(?:failed|errored|unsuccessful) requests?\b|\brequest errors?\b|\berror(?:ed)? count\b")),
    ("ended", Pattern(r"\b(?:successful|completed) requests?\b|\brequest count\b|^completed$")),
    ("seconds", Pattern(r"\b(?:benchmark|test) duration\b|^duration$|^total$")),
    ("rate", Pattern(r"\b(?:traffic )?request rate\b|request rate configured")),
    ("concurrency", Pattern(r"\b(?:max\w*|peak) (?:request )?concurrency\b")),
)
"""What other numbers mean, by their names."""

_ENTRY = Pattern(
    r"^ *([A-Za-z][^:|│┃=]{1,70}?)(?: \((ms|s|us|sec|secs)\))?(?: \([^)]*\))?:\s+([\w.,]+)(?:\s*(ms|s|us|secs?))?\s*$"
)
_BAR = Pattern(r"[│┃|]")
_PAIR = Pattern(r"([a-z]+(?:\(\d+(?:\.\d+)?\))?)=([\d.]+\w*)")
_DOTTED = Pattern(r"^ *([a-z_]+)(?:\{[^}]*\})?\.{2,}: (.*)$")
_IN_SECONDS = Pattern(r"^ *(\d{1,2}(?:\.\d+)?)%(?: in)? +([\d.]+) ?(secs|ms|s|us|m)?$")
_STATUS = Pattern(r"^ *\[(\d{3})\]\s+(\d+) responses")
_WRK = Pattern(
    r"^ *(?:Latency +(\S+) +\S+ +(\S+) |(\d+) requests in (\S+?), |Non-2xx or 3xx responses: (\d+)|Socket errors: (.*)$)"
)
_RULER = Pattern(r"^[ =+┏┗┡└┌├━─┳╇┻┴┼┐┘┤┓┛┩│-]*$|^ *-{3,}.*-{3,} *$")
_TITLE = Pattern(r"^[A-Za-z ]+:\s*$|^\W*[A-Za-z][\w |-]*\W*$")


def begins(line: bytes) -> bool:
    """Whether a line is the first of a result."""
    return _BANNER.search(line) is not None


class Benchmark:
    """Reads a result up to the first line that has no layout of one."""

    def __init__(self, shown: Shown) -> None:
        self._shown = shown
        self._means: dict[str, float] = {}
        self._quantiles: dict[str, dict[float, float]] = {}
        self._counts: dict[str, float] = {}
        self._columns: list[str] = []
        self._finite = False
        self._lines: list[bytes] = []

    def feed(self, line: bytes, *, stamped: bool) -> Take:
        """Takes a line."""
        text = redacted_bytes(line)
        self._lines = self._lines or [line]
        if begins(line) and len(self._lines) == 1:
            self._dotted(text)
            return Take.WHOLE
        if stamped or not any(reader(text) for reader in (self._bar, self._dotted, self._tool, self._entry, self._between)):
            return Take.WHOLE if line[:1] in {b" ", b"\t"} else Take.OVER
        return Take.WHOLE

    # ------------------------------------------------------------ layouts

    def _bar(self, text: str) -> bool:
        """A row of a box: the name, and a statistic in each column that the first row heads."""
        if _BAR.search(text) is None:
            return False
        cells = [cell.strip() for cell in _BAR.split(text)]
        cells = [cell for cell in cells if cell]
        if any(cell.lower() in {"avg", "mean"} for cell in cells):
            self._columns = cells
        elif len(cells) == len(self._columns):
            name, _, unit = cells[0].lower().partition("(")
            for column, cell in zip(self._columns[1:], cells[1:], strict=True):
                self._measured(name, column.lower(), quantity(cell, unit.rstrip(")")))
        return True

    def _dotted(self, text: str) -> bool:
        """``http_req_duration..........: avg=12.1s  p(95)=45.2s``; ``http_req_failed...: 20.00% 200 out of 1000``."""
        found = _DOTTED.search(text)
        if found is None:
            return False
        name, rest = found.groups()
        for statistic, value in _PAIR.findall(rest):
            self._measured(name.replace("_", " "), statistic, span(value))
        words = rest.split()
        if name == "http_reqs" and len(words) >= 2:
            self._counts["all"] = quantity(words[0]) or 0.0
            rate = quantity(words[1].removesuffix("/s")) or 0.0
            self._counts["seconds"] = self._counts["all"] / rate if rate else 0.0
        if name == "http_req_failed":
            self._counts["share"] = quantity(words[0]) or 0.0 if words else 0.0
        return True

    def _tool(self, text: str) -> bool:
        """What ``wrk`` and ``hey`` print besides."""
        part, status, wrk = _IN_SECONDS.search(text), _STATUS.search(text), _WRK.search(text)
        if part is not None:
            self._quantile("client.latency", float(part.group(1)) / 100.0, span(f"{part.group(2)}{part.group(3) or 's'}"))
        if status is not None:
            self._add("ended" if status.group(1)[:1] in "123" else "failed", float(status.group(2)))
        if wrk is not None:
            mean, most, count, seconds, bad, errors = wrk.groups()
            self._measured("latency", "avg", span(mean or ""))
            self._measured("latency", "max", span(most or ""))
            self._add("all", float(count or 0))
            self._add(
                "failed", float(bad or 0) + sum(float(word) for word in (errors or "").replace(",", "").split() if word.isdigit())
            )
            self._add("seconds", span(seconds or "") or 0.0)
        return any(one is not None for one in (part, status, wrk))

    def _entry(self, text: str) -> bool:
        """``Mean TTFT (ms):    18212.11``."""
        found = _ENTRY.search(text)
        if found is None:
            return False
        name, unit, value, other = found.groups()
        self.entry(name, value, unit or other or "")
        return True

    @staticmethod
    def _between(text: str) -> bool:
        """Rulers and titles."""
        return _RULER.search(text) is not None or _TITLE.search(text) is not None

    # ------------------------------------------------------------ names

    def entry(self, name: str, value: str, unit: str = "") -> None:
        """Takes a named number, of a list or of an object (``mean_ttft_ms``)."""
        words = name.lower().replace("_", " ").strip()
        if not unit and words.endswith((" ms", " s")):
            words, _, unit = words.rpartition(" ")
        for count, pattern in _COUNTS:
            if pattern.search(words) is not None:
                self._finite = self._finite or (count in {"rate", "concurrency"} and quantity(value) is not None)
                self._counts[count] = quantity(value, unit) or 0.0
                return
        self._measured(words, words, quantity(value, unit))

    def _measured(self, name: str, statistic: str, value: float | None) -> None:
        """Takes a statistic of a latency."""
        signal = next((signal for signal, pattern in _LATENCIES if pattern.search(name) is not None), "")
        if not signal or value is None:
            return
        quantile = _QUANTILE.search(statistic)
        if quantile is not None:
            self._quantile(signal, float(quantile.group(1) or quantile.group(2)) / 100.0, value)
            return
        told = next((told for told, pattern in _STATISTICS if pattern.search(statistic) is not None), "")
        if told == "mean":
            self._means.setdefault(signal, value)
        elif told:
            self._quantile(signal, float(told), value)

    def _quantile(self, signal: str, share: float, value: float | None) -> None:
        if value is not None:
            self._quantiles.setdefault(signal, {}).setdefault(share, value)

    def _add(self, name: str, value: float) -> None:
        self._counts[name] = self._counts.get(name, 0.0) + value

    # ------------------------------------------------------------ results

    @property
    def knows(self) -> bool:
        """Whether anything was measured."""
        return bool(self._means or self._quantiles)

    def finish(self) -> None:
        """Brings what was measured; where all was sent at once, the wait for a first token is the client's own making."""
        shown = self._shown
        if not self.knows:
            shown.unread(self._lines)
            return
        client = shown.home if shown.home.scope is Scope.CLIENT else Subject(Scope.CLIENT, "benchmark")
        ended, failed, seconds = self._requests()
        rate = ended / seconds if seconds and ended else 1.0
        floods = "rate" in self._counts and not self._finite
        for spread in self._spreads():
            if floods and spread.signal != "client.itl":
                shown.fact(client, f"{spread.signal.partition('.')[2]}_mean_seconds", spread.mean)
            else:
                shown.spread(spread, client, rate)
        if seconds and ended + failed:
            shown.sample("requests.attempts", client, (ended + failed) / seconds)
            shown.sample("requests.failed", client, failed / seconds)

    def _requests(self) -> tuple[float, float, float]:
        """Requests that were answered, that failed, and the seconds that it took."""
        counts = self._counts
        failed = counts.get("failed", counts.get("share", 0.0) * counts.get("all", 0.0))
        ended = counts.get("ended", max(counts.get("all", 0.0) - failed, 0.0))
        return ended, failed, counts.get("seconds", 0.0)

    def _spreads(self) -> Iterator[Spread]:
        for signal in sorted({*self._means, *self._quantiles}):
            told = sorted(self._quantiles.get(signal, {}).items())
            rising = [pair for at, pair in enumerate(told) if all(pair[1] > before for _, before in told[:at])]
            shares = np.array([share for share, _ in rising])
            bounds = np.array([value for _, value in rising])
            mean = self._means.get(signal, float(bounds[len(bounds) // 2]) if len(bounds) else 0.0)
            yield Spread(signal, bounds, np.diff(shares, prepend=0.0, append=1.0), mean)

"""All access lines of a file together: rates, and a few telling events.

Single requests never become events; what is kept is how many failed in which way, where, after how long, and how often they
came back.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import field, replace
from typing import NamedTuple

import numpy as np

from triage.classes import dataclass
from triage.ingest.logs.access_log import IDLE_RESET, AccessLine
from triage.ingest.logs.redaction import redacted
from triage.ingest.logs.signatures import Role
from triage.ingest.misrouting import Homes
from triage.ingest.raw import RawSeries
from triage.model.recording import LOG, Event, Floats, Histogram, Origin, Series, Subject, Window
from triage.model.vocabulary import GATEWAY_FAILURES, Scope
from triage.patterns import Pattern

GRID = 15.0
"""Distance of the samples made of single lines, seconds."""

EPISODE_GAP = 20.0
"""Failures further apart than this, in seconds, are two episodes: longer than the pause between retries, shorter than between
two pods of a roll-out."""

_NO_MORE = 1.5
"""Chosen: failures that are half as many again vary with the hour."""

MIN_FAILURES = 3
"""Fewer failures of one sort than this say nothing by themselves."""

MIN_DURATION = 1.0
"""Failures faster than this are refusals; a limit on duration that anybody sets is longer."""

CLUSTER_SHARE = 0.5
"""Share of the slow failures that must end at one duration: people who give up by themselves do so at many."""

BOUNDS = np.array([0.01 * 1.25**step for step in range(54)] + [np.inf])
"""Upper bounds of the buckets of durations, seconds: from 10 ms to half an hour, each a quarter wider than the one before."""

TOKENS = np.array([0.0] + [float(2**power) for power in range(21)] + [np.inf])
"""Upper bounds of the buckets of tokens, from none at all to a million."""

_LEAST_TIMED = 0.9
"""Chosen: share of the answered requests whose duration must be told; one that only names slow requests tells of no other."""

_MANY_DOORS = 4
"""Chosen: a client has one or two addresses wrong, a scanner asks for all that other servers have."""

_STANDS_OUT = 2
"""Chosen: times as often as the most tried door."""

_MAX_EPISODES = 20
_MAX_KEYS = 5000
_MAX_REQUESTS = 200_000
_MAX_MODELS = 200
"""Pairs of models asked for and served; more of them are names that clients make up."""
_MAX_GAPS = 2000


class Told(NamedTuple):
    """Name, role and kinds of an event."""

    name: str
    role: Role
    kinds: str


_CONSTANT = Told("constant-duration-failures", "consequence", "timeout-mismatch client-retry-multiplication")
_REPEATED = Told("repeated-request-ids", "cause", "retry-storm client-retry-multiplication")

_ASTRAY = Told("answered-by-other-model", "cause", "wrong-backend-routing")

_UNDATED = Told("undated-requests", "info", "")
_NO_LOSS = frozenset({"client-left", "auth-refused", "load-refused", "requests-refused", "health-route-refused"})
"""Failures that are no loss of the service's."""


@dataclass(frozen=True, slots=True)
class Sort:
    """One way to fail.

    :param name: name of its events
    :param holds: whether a failed request failed so
    """

    name: str
    role: Role
    kinds: str
    meaning: str
    holds: Callable[[AccessLine], bool]


def _flag(*wanted: str) -> Callable[[AccessLine], bool]:
    return lambda line: any(flag in wanted for flag in line.flags.split(","))


def _status(*wanted: int) -> Callable[[AccessLine], bool]:
    return lambda line: line.status in wanted


def _between(low: int, high: int) -> Callable[[AccessLine], bool]:
    return lambda line: low <= line.status <= high


_EITHER = "UX"
"""Flag of a request whose connection failed at once: refused, or closed as it was used."""

_timed_out_flag, _left_flag = _flag("UT", "SI", "DT"), _flag("DC", "DPE")


def _timed_out(line: AccessLine) -> bool:
    return _timed_out_flag(line) or line.status in {408, 504}


def _left(line: AccessLine) -> bool:
    return _left_flag(line) or line.status in {0, 499}


def _reset(*, idle: bool) -> Callable[[AccessLine], bool]:
    reset = _flag("UC", "UR")
    return lambda line: reset(line) and _at_once(line) == idle


def _at_once(line: AccessLine) -> bool:
    """Whether a request failed before any of its answer came; what was sent then is the proxy's own page."""
    return line.seconds is not None and line.seconds <= IDLE_RESET and (not line.sent or line.status >= 500)


SORTS: tuple[Sort, ...] = (
    Sort("circuit-overflow", "cause", "circuit-breaker-overflow", "refused by a limit of the proxy itself", _flag("UO")),
    Sort(
        "queue-timeouts", "cause", "concurrency-cap true-overload", "waited in the proxy's queue for as long as they may",
        _flag("QT"),
    ),
    Sort(
        "no-healthy-upstream", "consequence", "engine-dead gateway-cooldown-all dns-discovery-failure",
        "found no engine to go to", _flag("UH", "NC"),
    ),
    Sort(
        "connect-failures", "consequence", "gateway-stale-routing engine-dead", "found nobody at the engine's address",
        _flag("UF"),
    ),
    Sort(
        "connection-reset-idle", "cause", "keepalive-race", "were sent on a connection that the engine had just closed",
        _reset(idle=True),
    ),
    Sort(
        "connection-reset-running", "consequence", "ungraceful-drain engine-dead", "lost the engine while they ran",
        _reset(idle=False),
    ),
    Sort("retry-limit", "consequence", "retry-storm", "were given up because the retry limit was reached", _flag("URX")),
    Sort("proxy-timeouts", "consequence", "timeout-mismatch cold-start-too-slow", "ran into a limit of the proxy", _timed_out),
    Sort("client-left", "info", "timeout-mismatch client-retry-multiplication", "were left by their client", _left),
    Sort("auth-refused", "info", "credential-or-cert-expiry", "were refused for their credentials", _status(401, 403)),
    Sort("load-refused", "info", "concurrency-cap gateway-cooldown-all", "were refused for load", _status(429)),
    Sort("requests-refused", "info", "client-requests-refused", "were refused as the client's fault", _between(400, 499)),
    Sort("server-errors", "consequence", "bad-rollout engine-dead", "ended in a server error", _between(500, 999)),
)  # fmt: skip
"""Ways to fail, most telling first; a request is counted under the first that holds."""


@dataclass
class Episode:
    """Failures of one sort without a longer pause."""

    start: float
    end: float
    count: int = 0


@dataclass
class Tally:
    """Failures of one sort: how many, when, where."""

    before: int = 0
    total: int = 0
    episodes: list[Episode] = field(default_factory=list)
    upstreams: Counter[str] = field(default_factory=Counter)
    agents: Counter[str] = field(default_factory=Counter)
    paths: Counter[str] = field(default_factory=Counter)
    statuses: Counter[int] = field(default_factory=Counter)
    seconds: list[float] = field(default_factory=list)

    def add(self, line: AccessLine, time: float) -> None:
        """Counts a failure of the window."""
        self.total += 1
        self.statuses[line.status] += 1
        _count(self.upstreams, line.upstream)
        _count(self.agents, line.agent)
        _count(self.paths, line.path)
        if line.seconds is not None and len(self.seconds) < _MAX_GAPS:
            self.seconds.append(line.seconds)
        last = self.episodes[-1] if self.episodes else None
        if last is None or (time - last.end > EPISODE_GAP and len(self.episodes) < _MAX_EPISODES):
            last = Episode(time, time)
            self.episodes.append(last)
        last.start, last.end, last.count = min(last.start, time), max(last.end, time), last.count + 1


def _rates(bins: Counter[int], first: int, cells: int) -> Floats:
    """Counts of the cells from the first on as rates per second, shape (N,)."""
    return np.array([bins[number] / GRID for number in range(first, first + cells)])


def _count(counter: Counter[str], key: str) -> None:
    """Counts a key, unless there are so many that somebody makes them up."""
    if key and (key in counter or len(counter) < _MAX_KEYS):
        counter[key] += 1


@dataclass
class Took:
    """What the requests of a cell of the grid took: seconds, or tokens.

    :param bounds: upper bounds of the buckets, shape (B,)
    :param counts: requests by bucket, shape (B,)
    :param total: sum of them all
    """

    bounds: Floats = field(default_factory=lambda: BOUNDS)
    counts: Floats = field(init=False)
    total: float = 0.0

    def __post_init__(self) -> None:
        self.counts = np.zeros(len(self.bounds))

    def add(self, amount: float) -> None:
        """Counts a request."""
        self.counts[int(np.searchsorted(self.bounds, amount))] += 1.0
        self.total += amount


@dataclass
class Comings:
    """How often one request came."""

    last: float
    times: int = 1


_GATEWAY_SIGNALS: dict[str, Callable[[AccessLine], bool]] = {
    "requests": _between(0, 999),
    "2xx": _between(200, 399),
    "4xx": lambda line: 400 <= line.status < 500 and line.status not in {429, 499},
    "429": _status(429),
    "401": _status(401, 403),
    "5xx": _between(500, 999),
    "client_left": _left,
    "timeouts": _timed_out,
    "overflow": _flag("UO"),
    "connect_failures": _flag("UF"),
    "resets": _flag("UC"),
    "retries": lambda line: line.retry > 0,
}
_ENGINE_SIGNALS = {name: _GATEWAY_SIGNALS[name] for name in ("requests", "2xx", "4xx", "5xx")}


@dataclass(frozen=True, slots=True)
class View:
    """What lines count for, by who wrote them.

    :param prefix: begin of the names of its signals
    :param signals: rates that are counted, and which lines count for each
    :param whole: signal of how long whole requests take
    :param usage: what lines count of answers is told, too
    :param of_all: the writer sees all requests of the service, so how many there were is known
    """

    prefix: str
    signals: dict[str, Callable[[AccessLine], bool]]
    whole: str
    usage: bool = True
    of_all: bool = True

    def named(self, signal: str) -> str:
        """The name of a gateway's signal in this view."""
        return signal.replace("gateway.", f"{self.prefix}.", 1)


_GATEWAYS = View("gateway", _GATEWAY_SIGNALS, "gateway.latency")
_VIEWS: dict[Scope, View] = {
    Scope.REPLICA: View("http", _ENGINE_SIGNALS, "latency.e2e", usage=False),
    Scope.CLIENT: View("client", {"2xx": _GATEWAY_SIGNALS["2xx"]}, "client.latency", of_all=False),
}
"""Views of those who are no gateway. One client is one of many: what it measured is so, and how many requests there were it
does not know."""


class AccessSummary:
    """What all access lines of one file say together.

    :param subject: the gateway, or the replica whose front end logged the lines
    :param source: name of the file
    """

    def __init__(self, subject: Subject, window: Window, source: str) -> None:
        self._subject = subject
        self._window = window
        self._source = source
        self._view = _VIEWS.get(subject.scope, _GATEWAYS)
        self._quick: list[tuple[AccessLine, float]] = []
        self._answered_at: dict[str, float] = {}
        self._turned_away: list[tuple[AccessLine, float]] = []
        self._answered_routes: set[str] = set()
        self._bins: dict[str, Counter[int]] = {name: Counter() for name in self._view.signals}
        self._took: dict[str, dict[int, Took]] = {}
        self._alike: dict[tuple[int, str, bool], tuple[str, ...]] = {}
        self._tallies: dict[str, Tally] = {}
        self._strays = Tally()
        self._durations: dict[str, Counter[int]] = {"client": Counter(), "proxy": Counter()}
        self._models: dict[tuple[str, str], Counter[int]] = {}
        self._first_at: dict[tuple[str, int], float] = {}
        self._requests: dict[str, Comings] = {}
        self._gaps: list[float] = []
        self._again = 0
        self._said_retries = 0
        self._health_answers = 0
        self._repeat_at: float | None = None
        self._span: tuple[float, float] | None = None
        self.count = 0
        self.untimed = False

    def add(self, line: AccessLine, stamp: float | None) -> None:
        """Counts a line. Lines without any time count as of the window's end."""
        if line.is_probe:
            self._add_probe(line, stamp)
            return
        time = self._moment(line, stamp)
        if not self._window.baseline_start <= time <= self._window.end:
            return
        if time >= self._window.start:
            self.count += 1
            self._see_repetition(line, time)
        if line.flags == _EITHER and len(self._quick) < _MAX_GAPS:
            self._quick.append((line, time))
            return
        if not line.failed and line.upstream and (line.upstream in self._answered_at or len(self._answered_at) < _MAX_KEYS):
            self._answered_at[line.upstream] = max(time, self._answered_at.get(line.upstream, time))
        if line.status in _AT_THE_DOOR and len(self._turned_away) < _MAX_GAPS:
            self._turned_away.append((line, time))
            return
        if not line.failed and len(self._answered_routes) < _MAX_KEYS:
            self._answered_routes.add(_route(line))
        self._count(line, time)

    def _count(self, line: AccessLine, time: float) -> None:
        self._put_in_bins(line, time)
        if line.failed:
            self._add_failure(line, time)

    def _settle(self) -> None:
        """Count what was put aside until all lines were seen."""
        self._tell_quick_failures()
        self._tell_turned_away()

    def _tell_quick_failures(self) -> None:
        """What failed at once at an address that answers later was a closed connection; nobody listens where none does."""
        quick, self._quick = self._quick, []
        for line, time in quick:
            listens = time < self._answered_at.get(line.upstream, 0.0)
            self._count(replace(line, flags="UC" if listens else "UF"), time)

    def _tell_turned_away(self) -> None:
        """What is turned away at a route where nobody was ever answered, while others are elsewhere, is none of our requests.

        It is a scanner's, or a caller's who never had access: it is not counted among requests. Of routes of servers of models it
        is told all the same, unless somebody tries many doors: then a route that is asked for about as often as any of those is
        one of them.
        """
        turned_away, self._turned_away = self._turned_away, []
        tried = Counter(route for line, _ in turned_away if (route := _route(line)) not in self._answered_routes)
        doors = [count for route, count in tried.items() if not _API.match(route)]
        knocks = _STANDS_OUT * max(doors) if len(doors) >= _MANY_DOORS else 0
        for line, time in turned_away:
            of_a_client = tried[_route(line)] > knocks
            if not self._answered_routes or _route(line) in self._answered_routes or (of_a_client and _is_misspelt(line)):
                self._count(line, time)
            elif of_a_client and _API.match(line.path):
                self._add_failure(line, time)
            elif time >= self._window.start:
                self.count -= 1
                self._strays.add(line, time)

    def _moment(self, line: AccessLine, stamp: float | None) -> float:
        """When the request ended."""
        if stamp is None:
            self.untimed = True
            return self._window.end
        return stamp + (line.seconds or 0.0) if line.starts else stamp

    def _put_in_bins(self, line: AccessLine, time: float) -> None:
        if self.untimed:
            return
        low, high = self._span or (time, time)
        self._span = (min(low, time), max(high, time))
        number = int(time // GRID)
        for name in self._counts_as(line):
            self._bins[name][number] += 1
        if line.seconds is not None and _waited(line):
            self._take(self._view.whole, number, line.seconds)
        if not line.failed and self._view.usage:
            for signal, amount in line.usage:
                self._take(self._view.named(signal), number, amount)
        if line.asked and ((line.asked, line.served) in self._models or len(self._models) < _MAX_MODELS):
            self._models.setdefault((line.asked, line.served), Counter())[number] += 1

    def _take(self, signal: str, number: int, amount: float) -> None:
        bounds = TOKENS if signal.endswith("_tokens") else BOUNDS
        self._took.setdefault(signal, {}).setdefault(number, Took(bounds)).add(amount)

    def _counts_as(self, line: AccessLine) -> tuple[str, ...]:
        """The signals that a line counts for; lines that are alike in what decides it share the answer."""
        key = (line.status, line.flags, line.retry > 0)
        names = self._alike.get(key)
        if names is None:
            names = tuple(name for name, holds in self._view.signals.items() if holds(line))
            if len(self._alike) < _MAX_KEYS:
                self._alike[key] = names
        return names

    def _add_probe(self, line: AccessLine, stamp: float | None) -> None:
        """A health route that answers 401, 403 or 404: somebody asks for the wrong thing."""
        if self._subject.scope is not Scope.REPLICA or not line.asks_for_health:
            return
        time = self._moment(line, stamp)
        if not self._window.start <= time <= self._window.end:
            return
        if line.status in {401, 403, 404}:
            self._tallies.setdefault(_HEALTH_ROUTE.name, Tally()).add(line, time)
        self._health_answers += 200 <= line.status < 300

    def _add_failure(self, line: AccessLine, time: float) -> None:
        sort = next((sort for sort in SORTS if sort.holds(line)), None)
        if sort is None:
            return
        tally = self._tallies.setdefault(sort.name, Tally())
        if time < self._window.start:
            tally.before += 1
            return
        tally.add(line, time)
        if line.seconds is not None and line.seconds >= MIN_DURATION and sort.name in {"client-left", "proxy-timeouts"}:
            who = "client" if sort.name == "client-left" else "proxy"
            tenths = round(line.seconds * 10)
            if tenths in self._durations[who] or len(self._durations[who]) < _MAX_KEYS:
                self._durations[who][tenths] += 1
                self._first_at[who, tenths] = min(time, self._first_at.get((who, tenths), time))

    def _see_repetition(self, line: AccessLine, time: float) -> None:
        """Counts a request that came before, by its id or by what the client says of itself."""
        known = self._requests.get(line.request_id) if line.request_id else None
        if known is not None:
            known.times += 1
            if len(self._gaps) < _MAX_GAPS:
                self._gaps.append(abs(time - known.last))
            known.last = time
        elif line.request_id and len(self._requests) < _MAX_REQUESTS:
            self._requests[line.request_id] = Comings(time)
        self._said_retries += line.retry
        if known is not None or line.retry:
            self._again += 1
            self._repeat_at = time if self._repeat_at is None else min(self._repeat_at, time)

    # ------------------------------------------------------------ results

    def series(self, heard: float = 0.0) -> Iterator[Series]:
        """Rates on a grid of 15 s, if the log covers the window and holds more than failures; of an excerpt those of failures.

        :param heard: when the emitter wrote its last line, Unix seconds: up to then there were no requests but those it tells of
        """
        self._settle()
        if self._span is None or self.untimed or not self._view.of_all:
            return
        whole = self._covers_window()
        first, last = int(self._span[0] // GRID), int(max(self._span[1], min(heard, self._window.end)) // GRID)
        times = np.minimum((np.arange(first, last + 1) + 1) * GRID, self._window.end)
        for name, bins in self._bins.items() if whole else self._failures():
            values = _rates(bins, first, len(times))
            if name in {"retries", "overflow", "connect_failures", "resets"} and not values.any():
                continue
            yield Series(f"{self._view.prefix}.{name}", self._subject, times, values, Origin("log", self._source))
        misrouted = self._misrouted(times, first) if whole else None
        if misrouted is not None:
            yield Series("gateway.wrong_model", self._subject, times, misrouted, Origin("log", self._source))

    def histograms(self) -> Iterator[Histogram]:
        """What requests took, on the grid of the rates, if the log tells it of nearly all of them.

        A log of all requests must cover the window, too.
        """
        self._settle()
        if self._span is None or self.untimed or (self._view.of_all and not self._covers_window()):
            return
        first, last = int(self._span[0] // GRID), int(self._span[1] // GRID)
        times = np.minimum((np.arange(first, last + 1) + 1) * GRID, self._window.end)
        for signal, took in sorted(self._took.items()):
            if sum(float(cell.counts.sum()) for cell in took.values()) < _LEAST_TIMED * sum(self._bins["2xx"].values()):
                continue
            bounds = next(iter(took.values())).bounds
            nobody = Took(bounds)
            cells = [took.get(number, nobody) for number in range(first, last + 1)]
            rates, sums = np.array([one.counts for one in cells]) / GRID, np.array([one.total for one in cells]) / GRID
            yield Histogram(signal, self._subject, times, bounds, rates, sums, Origin(LOG, self._source))

    def _misrouted(self, times: Floats, first: int) -> Floats | None:
        """Requests per second that another model answered than usually does; None if no line names both models.

        :param times: ends of the cells, shape (N,)
        :param first: number of the first cell
        """
        astray = self._astray(times, first)
        return np.asarray(sum(one.values for one in astray)) if astray else None

    def _astray(self, times: Floats, first: int) -> list[RawSeries]:
        """For each pair of models asked for and served, the requests per second that another model answered than usually does."""
        if not self._models or self._subject.scope is not Scope.GATEWAY:
            return []
        counted = [
            RawSeries("", {"asked": asked, "served": served}, times, _rates(bins, first, len(times)), rate=True)
            for (asked, served), bins in sorted(self._models.items())
        ]
        homes = Homes(counted, "asked", "served", self._window.start)
        return [homes.misrouted(one) for one in counted]

    def _misrouting_events(self) -> Iterator[Event]:
        """Pairs of models of which another one answers than was asked for: each such line proves it, however few were kept."""
        if self._span is None or self.untimed:
            return
        first = int(self._span[0] // GRID)
        times = np.minimum((np.arange(first, int(self._span[1] // GRID) + 1) + 1) * GRID, self._window.end)
        inside = times > self._window.start
        requests = sum(
            count for bins in self._models.values() for cell, count in bins.items() if (cell + 1) * GRID > self._window.start
        )
        for one in self._astray(times, first):
            counts = np.rint(one.values * GRID)
            count, before = int(counts[inside].sum()), int(counts[~inside].sum())
            if count < MIN_FAILURES:
                continue
            asked, served = (redacted(one.labels[name], 200) for name in ("asked", "served"))
            attrs = {
                "count": str(count), "requests": str(requests), "share": _ratio(count, requests), "before": str(before),
                "more": "no" if self._was_as_often(count, before) else "yes", "asked": asked, "served": served,
            }  # fmt: skip
            text = f"{_counted(count, 'were answered by another model')}: {asked} was asked for, {served} answered"
            yield self._event(float(times[inside & (counts > 0)][0]) - GRID, _ASTRAY, attrs, text)

    def _failures(self) -> Iterable[tuple[str, Counter[int]]]:
        """What was counted of failures: somebody may have kept these lines alone, and so many there were at least."""
        return ((name, bins) for name, bins in self._bins.items() if f"gateway.{name}" in GATEWAY_FAILURES and any(bins.values()))

    def _covers_window(self) -> bool:
        assert self._span is not None
        margin = max(2 * GRID, 0.1 * (self._window.end - self._window.start))
        whole = self._span[0] <= self._window.start + margin and self._span[1] >= self._window.end - margin
        return whole and any(self._bins["2xx"].values())

    def events(self) -> Iterator[Event]:
        """What the failures and repetitions of the window say."""
        self._settle()
        for sort in (*SORTS, _OTHER_HEALTH_ROUTE if self._health_answers or self._is_scanned() else _HEALTH_ROUTE):
            tally = self._tallies.get(sort.name)
            if tally is not None and tally.total >= MIN_FAILURES:
                yield from self._sort_events(sort, tally)
        for who in ("client", "proxy"):
            yield from self._duration_events(who)
        yield from self._repetition_events()
        yield from self._misrouting_events()
        if self.untimed and self.count:
            failed = sum(tally.total for name, tally in self._tallies.items() if name not in _NO_LOSS)
            attrs = {"requests": str(self.count), "failed": str(failed)}
            yield self._event(self._window.end, _UNDATED, attrs, f"{failed} of {self.count} requests failed, at unknown times")

    def _was_as_much(self, tally: Tally) -> bool:
        """Whether there was about as much of it in the log before the window, for as long as that goes back."""
        return self._was_as_often(tally.total, tally.before)

    def _was_as_often(self, count: int, count_before: int) -> bool:
        window = self._window
        before = 0.0 if self._span is None else window.start - max(window.baseline_start, self._span[0])
        return before > 0 and count / (window.end - window.start) <= _NO_MORE * count_before / before

    def _is_scanned(self) -> bool:
        """Whether other routes that no server of models has are asked for as often: who tries all doors tries that of health."""
        probes, refused = self._tallies.get(_HEALTH_ROUTE.name), self._tallies.get("requests-refused", Tally())
        if probes is None:
            return False
        strays = sum(count for path, count in refused.paths.items() if path not in probes.paths and not _API.match(path))
        return strays + self._strays.total >= probes.total

    def _event(self, time: float, told: Told, attrs: dict[str, str], text: str) -> Event:
        shared = {"role": told.role, "kinds": told.kinds, "meaning": text} | ({"untimed": "yes"} if self.untimed else {})
        return Event(time, "log", told.name, self._subject, attrs | shared, text, self._source)

    def _sort_events(self, sort: Sort, tally: Tally) -> Iterator[Event]:
        """One event per episode, so that it can be laid beside what happened to the engines then."""
        shared = {
            "total": str(tally.total),
            "before": str(tally.before),
            "more": "no" if self._was_as_much(tally) else "yes",
            "requests": str(self.count),
            "share": _ratio(tally.total, self.count),
            "episodes": str(len(tally.episodes)),
            **_status_of(tally),
            **_most("upstream", tally.upstreams, tally.total),
            **_most("agent", tally.agents, tally.total),
            **_most("path", tally.paths, tally.total),
        }
        if sort.name == _HEALTH_ROUTE.name and self._health_answers:
            shared["answered"] = str(self._health_answers)
        if tally.seconds:
            from statistics import median

            shared["median_seconds"] = f"{median(tally.seconds):.3f}"
        for episode in sorted(tally.episodes, key=lambda one: one.start):
            attrs = shared | {"count": str(episode.count), "seconds": f"{episode.end - episode.start:.1f}"}
            text = _counted(episode.count, sort.meaning)
            if "upstream" in shared and shared["upstream_share"] == "1":
                text += f", all at {shared['upstream']}"
            yield self._event(episode.start, Told(sort.name, sort.role, sort.kinds), attrs, text)

    def _duration_events(self, who: str) -> Iterator[Event]:
        """Failures that end at one exact duration point to a limit, not to a fault."""
        durations = self._durations[who]
        slow = sum(durations.values())
        if not slow:
            return
        tenths = max(durations, key=lambda one: (sum(durations[one + near] for near in (-1, 0, 1)), one))
        count = sum(durations[tenths + near] for near in (-1, 0, 1))
        if count < MIN_FAILURES or count < CLUSTER_SHARE * slow:
            return
        at = min(self._first_at[who, tenths + near] for near in (-1, 0, 1) if (who, tenths + near) in self._first_at)
        attrs = {
            "who": who,
            "seconds": f"{tenths / 10:g}",
            "count": str(count),
            "share": _ratio(count, slow),
            "requests": str(self.count),
        }
        text = f"{count} of {slow} slow failures end at {tenths / 10:g} s, a limit of the {who}"
        yield self._event(at, _CONSTANT, attrs, text)

    def _repetition_events(self) -> Iterator[Event]:
        """Requests that come again.

        Attempts per distinct request are the lines over the first attempts among them; where no line is a first attempt (an
        excerpt of failures) they are one more than the mean number of repetitions that the lines tell of.
        """
        if self._again < MIN_FAILURES or self._repeat_at is None:
            return
        first = self.count - self._again
        attempts = self.count / first if first else 1.0 + self._said_retries / self.count
        attrs = {
            "count": str(self._again),
            "requests": str(self.count),
            "attempts": f"{attempts:.2f}",
            "most": str(max((one.times for one in self._requests.values()), default=1)),
        }
        if self._gaps:
            from statistics import median

            attrs["spacing"] = f"{median(self._gaps):.1f}"
        text = f"{self._again} of {self.count} requests had come before"
        yield self._event(self._repeat_at, _REPEATED, attrs, text)


def _waited(line: AccessLine) -> bool:
    """Whether somebody waited so long for an answer: those that were answered or given up, not those that were refused."""
    return not line.failed or _timed_out(line) or _left(line)


_HEALTH_ROUTE = Sort(
    "health-route-refused",
    "cause",
    "probe-misconfigured",
    "asked for a health route that is not there",
    lambda line: line.asks_for_health,
)

_OTHER_HEALTH_ROUTE = replace(
    _HEALTH_ROUTE, role="info", meaning="asked for a health route that is not there, as scanners do and other balancers"
)
"""The same where somebody else asks, a scanner or another balancer: the server is asked for its health and answers, or is
asked for whatever other servers have."""

_API = Pattern(r"/(?:v\d|api|openai)/")
"""Where servers of models listen; a wrong name there is a client's mistake."""

_AT_THE_DOOR = frozenset({401, 403, 404, 405})
"""Who asks is not let in, or asks for what is not there."""


def _route(line: AccessLine) -> str:
    return line.path.partition("?")[0].rstrip("/")


def _is_misspelt(line: AccessLine) -> bool:
    """Whether a client of models asks for what is not there."""
    return line.status in {404, 405} and _API.match(line.path) is not None


def _counted(count: int, what: str) -> str:
    """How many requests did or suffered something."""
    return f"1 request {what.replace('were ', 'was ').replace('have ', 'has ')}" if count == 1 else f"{count} requests {what}"


def _status_of(tally: Tally) -> dict[str, str]:
    """The status that most failures had, if any had one."""
    status = tally.statuses.most_common(1)[0][0]
    return {"status": str(status)} if status else {}


def _ratio(part: int, whole: int) -> str:
    return f"{part / whole:.3g}" if whole else "0"


def _most(name: str, counter: Counter[str], total: int) -> dict[str, str]:
    """The value seen most, and its share."""
    if not counter:
        return {}
    value, count = min(counter.items(), key=lambda item: (-item[1], item[0]))
    return {name: redacted(value, 200), f"{name}_share": _ratio(count, total), f"{name}s": str(len(counter))}

"""What users notice, as data: where to look, and what is well and what is not where there is neither a promise nor a past."""

from triage.classes import dataclass


@dataclass(frozen=True)
class Delay:
    """A time that users wait.

    :param name: what it is called in a report, and the promise about its 95th percentile in triage.toml
    :param base: first part of the names of its promises (``ttft`` of ``ttft_p95_s``)
    :param signals: where to look, the view nearest to the user first
    :param inner: the engine's own view, by which replicas are told apart
    :param worse: times the usual mean that count as clearly worse where nobody promised anything
    :param floor: below this it is never too long, seconds
    :param well: below this it is well where there is neither promise nor past, seconds; from ``bad`` on it is not
    :param why: where the two come from
    """

    name: str
    base: str
    title: str
    signals: tuple[str, ...]
    inner: str
    worse: float
    floor: float
    well: float
    bad: float
    why: str


FULL = 0.99
"""A cache is full where not one sequence of the usual length fits; a hundredth is less than that."""

DELAYS = (
    Delay(
        "ttft_p95_s", "ttft", "time to first token", ("client.ttft", "gateway.ttft", "latency.ttft"), "latency.ttft",
        2.0, 0.5, 2.0, 10.0,
        "after one to two seconds the flow of thought breaks, after ten people turn away (Miller 1968, Nielsen 1993)",
    ),
    Delay(
        "itl_p95_s", "itl", "time between tokens", ("client.itl", "gateway.itl", "latency.itl"), "latency.itl",
        1.6, 0.03, 0.1, 0.5,
        "people read about five tokens a second (250 words a minute); two a second is slower than anybody reads",
    ),
    Delay(
        "e2e_p95_s", "e2e", "request time",
        ("client.latency", "gateway.latency", "gateway.upstream_latency", "latency.e2e"), "latency.e2e",
        2.5, 5.0, 60.0, 300.0,
        "proxies and client libraries give up after one to five minutes by default (nginx 60 s, load balancers 60 s, SDKs 600 s)",
    ),
)  # fmt: skip
"""Their quantile is the 95th percentile unless a promise names another."""

HELD = Delay(
    "held_p95_s", "held", "time in the gateway", ("gateway.overhead", "gateway.queue"), "gateway.overhead",
    5.0, 0.5, 2.0, 10.0,
    "it comes before the first token: after one to two seconds the flow of thought breaks, after ten people turn away",
)  # fmt: skip
"""What a gateway adds to the engines' own delays: where nobody in front of them times requests, users see it there alone."""


@dataclass(frozen=True)
class View:
    """Somebody who counts requests and those of them that did not get their answer.

    :param asked: requests
    :param lost: those without an answer, each by another counter; the same request may be in several of them, so that the
        greatest counts and not the sum
    :param well: those that ended otherwise, by the same view: where they are all, none was lost though no loss was ever counted
        (a counter by status or reason has no series of failures until the first)
    """

    asked: str
    lost: tuple[str, ...]
    well: tuple[str, ...] = ()


@dataclass(frozen=True)
class Loss:
    """A way in which requests do not get their answer.

    :param name: what it is called in a report, and its promise in triage.toml
    :param views: who counts them: every group is nearer to the engine than the one before, the first that sees the traffic
        speaks, the worst view of it
    :param allowed: share that nobody minds where nothing was promised; from ``bad`` on without a past it is too much
    :param alike: share that may have been so always, where there is no past; what is between that and ``bad`` leaves it open
    :param any_is_usual: without a past nothing can be said against any share, nor in favour
    :param step: times the usual share and points above it that count as clearly worse
    """

    name: str
    title: str
    views: tuple[tuple[View, ...], ...]
    allowed: float
    bad: float
    step: tuple[float, float]
    any_is_usual: bool = False
    alike: float = 0.0


_FAILED = ("gateway.5xx", "gateway.resets", "gateway.no_backend", "gateway.retries_exhausted")
_ENDED = ("finished.stop", "finished.length", "finished.abort")
_ANSWERED = ("gateway.2xx", "gateway.4xx", "gateway.429")
_REFUSED = ("gateway.4xx", "gateway.429", "gateway.401", "gateway.overflow")

LOSSES = (
    Loss(
        "error_ratio",
        "share of failed requests",
        (
            (View("requests.distinct", ("requests.failed",)), View("gateway.requests", _FAILED, _ANSWERED)),
            (View("backend.requests", ("backend.failures",)), View("gateway.upstream_requests", ("gateway.upstream_5xx",))),
            (View("http.requests", ("http.5xx",), ("http.2xx", "http.4xx")), View("finished", ("finished.error",), _ENDED)),
        ),
        allowed=0.01,
        bad=0.05,
        step=(3.0, 0.02),
    ),
    Loss(
        "refused_ratio",
        "share of refused requests",
        ((View("gateway.requests", _REFUSED, ("gateway.2xx",)),), (View("http.requests", ("http.4xx",), ("http.2xx",)),)),
        allowed=0.05,
        bad=0.5,
        step=(2.0, 0.05),
        alike=0.1,
    ),
    Loss(
        "abandoned_ratio",
        "share of requests that were given up",
        (
            (
                View("requests.attempts", ("requests.timeouts",)),
                View("gateway.requests", ("gateway.client_left", "gateway.timeouts")),
            ),
            (View("finished", ("finished.abort",)),),
        ),
        allowed=0.05,
        bad=0.5,
        step=(3.0, 0.05),
    ),
    Loss(
        "cut_ratio",
        "share of answers that were cut at their limit",
        ((View("finished", ("finished.length",)),),),
        allowed=0.2,
        bad=1.0,
        step=(3.0, 0.2),
        any_is_usual=True,
    ),
    Loss(
        "vanished_ratio",
        "share of requests that vanished on the way",
        ((View("service.sent", ("service.requests_vanished",)),),),
        allowed=0.05,
        bad=0.3,
        step=(3.0, 0.15),
        any_is_usual=True,
    ),
)  # fmt: skip
"""Who refuses or gives up may be in the right, so some of it is usual: more is allowed, and only a step or a half is too much.
How many answers end at their limit is a matter of what is asked: only a step says that they do not end by themselves any more."""

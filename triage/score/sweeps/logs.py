"""Log lines in other words and other clothes."""

import hashlib
from collections.abc import Callable, Iterator

from triage.score.sweeps.paraphrase import WAYS, wrapped
from triage.score.sweeps.trial import Trial
from triage.score.sweeps.under import UnderChange

_RUNTIMES = ("cri", "docker", "compose")

_WAYS_A_CASE = 2


def paraphrase(case: UnderChange) -> Iterator[Trial]:
    """Every line rewritten, in two of the ways; which ones the case's name decides, so that all have their turn."""
    turn = int(hashlib.sha256(case.case.name.encode()).hexdigest()[:8], 16)
    ways = [list(WAYS.items())[(turn + step) % len(WAYS)] for step in range(_WAYS_A_CASE)]
    for name, way in ways if case.logs() else ():
        yield case.harmless("paraphrase", name, case.reread(lambda _file, text, way=way: _each(text, way)))  # type: ignore[misc]


def wrap(case: UnderChange) -> Iterator[Trial]:
    """Every line as a container runtime keeps it; which one the case's name decides."""
    if case.logs():
        runtime = _RUNTIMES[int(hashlib.sha256(case.case.name.encode()).hexdigest()[:8], 16) % len(_RUNTIMES)]
        yield case.same("wrap", runtime, case.reread(lambda file, text: wrapped(text, runtime, file.partition(".")[0])))


def _each(text: bytes, way: Callable[[str], str]) -> bytes:
    """A log with every line rewritten."""
    lines = text.decode("utf-8", "surrogateescape").split("\n")
    return "\n".join(way(line) for line in lines).encode("utf-8", "surrogateescape")

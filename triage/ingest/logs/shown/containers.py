"""Containers of one host: ``docker ps``, ``docker stats``, and the tables of Compose and Podman, which look alike."""

from triage.ingest.logs.changes import KubeEvent
from triage.ingest.logs.durations import unit
from triage.ingest.logs.shown.form import Shown
from triage.ingest.logs.shown.quantities import quantity, size
from triage.ingest.logs.shown.tables import Row, Table
from triage.patterns import Pattern

_STATUS = Pattern(r"(?i)^(up|exited|restarting|created|dead|paused|removal)\b(?: \((\d{1,3})\))?(?: (.*?) ago)?")
_UNHEALTHY = Pattern(r"\(unhealthy\)")
_AGO = Pattern(r"(?i)^(?:about |less than )?(an?|\d{1,6}) (\w+)$")
_LONG = {"week": 604800.0, "weeks": 604800.0, "month": 2592000.0, "months": 2592000.0, "year": 31536000.0, "years": 31536000.0}


def ended(time: float, code: str, name: str, *, for_memory: bool = False, why: str = "") -> KubeEvent:
    """A container's end, in the words in which ``kubectl describe`` tells it."""
    reason = "OOMKilled" if for_memory else "Completed" if code == "0" else "Error"
    told = f"Last state: Terminated, reason {reason}, exit code {code}"
    kind = "Normal" if reason == "Completed" else "Warning"
    return KubeEvent(time, kind, reason, "container", name, f"{told}: {why}" if why else told)


def _age(text: str) -> float | None:
    """Seconds of ``3 minutes``, ``About an hour``, ``Less than a second``."""
    found = _AGO.search(text)
    if found is None:
        return None
    number, word = found.group(1).lower(), found.group(2).lower()
    try:
        seconds = _LONG.get(word) or unit(word)
    except KeyError:
        return None
    return seconds if number in {"a", "an"} else seconds * float(number)


def _listed(shown: Shown, row: Row) -> None:
    """A row of ``docker ps -a``: ``Exited (137) 3 minutes ago``, ``Up 2 days (unhealthy)``, ``Restarting (1) 5 seconds ago``."""
    name, text = row.get("NAMES") or row.get("NAME", ""), row.get("STATUS", "")
    status = _STATUS.search(text)
    if not name or status is None:
        return
    word, code, ago = status.group(1).lower(), status.group(2), _age(status.group(3) or "")
    serves = f"{row.get('IMAGE', '')} {row.get('COMMAND', '')}"
    if code is not None and word in {"exited", "dead", "restarting"}:
        shown.container(ended(shown.time - (ago or 0.0), code, name), serves)
    if word == "restarting":
        told = "Back-off restarting failed container"
        shown.container(KubeEvent(shown.time, "Warning", "BackOff", "container", name, told), serves)
    if _UNHEALTHY.search(text) is not None:
        told = "the container's health check fails"
        shown.container(KubeEvent(shown.time, "Warning", "Unhealthy", "container", name, told), serves)


def _used(shown: Shown, row: Row) -> None:
    """A row of ``docker stats``: ``799.51%  31.9GiB / 32GiB``."""
    container = shown.of_container(row.get("NAME", ""))
    if container is None:
        return
    used, _, limit = row.get("MEM USAGE / LIMIT", "").partition("/")
    shown.sample("container.cpu", container, quantity(row.get("CPU %", "")))
    shown.sample("container.memory", container, size(used))
    shown.sample("container.memory_limit", container, size(limit))


TABLES: tuple[Table, ...] = (
    Table(frozenset({"NAME", "CPU %", "MEM USAGE / LIMIT"}), _used, ("CPU %", r"^[\d.]+%$|^--$")),
    Table(frozenset({"IMAGE", "STATUS", "NAMES"}), _listed, ("STATUS", "^(?:Up|Exited|Restarting|Created|Dead|Paused|Removal)")),
    Table(
        frozenset({"NAME", "IMAGE", "STATUS", "SERVICE"}),
        _listed,
        ("STATUS", "^(?:Up|Exited|Restarting|Created|Dead|Paused|Removal)"),
    ),
)
"""Tables of containers."""

"""Events and observations in words for people: what a line, a change or something odd says, from its extracted fields.

A phrase stands in a row of evidence and, in parentheses, in a sentence. It holds no raw line, no id of ours and not the name of
its own subject, which stands beside it.
"""

from collections.abc import Callable, Mapping

from triage.model.observation import Observation
from triage.model.recording import CHANGE_KINDS, Event
from triage.model.units import number, quantity
from triage.patterns import Pattern

Fields = Mapping[str, str]

_OURS = frozenset(
    {"after", "again", "agent", "agent_share", "agents", "apart", "back", "class", "count", "elsewhere", "emitter", "episodes",
     "event", "fatal", "first", "first_role", "fresh", "kind", "kinds", "last", "level", "lag", "meaning", "nature", "new",
     "path_share", "paths", "phase", "planned", "role", "scope", "service", "severity", "signature", "source", "sources",
     "stranger", "template", "total", "turn", "type", "upstream_share", "upstreams", "untimed", "usual_gap", "who"}
)  # fmt: skip
"""Attributes by which triage sorts what it reads; no values of the line."""

_LONGEST_VALUE = 48
_LONG_CLAUSE = 72
"""Chosen, letters: with a name, a moment and two values a clause of that length fits into a sentence of 140."""

_PLAIN = Pattern(r"[\w+<>~-][\w .:/@%+<>=,~*#()-]*")
"""A value that reads as one: no quotes, brackets or escapes."""

_METRIC = Pattern(r"[a-z][\w:]*")
_OF_A_LOG = Pattern(r"\d\d:\d\d:\d\d|\[\d+\]|[{}\\]")
"""What shows that a text is a line of a program and no note of a person."""

_UUID = Pattern(r"(?i)[0-9a-f]{8}-[0-9a-f]{4}-|GPU-[0-9a-f]{6}")
_SUBJECT = Pattern(r"\b(replica|gpu|node|gateway|client|target|service)/")
_END_OF_CLAUSE = Pattern(r"[.;:(]\s|[.;:]$|\s\(")


def values_of(attrs: Fields) -> dict[str, str]:
    """The values that were taken out of a line or an event, without those by which triage sorts it."""
    return {key: value for key, value in attrs.items() if key not in _OURS and value and not key.startswith("group.")}


def of_event(event: Event) -> str:
    """What an event says, as a phrase; empty where nothing but its raw line tells."""
    attrs = event.attrs
    if event.kind == "xid":
        return f"Xid {event.name}, {attrs['meaning']}" if attrs.get("meaning") else f"Xid {event.name}"
    if event.kind == "log":
        return _clause(attrs.get("meaning", "")) or event.name.replace("-", " ")
    if event.kind == "said":
        return _statement(event.name, attrs)
    if event.kind == "kube":
        return event.name
    if event.kind == "residue":
        return "lines that no rule understands"
    if event.kind == "engine-args":
        return f"started with {attrs['changed']}" if attrs.get("changed") else "arguments of its start"
    if event.kind in CHANGE_KINDS:
        return _plain(" ".join(part for part in (event.kind, _change(event)) if part))
    whom = event.subject.id if event.subject is not None else ""
    return _plain(_without(event.text, whom) if whom else event.text) or event.name.replace("-", " ")


def _change(event: Event) -> str:
    """What was changed: as its note says, with its version where the note does not tell it."""
    text = event.text.removeprefix(f"{event.kind} ")
    if _OF_A_LOG.search(text) is not None:
        return event.name
    return text if event.name in text else f"{event.name} {text}"


def of_observation(one: Observation) -> str:
    """What an observation says, as a phrase."""
    attrs = one.attrs
    tell = _OBSERVED.get(one.sort)
    return tell(one, attrs) if tell is not None else _plain(_without(one.text, str(one.subject)))


def _without(text: str, subject: str) -> str:
    """A text about somebody without his name, which stands beside it."""
    text = text.replace(f"where {subject.replace('/', ' is ', 1)}", "here")
    for words in (f" of {subject}", f" on {subject}", f"{subject} "):
        text = text.replace(words, "")
    return text.replace(subject, "it")


def _life(one: Observation, attrs: Fields) -> str:
    turn = attrs.get("turn", one.of) if one.of == "flapping" else one.of
    told = _TURNS.get(turn, turn)
    times = f" {number(one.size)} times" if one.of == "flapping" and one.size else ""
    by = attrs.get("actor", "")
    reason = attrs.get("reason", "")
    if by and by in reason.split():
        by = ""
    why = f" by the {by}" if by in _ACTORS else f" by {by}" if by and reads(by) else ""
    return f"{told}{times}{why}{f' ({reason})' if reason not in ('', told, by) and len(reason) < _SHORT else ''}"


def _said(one: Observation, attrs: Fields) -> str:
    if attrs.get("kind") == "said":
        return _statement(one.of, attrs)
    if attrs.get("kind") == "residue" or one.of == "residue":
        return "lines that no rule understands"
    return _clause(attrs.get("meaning", "")) or one.of.replace("-", " ")


def _identity(one: Observation, attrs: Fields) -> str:
    value, usual = attrs.get("value", ""), attrs.get("usual", "")
    against = {"twins": "of its twins", "past": "before", "declared": "declared"}.get(one.against, "usually")
    if not value or not usual:
        return _plain(f"{one.of} {value or usual}".strip())
    return _plain(f"{one.of} {_short(value)}, {_short(usual)} {against}")


def _changed(one: Observation, _: Fields) -> str:
    kind = one.of if one.of in CHANGE_KINDS else ""
    if _OF_A_LOG.search(one.text) is not None:
        return kind or one.of
    return _plain(one.text if not kind or one.text.startswith(kind) else f"{kind} {one.text}")


_OBSERVED: Mapping[str, Callable[[Observation, Fields], str]] = {
    "life": _life,
    "said": _said,
    "identity": _identity,
    "change": _changed,
}

_TURNS: Mapping[str, str] = {
    "killed": "killed",
    "restarted": "restarted",
    "ended": "ended",
    "vanished": "no longer seen",
    "unready": "no longer ready",
    "started": "started",
    "ready": "ready",
    "appeared": "appeared",
    "flapping": "ended again and again",
}
_SHORT = 24
"""Chosen, letters: a reason that stands in parentheses behind what happened."""

_ACTORS = frozenset({"kubelet", "kernel", "scheduler", "controller", "probe"})

_DONE: Mapping[str, Callable[[Fields], str]] = {
    "unreachable": lambda _: "nobody answers",
    "unresolved": lambda _: "a name does not resolve",
    "denied": lambda a: f"access refused as {a['reason']}" if a.get("reason", "").isalpha() else "access refused",
    "limited": lambda _: "a limit was reached",
    "exhausted": lambda a: f"no {a['resource']} left" if a.get("resource") else "something ran out",
    "timed-out": lambda _: "a wait ran out",
    "slow": lambda _: "something took long",
    "lost": lambda a: f"{a['number']} lost" if a.get("number") else "something was lost",
    "overridden": lambda a: f"setting {a['setting']} not taken" if a.get("setting") else "a setting was not taken",
    "mismatch": lambda _: "two things differ that should be the same",
    "missing": lambda a: f"{a['what']} is missing" if a.get("what") else "something is missing",
    "invalid": lambda a: f"{a['what']} is not valid" if a.get("what") else "something is not valid",
    "acted": lambda a: " ".join(a[key] for key in ("actor", "verb", "target") if a.get(key)),
    "command-failed": lambda _: "a command failed",
    "killed": lambda a: f"killed by {a['by']}" if a.get("by") else "killed",
    "raised": lambda a: a["exception"].rpartition(".")[2] if a.get("exception") else "an exception",
    "stuck": lambda _: "no progress",
    "state": lambda a: f"{_state(a)} {a.get('value', '')}".strip() or "a state that no healthy thing has",
    "counted": lambda _: "counts that differ",
}
"""What a line of each class of statements says; its values are told beside it."""


def _state(attrs: Fields) -> str:
    """What has a state: of a report in sections the last two names of the way to it."""
    return " ".join(attrs["path"].split("/")[-2:]) if attrs.get("path") else attrs.get("what", "")


def _statement(name: str, attrs: Fields) -> str:
    """A statement in words; in those of its class alone where its values do not read well."""
    tell = _DONE.get(name)
    if tell is None:
        return name.replace("-", " ")
    told = tell(attrs)
    return told if reads(told) else tell({})


def _clause(meaning: str) -> str:
    """The first clause of a sentence, as it stands inside another one."""
    found = _END_OF_CLAUSE.search(meaning)
    clause = meaning[: found.start()] if found is not None else meaning
    if len(clause) > _LONG_CLAUSE:
        clause = clause.partition(", ")[0]
    first = clause.split(maxsplit=1)[0] if clause else ""
    return clause if first[1:] != first[1:].lower() or first in _NAMES else clause[:1].lower() + clause[1:]


_NAMES = frozenset({"Prometheus", "Kubernetes", "Ray", "Envoy"})
"""Words with a capital also inside a sentence."""


def reads(text: str) -> bool:
    """Whether a value reads as a word or a figure, and not as a piece of a line."""
    return 0 < len(text) <= _LONG_CLAUSE and _PLAIN.fullmatch(text) is not None and _UUID.search(text) is None


def _plain(text: str) -> str:
    """A text of ours, or a note by a person, inside a sentence: one line without stops, colons and doubled dots."""
    words: str = _SUBJECT.sub(r"\1 ", " ".join(text.split()))
    return words.replace("(before: ", "(before ").replace(": ", ", ").replace("; ", ", ").replace("..", "…").rstrip(".:;, ")


def _short(value: str) -> str:
    """A digest as people write it."""
    return value.removeprefix("sha256:")[:12] if len(value) > 24 else value


# Values


def _seconds(value: str) -> str:
    try:
        return quantity(float(value), "seconds")
    except ValueError:
        return value


def _room(value: str) -> str:
    """An amount of memory; a bare decimal number of an engine is GiB."""
    return f"{value} GiB" if value.replace(".", "", 1).isdigit() and "." in value else value


def _percent(value: str) -> str:
    try:
        return f"{float(value):.0%}".replace("%", " %")
    except ValueError:
        return value


def _tail(value: str) -> str:
    """The last part of a dotted or slashed name."""
    return value.replace("/", ".").rpartition(".")[2] if "://" not in value else value


_VALUES: tuple[tuple[str, Callable[[str], str]], ...] = (
    ("exception", lambda v: v.rpartition(".")[2]),
    ("where", lambda v: f"in {v.partition(':')[0].rpartition('/')[2]}"),
    ("pci", lambda v: f"PCI {v.removeprefix('PCI:')}"),
    ("process", lambda v: f"process {v}"),
    ("operation", str),
    ("rank", lambda v: f"rank {v}"),
    ("requested", lambda v: f"{_room(v)} asked for"),
    ("wanted", lambda v: f"{_room(v)} wanted"),
    ("free", lambda v: f"{_room(v)} free"),
    ("others", lambda v: f"{_room(v)} held by others"),
    ("cache", lambda v: f"{v} in the cache"),
    ("limit", lambda v: f"limit {v}"),
    ("attempts", lambda v: f"{v} attempts per request"),
    ("usual", lambda v: f"usual {_percent(v)}" if v.startswith("0.") or v == "1.000" else f"usual {v}"),
    ("seconds", _seconds),
    ("took", str),
    ("per_shard", lambda v: f"{_seconds(v)} per shard"),
    ("status", lambda v: f"status {v}"),
    ("probe", lambda v: f"{v.lower()} probe"),
    ("address", str),
    ("upstream", str),
    ("name", str),
    ("peer", lambda v: f"peer {v}"),
    ("port", lambda v: f"port {v}"),
    ("metric", lambda v: v if _METRIC.fullmatch(v) else ""),
    ("image", lambda v: v.rpartition("/")[2]),
    ("volume", lambda v: f"volume {v}"),
    ("kernel", lambda v: f"kernel {v}"),
    ("package", str),
    ("library", lambda v: f"libraries {v}"),
    ("module", lambda v: f"module {v}"),
    ("check", lambda v: f"check {v}"),
    ("action", lambda v: f"action {v}"),
    ("xid", lambda v: f"Xid {v}"),
    ("command", lambda v: f"command {v}"),
    ("code", lambda v: f"code {v}"),
    ("expected", lambda v: f"expected {v}"),
    ("got", lambda v: f"got {v}"),
    ("instead", lambda v: f"{v} instead"),
    ("backend", str),
)
"""Values by their names, the most telling first, and how each is said."""


_NOT_ALONE = frozenset({"seconds", "took", "usual"})
"""Values that say nothing without what they measure."""

_NOBODY = frozenset({"<unknown>", "unknown", "none", "-"})


def details(fields: Fields, most: int = 3, *, alone: bool = False) -> tuple[str, ...]:
    """The extracted values in words, the most telling first.

    :param fields: :func:`values_of` what was read
    :param alone: those that say something by themselves
    """
    known = {key: value for key, value in fields.items() if len(value) <= _LONGEST_VALUE and value.strip("'\"") not in _NOBODY}
    told = (say(known[key]) for key, say in _VALUES if key in known and not (alone and key in _NOT_ALONE))
    return tuple(one for one in dict.fromkeys(told) if reads(one))[:most]

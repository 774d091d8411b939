"""Which services are checked: those that are named, those that bear a label, and of many the share of one machine."""

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from fnmatch import fnmatchcase

from triage.classes import dataclass
from triage.errors import UsageError
from triage.model.service import Service
from triage.validation import did_you_mean

INDEX = "JOB_COMPLETION_INDEX"
"""In what variable Kubernetes tells a pod of an Indexed Job which one it is, from 0 on."""

_GLOB = re.compile(r"[*?\[]")
_SHARD = re.compile(r"(?:(\d{1,6})/)?(\d{1,6})", re.ASCII)


@dataclass(frozen=True, slots=True)
class Shard:
    """The share of one of several that check the same services.

    :param index: which one, from 0 on
    :param count: how many there are
    """

    index: int
    count: int

    def holds(self, name: str) -> bool:
        """Whether a service is in this share: by the hash of its name, so that others come and go without moving it."""
        return int.from_bytes(hashlib.sha256(name.encode()).digest()[:8]) % self.count == self.index

    def __str__(self) -> str:
        return f"{self.index}/{self.count}"


def shard_of(text: str, environ: Mapping[str, str]) -> Shard:
    """The share that ``0/4`` names, or ``4`` with the index of a Kubernetes Indexed Job.

    :raises UsageError: it is neither, or nobody says which one
    """
    found = _SHARD.fullmatch(text.strip())
    if found is None or not int(found[2]):
        raise UsageError(f"{text!r} is no share", "write INDEX/COUNT with INDEX from 0 on: --shard 0/4")
    given = found[1] if found[1] is not None else environ.get(INDEX, "")
    if not given.isascii() or not given.isdigit():
        told = f"${INDEX} is {given!r}" if given else f"there is no ${INDEX}"
        raise UsageError(f"--shard {text} does not say which share: {told}", f"write INDEX/COUNT: --shard 0/{found[2]}")
    shard = Shard(int(given), int(found[2]))
    if shard.index >= shard.count:
        raise UsageError(
            f"there is no share {shard}: they are counted from 0 on", f"the last one is {shard.count - 1}/{shard.count}"
        )
    return shard


def chosen(services: Mapping[str, Service], names: Sequence[str] = (), labels: Sequence[str] = ()) -> list[Service]:
    """The services that bear one of the names and all of the labels, by name.

    :param services: all there are
    :param names: names or patterns (``llm-*``) of which one must hold; empty for all
    :param labels: ``KEY=VALUE``, the value a pattern, too, looked for in a service's ``labels`` and ``tags``
    :raises UsageError: a name, a pattern or all labels together fit none
    """
    named = [services[name] for name in sorted(_named(services, names))]
    wanted = [_label(one) for one in labels]
    found = [one for one in named if all(_bears(one, key, value) for key, value in wanted)]
    if labels and not found:
        raise UsageError(f"no service bears {' and '.join(labels)}", _known_labels(named, (key for key, _ in wanted)))
    return found


def _named(services: Mapping[str, Service], names: Sequence[str]) -> set[str]:
    """The names that are meant."""
    found: set[str] = set()
    for name in names:
        fits = {one for one in services if one == name or (_GLOB.search(name) and fnmatchcase(one, name))}
        if not fits:
            known = f"known services: {', '.join(sorted(services)[:20]) or 'none'}{' …' if len(services) > 20 else ''}"
            raise UsageError(f"no service is called {name!r}", f"{did_you_mean(name, services)} {known}".strip())
        found |= fits
    return found if names else set(services)


def _label(text: str) -> tuple[str, str]:
    """Key and value of a label."""
    key, sign, value = text.partition("=")
    if not (key and sign):
        raise UsageError(f"{text!r} is no label", "write KEY=VALUE: --label team=search")
    return key, value


def _bears(service: Service, key: str, value: str) -> bool:
    return any(key in one and fnmatchcase(one[key], value) for one in (service.tags, service.labels))


def _known_labels(services: Iterable[Service], keys: Iterable[str]) -> str:
    """The values that there are of the keys that were asked for, or the keys that there are."""
    told = [(key, value) for one in services for key, value in {**one.labels, **one.tags}.items()]
    wanted = set(keys)
    near = sorted({f"{key}={value}" for key, value in told if key in wanted}) or sorted({key for key, _ in told})
    return f"there are: {', '.join(near[:10])}" if near else "services bear what their labels and tags in triage.toml say"

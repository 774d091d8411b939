"""triage.toml: the services that a person runs, and their usual flags."""

import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import field
from pathlib import Path
from typing import TypeVar

from triage.classes import dataclass
from triage.errors import ConfigError, InputMissingError, UsageError
from triage.model.checked import Checked
from triage.model.receiver import Receiver
from triage.model.service import Service
from triage.validation import Bytes, Seconds, complaints, did_you_mean, strange_names

_WHERE = re.compile(r"\(at line (\d+), column (\d+)\)|\(at end of document\)")


_TABLES = ("defaults", "service", "watch", "notify")

_Table = TypeVar("_Table", bound=Checked)


@dataclass(frozen=True, kw_only=True)
class Defaults(Checked):
    """What counts where neither a flag nor the service says otherwise.

    Folders of collectors cannot be named here: a collector is code, and a file that lies in the current folder must not
    be able to run any.

    :param prometheus: base address of a server that speaks the Prometheus API, for services that name no source
    :param since: length of the window to judge
    :param baseline: length of the span before it that tells what is usual
    :param sample: how long live sources are sampled
    :param timeout: longest wait for one answer
    :param keep: bytes for all recordings that are kept by themselves when something became different; one of a service of three
        replicas takes about 0.1 MB, one of a hundred about 10 MB
    :param rules: folders of further rules
    :param dialects: folders of further dialects
    :param signatures: folders of further signatures
    :param playbooks: folders of further playbooks
    """

    prometheus: str | None = None
    since: Seconds = 1800.0
    baseline: Seconds = 3600.0
    sample: Seconds = 30.0
    timeout: Seconds = 10.0
    keep: Bytes = 500_000_000
    rules: tuple[Path, ...] = ()
    dialects: tuple[Path, ...] = ()
    signatures: tuple[Path, ...] = ()
    playbooks: tuple[Path, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Watching(Checked):
    """How ``triage watch`` watches where no flag says otherwise.

    :param every: from one look at a service to the next
    :param whole: longest time without a whole look at a service at which nothing moves
    :param listen: where /metrics and /healthz are served
    :param state: file of what is remembered and still to be told
    """

    every: Seconds = 60.0
    whole: Seconds = 300.0
    listen: str | None = None
    state: Path | None = None


@dataclass(frozen=True)
class Settings:
    """What triage.toml says.

    :param path: the file, None if there is none
    :param services: by name
    :param receivers: who is told of what became different, by name
    """

    path: Path | None = None
    defaults: Defaults = field(default_factory=Defaults)
    services: Mapping[str, Service] = field(default_factory=dict)
    watch: Watching = field(default_factory=Watching)
    receivers: Mapping[str, Receiver] = field(default_factory=dict)

    def service(self, name: str) -> Service:
        """The service of that name.

        :raises UsageError: there is none; the known ones are listed
        """
        if name in self.services:
            return self.services[name]
        known = f"known services: {', '.join(sorted(self.services)) or 'none'}"
        near = did_you_mean(name, self.services)
        raise UsageError(f"no service is called {name!r} in {self.path}", f"{near} {known}".strip())


def find_settings(named: Path | None, environ: Mapping[str, str], folder: Path) -> Path | None:
    """The settings file, or None: the one that was named, ``$TRIAGE_CONFIG``, triage.toml in the folder, or the user's own.

    :raises InputMissingError: the file that was named does not exist
    """
    given = named or (Path(environ["TRIAGE_CONFIG"]) if environ.get("TRIAGE_CONFIG") else None)
    if given is not None:
        if not given.is_file():
            how = "--config" if named else "$TRIAGE_CONFIG"
            raise InputMissingError(f"the settings file {given} ({how}) does not exist")
        return given
    home = Path(environ.get("XDG_CONFIG_HOME") or Path(environ.get("HOME", "/")) / ".config")
    return next((path for path in (folder / "triage.toml", home / "triage" / "triage.toml") if path.is_file()), None)


def read_settings(path: Path) -> Settings:
    """The settings in a file; paths in it are relative to its folder.

    :raises InputMissingError: it cannot be read
    :raises ConfigError: it is not TOML, or says something that triage does not understand
    """
    document = _parse(path)
    for name in document:
        if name not in _TABLES:
            raise ConfigError(f"{path}: the key {name!r} is not known here", did_you_mean(name, _TABLES))
    defaults = _read(path, "defaults", Defaults, document.get("defaults", {}))
    services = {name: _service(path, name, table, defaults) for name, table in _tables(path, document, "service", "llm-prod")}
    told = _tables(path, document, "notify", "oncall")
    receivers = {name: _read(path, f"notify.{name}", Receiver, table) for name, table in told}
    watch = _read(path, "watch", Watching, document.get("watch", {}))
    folder = path.resolve().parent
    rooted = {name: _rooted(folder, getattr(defaults, name)) for name in ("rules", "dialects", "signatures", "playbooks")}
    state = _rooted(folder, [watch.state])[0] if watch.state is not None else None
    return Settings(path, defaults.model_copy(update=rooted), services, watch.model_copy(update={"state": state}), receivers)


def _tables(path: Path, document: Mapping[str, object], key: str, example: str) -> Iterable[tuple[str, object]]:
    """The named tables under a key.

    :raises ConfigError: something else stands there
    """
    tables = document.get(key, {})
    if not isinstance(tables, dict):
        raise ConfigError(f"{path}: {key!r} must be tables with names", f"write [{key}.{example}]")
    return tables.items()


def _parse(path: Path) -> dict[str, object]:
    """The TOML document in a file."""
    try:
        text = path.read_text(encoding="utf-8")
        return tomllib.loads(text)
    except OSError as error:
        raise InputMissingError(f"{path} cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path}: byte {error.start} is not UTF-8", "save the file as UTF-8") from error
    except tomllib.TOMLDecodeError as error:
        line, column = _place(str(error), text)
        told = _WHERE.sub("", str(error)).strip()
        raise ConfigError(f"{path}:{line}:{column}: this is not TOML: {told}") from error


def _place(message: str, text: str) -> tuple[int, int]:
    """Line and column of a fault; the tomllib of Python 3.11 gives them in words only."""
    where = _WHERE.search(message)
    if where and where[1]:
        return int(where[1]), int(where[2])
    last = text.rpartition("\n")[2]
    return text.count("\n") + 1, len(last) + 1


def _read(path: Path, name: str, model: type[_Table], table: object) -> _Table:
    """One table as a model.

    :raises ConfigError: it says something unknown or of the wrong kind; every fault is told
    """
    try:
        return model.model_validate(table)
    except ValueError as error:
        found = complaints(error, table, model.model_names())
        told = "; ".join(complaint.text for complaint in found)
        raise ConfigError(f"{path}: [{name}]: {told}", " ".join(complaint.hint for complaint in found).strip()) from error


def _service(path: Path, name: str, table: object, defaults: Defaults) -> Service:
    """One table as a service, its paths rooted in the file's folder.

    :raises ConfigError: it says something unknown or of the wrong kind, or names an objective or a fact that is misspelt
    """
    if isinstance(table, dict):
        table = {"name": name, **table}
    service = _read(path, f"service.{name}", Service, table)
    strange = strange_names(service.objectives, service.facts)
    if strange:
        told = "; ".join(complaint.text for complaint in strange)
        raise ConfigError(f"{path}: [service.{name}]: {told}", " ".join(complaint.hint for complaint in strange))
    folder = path.resolve().parent
    sourceless = not (service.incident or service.prometheus or service.endpoints)
    return service.model_copy(
        update={
            "prometheus": defaults.prometheus if sourceless else service.prometheus,
            "incident": _rooted(folder, [service.incident])[0] if service.incident else None,
            "changes": _rooted(folder, [service.changes])[0] if service.changes else None,
            "logs": _rooted(folder, service.logs),
        }
    )


def _rooted(folder: Path, paths: tuple[Path, ...] | list[Path]) -> tuple[Path, ...]:
    """Paths relative to a folder; ``~`` is the user's home."""
    return tuple(folder / path.expanduser() for path in paths)

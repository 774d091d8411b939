"""Opens what people hand over: an incident folder, a recording, a bare dump of metrics, a saved Prometheus answer."""

import tomllib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import field, replace
from datetime import UTC, datetime
from itertools import chain
from pathlib import Path
from typing import Annotated, BinaryIO

import numpy as np

from triage.classes import dataclass
from triage.errors import DataError, InputMissingError
from triage.ingest.files.names import under_one_name
from triage.ingest.files.scrapes import Scrape, find_scrapes, moment_of
from triage.ingest.files.texts import read_logs
from triage.ingest.language import Language, load_language
from triage.ingest.logs import window_of_logs
from triage.ingest.logs.changes import read_changes
from triage.ingest.logs.emitters import engine_on
from triage.ingest.metrics.naming import index_names, is_engine_name, speaker
from triage.ingest.metrics.openmetrics import parse, read_blocks
from triage.ingest.metrics.translate import translate, with_source
from triage.ingest.owners.subjects import SERVICE_LABELS, models_of, owned_by, select
from triage.ingest.raw import RawSeries, gathered, labelled
from triage.model.checked import Before, Checked, spelt
from triage.model.recording import Recording, Source, SourceState, Subject, Window, merged
from triage.model.service import Service
from triage.model.vocabulary import Scope
from triage.validation import complaints, did_you_mean, strange_names

BASELINE_SPAN = 6 * 3600.0
"""Data from longer than this before the window is not compared with: six hours ago another day's traffic begins."""

METRIC_FILES = tuple(f"metrics.{form}{packed}" for form in ("om", "prom", "txt", "json") for packed in ("", ".gz", ".xz"))


def _instant(value: object) -> object:
    """Unix seconds of a number, a date of TOML or RFC 3339 text; UTC where no zone is given."""
    if isinstance(value, str):
        value = datetime.fromisoformat(value)
    if isinstance(value, datetime):
        return (value if value.tzinfo else value.replace(tzinfo=UTC)).timestamp()
    return value


@dataclass(frozen=True, kw_only=True)
class Case(Checked):
    """case.toml of an incident folder.

    :param start: begin of the window to judge (``from``), Unix seconds
    :param end: its end (``to``), Unix seconds
    """

    __pydantic_config__ = spelt(extra="ignore", start="from", end="to")

    name: str = ""
    service: str = ""
    start: Annotated[float | None, Before(_instant)] = None
    end: Annotated[float | None, Before(_instant)] = None
    labels: dict[str, str] = field(default_factory=dict)
    objectives: dict[str, float] = field(default_factory=dict)
    facts: dict[str, str | float] = field(default_factory=dict)
    signals: dict[str, str] = field(default_factory=dict)

    def as_service(self, default: str) -> Service:
        """The service that the case is about.

        :raises ValueError: a signal is unknown
        """
        told = {name: getattr(self, name) for name in ("labels", "objectives", "facts", "signals")}
        return Service.model_validate({"name": self.service or default, **told})


def read_any(path: Path, service: Service | None = None, language: Language | None = None) -> Recording:
    """The recording in a path: an incident folder, a Parquet recording, an exposition with timestamps, a Prometheus answer.

    :param service: what is known of the service from settings; what the folder says itself comes first
    :param language: how its parts are read; the shipped one if not given
    :raises InputMissingError: nothing is there
    :raises DataError: it is damaged or of no known form
    """
    if path.is_dir():
        return read_incident(path, service, language)
    if not path.exists():
        raise InputMissingError(f"{path} does not exist", "name an incident folder, a recording or a dump of metrics")
    with _opened(path) as stream:
        head = stream.read(4)
    if head == b"PAR1":
        from triage.ingest.files.parquet import read_recording

        return read_recording(path)
    return _from_samples(path, service, language or load_language())


def _opened(path: Path) -> BinaryIO:
    try:
        return path.open("rb")
    except OSError as error:
        raise InputMissingError(f"{path} cannot be read: {error.strerror or error}") from error


def _samples(path: Path, moment: float | None = None) -> tuple[list[RawSeries], tuple[str, ...], bool]:
    """The series of a file, JSON of the Prometheus API or an exposition, what was strange about it, and whether it lacked times.

    :param moment: Unix seconds of what carries no time stamp
    """
    blocks = read_blocks(path)
    first = next(blocks, b"")
    begin = first.lstrip()
    if not begin:
        raise DataError(f"{path} is empty", "record it again")
    try:
        if (begin[:1] == b"{" and b'"status"' in first[:4096]) or begin[:1] == b"[":
            from triage.ingest.prometheus.answers import parse_answer

            return parse_answer(b"".join(chain((first,), blocks))), (), False
        exposition = parse(chain((first,), blocks), moment)
    except DataError as error:
        raise DataError(f"{path}: {error.message}", error.hint) from error
    bad = exposition.bad_lines
    strange = (f"{bad} line{'s' * (bad != 1)} of {path.name} could not be read",) if bad else ()
    return exposition.series, strange, exposition.undated > 0


def _from_samples(path: Path, service: Service | None, language: Language) -> Recording:
    """A recording of a bare file: the last third of its time is judged, what is before tells what is usual."""
    series, problems, _ = _samples(path)
    span = _span(series)
    if span is None or span[0] == span[1]:
        raise DataError(
            f"{path} holds {'one moment only' if span else 'no sample with a time stamp'}, so nothing can be seen to change",
            "record the target for some minutes with triage record",
        )
    first, last = span
    start = last - max((last - first) / 3.0, min(last - first, 120.0))
    window = Window(start, last, max(first, start - BASELINE_SPAN))
    service = service or Service(name=_service_in(series, path, path.name.partition(".")[0], language))
    recording = with_source(translate(series, language.dialects, service, window, language.signatures), "metrics")
    return replace(recording, problems=(*problems, *recording.problems))


def _service_in(series: list[RawSeries], path: Path, name: str, language: Language) -> str:
    """The service to look at if nobody said which: the one of this name, else what all engines in the data go by.

    :raises DataError: they are several services
    """
    index = index_names(language.dialects)
    if select(series, Service(name=name), lambda metric: speaker(index, metric)).named:
        return name
    engines = [one.labels for one in series if is_engine_name(index, one.name)]
    for label in SERVICE_LABELS:
        found = sorted({labels.get(label, "") for labels in engines} - {""})
        if len(found) > 1:
            raise DataError(f"{path} holds engines of several services: {', '.join(found)}", "name one with --service")
        if found and all(labels.get(label) for labels in engines):
            return found[0]
    return name


def _span(series: list[RawSeries]) -> tuple[float, float] | None:
    """First and last time of any sample."""
    timed = [one for one in series if len(one.times)]
    if not timed:
        return None
    return min(float(one.times[0]) for one in timed), max(float(one.times[-1]) for one in timed)


@dataclass(frozen=True)
class Incident:
    """An incident folder before its metrics are translated.

    :param series: what is in its metrics
    :param language: how its parts are read
    :param problems: what was strange about its files, one sentence each
    """

    folder: Path
    service: Service
    window: Window
    series: list[RawSeries]
    language: Language
    problems: tuple[str, ...] = ()


def read_incident(folder: Path, service: Service | None = None, language: Language | None = None) -> Recording:
    """The recording of an incident folder. Every part but one source of data is optional.

    :raises DataError: a part is damaged, or there is nothing to judge
    :raises InputMissingError: a part cannot be read
    """
    return recording_of(open_incident(folder, service, language))


def open_incident(folder: Path, service: Service | None = None, language: Language | None = None) -> Incident:
    """The parts of an incident folder that the recording is made of.

    :raises DataError: a part is damaged, or there is nothing to judge
    :raises InputMissingError: a part cannot be read
    """
    language = language or load_language()
    case, problems = _case(folder / "case.toml")
    scrapes = find_scrapes(folder)
    if not scrapes and not _has_files(folder / "logs") and not (folder / "changes.jsonl").exists():
        raise DataError(
            f"{folder} holds no metrics, no logs and no changes",
            f"an incident folder has {METRIC_FILES[0]}[.gz], logs/ or changes.jsonl",
        )
    default = case.service or (service.name if service else folder.resolve().name)
    series, strange = _scraped(scrapes, case, default, language)
    known = _service(case, folder, series, service, language)
    window, outside = _window(case, series, folder)
    return Incident(folder, known, window, _until(series, window.end), language, (*problems, *strange, *outside))


def _scraped(scrapes: list[Scrape], case: Case, service: str, language: Language) -> tuple[list[RawSeries], tuple[str, ...]]:
    """The series of all files of metrics, and what was strange about them.

    Where nothing says when scrapes were made only their order is known: the last one of each target stands for the window's end.
    What only looks like a file of metrics is told and left out.
    """
    begin = None if case.start is None else case.start - BASELINE_SPAN
    parts: list[list[RawSeries]] = []
    guessed: dict[str, tuple[str, list[RawSeries]]] = {}
    told: tuple[str, ...] = ()
    for one in scrapes:
        moment = moment_of(one, begin, case.end)
        try:
            series, strange, undated = _samples(one.path, case.end if moment is None else moment)
        except DataError as error:
            if one.path.name in METRIC_FILES:
                raise
            told += (error.message.replace(str(one.path), one.path.name),)
            continue
        told += strange
        if undated:
            series = labelled(series, _scraper_labels(series, one, service, language))
        if undated and moment is None:
            guessed[one.target] = one.path.name, series
        else:
            parts.append(series)
    told += tuple(f"nothing says when {name} was scraped: it is taken for the window's end" for name, _ in guessed.values())
    return gathered([*parts, *(series for _, series in guessed.values())]), told


def _scraper_labels(series: list[RawSeries], scrape: Scrape, service: str, language: Language) -> dict[str, str]:
    """What a scraper would have said of the target of a file: its name, and that an engine in this folder is the service's."""
    if any("instance" in one.labels or "pod" in one.labels for one in series):
        return {}
    index = index_names(language.dialects)
    engine = any(is_engine_name(index, one.name) for one in series)
    place = {"instance": scrape.target, "job": scrape.target} if scrape.target else {}
    return {**place, "service": service} if engine else place


def _has_files(folder: Path) -> bool:
    """Whether there is any file in a folder, which need not exist."""
    return folder.is_dir() and any(path.is_file() for path in folder.rglob("*"))


def recording_of(incident: Incident) -> Recording:
    """The recording of an opened incident."""
    return joined(metrics_of(incident), logs_of(incident.folder), incident.folder / "changes.jsonl", incident.language)


def metrics_of(incident: Incident) -> Recording:
    """The recording of an incident's metrics alone."""
    metrics = _translated(incident, incident.service)
    if not metrics.subjects[Scope.REPLICA] and (only := _of_the_only_model(incident)) is not None:
        metrics = _translated(incident, only)
    return replace(metrics, problems=(*incident.problems, *metrics.problems))


def _translated(incident: Incident, service: Service) -> Recording:
    language = incident.language
    return with_source(translate(incident.series, language.dialects, service, incident.window, language.signatures), "metrics")


def _of_the_only_model(incident: Incident) -> Service | None:
    """The service, known to serve the only model in a folder that was handed over for it.

    None if its model was declared, or if there are more models or none.
    """
    if "model" in incident.service.facts:
        return None
    index = index_names(incident.language.dialects)
    models = models_of(incident.series, lambda metric: speaker(index, metric))
    if len(models) != 1:
        return None
    return incident.service.model_copy(update={"facts": {**incident.service.facts, "model": next(iter(models))}})


def logs_of(folder: Path) -> tuple[Path, ...]:
    """Where the logs of an incident folder are; nowhere if it has none."""
    return (folder / "logs",) if (folder / "logs").is_dir() else ()


def _service(case: Case, folder: Path, series: list[RawSeries], service: Service | None, language: Language) -> Service:
    """The service of a case, completed from settings; if nobody names it, it is the one of the folder's name, or the only one."""
    default = service.name if service else folder.resolve().name
    if service is None and not case.service and not case.labels:
        default = _service_in(series, folder, default, language)
    try:
        told = case.as_service(default)
    except ValueError as error:
        raise DataError(f"{folder / 'case.toml'}: {_first_complaint(error, {'signals': case.signals})}") from error
    if service is None:
        return told
    return told.model_copy(
        update={
            "labels": told.labels or service.labels,
            "objectives": {**service.objectives, **told.objectives},
            "facts": {**service.facts, **told.facts},
            "signals": {**service.signals, **told.signals},
        }
    )


def _case(path: Path) -> tuple[Case, tuple[str, ...]]:
    """case.toml, or nothing known if there is none, and which of its keys nobody knows."""
    if not path.exists():
        return Case(), ()
    try:
        value = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise DataError(f"{path} is not valid TOML: {error}") from error
    except OSError as error:
        raise InputMissingError(f"{path} cannot be read: {error.strerror or error}") from error
    try:
        case = Case.model_validate(value)
    except ValueError as error:
        raise DataError(f"{path}: {_first_complaint(error, value)}") from error
    return case, (*_unknown_keys(value), *_strange_names(case))


def _first_complaint(error: ValueError, value: object) -> str:
    """What is wrong first, with its place."""
    one = complaints(error, value)[0]
    place = ".".join(str(step) for step in one.path)
    return f"{place}: {one.text}" if place else one.text


def _unknown_keys(value: dict[str, object]) -> Iterator[str]:
    """A sentence for each key of case.toml that means nothing: a misspelt one would be missed in silence."""
    known = set(Case.model_keys().values())
    for key in sorted(set(value) - known):
        hint = did_you_mean(key, known)
        yield f"the key {key!r} of case.toml means nothing{f' ({hint})' if hint else ''}"


def _strange_names(case: Case) -> Iterator[str]:
    """A sentence for each objective and fact of case.toml that is misspelt. A recording is read all the same."""
    for one in strange_names(case.objectives, case.facts):
        yield f"case.toml: {one.text}{f' ({one.hint})' if one.hint else ''}"


def _window(case: Case, series: list[RawSeries], folder: Path) -> tuple[Window, tuple[str, ...]]:
    """The window of a case, and whether its metrics miss it; without ``from`` and ``to`` the last third of its metrics."""
    span = _span(series)
    if span is None and case.end is None:
        told = _window_of_logs(folder / "logs")
        if told is not None:
            return told, ()
        raise DataError(f"{folder / 'case.toml'} names no window and there are no metrics that do", "give from and to")
    first, last = span or (None, None)
    end = case.end if case.end is not None else last or 0.0
    start = case.start if case.start is not None else end - 1800.0 if first in (None, end) else first + 2.0 * (end - first) / 3.0
    if span and (span[0] > end or span[1] < start - BASELINE_SPAN):
        metrics = f"the metrics are from {_clock(span[0])} to {_clock(span[1])}"
        raise DataError(
            f"{folder / 'case.toml'}: the window ends at {_clock(end)}, but {metrics}",
            "mend from and to; times without a zone are UTC",
        )
    if start >= end:
        raise DataError(f"{folder / 'case.toml'}: from ({_clock(start)}) must be before to ({_clock(end)})")
    baseline = start - 3600.0 if first is None else max(first, start - BASELINE_SPAN)
    ended = (f"the metrics end at {_clock(span[1])}, before the window begins",) if span and span[1] < start else ()
    return Window(start, end, min(start, baseline)), ended


def _until(series: Iterable[RawSeries], end: float) -> list[RawSeries]:
    """The series without what came after a moment: who looks at an earlier window is told nothing that nobody knew then."""
    counts = ((one, len(one.times) if one.times[-1] <= end else int(np.searchsorted(one.times, end, "right"))) for one in series)
    return [
        one if count == len(one.times) else replace(one, times=one.times[:count], values=one.values[:count])
        for one, count in counts
        if count
    ]


def _window_of_logs(folder: Path) -> Window | None:
    """The window that ends at the last line of a folder's logs; stamps without a year lie before the files were written."""
    if not _has_files(folder):
        return None
    return window_of_logs([folder], max(path.stat().st_mtime for path in folder.iterdir()))


def _clock(seconds: float) -> str:
    """A moment as people write it."""
    try:
        return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    except (OverflowError, ValueError, OSError):
        return f"{seconds:g}"


def joined(metrics: Recording, logs: Sequence[Path], changes: Path, language: Language | None = None) -> Recording:
    """The recording of metrics and of what lies beside them.

    :param logs: files or folders
    :param changes: a file that need not be there
    :param language: how lines are read; the shipped one if not given
    """
    blank = Recording(metrics.service, metrics.window, step=metrics.step)
    parts = [metrics]
    if logs:
        alone = not metrics.subjects[Scope.REPLICA]
        reading = read_logs(
            logs,
            metrics.window,
            metrics.service,
            _emitter_subjects(metrics),
            alone=alone,
            signatures=language.signatures if language else None,
            dialects=language.dialects if language and alone else (),
        )
        reading = under_one_name(reading, metrics)
        parts.append(reading.as_part_of(blank))
    if changes.exists():
        events, source = read_changes(changes, metrics.window)
        parts.append(replace(blank, events=events, sources=(source,)))
    else:
        parts.append(replace(blank, sources=(Source("changes", SourceState.ABSENT, "no changes.jsonl in the folder"),)))
    return merged(parts)


def _at_addresses(recording: Recording) -> dict[str, list[Subject]]:
    """The engines at each host, as far as engines are called after the address where they are scraped."""
    found: dict[str, list[Subject]] = {}
    for replica in recording.subjects[Scope.REPLICA]:
        name, colon, port = replica.id.rpartition(":")
        if colon and port.isdigit():
            for one in {name, name.partition(".")[0]} if not name.replace(".", "").isdigit() else {name}:
                found.setdefault(one, []).append(replica)
    return found


def _emitter_subjects(recording: Recording) -> Callable[[str], Subject | None]:
    """Maps the name of a log's emitter to the subject it is about."""
    known = {subject.id: subject for scope in (Scope.NODE, Scope.GATEWAY, Scope.REPLICA) for subject in recording.subjects[scope]}
    for host in recording.subjects[Scope.NODE]:
        engines = recording.replicas_of(host)
        if len(engines) == 1:
            known[engine_on(host.id)] = engines[0]
    known |= {engine_on(name): engines[0] for name, engines in _at_addresses(recording).items() if len(engines) == 1}

    def find(name: str) -> Subject | None:
        if name in known:
            return known[name]
        return Subject(Scope.REPLICA, name) if owned_by(name, recording.service) else None

    return find

"""Checks of dialects and signatures: what keeps their files from being loaded, and what their own examples say of them."""

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from triage.bundle import bundled
from triage.ingest.logs.emitters import KINDS
from triage.ingest.logs.loading import SignatureFile, Signatures, merged, read_folder, unsound
from triage.ingest.logs.signatures import Patterns, Signature, SignatureBook
from triage.ingest.metrics.dialects import read_folder as read_dialects
from triage.lint.problem import Problem, Severity
from triage.validation import Fault, did_you_mean
from triage.yamltext import Marked

_Place = tuple[str | int, ...]


def lint_dialects(folders: Iterable[Path]) -> tuple[list[Problem], dict[Path, str]]:
    """All problems of the dialects of some folders, and the text of each file by its path.

    :raises ConfigError: a folder is missing or holds none
    """
    files = [file for folder in folders for file in read_dialects(folder)]
    return [of_fault(fault) for file in files for fault in file.faults], {file.path: _text(file.data) for file in files}


def lint_signatures(folders: Iterable[Path], kinds: Iterable[str]) -> tuple[list[Problem], dict[Path, str]]:
    """All problems of the files of signatures of some folders, and the text of each file by its path.

    :param kinds: ids that a signature may speak for
    :raises ConfigError: a folder is missing or holds none
    """
    files = [file for folder in folders for file in read_folder(folder)]
    found = [of_fault(fault) for file in files for fault in file.faults]
    if not found:
        among = merged([*read_folder(bundled("signatures")), *files])
        faults = [fault for file in files for fault in unsound(file, among)]
        found += [of_fault(fault) for fault in faults]
        found += [] if faults else _of_lines(files, among, frozenset(kinds))
    return sorted(found, key=lambda one: (one.path, one.line, one.column)), {file.path: _text(file.data) for file in files}


def of_fault(fault: Fault) -> Problem:
    """``schema``: what keeps a file from being loaded as a problem."""
    return Problem("schema", Severity.ERROR, fault.text, fault.path, fault.line, fault.column, fault.hint)


def _of_lines(files: Iterable[SignatureFile], among: Signatures, kinds: frozenset[str]) -> Iterator[Problem]:
    """Problems of the signatures of lines in sound files."""
    patterns = Patterns(among.lexicon)
    book = SignatureBook(among.lines, patterns)
    patterns.compile()
    for file in files:
        marked = Marked(_text(file.data))
        for index, one in enumerate(file.value if file.form == "signatures" else ()):
            for check in _CHECKS:
                for place, name, severity, text, hint in check(one, book, kinds):
                    line, column = marked.place((index, *place))
                    yield Problem(name, severity, text, file.path, line, column, hint)


_Told = tuple[_Place, str, Severity, str, str]
"""Place below the signature, check, severity, what is wrong, what to do."""


def _unknown_names(one: Signature, _book: SignatureBook, kinds: frozenset[str]) -> Iterator[_Told]:
    """``reference``: kinds and emitters exist."""
    for index, kind in enumerate(one.kinds):
        if kind not in kinds:
            yield (
                ("kinds", index),
                "reference",
                Severity.ERROR,
                f"no kind of failure is called {kind!r}",
                did_you_mean(kind, kinds),
            )
    for index, emitter in enumerate(one.emitters):
        if emitter not in KINDS:
            yield ("from", index), "reference", Severity.ERROR, f"no log is of the kind {emitter!r}", did_you_mean(emitter, KINDS)


def _examples(one: Signature, book: SignatureBook, _kinds: frozenset[str]) -> Iterator[_Told]:
    """``example``: lines that must have the signature do, and those that must not do not."""
    emitter = one.emitters[0] if one.emitters else "other"
    if not one.example and not one.made_from:
        yield (
            ("id",),
            "example",
            Severity.WARNING,
            "no example shows a line that it means",
            "add example: with a line as it is printed",
        )
    for key, lines, wanted in (("example", one.example, True), ("unlike", one.unlike, False)):
        for index, line in enumerate(lines):
            if any(match.signature.id == one.id for match in book.match(line.encode(), emitter)) is not wanted:
                told = (
                    "this line must have the signature and does not"
                    if wanted
                    else "this line must not have the signature and does"
                )
                yield (key, index), "example", Severity.ERROR, told, ""


def _blames_nobody(one: Signature, _book: SignatureBook, _kinds: frozenset[str]) -> Iterator[_Told]:
    """``kind``: a line that tells of a cause or consequence says of which kind."""
    if one.role != "info" and not one.kinds:
        yield ("id",), "kind", Severity.WARNING, f"its role is {one.role}, and it names no kind that it speaks for", "add kinds:"


_CHECKS: tuple[Callable[[Signature, SignatureBook, frozenset[str]], Iterator[_Told]], ...] = (
    _unknown_names,
    _examples,
    _blames_nobody,
)


def _text(data: bytes) -> str:
    return data.decode(errors="replace")

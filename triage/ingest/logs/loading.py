"""Loads what lines of logs mean: the shipped folder of signatures and the folders that the user named, checked as a whole.

A folder holds ``lexicon.yaml``, ``statements.yaml`` and ``xid.yaml``, each optional; every other YAML file in it or below it is a
list of signatures of lines, so that they can be sorted into files as one likes.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from triage.bundle import bundled
from triage.classes import dataclass
from triage.compiled import Compiled
from triage.errors import ConfigError, InputMissingError
from triage.ingest.logs.signatures import NAMED, Concepts, Signature, XidCode, group_of, searched
from triage.ingest.logs.statements import CLASSES
from triage.model.checked import spelt
from triage.validation import Fault, complaints, faults_of

if TYPE_CHECKING:
    from pydantic import TypeAdapter

FORMS = ("signatures", "lexicon", "statements", "xid")
"""Kinds of files; ``signatures`` is any file that is called otherwise."""


@cache
def adapter_of(form: str) -> "TypeAdapter[Any]":
    """How a kind of file is read.

    ``statements.yaml`` holds the words of each class of statements, and those that take a statement of trouble back.
    """
    from pydantic import TypeAdapter, create_model

    match form:
        case "lexicon":
            return TypeAdapter(dict[str, str])
        case "xid":
            return TypeAdapter(dict[int, XidCode])
        case "statements":
            words = {name.replace("-", "_"): (Concepts, Concepts()) for name in CLASSES}
            config = spelt(extra="forbid", **{name.replace("-", "_"): name for name in CLASSES})
            return TypeAdapter(create_model("Statements", __config__=config, harmless=(str, ""), **words))  # type: ignore[call-overload]
        case _:
            return TypeAdapter(tuple[Signature, ...])


@dataclass(frozen=True, eq=False)
class Signatures:
    """All that says what lines mean; one object for the same folders.

    :param lines: signatures of lines, sorted: their order in the files means nothing
    :param statements: words of each class of statements
    :param harmless: words that say that there is no trouble
    :param lexicon: concepts that the others share, each as one group
    :param xids: what each Xid means, by its code as text
    """

    lines: tuple[Signature, ...]
    statements: Mapping[str, Concepts]
    harmless: str
    lexicon: Mapping[str, str]
    xids: Mapping[str, XidCode]


COMPILED = Compiled(
    "signatures",
    (Signatures, Signature, Concepts, XidCode),
    ("triage.ingest.logs.signatures", "triage.ingest.logs.statements", "triage.yamltext", __name__),
)


@dataclass(frozen=True, slots=True)
class SignatureFile:
    """What one file holds, or what is wrong with it.

    :param form: key of :data:`FORMS`
    :param value: what it holds in that form; None if it is faulty
    """

    path: Path
    form: str
    data: bytes
    value: Any
    faults: tuple[Fault, ...] = ()


def load_signatures(folders: Iterable[Path] = ()) -> Signatures:
    """The shipped signatures and those of the user's folders.

    A signature or an Xid of the same id replaces the one before it; words of the lexicon and of statements are added to what is
    there. Files are read once in the life of the program.

    :raises TriageError: a folder is missing or empty, or files are faulty; all faults of all files are told at once
    """
    return _loaded((bundled("signatures"), *folders))


@cache
def _loaded(folders: tuple[Path, ...]) -> Signatures:
    found: Signatures = COMPILED.load(folders, checked)
    return found


def checked(folders: Sequence[Path]) -> Signatures:
    """The signatures of all folders, read from their files.

    :raises TriageError: a folder is missing or empty, or files are faulty
    """
    files = [file for folder in folders for file in read_folder(folder)]
    faults = [fault for file in files for fault in file.faults]
    if not faults:
        found = merged(files)
        own = [file for file in files if bundled("signatures") not in file.path.parents]
        faults = [fault for file in own for fault in unsound(file, found)]
    if faults:
        count = "1 fault" if len(faults) == 1 else f"{len(faults)} faults"
        told = "\n  ".join(map(str, faults))
        raise ConfigError(f"the signatures have {count}\n  {told}", "triage rules lint --signatures DIR shows the places")
    return found


def merged(files: Iterable[SignatureFile]) -> Signatures:
    """What sound files say together."""
    lines: dict[str, Signature] = {}
    statements: dict[str, Concepts] = {}
    harmless: list[str] = []
    lexicon: dict[str, str] = {}
    xids: dict[str, XidCode] = {}
    for file in (file for file in files if file.value is not None):
        match file.form:
            case "lexicon":
                lexicon.update({name: _either(lexicon.get(name, ""), words) for name, words in file.value.items()})
            case "xid":
                xids.update({str(code): meaning for code, meaning in file.value.items()})
            case "statements":
                harmless.append(file.value.harmless)
                told = ((name, getattr(file.value, name.replace("-", "_"))) for name in CLASSES)
                statements.update({name: _added(statements.get(name, Concepts()), words) for name, words in told})
            case _:
                lines.update((one.id, one) for one in file.value)
    said = {name: words for name, words in statements.items() if words.says or words.pattern}
    return Signatures(tuple(lines.values()), said, "|".join(filter(None, harmless)), lexicon, xids)


def _either(one: str, other: str) -> str:
    """A group that is either of two, of which the first may be empty."""
    return f"{one}|{other}" if one else other


def _added(concepts: Concepts, more: Concepts) -> Concepts:
    """Concepts with further words for the same."""
    return Concepts(
        says=(*concepts.says, *more.says),
        pattern=_either(concepts.pattern, more.pattern) if more.pattern else concepts.pattern,
        not_=_either(concepts.not_, more.not_) if more.not_ else concepts.not_,
        fields={**concepts.fields, **more.fields},
    )


# ---------------------------------------------------------------- one file


def read_folder(folder: Path) -> list[SignatureFile]:
    """Every file under a folder, sound or not, in order of the paths; two signatures of one id are a fault of the second.

    :raises TriageError: the folder is missing, or nothing is in it
    """
    if not folder.is_dir():
        raise InputMissingError(f"{folder} is not a folder of signatures")
    paths = sorted(path for path in folder.rglob("*.yaml") if path.is_file())
    if not paths:
        raise ConfigError(
            f"no signature is in {folder}", "files of signatures end in .yaml; docs/logs.md says how one is written"
        )
    first: dict[str, Path] = {}
    return [_unique(read_file(path), first) for path in paths]


def read_file(path: Path) -> SignatureFile:
    """What is in one file, or its faults with their places."""
    from triage import yamltext

    form = path.stem if path.stem in FORMS else "signatures"
    try:
        data = path.read_bytes()
    except OSError as error:
        return SignatureFile(path, form, b"", None, (Fault(path, 1, 1, f"the file cannot be read: {error.strerror}"),))
    try:
        value = yamltext.load(data)
    except yamltext.YamlError as error:
        return SignatureFile(path, form, data, None, (Fault(path, error.line, error.column, error.text),))
    if value is None:
        return SignatureFile(path, form, data, adapter_of(form).validate_python([] if form == "signatures" else {}))
    try:
        return SignatureFile(path, form, data, adapter_of(form).validate_python(value))
    except ValueError as error:
        return SignatureFile(path, form, data, None, faults_of(path, data, complaints(error, value, keys())))


@cache
def keys() -> frozenset[str]:
    """All keys that may stand in a file of signatures."""
    return frozenset((*Signature.model_keys().values(), *XidCode.model_keys().values(), *CLASSES, "harmless"))


def _unique(file: SignatureFile, first: dict[str, Path]) -> SignatureFile:
    """The file with a fault for each signature whose id an earlier one of the same folder has."""
    from triage import yamltext

    if file.form != "signatures" or file.value is None:
        return file
    faults = []
    for index, one in enumerate(file.value):
        if one.id in first:
            line, column = yamltext.Marked(file.data.decode()).place((index, "id"))
            faults.append(Fault(file.path, line, column, f"the id {one.id!r} is taken by {first[one.id]}"))
        first.setdefault(one.id, file.path)
    return SignatureFile(file.path, file.form, file.data, file.value, (*file.faults, *faults))


# ---------------------------------------------------------------- what the form cannot say


def unsound(file: SignatureFile, among: Signatures) -> Iterator[Fault]:
    """Patterns of a sound file that are no RE2, concepts that no lexicon knows, signatures that are made from none."""
    from triage import yamltext

    marked = yamltext.Marked(file.data.decode())
    for place, pattern, ready in _patterns(file):
        told = _wrong(pattern, among, ready)
        if told:
            yield Fault(file.path, *marked.place(place), told)
    known = {one.id for one in among.lines}
    for index, one in enumerate(file.value if file.form == "signatures" else ()):
        if one.made_from and one.made_from not in known:
            yield Fault(file.path, *marked.place((index, "made_from")), f"no signature is called {one.made_from!r}")


def _patterns(file: SignatureFile) -> Iterator[tuple[tuple[str | int, ...], str, bool]]:
    """Each pattern of a file with its place, and whether it is RE2 as it stands rather than concepts."""
    match file.form:
        case "signatures":
            for index, one in enumerate(file.value):
                yield from _of_concepts((index,), one)
        case "statements":
            yield ("harmless",), file.value.harmless, False
            for name in CLASSES:
                yield from _of_concepts((name,), getattr(file.value, name.replace("-", "_")))
        case "lexicon":
            for name, words in file.value.items():
                yield (name,), words, False


def _of_concepts(place: tuple[str | int, ...], concepts: Concepts) -> Iterator[tuple[tuple[str | int, ...], str, bool]]:
    for index, alternative in enumerate(concepts.says):
        for group in alternative.split(" & "):
            yield (*place, "says", index), group.strip(), False
    yield (*place, "pattern"), concepts.pattern, True
    yield (*place, "not"), concepts.not_, False
    for name, pattern in concepts.fields.items():
        yield (*place, "fields", name), pattern, True


def _wrong(pattern: str, among: Signatures, ready: bool) -> str:
    """What is wrong with a pattern; empty if nothing is."""
    unknown = [] if ready else [name for name in NAMED.findall(pattern) if name not in among.lexicon]
    if unknown:
        return f"the lexicon knows no {{{unknown[0]}}}"
    try:
        searched("it", pattern if ready else group_of(pattern, among.lexicon))
    except ConfigError as error:
        return f"{pattern!r} is not a regular expression that RE2 takes: {error.message.partition('RE2: ')[2]}"
    return ""

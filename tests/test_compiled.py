"""What checked files say comes back from the cache as it was, and nothing else is ever taken from there."""

import json
import os
from collections.abc import Sequence
from dataclasses import field, fields, replace
from pathlib import Path

import pytest

from triage import compiled
from triage.bundle import bundled
from triage.classes import dataclass
from triage.compiled import Compiled
from triage.engine.rules import loading as rules
from triage.errors import ConfigError
from triage.ingest.logs import loading as signatures
from triage.ingest.metrics import dialects
from triage.model.vocabulary import Scope


@dataclass(frozen=True)
class Word:
    """What is made of a file here."""

    text: str
    scopes: dict[Scope, tuple[float, ...]] = field(default_factory=dict)
    more: tuple["Word", ...] = ()


WORDS = Compiled("words", (Word, Scope), (__name__,))


def made(folders: Sequence[Path]) -> tuple[Word, ...]:
    """Each file as a word."""
    texts = [path.read_text() for folder in folders for path in sorted(folder.glob("*.yaml"))]
    return tuple(Word(text=text, scopes={Scope.GPU: (0.1, 2.0)}, more=(Word(text="x"),)) for text in texts)


def never(folders: Sequence[Path]) -> tuple[Word, ...]:
    """Stands for reading files that need not be read."""
    pytest.fail(f"{folders} is read again")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "words").mkdir()
    (tmp_path / "words" / "one.yaml").write_text("one")
    return tmp_path / "words"


def kept(folder: Path) -> list[Path]:
    """What is in the cache."""
    return sorted((folder.parent / "cache").rglob("*.json"))


def test_it_is_read_once(folder: Path) -> None:
    """The second time nothing is made, and what comes back is the same, to what was said and what was not."""
    first = WORDS.load((folder,), made)
    again = WORDS.load((folder,), never)
    assert again == first
    assert repr(again) == repr(first)
    (path,) = kept(folder)
    assert path.read_text().count('"more"') == 1, "what is as usual need not be kept"
    assert type(next(iter(again[0].scopes))) is Scope


def test_equal_objects_of_shared_classes_become_one(folder: Path) -> None:
    """They are equal to what was said, also in what was not said, and only shared classes are."""
    (folder / "two.yaml").write_text("two")
    for about in (WORDS, replace(WORDS, name="shared", shared=frozenset({Word}))):
        first = about.load((folder,), made)
        one, two = about.load((folder,), never)
        assert repr((one, two)) == repr(first)
        assert (one.more[0] is two.more[0]) is bool(about.shared)


def test_conditions_that_many_rules_ask_are_one() -> None:
    """So that each is judged once."""
    leaves = [leaf for rule in rules.load_rules() for leaf in rule.leaves]
    written = [leaf.model_dump_json() for leaf in leaves]
    assert len({id(leaf) for leaf in leaves}) == len({(type(leaf), text) for leaf, text in zip(leaves, written, strict=True)})


@pytest.mark.parametrize("change", ["text", "name", "file", "folder"])
def test_other_files_are_read(folder: Path, change: str) -> None:
    """A file of other bytes, another name, one more, or the same below another folder: it is made of them anew."""
    WORDS.load((folder,), made)
    other = folder
    match change:
        case "text":
            (folder / "one.yaml").write_text("two")
        case "name":
            (folder / "one.yaml").rename(folder / "two.yaml")
        case "file":
            (folder / "two.yaml").write_text("two")
        case _:
            other = folder.rename(folder.with_name("others"))
    with pytest.raises(pytest.fail.Exception, match="read again"):
        WORDS.load((other,), never)
    assert WORDS.load((other,), made) == made((other,))


def test_other_code_makes_it_anew(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What another version made is not taken."""
    WORDS.load((folder,), made)
    monkeypatch.setattr(compiled, "__version__", "0.0.0")
    with pytest.raises(pytest.fail.Exception, match="read again"):
        WORDS.load((folder,), never)


BROKEN = {
    "empty": b"",
    "no JSON": b"{",
    "no such class": b'[{"":"Path","text":"/"}]',
    "another field": b'[{"":"Word","text":"one","run":"rm"}]',
    "a field less": b'[{"":"Word"}]',
    "no such scope": b'[{"":"Scope","=":"planet"}]',
    "scope of nothing": b'[{"":"Scope"}]',
    "deep": b"[" * 100_000,
    "no text": b"\xff",
}


@pytest.mark.parametrize("body", BROKEN.values(), ids=BROKEN)
def test_what_is_damaged_is_made_anew(folder: Path, body: bytes) -> None:
    """Whatever is in the file, its words are read from where they stand, and it is mended."""
    WORDS.load((folder,), made)
    (path,) = kept(folder)
    head = path.read_bytes().partition(b"\n")[0]
    path.write_bytes(head + b"\n" + body)
    assert WORDS.load((folder,), made) == made((folder,))
    assert WORDS.load((folder,), never) == made((folder,))


def test_what_somebody_else_may_write_is_not_taken(folder: Path) -> None:
    """A file that a group or everybody may write, or that is a link, is as good as none."""
    WORDS.load((folder,), made)
    (path,) = kept(folder)
    for mode in (0o620, 0o602):
        path.chmod(mode)
        with pytest.raises(pytest.fail.Exception, match="read again"):
            WORDS.load((folder,), never)
    path.chmod(0o600)
    path.rename(elsewhere := folder.parent / "elsewhere.json")
    path.symlink_to(elsewhere)
    with pytest.raises(pytest.fail.Exception, match="read again"):
        WORDS.load((folder,), never)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file away")
def test_what_another_account_owns_is_not_taken(folder: Path) -> None:
    """Root does not believe what a user left, and the other way round."""
    WORDS.load((folder,), made)
    (path,) = kept(folder)
    os.chown(path, 12345, 12345)
    with pytest.raises(pytest.fail.Exception, match="read again"):
        WORDS.load((folder,), never)


def test_nobody_but_the_owner_reads_what_is_kept(folder: Path) -> None:
    """Rules of a company are its own."""
    WORDS.load((folder,), made)
    (path,) = kept(folder)
    assert (path.stat().st_mode & 0o777, path.parent.stat().st_mode & 0o777) == (0o600, 0o700)
    assert [one.name for one in path.parent.iterdir()] == [path.name]


def test_a_cache_that_cannot_be_written_is_no_trouble(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No home, a home that is a file: it is made each time."""
    (folder.parent / "file").write_text("")
    for home in (str(folder.parent / "file"), "relative"):
        monkeypatch.setenv("XDG_CACHE_HOME", home)
        monkeypatch.setenv("HOME", home)
        assert WORDS.load((folder,), made) == made((folder,))
    assert kept(folder) == []


def test_only_some_are_kept(folder: Path) -> None:
    """Who edits a file all day does not fill the disk."""
    for number in range(20):
        (folder / "one.yaml").write_text(str(number))
        WORDS.load((folder,), made)
    assert len(kept(folder)) == 8
    assert WORDS.load((folder,), never) == made((folder,))


def test_faults_are_not_kept(folder: Path) -> None:
    """Files that are wrong are told each time."""
    for _ in range(2):
        with pytest.raises(ConfigError, match="fault"):
            rules.load_rules([folder])
    assert not [path for path in kept(folder) if path.name.startswith("rules-")]


def test_all_that_is_shipped_can_be_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rules, dialects and signatures come back from their plain form as they are read from their files."""
    from triage.shipped import ship

    ship(tmp_path)
    monkeypatch.setattr(compiled, "SHIPPED", tmp_path)
    shipped = {
        "rules": (rules, bundled("rules")),
        "dialects": (dialects, bundled("collectors") / "dialects"),
        "signatures": (signatures, bundled("signatures")),
    }
    assert {path.stem for path in tmp_path.iterdir()} == set(shipped)
    for module, folder in shipped.values():
        read, back = module.checked((folder,)), module.COMPILED.load((folder,), never)
        if module is signatures:
            assert [getattr(back, one.name) for one in fields(read)] == [getattr(read, one.name) for one in fields(read)]
        else:
            assert back == read
            assert repr(back) == repr(read)
    text = json.loads((tmp_path / "rules.json").read_bytes().partition(b"\n")[2])
    assert len(text) == len(rules.load_rules())

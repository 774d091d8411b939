"""Folders of signatures: what is in a user's own is merged with what is shipped, and what is wrong is told with its place."""

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from triage.bundle import bundled
from triage.errors import ConfigError, InputMissingError
from triage.ingest.logs import read_logs
from triage.ingest.logs.loading import load_signatures, read_file, unsound
from triage.ingest.logs.signatures import Signature
from triage.lint.language import lint_signatures
from triage.model.recording import Event, Window

from .books import SHIPPED

WINDOW = Window(start=1_777_636_800.0, end=1_777_638_600.0, baseline_start=1_777_633_200.0)
MINE = """\
- id: acme-shed
  says: ['{acme} & shed(?:ding)? load']
  role: cause
  kinds: [host-resource-limit]
  severity: warning
  meaning: Our gateway refuses what is too much.
  source: our gateway 2.1
  fields: {queue: 'queue is at (\\d+)'}
  example: ["acme-gw: shedding load, queue is at 512"]
"""


def written(folder: Path, **files: str) -> Path:
    """A folder with these files."""
    for name, text in files.items():
        path = folder / f"{name.replace('__', '/')}.yaml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder


def events(tmp_path: Path, line: str, *folders: Path) -> list[Event]:
    """What a gateway's line becomes."""
    log = tmp_path / "gateway.log"
    log.write_text(f"2026-05-01T12:10:00Z {line}\n", encoding="utf-8")
    return list(read_logs([log], WINDOW, "chat", signatures=load_signatures(folders)).events)


def test_a_users_signature_is_read_like_a_shipped_one(tmp_path: Path) -> None:
    """A folder of the user's with words of its own in its lexicon makes an event of a line that nobody else knows."""
    mine = written(tmp_path / "mine", gateways__acme=MINE, lexicon="acme: 'acme-?gw'\n")
    line = "acme-gw: shedding load, queue is at 512"
    assert "acme-shed" not in {one.name for one in events(tmp_path, line)}
    (found,) = (one for one in events(tmp_path, line, mine) if one.name == "acme-shed")
    assert (found.name, found.attrs["queue"], found.attrs["kinds"]) == ("acme-shed", "512", "host-resource-limit")


def test_words_are_added_and_what_has_the_same_id_is_replaced(tmp_path: Path) -> None:
    """The shipped words stay; a signature and an Xid of a known id are the user's."""
    mine = written(
        tmp_path,
        lexicon="unreachable: 'no acme'\n",
        statements="stuck:\n  says: ['gone fishing']\nharmless: 'acme drill'\n",
        lines="- {id: cuda-oom, says: [ours], role: info, severity: info, meaning: ours, source: ours}\n",
        xid='79: {name: "ours", class: hardware, scope: gpu, role: cause, meaning: ours, action: ours}\n',
    )
    told = load_signatures([mine])
    assert told.lexicon["unreachable"] == f"{SHIPPED.lexicon['unreachable']}|no acme"
    assert told.statements["stuck"].says == (*SHIPPED.statements["stuck"].says, "gone fishing")
    assert told.statements["stuck"].not_ == SHIPPED.statements["stuck"].not_
    assert told.harmless == f"{SHIPPED.harmless}|acme drill"
    assert {one.id: one.meaning for one in told.lines}["cuda-oom"] == "ours"
    assert len(told.lines) == len(SHIPPED.lines)
    assert (told.xids["79"].name, told.xids["31"]) == ("ours", SHIPPED.xids["31"])
    said = [one.name for one in events(tmp_path, "worker 3 has gone fishing", mine) if one.kind == "said"]
    assert said == ["stuck"]


def test_the_same_folders_are_read_once() -> None:
    """Asking again gives the same object."""
    assert load_signatures() is load_signatures()


@pytest.mark.parametrize(
    ("files", "told"),
    [
        ({"a": MINE, "b": MINE, "lexicon": "acme: acme"}, "b.yaml:1:7: the id 'acme-shed' is taken by"),
        ({"a": MINE}, "a.yaml:2:10: the lexicon knows no {acme}"),
        ({"a": MINE.replace("{acme}", "a(?=b)")}, "a.yaml:2:10: 'a(?=b)' is not a regular expression that RE2 takes"),
        ({"a": MINE.replace("role: cause", "rôle: cause")}, "the key 'rôle' is not known here"),
        ({"a": MINE.replace("says: ['{acme} & shed(?:ding)? load']", "made_from: nobody")}, "no signature is called 'nobody'"),
        ({"statements": "stuk: {says: [x]}"}, "the key 'stuk' is not known here (did you mean 'stuck'?)"),
        ({"xid": "79: {name: x}"}, "the key 'class' is missing"),
        ({"lexicon": "a: [b]"}, "'a' must be text, not a list"),
        ({"a": "x: &a 1"}, "anchors (&) and aliases (*) are not read here"),
    ],
)
def test_what_is_wrong_is_told_with_its_place(tmp_path: Path, files: dict[str, str], told: str) -> None:
    """Ids given twice, unknown concepts, patterns that are not linear, keys and kinds of values."""
    with pytest.raises(ConfigError) as caught:
        load_signatures([written(tmp_path, **files)])
    assert told in caught.value.message


def test_a_folder_that_is_missing_or_empty_is_an_error(tmp_path: Path) -> None:
    """It was named, so somebody meant it."""
    with pytest.raises(InputMissingError, match="is not a folder of signatures"):
        load_signatures([tmp_path / "nowhere"])
    with pytest.raises(ConfigError, match="no signature is in"):
        load_signatures([tmp_path])


def test_the_documented_example_is_sound(tmp_path: Path) -> None:
    """The signature on the page passes its own examples, and the page tells of every key."""
    text = (Path(__file__).parents[3] / "docs" / "logs.md").read_text(encoding="utf-8")
    example = text.partition("```yaml\n")[2].partition("```")[0]
    folder = written(tmp_path, gateways=example, lexicon="acme: 'acme-?gw'\n")
    problems, _ = lint_signatures([folder], {"host-resource-limit"})
    assert problems == []
    keys = set(Signature.model_keys().values())
    assert keys - set(re.findall(r"`(\w+)`", text)) == set()


def test_every_shipped_file_is_sound() -> None:
    """No pattern is left that could not be compiled."""
    for path in sorted(bundled("signatures").rglob("*.yaml")):
        file = read_file(path)
        assert file.faults == ()
        assert list(unsound(file, SHIPPED)) == []


@given(st.binary(max_size=200) | st.text(alphabet="id:says[]{}'- \n(|.+)role", max_size=200).map(str.encode))
@pytest.mark.parametrize("name", ["lines", "lexicon", "statements", "xid"])
def test_any_bytes_are_signatures_or_have_faults(tmp_path_factory: pytest.TempPathFactory, name: str, data: bytes) -> None:
    """Whatever stands in a file, it is told and does not end the program."""
    path = tmp_path_factory.getbasetemp() / f"{name}.yaml"
    path.write_bytes(data)
    file = read_file(path)
    assert (file.value is None) == bool(file.faults)

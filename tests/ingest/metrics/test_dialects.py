"""Loading dialects: all faults at once, each with its place, and nothing that a file says can break the loader."""

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from triage.bundle import bundled
from triage.errors import ConfigError, InputMissingError
from triage.ingest.metrics.dialects import load_dialects, read_dialect
from triage.model.dialect import Entry
from triage.model.vocabulary import catalogue

GOOD = """\
name: mine
title: My engine
scope: replica
jobs: my-.+
metrics:
  - {names: my_queue, type: gauge, signal: queue.waiting, where: {state: '!done'}}
"""


def write(folder: Path, text: str, name: str = "mine.yaml") -> Path:
    path = folder / name
    path.write_text(text)
    return path


def test_shipped_dialects_load_and_are_cached() -> None:
    """Every shipped file is sound, is read once, and each dialect has the name of its file."""
    names = [dialect.name for dialect in load_dialects()]
    assert names == sorted(path.stem for path in (bundled("collectors") / "dialects").glob("*.yaml"))
    assert load_dialects() is load_dialects()


def test_shipped_signals_exist() -> None:
    """No dialect speaks of a signal that the vocabulary lacks."""
    spoken = {entry.signal for dialect in load_dialects() for entry in dialect.metrics if entry.signal}
    assert spoken <= set(catalogue())


def test_the_documented_example_is_sound(tmp_path: Path) -> None:
    """The dialect in the documentation is one that loads, and the documentation speaks of every key."""
    text = (Path(__file__).parents[3] / "docs" / "dialects.md").read_text()
    example = text.partition("```yaml\n")[2].partition("```")[0]
    file = read_dialect(write(tmp_path, example, "acme.yaml"))
    assert file.faults == ()
    assert file.dialect is not None
    assert {f"`{key}`" for key in (*Entry.model_names(), "identity")} - set(re.findall(r"`\w+`", text)) == set()


def test_a_users_dialect_is_added_or_replaces_a_shipped_one(tmp_path: Path) -> None:
    """A folder of the user's comes last and wins."""
    write(tmp_path, GOOD)
    write(tmp_path, GOOD.replace("name: mine", "name: vllm"), "vllm.yaml")
    loaded = {dialect.name: dialect for dialect in load_dialects([tmp_path])}
    assert loaded["mine"].metrics[0].signal == "queue.waiting"
    assert loaded["vllm"].title == "My engine"
    assert set(loaded) > {dialect.name for dialect in load_dialects()}


def test_a_missing_folder_is_named(tmp_path: Path) -> None:
    """A folder that is not there is an error and not an empty list."""
    with pytest.raises(InputMissingError, match=r"nowhere is not a folder of dialects"):
        load_dialects([tmp_path / "nowhere"])


def test_all_faults_of_all_files_are_told_with_their_places(tmp_path: Path) -> None:
    """One run shows everything that must be mended: line, column, key path, and the nearest word that is known."""
    write(tmp_path, GOOD.replace("queue.waiting", "queue.wating").replace("jobs: my-.+", "jobs: '('"))
    write(tmp_path, GOOD.replace("where", "wher"), "other.yaml")
    with pytest.raises(ConfigError) as caught:
        load_dialects([tmp_path])
    told = caught.value.message.splitlines()
    assert told[0] == "the dialects have 4 faults"
    assert [line.strip().removeprefix(str(tmp_path)) for line in told[1:]] == [
        "/mine.yaml:4:7: jobs: '(' is not a regular expression that RE2 takes: missing ): (",
        "/mine.yaml:6:5: metrics.0: my_queue: no signal is called queue.wating (did you mean 'queue.waiting'?)",
        "/other.yaml:1:7: name: the name is 'mine', but the file is called 'other'",
        "/other.yaml:6:59: metrics.0.wher: the key 'wher' is not known here (did you mean 'where'?)",
    ]


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (("title:", "name:"), "the key 'name' stands here twice"),
        (("my-.+", "(?=my)"), "'(?=my)' is not a regular expression that RE2 takes"),
        (("!done", "!(done"), "metrics.0.where.state: '(done' is not a regular expression that RE2 takes"),
        (("type: gauge", "type: counter"), "queue.waiting and type counter do not go together"),
        (("type: gauge", "type: histogram"), "queue.waiting and type histogram do not go together"),
        (("signal: queue.waiting, ", ""), "my_queue becomes nothing"),
        (("title: My engine\n", ""), "the key 'title' is missing"),
        (("names: my_queue", "names: &a my_queue"), "anchors (&) and aliases (*) are not read here"),
    ],
)
def test_each_kind_of_fault_is_told(tmp_path: Path, change: tuple[str, str], expected: str) -> None:
    """Repeated keys, patterns that are not linear, signals of another kind, entries without a purpose, anchors."""
    file = read_dialect(write(tmp_path, GOOD.replace(*change)))
    assert (file.dialect is None) == bool(file.faults)
    assert expected in "\n".join(map(str, file.faults))


def test_an_unreadable_file_is_a_fault(tmp_path: Path) -> None:
    """A folder that is called like a dialect cannot be read as one."""
    (tmp_path / "odd.yaml").mkdir()
    with pytest.raises(ConfigError, match=r"odd\.yaml:1:1: the file cannot be read"):
        load_dialects([tmp_path])


@given(st.one_of(st.binary(max_size=200), st.text(alphabet="name:[]{},'!&*- \n(|.+)metricswhere", max_size=200).map(str.encode)))
def test_any_bytes_are_a_dialect_or_have_faults(tmp_path_factory: pytest.TempPathFactory, data: bytes) -> None:
    """Whatever stands in a file, it is told and does not end the program."""
    path = tmp_path_factory.getbasetemp() / "any.yaml"
    path.write_bytes(data)
    file = read_dialect(path)
    assert (file.dialect is None) == bool(file.faults)


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=5), lambda inner: st.lists(inner, max_size=3), max_leaves=5
    )
)
def test_values_of_any_kind_are_told(tmp_path_factory: pytest.TempPathFactory, value: object) -> None:
    """A list where a mapping belongs, and the like, is a fault and no crash."""
    path = tmp_path_factory.getbasetemp() / "kinds.yaml"
    shown = repr(value).replace("None", "null").replace("True", "true").replace("False", "false")
    path.write_text(
        f"name: kinds\ntitle: t\nscope: replica\njobs: {shown}\nmetrics:\n- {{names: a, where: {shown}}}\n- {shown}\n"
    )
    file = read_dialect(path)
    assert file.dialect is None
    assert file.faults

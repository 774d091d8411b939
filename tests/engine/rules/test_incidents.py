"""The catalogue of public incidents: read as a whole or refused with the line that is wrong."""

from pathlib import Path

import pytest

from triage.engine.rules.incidents import FILE, Incident, read_incidents
from triage.errors import ConfigError

SOUND = '{"id": "a", "address": "https://example.org/1", "kind": "kv-leak", "says": "it leaked"}\n'


def test_one_incident_a_line(tmp_path: Path) -> None:
    """In the order of the file; a folder without the file has none."""
    assert read_incidents(tmp_path) == ()
    (tmp_path / FILE).write_text(SOUND + SOUND.replace('"a"', '"b"'))
    first, second = read_incidents(tmp_path)
    assert first == Incident(id="a", address="https://example.org/1", kind="kv-leak", says="it leaked")
    assert second.id == "b"


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("{", "2: line: Invalid JSON"),
        ('{"id": "b", "address": "https://example.org/1", "kind": "kv-leak"}', "2: says: Field required"),
        (SOUND.replace("https://", "javascript:https://"), "2: address: "),
        (SOUND.replace('"kind"', '"sort"'), "2: kind: Field required"),
    ],
)
def test_a_line_that_is_none_is_told_with_its_number(tmp_path: Path, line: str, words: str) -> None:
    """What stands there is told by its key; an address is one that a browser follows."""
    (tmp_path / FILE).write_text(SOUND + line)
    with pytest.raises(ConfigError) as told:
        read_incidents(tmp_path)
    assert f"{tmp_path / FILE}:{words}" in told.value.message

"""Loading rules: what is taken, what is refused, and how it is said."""

from pathlib import Path

import pytest

from triage.bundle import bundled
from triage.engine.rules.loading import keys, load_rules, read_folder, read_rule
from triage.errors import ConfigError, InputMissingError

SOUND = """\
id: {id}
title: A title
question: Is it so?
cause: runtime
layer: engine
scale: machine
scope: replica
severity: warning
shows:
  - strong: {{signal: kv.usage, above: 0.95}}
finding: "{{subject}} is full"
"""


def write(folder: Path, name: str, text: str = "") -> Path:
    """A rule file in a folder; sound if no text is given."""
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text or SOUND.format(id=path.stem))
    return path


def test_the_shipped_rules_load_in_order() -> None:
    """Every shipped file is a sound rule, and the order is that of the ids."""
    files = list(bundled("rules").rglob("*.yaml"))
    rules = load_rules()
    assert [rule.id for rule in rules] == sorted(path.stem for path in files)


def test_a_users_rule_joins_and_replaces(tmp_path: Path) -> None:
    """A rule of the user's folder is added; a later folder's rule replaces an earlier one's."""
    write(tmp_path / "a", "my-rule.yaml")
    write(tmp_path / "b", "my-rule.yaml", SOUND.format(id="my-rule").replace("A title", "Another"))
    mine = [rule for rule in load_rules([tmp_path / "a", tmp_path / "b"]) if rule.id == "my-rule"]
    assert [rule.title for rule in mine] == ["Another"]


@pytest.mark.parametrize(
    ("old", "new", "place", "text", "hint"),
    [
        ("title: A title\n", "", (1, 1), "the key 'title' is missing", ""),
        ("title:", "titel:", (2, 1), "the key 'titel' is not known here", "did you mean 'title'?"),
        ("severity: warning", "severity: warnin", (8, 11), "'severity' is 'warnin', but must be one of info,", "'warning'?"),
        ("above: 0.95", "above: fast", (10, 39), "'above' must be a number or a mapping, not 'fast'", ""),
        ("above: 0.95", "above: {baselin: 2}", (10, 40), "the key 'baselin' is not known here", "'baseline'?"),
        ("above: 0.95", "above: {baseline: x}", (10, 50), "'baseline' must be a number, not 'x'", ""),
        ("kv.usage", "kv.usag", (10, 22), "no signal is called kv.usag", "did you mean 'kv.usage'?"),
        ("signal: kv", "sginal: kv", (10, 13), "a condition has one of the keys", "did you mean 'signal'?"),
        ("{signal: kv.usage, above: 0.95}", "{any: []}", (10, 19), "'any' must not be empty", ""),
        ("severity: warning\n", "severity: warning\nseverity: info\n", (9, 1), "stands here twice", ""),
        ("scale: machine", "scale: machine\n\tx: 1", (7, 1), "not YAML", ""),
    ],
)
def test_a_fault_has_a_place_and_a_sentence(
    tmp_path: Path, old: str, new: str, place: tuple[int, int], text: str, hint: str
) -> None:
    """A faulty rule is described where it is faulty, with the nearest right word."""
    path = write(tmp_path, "x.yaml", SOUND.format(id="x").replace(old, new))
    faults = read_rule(path).faults
    fault = next(fault for fault in faults if text in fault.text)
    assert (fault.line, fault.column) == place
    assert hint in fault.hint
    assert str(fault).startswith(f"{path}:{place[0]}:{place[1]}: ")


def test_all_faults_of_all_files_are_told_at_once(tmp_path: Path) -> None:
    """One run shows everything that has to be mended."""
    write(tmp_path, "a.yaml", "id: a\n")
    write(tmp_path, "b.yaml", "[")
    with pytest.raises(ConfigError) as caught:
        load_rules([tmp_path])
    told = caught.value.message
    assert "the rules have" in told
    assert "a.yaml:1:1: the key 'title' is missing" in told
    assert "b.yaml:" in told


@pytest.mark.parametrize(
    ("name", "text", "word"),
    [
        ("other.yaml", SOUND.format(id="x"), "the id is 'x', but the file is called 'other'"),
        ("tooling/x.yaml", SOUND.format(id="x"), "the cause is 'runtime', but the folder is called 'tooling'"),
        ("x.yml", SOUND.format(id="x"), "ends in .yaml"),
    ],
)
def test_name_and_folder_must_agree_with_the_rule(tmp_path: Path, name: str, text: str, word: str) -> None:
    """A rule is found by its name, so its name must be true."""
    write(tmp_path, name, text)
    assert any(word in fault.text for file in read_folder(tmp_path) for fault in file.faults)


def test_two_rules_of_one_id_are_refused(tmp_path: Path) -> None:
    """Within one folder an id belongs to one file."""
    write(tmp_path / "runtime", "x.yaml")
    write(tmp_path / "more", "x.yaml")
    assert ["taken by" in fault.text for file in read_folder(tmp_path) for fault in file.faults] == [True]


def test_a_folder_without_rules_is_refused(tmp_path: Path) -> None:
    """A wrong path must not look like a healthy rule set."""
    with pytest.raises(ConfigError, match="no rule is in"):
        load_rules([tmp_path])
    with pytest.raises(InputMissingError, match="not a folder"):
        load_rules([tmp_path / "missing"])


def test_nesting_without_end_is_refused(tmp_path: Path) -> None:
    """A hostile rule cannot crash the loader."""
    deep = "{not: " * 400 + "{signal: kv.usage, above: 1}" + "}" * 400
    path = write(tmp_path, "x.yaml", SOUND.format(id="x").replace("{signal: kv.usage, above: 0.95}", deep))
    assert read_rule(path).faults


def test_the_keys_are_those_of_the_models() -> None:
    """Aliases are offered as people write them."""
    assert {"not", "as", "leads_to", "baseline", "emitter"} <= keys()
    assert not {"not_", "as_name"} & keys()


def test_the_rule_in_the_reference_is_sound(tmp_path: Path) -> None:
    """docs/rules.md shows a whole rule, which must be one."""
    text = (Path(__file__).parents[3] / "docs" / "rules.md").read_text(encoding="utf-8")
    example = text.partition("## A whole rule\n\n```yaml\n")[2].partition("```")[0]
    assert read_rule(write(tmp_path, "kv-exhaustion-preemption.yaml", example)).faults == ()


def test_every_key_is_in_the_reference() -> None:
    """docs/rules.md explains every key that a rule file may have."""
    text = (Path(__file__).parents[3] / "docs" / "rules.md").read_text(encoding="utf-8")
    assert sorted(key for key in keys() if f"`{key}`" not in text) == []

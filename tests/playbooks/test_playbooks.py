"""Each shipped playbook is sound and safe to follow; bad files are refused with their line; facts are filled in safely."""

import re
import shlex
from difflib import get_close_matches
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.kinds import kinds
from triage.bundle import bundled
from triage.errors import ConfigError, InputMissingError, UsageError
from triage.ingest.metrics.dialects import load_dialects
from triage.lint.skeleton import LONGEST_WARNING
from triage.model.playbook import ENGINES, GATEWAYS, HEADINGS, PLACEHOLDERS, PROSE, Command, Playbook, Section, Step, Variant
from triage.playbooks import _front_matter, advice, filled, fitted, list_playbooks, load_playbook, render_text
from triage.yamltext import YamlError, load

ROOT = Path(__file__).parents[2]
IDS = list_playbooks()

CHANGING = re.compile(
    r"kubectl( -n \S+| --\S+)* (delete|drain|cordon|uncordon|scale|patch|set|label|annotate|apply|replace|edit)\b"
    r"|rollout (restart|undo|pause|resume)\b|--gpu-reset|nvidia-smi .*-pl\b|(?<![-\w])kill\b|systemctl (start|stop|restart)"
    r"|sysctl -w|apt-mark|rmi\b|cpupower"
)
"""Commands that alter something. Not complete; it is there to catch a wrong mark."""


def steps(playbook: Playbook) -> list[Step]:
    """All steps of a playbook."""
    return [step for section in playbook.sections for step in section.steps]


# The shipped playbooks


def test_a_playbook_is_that_of_a_kind_of_failure() -> None:
    """No advice is orphaned."""
    assert set(IDS) <= set(kinds())


@pytest.mark.parametrize("playbook_id", IDS)
def test_a_playbook_agrees_with_its_kind(playbook_id: str) -> None:
    """It parses, has all headings in order, and tells the same title, layer and cause as the table of kinds."""
    playbook = load_playbook(playbook_id)
    kind = kinds()[playbook_id]
    assert (playbook.id, playbook.title, playbook.layer, playbook.cause) == (kind.id, kind.title, kind.layer, kind.cause)
    assert tuple(section.heading for section in playbook.sections) == HEADINGS


@pytest.mark.parametrize("playbook_id", IDS)
def test_the_first_step_is_one_plain_sentence(playbook_id: str) -> None:
    """It stands in findings by itself: no placeholder, no markup, one full stop, short enough to be read at a glance."""
    step = advice(playbook_id).first_step
    assert step == load_playbook(playbook_id).first_step
    assert re.fullmatch(r"[A-Z][^{}`.]*(\.[a-z0-9][^{}`.]*)*\.", step), step
    assert len(step) <= 200


@pytest.mark.parametrize("playbook_id", IDS)
def test_every_kind_says_what_not_to_do(playbook_id: str) -> None:
    """One plain sentence that reads after "do not", short enough for the last glance before somebody types."""
    warning = advice(playbook_id).do_not
    assert warning == load_playbook(playbook_id).do_not
    assert re.fullmatch(r"(?!do not|never|not )[a-z][^{}`.]*\.", warning), warning
    assert len(warning) <= LONGEST_WARNING


@pytest.mark.parametrize("playbook_id", IDS)
def test_confirming_changes_nothing(playbook_id: str) -> None:
    """All steps under Confirm only look."""
    assert {step.mark for step in load_playbook(playbook_id).section("Confirm").steps} == {"read"}


@pytest.mark.parametrize("playbook_id", IDS)
def test_a_command_that_alters_something_is_marked_as_a_change(playbook_id: str) -> None:
    """No step that is marked read shows a command that deletes, drains, scales, resets or ends anything."""
    for step in steps(load_playbook(playbook_id)):
        if step.mark == "read":
            shown = "\n".join([*(command.text for command in step.commands), *re.findall(r"`([^`]+)`", step.text)])
            assert not CHANGING.search(shown), step.text


@pytest.mark.parametrize("playbook_id", IDS)
def test_a_drain_or_reset_speaks_of_what_else_it_hits(playbook_id: str) -> None:
    """The two most dangerous commands always say that other work ends or that room is needed."""
    for step in steps(load_playbook(playbook_id)):
        shown = "\n".join(command.text for command in step.commands)
        if re.search(r"kubectl drain|--gpu-reset", shown):
            assert re.search(r"spare|room|capacity|carr|ends|kills|drain|in use", step.risk), step.text


@pytest.mark.parametrize("playbook_id", IDS)
def test_queries_and_commands_are_well_formed(playbook_id: str) -> None:
    """Brackets of queries close, and a shell could take the commands apart."""
    for step in steps(load_playbook(playbook_id)):
        for command in step.commands:
            assert command.language in {"sh", "promql", "yaml", "python"}
            if command.language == "promql":
                assert all(command.text.count(a) == command.text.count(b) for a, b in ("()", "[]", "{}")), command.text
            if command.language == "sh":
                assert shlex.split(re.sub(r"<[^>]*>", "x", command.text), comments=True)
        assert step.text.count("`") % 2 == 0, step.text


@pytest.mark.parametrize("playbook_id", IDS)
def test_flags_are_named_for_all_three_engines_or_for_none(playbook_id: str) -> None:
    """A step that differs by engine says what each of the three needs, once."""
    for step in steps(load_playbook(playbook_id)):
        if step.variants:
            assert [variant.engine for variant in step.variants] == list(ENGINES.values()), step.text


@pytest.mark.parametrize("playbook_id", IDS)
def test_a_playbook_can_be_read_in_a_minute(playbook_id: str) -> None:
    """Twenty-five to some seventy lines: long enough to be concrete, short enough for three in the morning."""
    assert 25 <= (bundled("playbooks") / f"{playbook_id}.md").read_text().count("\n") <= 72


def test_every_placeholder_is_used_and_described() -> None:
    """The closed set holds nothing that no playbook needs, and the guide lists it."""
    text = "".join((bundled("playbooks") / f"{name}.md").read_text() for name in IDS)
    guide = (ROOT / "docs" / "playbooks.md").read_text()
    assert [name for name in PLACEHOLDERS if f"{{{name}}}" not in text] == []
    assert [name for name in PLACEHOLDERS if f"| `{{{name}}}` |" not in guide] == []


def test_playbooks_send_the_reader_only_to_playbooks_that_exist() -> None:
    """A word that is nearly the id of a kind is that id, not a misspelt or renamed one."""
    known = sorted(kinds())
    for name in IDS:
        words = set(
            re.findall(r"(?<![-\w/.])[a-z0-9]+(?:-[a-z0-9]+)+(?![-\w])", (bundled("playbooks") / f"{name}.md").read_text())
        )
        near = {word: get_close_matches(word, known, n=1, cutoff=0.85) for word in words - set(known)}
        assert {word: found for word, found in near.items() if found} == {}, name


# Filling in


def test_known_facts_are_filled_in_and_unknown_ones_stay_visible() -> None:
    """Numbers look as people write them; what is not known is shown in angle brackets."""
    known = {"max_num_seqs": 256.0, "gpu_memory_utilization": 0.9}
    text = render_text(fitted(load_playbook("kv-exhaustion-preemption"), known))
    assert "`--max-num-seqs` below 256" in text
    assert "`--gpu-memory-utilization` above 0.9" in text
    assert '{namespace="<namespace>"}' in text
    assert "{namespace}" not in text
    assert "Names in <> are not known" in text


@pytest.mark.parametrize("playbook_id", IDS)
def test_nothing_to_fill_in_is_left(playbook_id: str) -> None:
    """With and without facts no placeholder remains as such."""
    for facts in ({}, dict.fromkeys(PLACEHOLDERS, "x")):
        text = render_text(fitted(load_playbook(playbook_id), facts))
        assert not [name for name in PLACEHOLDERS if f"{{{name}}}" in text]
        assert ("<pod>" not in text) or not facts
        assert ("Names in <>" in text) == bool(re.search(rf"<({'|'.join(PLACEHOLDERS)})>", text))


def test_only_the_wording_of_the_known_engine_is_shown() -> None:
    """A person with SGLang does not read flags of vLLM; with an engine that has no wording of its own all are shown."""
    playbook = load_playbook("kv-exhaustion-preemption")
    sglang = render_text(fitted(playbook, {"engine": "sglang"}))
    assert render_text(fitted(playbook, {}, ("dcgm", "sglang"))) == sglang
    assert "--max-running-requests" in sglang
    assert "--max-num-seqs" not in sglang
    for engine in ({}, {"engine": "tgi"}):
        assert "--max-num-seqs" in render_text(fitted(playbook, engine))


def test_only_gateways_that_were_seen_are_asked() -> None:
    """Where another gateway is known nobody is sent to Envoy; where nobody knows which it is the query stays."""
    playbook = load_playbook("retry-storm")
    asked = "envoy_cluster_upstream_rq_retry"
    assert asked in render_text(fitted(playbook, {}, ("envoy", "vllm")))
    assert asked in render_text(fitted(playbook, {}, ("vllm",)))
    assert asked not in render_text(fitted(playbook, {}, ("litellm", "vllm")))


def test_the_gateways_are_dialects_that_there_are() -> None:
    """A dialect that is renamed takes its place here along."""
    known = {dialect.name for dialect in load_dialects()}
    assert {one for names in GATEWAYS.values() for one in names} <= known


def test_each_change_shows_its_risk() -> None:
    """In the text, a line with the risk follows each change."""
    lines = render_text(load_playbook("gpu-off-bus")).split("\n")
    changes = [number for number, line in enumerate(lines) if "[change]" in line]
    assert changes
    assert all(lines[number + 1].startswith("      Risk: ") for number in changes)


@pytest.mark.parametrize(
    "value",
    [
        "a; rm -rf /",
        "$(reboot)",
        "`id`",
        "a b",
        "-rf",
        "--all",
        "a\nb",
        "\x1b[31m",
        'x"} or vector(1) #',
        "a|b",
        "",
        "ä",
        "x" * 300,
    ],
)
def test_a_hostile_value_never_reaches_a_command(value: str) -> None:
    """Names come from measured data; what is not plainly harmless stays a placeholder."""
    assert filled("kubectl delete pod {pod}", {"pod": value}) == "kubectl delete pod <pod>"


@given(st.text() | st.floats())
def test_any_value_is_harmless_or_left_out(value: str | float) -> None:
    """Whatever a fact is, the command holds one plain word in its place."""
    text = filled("x {pod} y", {"pod": value})
    assert text == "x <pod> y" or re.fullmatch(r"x [A-Za-z0-9/][A-Za-z0-9._:/+-]* y", text)


def test_braces_of_other_languages_are_left_alone() -> None:
    """PromQL, jsonpath, JSON and curl formats are not placeholders."""
    text = "up{job=\"a\"} {.items} {'a': 1} %{http_code} ${HOME} {1,5}"
    assert filled(text, {"pod": "p"}) == text


# The user's own folders


GOOD = """---
id: my-own
title: Something of ours
layer: platform
cause: tooling
owner: us
first_step: Look at it.
do_not: look away.
---

## What it means

One paragraph
on two lines.

Another.

## Confirm

- [read] Look here,
  and there.
  ```promql
  up{namespace="{namespace}"}
  ```
  - vLLM: `a`
  - SGLang: `b`

## Mitigate now

- [change] Turn it off. Risk: it is
  off then.

## Fix

- [read] Think.

## Prevent

- [read] Think again.

## Who owns it

We do.
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "my-own.md").write_text(GOOD)
    return tmp_path


def test_a_playbook_is_read_as_written(folder: Path) -> None:
    """Every part of the form lands in its field."""
    playbook = load_playbook("my-own", (folder,))
    assert playbook.section("What it means").text == "One paragraph on two lines.\n\nAnother."
    assert playbook.section("Confirm").steps == (
        Step(
            mark="read",
            text="Look here, and there.",
            commands=(Command(language="promql", text='up{namespace="{namespace}"}'),),
            variants=(Variant(engine="vllm", text="`a`"), Variant(engine="sglang", text="`b`")),
        ),
    )
    assert playbook.section("Mitigate now").steps == (Step(mark="change", text="Turn it off.", risk="it is off then."),)


def test_a_users_playbook_is_listed_and_replaces_a_shipped_one(folder: Path) -> None:
    """A later folder wins."""
    own = GOOD.replace("id: my-own", "id: true-overload")
    (folder / "true-overload.md").write_text(own)
    assert "my-own" in list_playbooks((folder,))
    assert load_playbook("true-overload", (folder,)).owner == "us"
    assert advice("true-overload", (folder,)) == ("Look at it.", "look away.")
    assert load_playbook("true-overload").owner != "us"


PLAIN = st.from_regex(re.compile(r"[a-z_]{1,3}: [ -~]{1,12}", re.ASCII), fullmatch=True) | st.sampled_from(
    ["a: true", "a: No", "b: y", "a: text ", "b: it's", "a: a - b", "b: x: y", "a: a #b", "b: [a]", "a: 1e5", "b: ok, so; it is"]
)


@given(st.lists(PLAIN, min_size=1, max_size=3))
def test_a_plain_top_says_what_yaml_says(told: list[str]) -> None:
    """What is read without a reader of YAML is what that would read."""
    try:
        wanted: object = load("\n".join(told).encode())
    except YamlError:
        wanted = None
    try:
        found: object = _front_matter(Path("x.md"), ["---", *told, "---"])[0]
    except ConfigError:
        found = None
    assert found == (wanted if isinstance(wanted, dict) else None)


def test_the_advice_needs_only_the_top_of_the_file(folder: Path) -> None:
    """A playbook with a broken body still has its first step; one that warns of nothing is no worse for it."""
    (folder / "my-own.md").write_text(GOOD.replace("## Confirm", "## Confirmation"))
    assert advice("my-own", (folder,)).do_not == "look away."
    with pytest.raises(ConfigError):
        load_playbook("my-own", (folder,))


BAD = {
    "no front matter": (GOOD.removeprefix("---\n"), "front matter"),
    "front matter without end": ("---\nid: my-own\n", "front matter"),
    "yaml that is none": (GOOD.replace("owner: us", "owner: us: them"), ":6"),
    "a list as front matter": ("---\n- a\n---\n", "keys"),
    "unknown key": (GOOD.replace("owner: us", "owner: us\nrun: rm"), "run"),
    "unknown layer": (GOOD.replace("layer: platform", "layer: moon"), "layer"),
    "no owner": (GOOD.replace("owner: us\n", ""), "owner"),
    "another id": (GOOD.replace("id: my-own", "id: other"), "file's name"),
    "unknown heading": (GOOD.replace("## Fix", "## Repair"), ":33"),
    "deeper heading": (GOOD.replace("## Fix", "### Fix"), ":33"),
    "missing heading": (GOOD.replace("## Fix\n\n- [read] Think.\n", ""), "in this order"),
    "text before the first heading": (GOOD.replace("---\n\n## What", "---\n\nHello\n\n## What"), ":11"),
    "empty section": (GOOD.replace("- [read] Think.\n", ""), "list of steps"),
    "prose without text": (GOOD.replace("We do.\n", ""), "must be text"),
    "step without a mark": (GOOD.replace("- [read] Think.", "- Think."), ":35"),
    "unknown mark": (GOOD.replace("[read] Think.", "[run] Think."), ":35"),
    "change without a risk": (GOOD.replace("Risk: it is\n  off then.", "No danger."), "no risk"),
    "prose among steps": (GOOD.replace("- [read] Think.", "Think."), ":35"),
    "open fence": (GOOD.replace("  ```\n  - vLLM", "  - vLLM"), "not closed"),
    "unknown engine": (GOOD.replace("- SGLang: `b`", "- Llama: `b`"), ":26"),
    "unknown placeholder": (GOOD.replace("{namespace}", "{name_space}"), "name_space"),
    "control character": (GOOD.replace("We do.", "We \x1b[31mdo."), ":43"),
    "too large": (GOOD + "x" * 70_000, "at most"),
}


@pytest.mark.parametrize(("text", "said"), BAD.values(), ids=BAD)
def test_a_bad_file_is_refused_with_its_place(folder: Path, text: str, said: str) -> None:
    """The message names the file and the line or what is missing."""
    (folder / "my-own.md").write_text(text)
    with pytest.raises(ConfigError) as caught:
        load_playbook("my-own", (folder,))
    assert str(folder / "my-own.md") in caught.value.message
    assert said in caught.value.message


def test_bytes_that_are_no_text_are_refused(folder: Path) -> None:
    """A file that is not UTF-8 is told as such."""
    (folder / "my-own.md").write_bytes(b"\xff\xfe")
    with pytest.raises(ConfigError, match="cannot be read"):
        load_playbook("my-own", (folder,))


@pytest.mark.parametrize(
    "playbook_id", ["../README", "/etc/passwd", "a/b", "", "A", "true_overload", "true-overload\n", "nothing-like-this"]
)
def test_what_is_no_id_finds_nothing(folder: Path, playbook_id: str) -> None:
    """An id never leads out of the folders."""
    (folder.parent / "README.md").write_text(GOOD)
    with pytest.raises(UsageError):
        load_playbook(playbook_id, (folder,))


def test_a_misspelt_id_gets_a_suggestion() -> None:
    """The nearest id is offered."""
    with pytest.raises(UsageError) as caught:
        load_playbook("retry-strom")
    assert "retry-storm" in caught.value.hint


def test_a_missing_folder_is_said(tmp_path: Path) -> None:
    """A folder of the settings that is not there is an error, not an empty folder."""
    with pytest.raises(InputMissingError, match="not a folder"):
        list_playbooks((tmp_path / "none",))


# The model


def test_sections_keep_to_their_form() -> None:
    """Prose sections hold no steps and lists hold no prose."""
    step = Step(mark="read", text="Look.")
    assert {"What it means", "Who owns it"} == PROSE
    for bad in ({"heading": "Fix", "text": "x"}, {"heading": "Who owns it", "steps": (step,)}, {"heading": "Fix"}):
        with pytest.raises(ValueError, match="must be"):
            Section.model_validate(bad)

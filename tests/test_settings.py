"""triage.toml: where it is found, what it may say, and how its faults are told."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from triage.errors import ConfigError, InputMissingError, TriageError, UsageError
from triage.settings import find_settings, read_settings

TEXT = """\
[defaults]
prometheus = "http://prometheus:9090"
since = "15m"
timeout = 5
keep = "2GB"
rules = ["my-rules"]

[service.llm-prod]
objectives = {ttft_p95_s = 2.0}
facts = {engine = "vllm", replicas = 3}
logs = ["logs/engine-0.log", "/var/log/gateway.log"]
changes = "changes.jsonl"

[service.lab]
endpoints = ["localhost:8000"]
tags = {team = "search"}

[service.last-week]
incident = "incidents/last-week"
"""


def written(folder: Path, text: str) -> Path:
    """A settings file with this text."""
    path = folder / "triage.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_services_and_defaults_are_read(tmp_path: Path) -> None:
    """Tables become services; defaults fill what they leave open; paths start at the file."""
    settings = read_settings(written(tmp_path, TEXT))
    assert sorted(settings.services) == ["lab", "last-week", "llm-prod"]
    service = settings.service("llm-prod")
    assert (service.name, service.prometheus) == ("llm-prod", "http://prometheus:9090")
    assert service.logs == (tmp_path / "logs/engine-0.log", Path("/var/log/gateway.log"))
    assert service.changes == tmp_path / "changes.jsonl"
    assert service.objectives == {"ttft_p95_s": 2.0}
    assert (settings.defaults.since, settings.defaults.timeout) == (900.0, 5.0)
    assert settings.defaults.keep == 2_000_000_000
    assert settings.service("lab").tags == {"team": "search"}
    assert settings.defaults.rules == (tmp_path / "my-rules",)


def test_the_default_server_is_only_for_services_without_a_source(tmp_path: Path) -> None:
    """A service that names endpoints or an incident is not asked about elsewhere."""
    settings = read_settings(written(tmp_path, TEXT))
    assert settings.service("lab").prometheus is None
    assert settings.service("last-week").prometheus is None
    assert settings.service("last-week").incident == tmp_path / "incidents/last-week"


@pytest.mark.parametrize(
    ("text", "told", "hint"),
    [
        ("[service.x]\nname = \n", ":2:8: this is not TOML: Invalid value", ""),
        ("[service.x", ":1:11: this is not TOML", ""),
        ("[services.x]\n", "the key 'services' is not known here", "did you mean 'service'?"),
        ("[service.x]\npromethues = 'http://p'\n", "[service.x]: the key 'promethues' is not known here", "'prometheus'?"),
        ("[service.x]\nfacts = 3\n", "[service.x]: 'facts' must be a mapping, not 3", ""),
        ("[service.x]\nobjectives = {ttft_p95_s = 'fast'}\n", "'ttft_p95_s' must be a number, not 'fast'", ""),
        ("[service.x]\nsignals = {'queue.waitin' = 'x'}\n", "no signal is called queue.waitin", ""),
        ("[defaults]\nsince = 'soon'\n", "'soon' is not a duration", ""),
        ("[defaults]\nkeep = 'much'\n", "'much' is not a size", ""),
        ("[defaults]\nkeep = -1\n", "'keep': Input should be greater than or equal to 0", ""),
        ("[service.x]\ntags = {tier = 1}\n", "'tier' must be", ""),
        ("[defaults]\ncollectors = ['here']\n", "the key 'collectors' is not known here", ""),
        ("service = 3\n", "'service' must be tables", "[service.llm-prod]"),
        ("[service]\nx = 3\n", "[service.x]: this must be a mapping, not 3", ""),
    ],
)
def test_a_fault_is_one_sentence_with_its_place(tmp_path: Path, text: str, told: str, hint: str) -> None:
    """Broken settings say where and what, and offer the nearest right word."""
    path = written(tmp_path, text)
    with pytest.raises(ConfigError) as caught:
        read_settings(path)
    assert caught.value.message.startswith(str(path))
    assert told in caught.value.message
    assert hint in caught.value.hint
    assert "\n" not in caught.value.message


def test_bytes_that_are_no_text_are_refused(tmp_path: Path) -> None:
    """A file of another encoding says so."""
    path = tmp_path / "triage.toml"
    path.write_bytes(b"x = '\xff'")
    with pytest.raises(ConfigError, match="not UTF-8"):
        read_settings(path)


def test_an_unknown_service_lists_the_known_ones(tmp_path: Path) -> None:
    """A misspelt name is answered with the nearest one and all that exist."""
    settings = read_settings(written(tmp_path, TEXT))
    with pytest.raises(UsageError) as caught:
        settings.service("llm-prd")
    assert "did you mean 'llm-prod'?" in caught.value.hint
    assert "lab, last-week, llm-prod" in caught.value.hint


def test_the_file_is_looked_for_in_order(tmp_path: Path) -> None:
    """The named file comes first, then the environment, the folder, and the user's own."""
    own = tmp_path / "home" / ".config" / "triage"
    own.mkdir(parents=True)
    here = tmp_path / "here"
    here.mkdir()
    environ = {"HOME": str(tmp_path / "home")}
    assert find_settings(None, environ, here) is None
    personal = written(own, "")
    assert find_settings(None, environ, here) == personal
    local = written(here, "")
    assert find_settings(None, environ, here) == local
    named = written(tmp_path, "")
    assert find_settings(None, {**environ, "TRIAGE_CONFIG": str(named)}, here) == named
    assert find_settings(local, {**environ, "TRIAGE_CONFIG": str(named)}, here) == local


def test_a_file_that_was_named_must_exist(tmp_path: Path) -> None:
    """A typing error in --config must not silently fall back to another file."""
    with pytest.raises(InputMissingError, match="--config"):
        find_settings(tmp_path / "no.toml", {}, tmp_path)
    with pytest.raises(InputMissingError, match="TRIAGE_CONFIG"):
        find_settings(None, {"TRIAGE_CONFIG": "no.toml"}, tmp_path)


@given(st.text(max_size=120))
def test_any_text_is_read_or_refused(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    """Hostile settings bring one sentence, never a traceback."""
    path = written(tmp_path_factory.mktemp("toml"), text)
    try:
        assert read_settings(path).path == path
    except TriageError as error:
        assert str(path) in error.message  # noqa: PT017 - both outcomes are right


def test_the_settings_in_the_reference_are_sound(tmp_path: Path) -> None:
    """docs/commands.md shows a whole triage.toml, which must be one."""
    text = (Path(__file__).parent.parent / "docs" / "commands.md").read_text(encoding="utf-8")
    settings = read_settings(written(tmp_path, text.partition("```toml\n")[2].partition("```")[0]))
    assert sorted(settings.services) == ["lab", "last-week", "llm-prod"]

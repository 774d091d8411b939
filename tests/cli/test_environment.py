"""The table of environment variables in docs/commands.md is what the code reads."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

CODE = "\n".join(
    path.read_text(encoding="utf-8")
    for folder in ("triage", "collectors")
    for path in (ROOT / folder).rglob("*.py")
    if path.parent.name != "sweeps"  # one sets TZ for itself
)
SECTION = (
    (ROOT / "docs" / "commands.md").read_text(encoding="utf-8").partition("## Environment variables\n")[2].partition("\n## ")[0]
)


def read() -> set[str]:
    """Every variable that the program asks for by its name, or by a prefix and the rest of it."""
    prefixes = set(re.findall(r'^_?VARIABLE = "([A-Z_]+)"', CODE, re.MULTILINE))
    rests = set(re.findall(r"\{variable\}([A-Z]+)", CODE))
    asked = re.findall(r'environ(?:\.get\(|\[)"([A-Z_]+)"', CODE)
    own = re.findall(r'"(TRIAGE_[A-Z_]*[A-Z])"', CODE)
    assert prefixes
    assert rests
    return {*asked, *own, *(f"{prefix}{rest}" for prefix in prefixes for rest in rests)}


def shown() -> set[str]:
    """The variables in the table."""
    rows = [line.split("|")[1] for line in SECTION.splitlines() if line.startswith("| `")]
    return {name for row in rows for name in re.findall(r"`([A-Z_]+)`", row)}


def test_what_is_read_is_shown() -> None:
    """Who reads a variable adds a row; what a server of ours sets for its own children is not the user's."""
    assert len(read()) > 10
    assert read() - shown() == {"TEXTUAL_DRIVER", "TRIAGE_FEED", "TRIAGE_FEED_KEY"}


def test_what_is_shown_is_read() -> None:
    """A row of ours for a variable that nothing names any more would promise something."""
    ours = {name for name in shown() if name.startswith("TRIAGE_")}
    assert len(ours) > 8
    assert ours <= read()

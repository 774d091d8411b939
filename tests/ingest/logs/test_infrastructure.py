"""Lines of what lies below and around engines, as their sources print them: hosts, clusters, collectors, stores.

The table holds lines that are read right and lines that are not; what is held is how many are. Each line comes with the log that
people keep it in and with what somebody who knows the program makes of it: kinds that it may speak for, ``grave`` where no kind
is its own and it must be noticed all the same, ``harmless`` where nobody should stop at it.
"""

import csv
import re
from datetime import UTC, datetime
from pathlib import Path

from tests.kinds import kinds
from triage.ingest.logs import read_logs
from triage.model.recording import Event, Window

with (Path(__file__).parent / "wordings" / "infrastructure.tsv").open(encoding="utf-8", newline="") as _stream:
    LINES = [
        (row["file"], frozenset(row["means"].split()), row["line"])
        for row in csv.DictReader(_stream, delimiter="\t", quoting=csv.QUOTE_NONE)
    ]

END = datetime(2026, 11, 29, 13, 10, tzinfo=UTC).timestamp()
WINDOW = Window(END - 1800.0, END, END - 3600.0)
EVENTS = "LAST SEEN   TYPE      REASON                    OBJECT                                  MESSAGE\n"

ALWAYS_LOUD = {"killed", "raised", "exhausted", "stuck", "command-failed", "denied", "invalid"}
ERROR = re.compile(r"error|critical")

KIND_NAMED = 125
"""Grave lines of which some signature names a kind that is theirs, or that are noticed where none is."""

NOTICED = 127
"""Grave lines at which a reader of the report would stop."""

LEFT_ALONE = 67
"""Harmless lines at which nobody would."""


def events(folder: Path, file: str, line: str) -> tuple[Event, ...]:
    """What a log with this line, said twice, brings."""
    for old in folder.iterdir():
        old.unlink()
    (folder / f"{file}.log").write_text((EVENTS if file == "events" else "") + f"{line}\n" * 2, encoding="utf-8")
    return read_logs([folder], WINDOW, "chat").events


def is_grave(event: Event) -> bool:
    """Whether somebody would stop at it: a cause or a consequence, a loud statement of no signature, or what nothing reads."""
    if event.kind == "said":
        loud = event.name in ALWAYS_LOUD or ERROR.search(event.attrs.get("level", "")) is not None
        return loud and not event.attrs.get("signature")
    return event.kind in {"xid", "residue"} or (event.kind == "log" and event.attrs["role"] != "info")


def test_what_lines_of_infrastructure_mean(tmp_path: Path) -> None:
    """As many lines as before are understood."""
    named = noticed = alone = 0
    for file, means, line in LINES:
        assert means - {"grave", "harmless"} <= set(kinds())
        grave = [event for event in events(tmp_path, file, line) if is_grave(event)]
        told = {kind for event in grave for kind in event.attrs.get("kinds", "").split()}
        if "harmless" in means:
            alone += not grave
        else:
            noticed += bool(grave)
            named += bool(told & means) or ("grave" in means and bool(grave))
    assert named >= KIND_NAMED
    assert noticed >= NOTICED
    assert alone >= LEFT_ALONE

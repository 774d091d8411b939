"""What a watch leaves behind when it is killed: whether its file is whole, and whether people heard of everything once."""

import json
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from triage.notify.alerts import SETTLES


def damage(state: Path) -> list[str]:
    """What is wrong with a file of history: as a database, or between its parts."""
    if not state.exists():
        return []
    with closing(sqlite3.connect(state)) as base:
        checked = [row for (row,) in base.execute("PRAGMA integrity_check")]
        if checked != ["ok"]:
            return checked
        tables = {name for (name,) in base.execute("SELECT name FROM sqlite_master")}
        if not {"memories", "alerts"} <= tables:
            return []
        found = []
        for service, row in base.execute("SELECT service, memory FROM memories"):
            memory = json.loads(row)
            told, since = memory["state"]["word"], memory["state"]["since"]
            topics = {topic for (topic,) in base.execute("SELECT topic FROM alerts WHERE service = ?", (service,))}
            settles = not memory["cause"]["word"] and memory["time"] - since < SETTLES
            if (told in ("degraded", "incident")) != ("trouble" in topics) and told != "inconclusive" and not settles:
                found.append(f"{service} is {told}, and people are told of {topics or 'nothing'}")
            ends = [
                now
                for (now,) in base.execute("SELECT now FROM turns WHERE service = ? AND key = 'state' ORDER BY id", (service,))
            ]
            if ends and told != ends[-1]:
                found.append(f"{service} is {told}, and its history says {ends[-1]}")
        return found


def standing(state: Path) -> list[str]:
    """What people are told of now."""
    with closing(sqlite3.connect(state)) as base:
        return [f"{service} {topic}" for service, topic in base.execute("SELECT service, topic FROM alerts")]


def unpaired(chat: Sequence[dict[str, Any]]) -> list[str]:
    """Alerts of which a webhook that heeds ids heard not one begin and one end."""
    found = []
    told = {notice["id"]: notice for notice in chat}.values()
    for alert in dict.fromkeys(notice["alert"] for notice in told):
        changes = [change for notice in told if notice["alert"] == alert for change in notice["changes"]]
        if changes.count("raised") != 1 or changes.count("over") != 1:
            found.append(f"{alert}: {changes}")
    return found

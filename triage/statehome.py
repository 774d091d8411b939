"""Where triage keeps what it remembers from one run to the next."""

from collections.abc import Mapping
from pathlib import Path


def state_path(name: str, environ: Mapping[str, str]) -> Path | None:
    """The path of a file below $XDG_STATE_HOME, or ~/.local/state; None where there is no home."""
    state, home = (environ.get(key, "") for key in ("XDG_STATE_HOME", "HOME"))
    if state.startswith("/"):
        return Path(state) / "triage" / name
    return Path(home) / ".local" / "state" / "triage" / name if home.startswith("/") else None

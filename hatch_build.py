"""Compiles rules, dialects and signatures into the wheel, so that no start has to read and check them."""

import sys
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class CompiledData(BuildHookInterface):  # type: ignore[type-arg]
    """Adds what a start needs of the shipped files, in the form in which it is kept."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile what is in the folder that is built."""
        if version == "editable":
            return
        sys.path.insert(0, self.root)
        from triage.shipped import ship

        into = Path(mkdtemp(prefix="triage-build-"))
        ship(into)
        for path in sorted(into.iterdir()):
            build_data["force_include"][str(path)] = f"triage/compiled_data/{path.name}"

"""A case under change: its recording and what came of it as it is."""

import gzip
import tempfile
from collections.abc import Callable
from functools import cached_property
from pathlib import Path

from triage.classes import dataclass
from triage.engine.diagnose import diagnose
from triage.ingest.files.incident import joined
from triage.model.diagnosis import Diagnosis
from triage.model.recording import Recording
from triage.score.board import Bench
from triage.score.cases import Case
from triage.score.result import Result, compared
from triage.score.store import Loaded
from triage.score.sweeps.trial import Name, Trial, holds, is_same, survives, words

Rewrite = Callable[[str, bytes], bytes | None]
"""A log's name and its text, and what stands there instead; None: no such log."""


@dataclass(frozen=True)
class UnderChange:
    """A case that is changed in memory; only sweeps of log lines read its logs again."""

    loaded: Loaded
    bench: Bench

    @property
    def case(self) -> Case:
        """The case."""
        return self.loaded.case

    @property
    def recording(self) -> Recording:
        """The case as it is."""
        return self.loaded.recording

    @cached_property
    def diagnosis(self) -> Diagnosis:
        """What comes of the case as it is."""
        return diagnose(self.recording, self.bench.rules)

    @cached_property
    def before(self) -> Result:
        """The same against the truth."""
        return compared(self.case, self.diagnosis, self.bench.ruled)

    def after(self, changed: Recording) -> Result:
        """What comes of the changed case."""
        return compared(self.case, diagnose(changed, self.bench.rules), self.bench.ruled)

    def harmless(self, sweep: Name, change: str, changed: Recording, *, may_be_well: bool = False) -> Trial:
        """A trial of a change after which less may be known, but nothing false be said."""
        after = self.after(changed)
        return self.trial(sweep, change, after, held=holds(self.before, after, may_be_well=may_be_well))

    def same(self, sweep: Name, change: str, changed: Recording) -> Trial:
        """A trial of a change that must not matter."""
        after = self.after(changed)
        return self.trial(sweep, change, after, held=is_same(self.before, after))

    def trial(self, sweep: Name, change: str, after: Result, *, held: bool, sort: str = "", names: int = 1) -> Trial:
        """A trial whose outcome is known."""
        return Trial(
            sweep=sweep,
            case=self.case.name,
            origin=self.case.origin,
            part=self.case.part,
            change=change,
            sort=sort,
            names=names,
            held=held,
            survived=survives(self.before, after),
            told=words(self.before, after),
        )

    def logs(self) -> list[Path]:
        """The files of the case's logs."""
        folder = self.case.path / "logs"
        return sorted(path for path in folder.iterdir() if path.is_file() and not path.is_symlink()) if folder.is_dir() else []

    def reread(self, rewrite: Rewrite = lambda _name, text: text) -> Recording:
        """The recording with other logs; its metrics are not read again."""
        with tempfile.TemporaryDirectory(prefix="triage-score-") as place:
            folder = Path(place) / "logs"
            folder.mkdir()
            for path in self.logs():
                text = rewrite(path.name, _text(path))
                if text is not None:
                    (folder / path.name).write_bytes(text)
            return joined(
                self.loaded.metrics, (folder,) if self.logs() else (), self.case.path / "changes.jsonl", self.bench.language
            )


def _text(path: Path) -> bytes:
    data = path.read_bytes()
    return gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data

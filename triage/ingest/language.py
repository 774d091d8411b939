"""How sources are read: what their metrics and their lines mean."""

from collections.abc import Iterable
from pathlib import Path

from triage.classes import dataclass
from triage.ingest.logs.loading import Signatures, load_signatures
from triage.ingest.metrics.dialects import load_dialects
from triage.model.dialect import Dialect


@dataclass(frozen=True, eq=False)
class Language:
    """How sources are read.

    :param dialects: what metrics mean
    :param signatures: what lines mean
    """

    dialects: tuple[Dialect, ...]
    signatures: Signatures


def load_language(dialects: Iterable[Path] = (), signatures: Iterable[Path] = ()) -> Language:
    """The shipped dialects and signatures, and those of the user's folders. Files are read once in the life of the program.

    :raises ConfigError: a folder is missing, or files are faulty
    """
    return Language(load_dialects(dialects), load_signatures(signatures))

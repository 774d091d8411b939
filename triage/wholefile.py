"""Files that are there whole or as they were before: somebody may read them, and a crash may come, at any moment."""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path


@contextmanager
def whole(path: Path) -> Iterator[Path]:
    """A place beside a file; what is written there takes the file's place once it is all there, and is gone if it fails.

    :raises OSError: it cannot take its place
    """
    beside = path.with_name(f".{path.name}.{os.getpid()}.partial")
    try:
        yield beside
        beside.replace(path)
    finally:
        with suppress(OSError):
            beside.unlink(missing_ok=True)

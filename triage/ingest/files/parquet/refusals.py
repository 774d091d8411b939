"""What is said of a file that cannot be read."""

from pathlib import Path

from triage.errors import DataError

_LONGEST = 200


def unreadable(path: Path, error: Exception) -> DataError:
    """What is said of a file that Parquet's own reader refuses."""
    return DataError(f"{path} is damaged or no Parquet file: {short(error)}", "copy it again, or record again")


def damaged(path: Path, why: str) -> DataError:
    """What is said of a file that Parquet's own reader reads, and that is no sound recording."""
    return DataError(f"{path} is a damaged recording: {why}")


def short(error: object) -> str:
    """The first line of an error's text, printable and not too long."""
    first = str(error).partition("\n")[0]
    return "".join(c for c in first if c.isprintable())[:_LONGEST]

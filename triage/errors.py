"""What can go wrong for the user, and the exit codes that say so."""

from enum import IntEnum


class ExitCode(IntEnum):
    """Exit codes of every command. 0 to 3 are answers; 64 and above follow sysexits.h."""

    HEALTHY = 0
    DEGRADED = 1
    INCIDENT = 2
    INCONCLUSIVE = 3
    USAGE = 64
    DATA = 65
    NO_INPUT = 66
    UNAVAILABLE = 69
    INTERNAL = 70
    BUSY = 75
    CONFIG = 78


def printable(line: str) -> str:
    """A line of a message in which every character keeps its place and none moves the cursor or hides."""
    return "".join(char if char.isprintable() else "\ufffd" for char in line)


def quoted(text: str, longest: int = 200) -> str:
    """What a program of others says, as a part of a sentence of ours: one printable line, short."""
    return printable(" ".join(text[: 10 * longest].split()))[:longest]


class TriageError(Exception):
    """A problem that the user can mend: one sentence on what and where, and a hint on what to do.

    :param message: what was wrong and where, without a final stop
    :param hint: what to do about it, or empty
    """

    exit_code = ExitCode.INTERNAL

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class UsageError(TriageError):
    """The command line asks for something that cannot be."""

    exit_code = ExitCode.USAGE


class DataError(TriageError):
    """A file that was read is damaged or not of the expected form."""

    exit_code = ExitCode.DATA


class InputMissingError(TriageError):
    """A file or folder that was named is not there or cannot be read."""

    exit_code = ExitCode.NO_INPUT


class ConfigError(TriageError):
    """triage.toml or another file of settings is wrong."""

    exit_code = ExitCode.CONFIG


class BusyError(TriageError):
    """Another run is at it."""

    exit_code = ExitCode.BUSY

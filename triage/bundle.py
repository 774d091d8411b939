"""Where the shipped rules, signatures, collectors, playbooks and recorded cases are, in an installed wheel or in a checkout."""

from pathlib import Path
from typing import Literal

from triage.errors import InputMissingError

Kind = Literal["rules", "signatures", "collectors", "playbooks"]

DEMO = "retry-storm"
"""The recording that ``triage demo`` shows."""

_PACKAGE = Path(__file__).resolve().parent


def bundled(kind: Kind) -> Path:
    """The folder of the shipped files of one kind.

    In a wheel the folders lie inside the package; in a checkout they are its siblings.

    :raises InputMissingError: the installation is incomplete
    """
    for base in (_PACKAGE, _PACKAGE.parent):
        if (base / kind).is_dir():
            return base / kind
    raise InputMissingError(f"the installation has no folder of {kind} beside {_PACKAGE}", "install inference-triage again")


def recorded_cases() -> tuple[Path, ...]:
    """Folders of the shipped recordings: in a wheel those that lessons walk, in a checkout all that the tests use."""
    packed = _PACKAGE / "cases"
    if packed.is_dir():
        return (packed,)
    return tuple(_PACKAGE.parent / "tests" / name for name in ("incidents", "quiet"))


def demo_case() -> Path:
    """The folder of the recording that ``triage demo`` shows.

    :raises InputMissingError: the installation is incomplete
    """
    found = next((folder / DEMO for folder in recorded_cases() if (folder / DEMO / "case.toml").is_file()), None)
    if found is None:
        raise InputMissingError(f"the installation has no recording {DEMO!r}", "install inference-triage again")
    return found

"""Where the shipped rules, signatures, collectors and playbooks are, in an installed wheel or in a checkout."""

from pathlib import Path
from typing import Literal

from triage.errors import InputMissingError

Kind = Literal["rules", "signatures", "collectors", "playbooks"]

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

"""What a wheel has compiled of the files that it ships."""

from pathlib import Path

from triage.bundle import bundled
from triage.engine.rules import loading as rules
from triage.ingest.logs import loading as signatures
from triage.ingest.metrics import dialects


def ship(into: Path) -> None:
    """Keeps all shipped rules, dialects and signatures in a folder."""
    rules.COMPILED.ship((bundled("rules"),), rules.checked, into)
    dialects.COMPILED.ship((bundled("collectors") / "dialects",), dialects.checked, into)
    signatures.COMPILED.ship((bundled("signatures"),), signatures.checked, into)

"""The digest of the rule set: the same for the same files, another for any other."""

import shutil
from pathlib import Path

import pytest

import triage.digest
from triage.bundle import Kind, bundled
from triage.digest import digest


def test_it_is_short_and_the_same_each_time() -> None:
    """Twelve hexadecimal digits."""
    assert digest() == digest()
    assert len(digest()) == 12
    assert int(digest(), 16) >= 0


@pytest.mark.parametrize("kind", ["rules", "dialects", "signatures"])
def test_a_users_folder_changes_it(tmp_path: Path, kind: str) -> None:
    """By what is in it and by what it is called, and not by where it lies."""
    told = set()
    for place, name, text in (("a", "x", "1"), ("b", "x", "1"), ("c", "y", "1"), ("d", "x", "2")):
        folder = tmp_path / place
        folder.mkdir()
        (folder / f"{name}.yaml").write_text(text)
        told.add(digest(**{kind: [folder]}))
    assert len(told | {digest()}) == 4


def test_what_is_shipped_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One byte more in a shipped rule makes another rule set; the same files elsewhere make the same."""
    before = digest()
    for kind in ("rules", "collectors", "signatures"):
        shutil.copytree(bundled(kind), tmp_path / kind)
    monkeypatch.setattr(triage.digest, "bundled", lambda kind: there(tmp_path, kind))
    assert digest() == before
    with (tmp_path / "rules" / "runtime" / "kv-exhaustion-preemption.yaml").open("a") as file:
        file.write("\n")
    assert digest() != before


def there(folder: Path, kind: Kind) -> Path:
    """Where a copy of what is shipped lies."""
    return folder / kind

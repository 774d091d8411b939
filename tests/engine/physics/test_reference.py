"""docs/physics.md says what is so."""

import doctest
import re
from pathlib import Path

from triage.engine.physics.accelerators import TABLE
from triage.engine.physics.links import LINKS, memory_of
from triage.model.vocabulary import catalogue

PAGE = Path(__file__).parents[3] / "docs" / "physics.md"
TEXT = PAGE.read_text(encoding="utf-8")


def test_the_example_gives_what_it_shows() -> None:
    """The session in the page is run."""
    found = doctest.testfile(str(PAGE), module_relative=False)
    assert (found.attempted, found.failed) == (4, 0)


def test_the_signals_that_it_names_are_there() -> None:
    """Every dotted name in backquotes that begins like a signal is one."""
    families = {name.split(".")[0] for name in catalogue()}
    named = {name for name in re.findall(r"`([a-z0-9_]+\.[a-z0-9_]+)`", TEXT) if name.split(".")[0] in families}
    assert {"engine.held_ratio", "decode.floor_ratio", "kv.capacity"} <= named
    assert named <= catalogue().keys()


def test_the_speeds_in_its_table_are_those_of_the_program() -> None:
    """Each row of links, rounded as it is there."""
    speeds = {link.name: link.speed / 1e9 for link in (*map(memory_of, TABLE), *LINKS)}
    rows = {
        "3350, 4800, 7700": ["memory of H100 SXM", "memory of H200", "memory of B200"],
        "300, 450, 900": ["NVLink 3 (A100)", "NVLink 4 (H100, H200)", "NVLink 5 (B200, B300)"],
        "15.8, 31.5, 63, 121": [f"PCIe {generation}.0 x16" for generation in (3, 4, 5, 6)],
        "25, 50, 100": ["InfiniBand HDR", "InfiniBand NDR", "InfiniBand XDR"],
        "1.25, 3.1, 12.5, 50": ["Ethernet 10G", "Ethernet 25G", "Ethernet 100G", "Ethernet 400G"],
    }
    for shown, names in rows.items():
        assert f"| {shown} |" in TEXT
        for name, told in zip(names, shown.split(", "), strict=True):
            assert abs(speeds[name] - float(told)) <= 0.011 * float(told), name

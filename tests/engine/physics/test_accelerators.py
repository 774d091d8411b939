"""Cards: what they are called, what they can, and which names are refused."""

import pytest

from triage.engine.physics.accelerators import TABLE, accelerator

DRIVER_NAMES = {
    "NVIDIA A100-SXM4-80GB": ("A100 80GB SXM", 81920),
    "NVIDIA A100-SXM4-40GB": ("A100 40GB", 40960),
    "NVIDIA A100 80GB PCIe": ("A100 80GB PCIe", 81920),
    "NVIDIA H100 80GB HBM3": ("H100 SXM", 81559),
    "NVIDIA H100 PCIe": ("H100 PCIe", 81559),
    "NVIDIA H100 NVL": ("H100 NVL", 95830),
    "NVIDIA H200": ("H200", 143771),
    "NVIDIA GH200 480GB": ("GH200 96GB", 97871),
    "NVIDIA B200": ("B200", 183359),
    "NVIDIA L40S": ("L40S", 46068),
    "NVIDIA L4": ("L4", 23034),
    "NVIDIA A10G": ("A10G", 23028),
    "NVIDIA GeForce RTX 4090": ("RTX 4090", 24564),
    "NVIDIA RTX A6000": ("RTX A6000", 49140),
    "Tesla T4": ("T4", 15360),
    "Tesla V100-SXM2-16GB": ("V100 SXM2 16GB", 16384),
    "AMD Instinct MI300X OAM": ("MI300X", 196592),
}
"""What drivers call cards, and the MiB that they report."""


@pytest.mark.parametrize("name", DRIVER_NAMES)
def test_a_card_is_known_by_what_its_driver_calls_it(name: str) -> None:
    """Names as drivers and Kubernetes labels (with dashes) write them lead to the same row."""
    for spelling in (name, name.replace(" ", "-"), name.lower()):
        card = accelerator(spelling)
        assert card is not None
        assert card.name == DRIVER_NAMES[name][0]


@pytest.mark.parametrize("name", DRIVER_NAMES)
def test_memory_is_what_the_driver_reports_or_a_little_more(name: str) -> None:
    """Data sheets count binary gigabytes; the driver keeps a little, and error correction takes up to a sixteenth."""
    card = accelerator(name)
    assert card is not None
    assert 0.92 * card.memory <= DRIVER_NAMES[name][1] * 2**20 <= 1.005 * card.memory


@pytest.mark.parametrize(
    "name",
    [
        "A100",
        "NVIDIA A100-80GB",
        "H100",
        "NVIDIA H20-3e",
        "NVIDIA GeForce RTX 4090 Laptop GPU",
        "NVIDIA GeForce RTX 4090 D",
        "NVIDIA RTX PRO 6000 Blackwell Max-Q Workstation Edition",
        "NVIDIA A100-SXM4-80GB-MIG-1g.10gb",
        "NVIDIA A100-SXM4-80GB MIG 3g.40gb",
        "GRID A100-40C",
        "NVIDIA L40S-48Q",
        "AMD Instinct MI300X VF",
        "Radeon",
        "",
    ],
)
def test_a_name_that_leaves_the_card_open_is_refused(name: str) -> None:
    """Two cards of one name, parts of a card, laptops and strangers have no figures."""
    assert accelerator(name) is None


def test_a_hostile_name_is_cut() -> None:
    """A label of a megabyte costs no more than a short one, and matches nothing behind its cut."""
    assert accelerator("x" * 1_000_000 + " H200") is None
    assert accelerator("H100 " * 200_000) is None


def test_figures_are_dense() -> None:
    """Eight bits go twice as fast as sixteen; a table in which sparse and dense are mixed shows factors of one or four."""
    for row in TABLE:
        if row.flops_16 is not None and row.flops_8 is not None and row.name not in {"RTX 3090", "MI250X", "MI210"}:
            assert row.flops_8 / row.flops_16 == pytest.approx(2, abs=0.03), row.name


def test_the_figures_that_everybody_quotes() -> None:
    """A100 SXM and PCIe differ in bandwidth and not in arithmetic; H100 and H200 the same way."""
    sxm, pcie = accelerator("A100 SXM4 80GB"), accelerator("A100 PCIe 80GB")
    assert sxm is not None
    assert pcie is not None
    assert (sxm.bandwidth, pcie.bandwidth) == (2039e9, 1935e9)
    assert sxm.flops_16 == pcie.flops_16 == 312e12
    h100, h200 = accelerator("NVIDIA H100 80GB HBM3"), accelerator("NVIDIA H200")
    assert h100 is not None
    assert h200 is not None
    assert (h100.bandwidth, h200.bandwidth, h100.flops_16, h200.flops_16) == (3350e9, 4800e9, 989e12, 989e12)


def test_every_row_can_be_found_and_has_a_source() -> None:
    """No spelling of one row is another row's, and every figure says where it is printed."""
    for row in TABLE:
        assert row.source
        for spelling in row.spellings:
            assert accelerator(" ".join(sorted(spelling))) == row

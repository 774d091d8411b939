"""How fast bytes move at the three scales: inside a card, between the cards of a machine, between machines.

Speeds are of one direction, at the peak of the wire, without what protocols take of it.
"""

import numpy as np

from triage.classes import dataclass
from triage.engine.physics.accelerators import Accelerator
from triage.model.recording import Floats
from triage.model.vocabulary import Scale


@dataclass(frozen=True, slots=True)
class Link:
    """One kind of link.

    :param name: usual name
    :param scale: what it connects the parts of
    :param speed: bytes per second in one direction
    :param source: where the figure is printed
    """

    name: str
    scale: Scale
    speed: float
    source: str


_NVLINK = "NVIDIA NVLink product page: total of both directions for each card, halved"
_PCIE = "PCI-SIG: rate of a lane × 16 × line code (8b/10b, from 3.0 on 128b/130b, from 6.0 on 242B/256B)"
_INFINIBAND = "InfiniBand Trade Association roadmap, four lanes"
_ETHERNET = "IEEE 802.3"

_LANE: dict[float, float] = {
    1: 2.5e9 * 8 / 10,
    2: 5e9 * 8 / 10,
    3: 8e9 * 128 / 130,
    4: 16e9 * 128 / 130,
    5: 32e9 * 128 / 130,
    6: 64e9 * 242 / 256,
}
"""Bits per second of a PCIe lane by generation, line code taken off."""

LINKS: tuple[Link, ...] = (
    Link("NVLink 2 (V100)", Scale.MACHINE, 150e9, _NVLINK),
    Link("NVLink 3 (A100)", Scale.MACHINE, 300e9, _NVLINK),
    Link("NVLink 4 (H100, H200)", Scale.MACHINE, 450e9, _NVLINK),
    Link("NVLink 5 (B200, B300)", Scale.MACHINE, 900e9, _NVLINK),
    Link("Infinity Fabric (MI300X)", Scale.MACHINE, 448e9, "AMD Instinct MI300X data sheet: seven links of 64 GB/s each way"),
    *(Link(f"PCIe {generation}.0 x16", Scale.MACHINE, _LANE[generation] * 16 / 8, _PCIE) for generation in (3, 4, 5, 6)),
    Link("InfiniBand HDR", Scale.CLUSTER, 200e9 / 8, _INFINIBAND),
    Link("InfiniBand NDR", Scale.CLUSTER, 400e9 / 8, _INFINIBAND),
    Link("InfiniBand XDR", Scale.CLUSTER, 800e9 / 8, _INFINIBAND),
    Link("Ethernet 10G", Scale.CLUSTER, 10e9 / 8, _ETHERNET),
    Link("Ethernet 25G", Scale.CLUSTER, 25e9 / 8, _ETHERNET),
    Link("Ethernet 100G", Scale.CLUSTER, 100e9 / 8, _ETHERNET),
    Link("Ethernet 400G", Scale.CLUSTER, 400e9 / 8, _ETHERNET),
)
"""Between the cards of a machine, and between machines."""


def memory_of(card: Accelerator) -> Link:
    """The way between a card's memory and its chip."""
    return Link(f"memory of {card.name}", Scale.CARD, card.bandwidth, card.source)


def pcie_speed(generation: float, lanes: float) -> float | None:
    """Bytes per second of a PCIe link in one direction; None if generation or width is unknown (NaN) or does not exist."""
    bits = _LANE.get(generation)
    return bits * lanes / 8 if bits is not None and lanes >= 1 else None


def pcie_speeds(generation: Floats, lanes: Floats) -> Floats:
    """The same of many links, NaN where generation or width is unknown or does not exist, of the same shape."""
    bits = np.full(generation.shape, np.nan)
    for number, told in _LANE.items():
        bits[generation == number] = told
    return np.where(lanes >= 1, bits * lanes / 8, np.nan)


def transfer_time(size: float, link: Link) -> float:
    """Least seconds to move so many bytes over a link."""
    return size / link.speed

"""How fast bytes move at the three scales: inside a card, between the cards of a machine, between machines.

Speeds are of one direction, at the peak of the wire, without what protocols take of it.
"""

from dataclasses import dataclass

from triage.engine.physics.accelerators import TABLE as CARDS
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
_PCIE = "PCI-SIG: rate of a lane × 16 × line code (128b/130b; 242B/256B from 6.0 on)"
_INFINIBAND = "InfiniBand Trade Association roadmap, four lanes"
_ETHERNET = "IEEE 802.3"

MACHINE_AND_CLUSTER: tuple[Link, ...] = (
    Link("NVLink 2 (V100)", Scale.MACHINE, 150e9, _NVLINK),
    Link("NVLink 3 (A100)", Scale.MACHINE, 300e9, _NVLINK),
    Link("NVLink 4 (H100, H200)", Scale.MACHINE, 450e9, _NVLINK),
    Link("NVLink 5 (B200, B300)", Scale.MACHINE, 900e9, _NVLINK),
    Link("Infinity Fabric (MI300X)", Scale.MACHINE, 448e9, "AMD Instinct MI300X data sheet: seven links of 64 GB/s each way"),
    Link("PCIe 3.0 x16", Scale.MACHINE, 8e9 * 16 * 128 / 130 / 8, _PCIE),
    Link("PCIe 4.0 x16", Scale.MACHINE, 16e9 * 16 * 128 / 130 / 8, _PCIE),
    Link("PCIe 5.0 x16", Scale.MACHINE, 32e9 * 16 * 128 / 130 / 8, _PCIE),
    Link("PCIe 6.0 x16", Scale.MACHINE, 64e9 * 16 * 242 / 256 / 8, _PCIE),
    Link("InfiniBand HDR", Scale.CLUSTER, 200e9 / 8, _INFINIBAND),
    Link("InfiniBand NDR", Scale.CLUSTER, 400e9 / 8, _INFINIBAND),
    Link("InfiniBand XDR", Scale.CLUSTER, 800e9 / 8, _INFINIBAND),
    Link("Ethernet 10G", Scale.CLUSTER, 10e9 / 8, _ETHERNET),
    Link("Ethernet 25G", Scale.CLUSTER, 25e9 / 8, _ETHERNET),
    Link("Ethernet 100G", Scale.CLUSTER, 100e9 / 8, _ETHERNET),
    Link("Ethernet 400G", Scale.CLUSTER, 400e9 / 8, _ETHERNET),
)

LINKS: tuple[Link, ...] = (
    *(Link(f"memory of {card.name}", Scale.CARD, card.bandwidth, card.source) for card in CARDS),
    *MACHINE_AND_CLUSTER,
)

_LANE = {1: 2.5e9 * 8 / 10, 2: 5e9 * 8 / 10} | {n: 2.0 ** (n - 3) * 8e9 * 128 / 130 for n in (3, 4, 5)} | {6: 64e9 * 242 / 256}
"""Bits per second of a PCIe lane by generation, line code taken off."""


def pcie_speed(generation: float, lanes: float) -> float | None:
    """Bytes per second of a PCIe link in one direction; None for a generation that there is not."""
    bits = _LANE.get(int(generation)) if generation == int(generation) else None
    return None if bits is None or lanes < 1 else bits * lanes / 8


def transfer_time(size: float, link: Link) -> float:
    """Least seconds to move so many bytes over a link."""
    return size / link.speed

"""What accelerators can do by their makers' data sheets: memory, bandwidth, peak arithmetic, link."""

import re
from dataclasses import dataclass
from functools import cache


@dataclass(frozen=True, slots=True)
class Accelerator:
    """One kind of card.

    :param name: usual name
    :param pattern: regular expression found in what drivers and exporters call it
    :param memory: bytes of device memory
    :param bandwidth: peak bytes per second between memory and chip
    :param flops_16: dense peak of FP16 or BF16 with tensor cores, FLOP/s
    :param flops_8: dense peak of FP8 (INT8 where there is no FP8), FLOP/s; 0 if there is neither
    :param link: peak bytes per second to its peers, both directions together (NVLink, Infinity Fabric), 0 if only PCIe
    :param source: data sheet
    """

    name: str
    pattern: str
    memory: float
    bandwidth: float
    flops_16: float
    flops_8: float
    link: float
    source: str


_GB, _TF = 1e9, 1e12


def _row(
    name: str, pattern: str, memory: float, bandwidth: float, f16: float, f8: float, link: float, source: str
) -> Accelerator:
    """A row in GB, GB/s, TFLOPS, TFLOPS and GB/s."""
    return Accelerator(name, pattern, memory * _GB, bandwidth * _GB, f16 * _TF, f8 * _TF, link * _GB, source)


_NVIDIA = "NVIDIA data sheet"
TABLE: tuple[Accelerator, ...] = (
    _row("B300", r"B300", 288, 8000, 2500, 5000, 1800, _NVIDIA),
    _row("B200", r"\bG?B200", 192, 8000, 2250, 4500, 1800, _NVIDIA),
    _row("H200 NVL", r"H200.*NVL", 141, 4800, 835, 1671, 900, _NVIDIA),
    _row("H200", r"H200|GH200.*144", 141, 4800, 989, 1979, 900, _NVIDIA),
    _row("GH200", r"GH200", 96, 4000, 989, 1979, 900, _NVIDIA),
    _row("H100 NVL", r"H100.*NVL", 94, 3900, 835, 1671, 600, _NVIDIA),
    _row("H100 PCIe", r"H100.*PCIe", 80, 2039, 756, 1513, 600, _NVIDIA),
    _row("H100 SXM", r"H100|H800", 80, 3350, 989, 1979, 900, _NVIDIA),
    _row("H20", r"\bH20\b", 96, 4000, 148, 296, 900, _NVIDIA),
    _row("A100 80GB PCIe", r"A100.*PCIe.*80", 80, 1935, 312, 624, 600, _NVIDIA),
    _row("A100 80GB", r"A[18]00.*80", 80, 2039, 312, 624, 600, _NVIDIA),
    _row("A100 40GB", r"A[18]00", 40, 1555, 312, 624, 600, _NVIDIA),
    _row("RTX PRO 6000", r"RTX PRO 6000", 96, 1597, 252, 504, 0, _NVIDIA),
    _row("GB10", r"GB10\b", 128, 273, 125, 250, 0, _NVIDIA),
    _row("L40S", r"L40S", 48, 864, 362, 733, 0, _NVIDIA),
    _row("L40", r"L40\b", 48, 864, 181, 362, 0, _NVIDIA),
    _row("L4", r"\bL4\b", 24, 300, 121, 242, 0, _NVIDIA),
    _row("A10G", r"A10G", 24, 600, 70, 140, 0, _NVIDIA),
    _row("A10", r"\bA10\b", 24, 600, 125, 250, 0, _NVIDIA),
    _row("A30", r"\bA30\b", 24, 933, 165, 330, 200, _NVIDIA),
    _row("A40", r"\bA40\b", 48, 696, 150, 299, 112, _NVIDIA),
    _row("RTX A6000", r"RTX A6000", 48, 768, 155, 310, 112, _NVIDIA),
    _row("RTX 6000 Ada", r"RTX 6000 Ada", 48, 960, 182, 364, 0, _NVIDIA),
    _row("RTX 5090", r"RTX 5090", 32, 1792, 209, 419, 0, _NVIDIA),
    _row("RTX 4090", r"RTX 4090", 24, 1008, 165, 330, 0, _NVIDIA),
    _row("RTX 3090", r"RTX 3090", 24, 936, 71, 142, 112, _NVIDIA),
    _row("V100 32GB", r"V100.*32", 32, 900, 125, 0, 300, _NVIDIA),
    _row("V100", r"V100", 16, 900, 125, 0, 300, _NVIDIA),
    _row("T4", r"\bT4\b", 16, 320, 65, 130, 0, _NVIDIA),
    _row("MI355X", r"MI355", 288, 8000, 2500, 5000, 1075, "AMD data sheet"),
    _row("MI325X", r"MI325", 256, 6000, 1307, 2615, 896, "AMD data sheet"),
    _row("MI300X", r"MI300X|MI308X", 192, 5300, 1307, 2615, 896, "AMD data sheet"),
    _row("MI250X", r"MI250", 128, 3277, 383, 383, 800, "AMD data sheet"),
    _row("MI210", r"MI210", 64, 1638, 181, 181, 300, "AMD data sheet"),
)


@cache
def accelerator(model: str) -> Accelerator | None:
    """The card that a driver or exporter calls by this name; None if the table does not know it."""
    return next((row for row in TABLE if re.search(row.pattern, model, re.IGNORECASE)), None)

"""What accelerators can do by their makers' data sheets: memory, bandwidth, peak arithmetic, link to their peers.

Arithmetic is dense: data sheets like to print twice of it, which needs weights with half of their values pruned away.
Memory is in binary gigabytes: what is sold as 80 GB reports about 80 GiB (with error correction in the memory itself up to
a sixteenth less).
"""

import re
from functools import lru_cache

from triage.classes import dataclass


@dataclass(frozen=True, slots=True)
class Accelerator:
    """One kind of card.

    :param name: usual name
    :param spellings: what drivers, exporters and people call it; every word of one of them must be there, in any order
    :param memory: bytes of device memory
    :param bandwidth: peak bytes per second between memory and chip
    :param flops_16: dense peak of FP16 and BF16 with sums in FP32, FLOP/s; None if nobody publishes it
    :param flops_8: dense peak of FP8 (INT8 where there is no FP8), operations per second; None if there is neither
    :param link: peak bytes per second to its peers, both directions together (NVLink, Infinity Fabric), 0 if only PCIe
    :param source: where the figures are printed
    """

    name: str
    spellings: tuple[frozenset[str], ...]
    memory: float
    bandwidth: float
    flops_16: float | None
    flops_8: float | None
    link: float
    source: str


_GIB, _GB, _TF = 2.0**30, 1e9, 1e12


def _row(
    name: str, spellings: str, memory: float, bandwidth: float, f16: float | None, f8: float | None, link: float, source: str
) -> Accelerator:
    """A row in GiB, GB/s, TFLOPS, TFLOPS and GB/s; spellings are set apart by commas."""
    words = tuple(frozenset(one.upper().split()) for one in spellings.split(","))
    peak_16, peak_8 = (None if peak is None else peak * _TF for peak in (f16, f8))
    return Accelerator(name, words, memory * _GIB, bandwidth * _GB, peak_16, peak_8, link * _GB, source)


_A100 = "NVIDIA A100 data sheet (nvidia-a100-datasheet-us-nvidia-1758950-r4-web.pdf)"
_H100 = "NVIDIA H100 data sheet (resources.nvidia.com/en-us-tensor-core/nvidia-tensor-core-gpu-datasheet)"
_H200 = "NVIDIA H200 data sheet (hpc-datasheet-sc23-h200)"
_GH200 = "NVIDIA GH200 Grace Hopper Superchip data sheet"
_BLACKWELL = "NVIDIA Blackwell Architecture Technical Brief, system specifications for each GPU"
_B300 = "NVIDIA HGX B300 specifications; the driver reports 275040 MiB"
_ADA = "NVIDIA Ada GPU Architecture white paper, appendices"
_AMPERE = "NVIDIA Ampere GA102 GPU Architecture white paper, appendices"
_PRO = "NVIDIA RTX Blackwell PRO GPU Architecture white paper; server edition: its data sheet"
_CDNA2, _CDNA3, _CDNA4 = (f"AMD Instinct {family} series data sheets" for family in ("MI200", "MI300", "MI350"))

TABLE: tuple[Accelerator, ...] = (
    _row("B300", "B300,B300 SXM6", 268, 8000, 2250, 4500, 1800, _B300),
    _row("GB200", "GB200", 185, 8000, 2500, 5000, 1800, _BLACKWELL),
    _row("B200", "B200,B200 SXM6", 180, 7700, 2250, 4500, 1800, _BLACKWELL),
    _row("H200 NVL", "H200 NVL", 141, 4800, 835, 1671, 900, _H200),
    _row("H200", "H200,H200 SXM,H200 SXM5", 141, 4800, 989, 1979, 900, _H200),
    _row("GH200 144GB", "GH200 144G,GH200 144GB", 144, 4900, 989, 1979, 900, _GH200),
    _row("GH200 96GB", "GH200 480GB,GH200 96GB", 96, 4000, 989, 1979, 900, _GH200),
    _row("H100 NVL", "H100 NVL", 94, 3900, 835, 1671, 600, _H100),
    _row("H100 PCIe", "H100 PCIE", 80, 2000, 756, 1513, 600, _H100),
    _row("H100 SXM", "H100 80GB HBM3,H100 SXM,H100 SXM5", 80, 3350, 989, 1979, 900, _H100),
    _row("H800 SXM", "H800,H800 SXM,H800 SXM5", 80, 3350, 989, 1979, 400, "NVIDIA H800 data sheet"),
    _row("H20", "H20", 96, 4000, 148, 296, 900, "NVIDIA H20 data sheet"),
    _row("A100 80GB PCIe", "A100 80GB PCIE", 80, 1935, 312, 624, 600, _A100),
    _row("A100 80GB SXM", "A100 SXM 80GB,A100 SXM4 80GB", 80, 2039, 312, 624, 600, _A100),
    _row("A100 40GB", "A100 40GB,A100 SXM 40GB,A100 SXM4 40GB,A100 PCIE 40GB", 40, 1555, 312, 624, 600, _A100),
    _row("A800 80GB SXM", "A800 SXM 80GB,A800 SXM4 80GB", 80, 2039, 312, 624, 400, "NVIDIA A800 data sheet"),
    _row("RTX PRO 6000 Server", "RTX PRO 6000 SERVER", 96, 1597, None, None, 0, _PRO),
    _row("RTX PRO 6000 Workstation", "RTX PRO 6000 WORKSTATION", 96, 1792, 503.8, 1007.6, 0, _PRO),
    _row("GB10", "GB10", 128, 273, None, None, 0, "NVIDIA DGX Spark data sheet (prints sparse FP4 only)"),
    _row("L40S", "L40S", 48, 864, 362, 733, 0, "NVIDIA L40S data sheet"),
    _row("L40", "L40", 48, 864, 181, 362, 0, "NVIDIA L40 data sheet"),
    _row("L20", "L20", 48, 864, 119.5, 239, 0, "NVIDIA L20 data sheet"),
    _row("L4", "L4", 24, 300, 121, 242, 0, "NVIDIA L4 data sheet (prints sparse figures)"),
    _row("A10G", "A10G", 24, 600, 70, 140, 0, "NVIDIA A10G data sheet of AWS G5"),
    _row("A10", "A10", 24, 600, 125, 250, 0, "NVIDIA A10 data sheet (a10-datasheet.pdf)"),
    _row("A30", "A30", 24, 933, 165, 330, 200, "NVIDIA A30 data sheet"),
    _row("A40", "A40", 48, 696, 149.7, 299.3, 112.5, "NVIDIA A40 data sheet (nvidia-a40-datasheet.pdf)"),
    _row("RTX A6000", "RTX A6000", 48, 768, 154.8, 309.7, 112.5, _AMPERE),
    _row("RTX 6000 Ada", "RTX 6000 ADA", 48, 960, 364.2, 728.5, 0, _ADA),
    _row("RTX 5090", "RTX 5090", 32, 1792, 209.5, 419, 0, "NVIDIA RTX Blackwell GPU Architecture white paper, appendices"),
    _row("RTX 4090", "RTX 4090", 24, 1008, 165.2, 330.3, 0, _ADA),
    _row("RTX 3090", "RTX 3090", 24, 936, 71, 284, 112.5, _AMPERE),
    _row("V100 SXM2 32GB", "V100 SXM2 32GB,V100 SXM3 32GB", 32, 900, 125, None, 300, "NVIDIA V100 data sheet"),
    _row("V100 SXM2 16GB", "V100 SXM2 16GB", 16, 900, 125, None, 300, "NVIDIA V100 data sheet"),
    _row("V100 PCIe 32GB", "V100 PCIE 32GB", 32, 900, 112, None, 0, "NVIDIA V100 data sheet"),
    _row("V100 PCIe 16GB", "V100 PCIE 16GB", 16, 900, 112, None, 0, "NVIDIA V100 data sheet"),
    _row("T4", "T4", 16, 320, 65, 130, 0, "NVIDIA T4 data sheet (300 GB/s and more), NVIDIA Turing white paper (320 GB/s)"),
    _row("MI355X", "MI355X", 288, 8000, 2516.6, 5033.2, 1075, _CDNA4),
    _row("MI350X", "MI350X", 288, 8000, 2306.9, 4613.7, 1075, _CDNA4),
    _row("MI325X", "MI325X", 256, 6000, 1307.4, 2614.9, 896, _CDNA3),
    _row("MI300X", "MI300X", 192, 5300, 1307.4, 2614.9, 896, _CDNA3),
    _row("MI250X", "MI250X", 64, 1638.4, 191.5, 191.5, 400, f"{_CDNA2}: one of its two dies, which is what the driver shows"),
    _row("MI210", "MI210", 64, 1638.4, 181, 181, 300, _CDNA2),
)

_QUALIFIERS = frozenset({
    "SXM", "SXM2", "SXM3", "SXM4", "SXM5", "SXM6", "PCIE", "NVL", "CNX",
    "LAPTOP", "MOBILE", "MAX", "D", "TI", "SUPER", "3E", "SERVER", "WORKSTATION",
})  # fmt: skip
"""Words that make another card of the same name: one that no spelling of a row knows means a card that the row is not."""

_PARTS = re.compile(r"MIG|VF|\d+[ABCQ]")
"""Words that mark a part of a card (MIG instance, vGPU profile, virtual function): its share of the bandwidth is not told."""

_LONGEST = 120
"""Letters of a model's name that are read: vendors use a third of it."""


@lru_cache(maxsize=1024)
def accelerator(model: str) -> Accelerator | None:
    """The card that a driver or exporter calls by this name.

    None if the table does not know it, if the name leaves open which of several cards is meant (``A100``: 40 or 80 GB),
    or if it names a part of a card.
    """
    words = frozenset(re.findall(r"[A-Z0-9]+", model[:_LONGEST].upper()))
    if any(_PARTS.fullmatch(word) for word in words):
        return None
    found = [row for row in TABLE if any(_means(spelling, words) for spelling in row.spellings)]
    return found[0] if len(found) == 1 else None


def _means(spelling: frozenset[str], words: frozenset[str]) -> bool:
    """Whether a name has all words of a spelling and no word that makes another card of it."""
    return spelling <= words and words & _QUALIFIERS <= spelling


def meant(model: str) -> tuple[Accelerator, ...]:
    """The cards that a person may mean by a name: the one that it tells for sure, else all that it leaves open.

    ``A100-80GB`` leaves open whether it is an SXM module or a PCIe card; the size of the memory may be part of every name.
    """
    sure = accelerator(model)
    if sure is not None:
        return (sure,)
    words = frozenset(re.findall(r"[A-Z0-9]+", model[:_LONGEST].upper())) - _MAKERS
    return tuple(row for row in TABLE if words and any(words <= {*spelling, _sold_as(row)} for spelling in row.spellings))


_MAKERS = frozenset({"NVIDIA", "AMD", "TESLA", "INSTINCT", "GEFORCE"})


def _sold_as(card: Accelerator) -> str:
    """The size of a card's memory as a word of its name."""
    return f"{card.memory / _GIB:.0f}GB"

"""What describes where a program runs: ``collect_env`` of PyTorch, vLLM and SGLang, ``topo -m``, variables, ``ulimit``."""

from triage.ingest.logs.redaction import redacted_bytes
from triage.ingest.logs.shown.form import Shown, Take
from triage.model.recording import Subject
from triage.patterns import Pattern

_BEGIN = Pattern(
    rb"^Collecting environment information|^PyTorch version *: |^CUDA available: (?:True|False)$|^Architecture: +\w+$"
)
_ENTRY = Pattern(rb"^ *((?:\[\w+\] )?[A-Za-z][^:=]{0,60}?) *(?::|==) *(.*?)\s*$")
_PART = Pattern(rb"^={3,}\s*$|^\s|^Versions of relevant libraries|^\[\w+\] |^(?:GPU|NIC)\d|^Legend")
_FOREIGN = Pattern(
    rb"^\W*(?:INFO|WARN\w*|ERROR|DEBUG|CRITICAL|FATAL|Traceback|[\w.]*(?:Error|Exception|Warning)\b)|^\(\w+ pid=|^[$#>] "
)
"""What a program writes into a log rather than into such a description."""

_FACTS: dict[str, tuple[str, str]] = {
    "nvidia driver version": ("node", "driver_version"), "cuda driver version": ("node", "driver_version"),
    "cuda runtime version": ("engine", "cuda_runtime_version"), "cuda used to build pytorch": ("engine", "torch_cuda_version"),
    "rocm used to build pytorch": ("engine", "rocm_version"), "pytorch version": ("engine", "torch_version"),
    "pytorch": ("engine", "torch_version"), "vllm version": ("engine", "engine_version"), "sglang": ("engine", "engine_version"),
    "python version": ("engine", "python_version"), "os": ("node", "os"), "gcc version": ("engine", "gcc_version"),
    "is cuda available": ("engine", "cuda_available"), "cuda available": ("engine", "cuda_available"),
    "cpu(s)": ("node", "cpu_cores"), "model name": ("node", "cpu_model"), "ulimit soft": ("engine", "open_files_limit"),
    "transformers": ("engine", "transformers_version"), "triton": ("engine", "triton_version"),
    "flashinfer": ("engine", "flashinfer_version"), "flashinfer-python": ("engine", "flashinfer_version"),
}  # fmt: skip
"""What an entry says, and of whom."""

_UNKNOWN = frozenset({"", "n/a", "could not collect", "none", "not found", "no"})
_ENGINES = {"vllm version": "vllm", "sglang": "sglang"}
_CARD = Pattern(r"^gpu ([\d,]+)$")
_MAJOR = Pattern(r"(\d{1,3})(?:\.(\d{1,4}))?")
_OLDEST_DRIVER = {"11": (450, 80), "12": (525, 60), "13": (580, 65)}
"""Oldest driver of Linux on which CUDA of a major version runs: CUDA Toolkit release notes, minor version compatibility."""


def begins(line: bytes) -> bool:
    """Whether a line is the first of a description of an environment."""
    return _BEGIN.search(line) is not None


class Environment:
    """Reads a description up to the first line that a program would rather write into a log."""

    def __init__(self, shown: Shown) -> None:
        self._shown = shown
        self._facts: dict[str, str] = {}
        self._cards: list[str] = []
        self._matrix: Matrix | None = None

    def feed(self, line: bytes, *, stamped: bool) -> Take:
        """Takes a line; variables may mean something besides."""
        if stamped or _FOREIGN.search(line) is not None:
            return Take.OVER
        if variable(self._shown, line):
            return Take.ALSO
        if begins_matrix(line):
            self._matrix = Matrix(self._shown)
        if self._matrix is not None and self._matrix.feed(line, stamped=False) is Take.WHOLE:
            return Take.WHOLE
        self._matrix = None
        entry = _ENTRY.search(line)
        if entry is not None:
            self._entry(redacted_bytes(entry.group(1)).lower(), redacted_bytes(entry.group(2), 200))
        return Take.WHOLE if entry is not None or _PART.search(line) is not None or begins(line) else Take.OVER

    def _entry(self, key: str, value: str) -> None:
        key = key.removeprefix("[pip3] ").removeprefix("[conda] ")
        card = _CARD.search(key)
        if card is not None and value and not value[:1].isdigit():
            self._cards.extend([value.partition(" (UUID")[0]] * len(card.group(1).split(",")))
        if key in _FACTS and value.lower() not in _UNKNOWN:
            self._facts.setdefault(key, value)

    def finish(self) -> None:
        """Brings what was described."""
        shown = self._shown
        whose = {"node": shown.node, "engine": shown.engine}
        for key, value in self._facts.items():
            subject, name = _FACTS[key]
            shown.fact(whose[subject], name, value)
            if key in _ENGINES:
                shown.fact(shown.engine, "engine", _ENGINES[key])
        if self._cards:
            shown.fact(shown.node, "gpu_model", self._cards[0])
            shown.fact(shown.node, "gpu_count", float(len(self._cards)))
        self._blind(shown.engine)

    def _blind(self, engine: Subject) -> None:
        """Says why a program sees no card, where the driver is older than its CUDA needs."""
        told = {_FACTS[key][1]: value for key, value in self._facts.items()}
        if told.get("cuda_available") != "False":
            return
        cuda, driver = _MAJOR.search(told.get("torch_cuda_version", "")), _MAJOR.search(told.get("driver_version", ""))
        oldest = _OLDEST_DRIVER.get(cuda.group(1)) if cuda is not None else None
        if cuda is None or driver is None or oldest is None:
            return
        if (int(driver.group(1)), int(driver.group(2) or 0)) < oldest:
            told_so = f"the NVIDIA driver {told['driver_version']} is too old for CUDA {cuda.group()}, which needs {oldest[0]}"
            self._shown.remark(told_so, engine, "engine")


# ---------------------------------------------------------------- variables

_VARIABLE = Pattern(
    rb"^(?:export |- )?((?:NCCL|RCCL|UCX|GLOO|VLLM|SGLANG|SGL|TRTLLM|TLLM|OLLAMA|CUDA|NVIDIA|HIP|ROCR|HSA|PYTORCH|TORCH|HF|RAY"
    rb"|OMP|LMCACHE|MC|NIXL|TRITON|FLASHINFER)_[A-Z0-9_]{1,60})=(\S.*)$"
)
"""A variable of a framework, an engine or a library between them, by the prefixes that those have for their own."""


def variable(shown: Shown, line: bytes) -> bool:
    """Takes a line that sets a variable, as ``env`` prints it; false if it is none."""
    found = _VARIABLE.search(line)
    if found is None:
        return False
    whole = redacted_bytes(line)  # a secret is known by its name
    shown.fact(shown.engine, f"env.{redacted_bytes(found.group(1), 80)}", whole.partition("=")[2])
    return True


# ---------------------------------------------------------------- limits

_LIMIT = Pattern(rb"^([a-z][a-z ]{3,60}?) +\((?:[\w -]{1,30}, )?-([a-z])\) +(\S+)\s*$")
_LIMITS = {"n": "open_files_limit", "l": "locked_memory_limit_kib", "u": "processes_limit"}
"""What ``ulimit`` calls limits by its flags."""


def limit(shown: Shown, line: bytes) -> bool:
    """Takes a line of ``ulimit -a``; false if it is none."""
    found = _LIMIT.search(line)
    if found is None:
        return False
    key = _LIMITS.get(found.group(2).decode())
    if key is not None:
        shown.fact(shown.node, key, redacted_bytes(found.group(3), 40))
    return True


# ---------------------------------------------------------------- topology

_MATRIX = Pattern(rb"^\s*GPU0\s+(?:GPU1|NIC0|mlx5_0|CPU Affinity)")
_ROW = Pattern(rb"^ *(GPU\d{1,3})\s+(.*)$")
_BELOW = Pattern(rb"^ *(?:NIC\d|mlx5_|Legend|NIC Legend)|^ +\S+ += ")
_LINK = Pattern(rb"\b(NV\d+|SYS|NODE|PHB|PXB|PIX|PSB)\b")
_SLOWEST = ("SYS", "NODE", "PHB", "PXB", "PIX", "PSB")


def begins_matrix(line: bytes) -> bool:
    """Whether a line heads the matrix of ``nvidia-smi topo -m``."""
    return _MATRIX.search(line) is not None


class Matrix:
    """Reads how cards reach each other: the slowest way between any two is what a group of them has."""

    def __init__(self, shown: Shown) -> None:
        self._shown = shown
        self._columns = 0
        self._links: set[str] = set()

    def feed(self, line: bytes, *, stamped: bool) -> Take:
        """Takes the heading, a row, or a line of the legend."""
        if stamped:
            return Take.OVER
        if begins_matrix(line):
            self._columns = line.count(b"GPU") - line.count(b"GPU NUMA")
            return Take.WHOLE
        row = _ROW.search(line)
        if row is not None:
            cells = row.group(2).split()[: self._columns]
            self._links.update(found.decode() for cell in cells for found in _LINK.findall(cell))
            bonds = sorted(self._links - set(_SLOWEST), key=lambda one: int(one[2:]))
            slowest = next((one for one in (*_SLOWEST, *bonds) if one in self._links), "")
            self._shown.fact(self._shown.node, "gpu_topology", slowest)
            return Take.WHOLE
        return Take.WHOLE if _BELOW.search(line) is not None else Take.OVER

    def finish(self) -> None:
        """Nothing waits."""

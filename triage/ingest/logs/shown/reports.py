"""Reports that name what is bad: ``dcgmi diag``, ``nvidia-smi nvlink``, ``ibstat`` and ``ibv_devinfo``, tables of AMD's cards."""

from triage.ingest.logs.redaction import redacted_bytes
from triage.ingest.logs.shown.form import Shown, Take
from triage.ingest.logs.shown.quantities import quantity, size
from triage.ingest.logs.shown.tables import Row, Table
from triage.patterns import Pattern

# ---------------------------------------------------------------- dcgmi diag

_DIAGNOSTIC = Pattern(rb"^\| *Diagnostic +\| *Result +\|")
_REMAP = Pattern(r"(?i)row remap")
_FAILED = Pattern(r"(?i)^fail")


def begins_diagnostic(line: bytes) -> bool:
    """Whether a line heads the box of ``dcgmi diag``."""
    return _DIAGNOSTIC.search(line) is not None


class Diagnostic:
    """Reads a box of tests with their results: a cell that goes on in the next line is one sentence."""

    def __init__(self, shown: Shown) -> None:
        self._shown = shown
        self._test = ""
        self._result = ""
        self._name = ""
        self._said: list[str] = []

    def feed(self, line: bytes, *, stamped: bool) -> Take:
        """Takes a line of the box."""
        bare = redacted_bytes(line)
        if stamped or bare[:1] not in {"|", "+"}:
            return Take.OVER
        cells = [cell.strip() for cell in bare.strip("|").split("|")]
        if bare[:1] == "|" and len(cells) == 2 and not cells[0].startswith("-"):
            self._row(*cells)
        return Take.WHOLE

    def _row(self, name: str, text: str) -> None:
        if name in {"Error", "Warning", "Info"}:
            self._said.append(text)
            self._name = name
        elif name:
            self._ended()
            self._test, self._result, self._name = name, text, ""
        elif self._name:
            self._said.append(text)
        else:
            self._result = f"{self._result}; {text}"

    def _ended(self) -> None:
        """Says that a test failed, and why."""
        results = [one for one in self._result.split("; ") if _FAILED.search(one) is not None]
        if results and _REMAP.search(self._test) is not None:
            value = " ".join((*results, *self._said))
            self._shown.state("remapped rows/pending", value, self._shown.node, "nvidia-smi")
        elif results:
            told = " ".join((f"diagnostic {self._test}:", ", ".join(results), *self._said))
            self._shown.remark(told, self._shown.node, "dcgm")
        self._test, self._result, self._said = "", "", []

    def finish(self) -> None:
        """Brings the last test."""
        self._ended()


# ---------------------------------------------------------------- links

_LINKS = Pattern(rb"^GPU (\d{1,3}): .*\(UUID: ((?:GPU|MIG)-[\w-]+)\)")
_LINK = Pattern(rb"^\s+Link (\d{1,2}): (?:<?(inactive|[\d.]+ GB/s)>?|.*)\s*$")


def begins_links(line: bytes) -> bool:
    """Whether a line names a card above its links."""
    return _LINKS.search(line) is not None


class Links:
    """Reads ``nvidia-smi nvlink -s``: which links are inactive. What ``-e`` counts since the boot says nothing of now."""

    def __init__(self, shown: Shown) -> None:
        self._shown = shown
        self._card = ("", "")
        self._states: list[bool] = []

    def feed(self, line: bytes, *, stamped: bool) -> Take:
        """Takes a card or a link."""
        card, link = _LINKS.search(line), _LINK.search(line)
        if stamped or (card is None and link is None):
            return Take.OVER
        if card is not None:
            self._ended()
            self._card = (card.group(1).decode(), card.group(2).decode())
        elif link is not None and link.group(2):
            self._states.append(link.group(2) != b"inactive")
        return Take.WHOLE

    def _ended(self) -> None:
        states, self._states = self._states, []
        if states and not all(states):
            number, uuid = self._card
            told = "all links are inactive" if not any(states) else f"{states.count(False)} of {len(states)} links are inactive"
            self._shown.remark(f"NVLink of GPU {number}: {told}", self._shown.card(number, uuid), "nvidia-smi")

    def finish(self) -> None:
        """Brings the last card."""
        self._ended()


# ---------------------------------------------------------------- ports

_ADAPTER = Pattern(rb"^(?:CA '(\S+)'|hca_id:\s+(\S+))\s*$")
_PORT = Pattern(rb"^\s+(?:Port (\d{1,3}):|port:\s+(\d{1,3}))\s*$")
_FIELD = Pattern(rb"^\s+([\w ]+?):\s+(\S.*?)\s*$")


def begins_ports(line: bytes) -> bool:
    """Whether a line names an adapter of a fast network."""
    return _ADAPTER.search(line) is not None


class Ports:
    """Reads ``ibstat`` or ``ibv_devinfo``: ports that are down beside ports that are not."""

    def __init__(self, shown: Shown) -> None:
        self._shown = shown
        self._adapter = ""
        self._states: dict[str, str] = {}
        self._port = ""

    def feed(self, line: bytes, *, stamped: bool) -> Take:
        """Takes a line of an adapter."""
        adapter, port, entry = _ADAPTER.search(line), _PORT.search(line), _FIELD.search(line)
        if stamped or (adapter is None and line[:1] not in b" \t"):
            return Take.OVER
        if adapter is not None:
            self._adapter = redacted_bytes(adapter.group(1) or adapter.group(2), 60)
        elif port is not None:
            self._port = f"{self._adapter} port {(port.group(1) or port.group(2)).decode()}"
        elif entry is not None and entry.group(1).strip().lower() == b"state" and self._port:
            self._states[self._port] = redacted_bytes(entry.group(2), 40)
        return Take.WHOLE

    def finish(self) -> None:
        """Brings how many ports are up, and which are not."""
        up = [port for port, state in self._states.items() if "active" in state.lower()]
        if self._states:
            self._shown.sample("node.ib_ports_up", self._shown.node, float(len(up)))
        for port, state in self._states.items():
            if up and port not in up:
                self._shown.state(f"ports/{port}", state, self._shown.node, "ibstat")


# ---------------------------------------------------------------- AMD


def _amd(shown: Shown, row: Row) -> None:
    """A row of ``rocm-smi`` or ``amd-smi monitor``."""
    card = shown.card(row.get("Device") or row.get("GPU", ""))
    shown.sample("gpu.util", card, quantity(row.get("GPU%") or row.get("GFX%", ""), "%"))
    shown.sample("gpu.power", card, quantity(row.get("Power") or row.get("POWER", ""), "w"))
    shown.sample("gpu.power_limit", card, quantity(row.get("PwrCap", ""), "w"))
    shown.sample("gpu.temp", card, quantity(row.get("Temp") or row.get("GPU_T", ""), "c"))
    shown.sample("gpu.sm_clock", card, quantity(row.get("SCLK") or row.get("GFX_CLK", ""), "mhz"))
    used, _, whole = (row.get("VRAM_USAGE") or row.get("VRAM_USED", "")).partition("/")
    if whole:
        unit = whole.strip().partition(" ")[2]
        shown.sample("gpu.mem_used", card, size(used if " " in used.strip() else f"{used} {unit}"))
        shown.sample("gpu.mem_total", card, size(whole))


TABLES: tuple[Table, ...] = (
    Table(frozenset({"Device", "SCLK", "MCLK", "GPU%"}), _amd, ("Device", r"^\d{1,3}$")),
    Table(frozenset({"GPU", "POWER", "GFX_CLK", "GFX%"}), _amd, ("GPU", r"^\d{1,3}$")),
)
"""Tables of AMD's cards."""

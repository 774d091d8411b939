"""Finds the forms in a text, and gives each line to the reader of the form that it belongs to."""

from collections.abc import Callable

import re2

from triage.ingest.logs.shown import (
    answers,
    benchmark,
    cgroup,
    cluster,
    containers,
    documents,
    environment,
    exposition,
    host,
    kubectl,
    loadtest,
    objects,
    prompt,
    reports,
    smi_columns,
    smi_report,
    smi_table,
    transports,
)
from triage.ingest.logs.shown.form import Form, Shown, Take
from triage.ingest.logs.shown.tables import Rows, Table, table_of
from triage.ingest.logs.timestamps import Clock

_TABLES: tuple[Table, ...] = (*cluster.TABLES, *containers.TABLES, *host.TABLES, *reports.TABLES)

_MAY_BEGIN = re2.compile(
    b"|".join(
        (
            rb"NVIDIA-SMI|NVSMI|^(?:Driver Version|Attached GPUs) |^GPU |^# ?(?:Date|gpu)",
            rb"^[a-z][\w.]+(?: \[\S+\])?, ?\w|^\s*GPU0\s",
            rb"\b(?:NAMES?|PID|Filesystem|available|swpd)\b|(?:GPU|GFX)%|%util|^LAST SEEN|^NAMESPACE",
            rb"^(?:Name|Status|Reason): |^(?:- )?apiVersion: |^[\[{]+\s*$",
            documents.ONE_LINE,
            rb"^=+ ?[\w -]*[Bb]enchmark|GenAI-Perf|AIPerf|^Running \d|^Summary:|\.\.: ",
            rb"^# (?:HELP|TYPE) |^[A-Za-z_:][\w:]*\{.*\} +[+-]?\d|^Collecting env|^PyTorch version|^CUDA available",
            rb"^# +Transport: |User Count",
            rb"^(?:export |- )?[A-Z]{2,}[A-Z0-9_]*=|^[a-z ]{4,60}\(|^\| *Diagnostic|^CA '|^hca_id",
            rb"^TCP: +\d|load average|^%?Cpu\(s\)|^[KMG]iB (?:Mem|Swap)|^Architecture: ",
        )
    )
)
"""What lines with which a form begins have: most lines of a log have none of it, and that must cost next to nothing."""

_HEADING = re2.compile(rb"^(?:[=#*>-]{1,8} ?|\[)([A-Za-z0-9][\w.:/-]{0,80}?)[\]:]?(?: ?[=#*<-]{1,8})?\s*$")
"""What people print between the outputs of a loop: ``== 8001``, ``--- chat-0 ---``, ``# node-2:8000``."""

_BEGINS: tuple[tuple[Callable[[bytes], bool], Callable[[Shown], Form]], ...] = (
    (smi_report.begins, smi_report.SmiReport),
    (smi_table.begins, smi_table.SmiTable),
    (smi_columns.watches, smi_columns.SmiWatch),
    (transports.begins, transports.Transports),
    (loadtest.begins, loadtest.LoadTest),
    (benchmark.begins, benchmark.Benchmark),
    (environment.begins, environment.Environment),
    (environment.begins_matrix, environment.Matrix),
    (reports.begins_diagnostic, reports.Diagnostic),
    (reports.begins_links, reports.Links),
    (reports.begins_ports, reports.Ports),
    (exposition.begins, exposition.Exposition),
    (documents.begins_json, lambda shown: documents.JsonDocument(shown, value_of)),
    (documents.begins_yaml, lambda shown: documents.YamlDocument(shown, value_of)),
)
"""Forms by how they begin; tables are known by their columns."""

_LINES: tuple[Callable[[Shown, bytes], bool], ...] = (environment.variable, environment.limit, host.line)
"""Forms of which each line stands for itself."""


def value_of(value: object, shown: Shown) -> int:
    """Reads a document; returns how much of it was known."""
    return objects.read(value, shown) + answers.read(value, shown)


class ShownForms:
    """Reads what commands showed, wherever it stands in a text.

    :param clock: reads columns of times
    :param within: the text is of something else than the cluster, whose own lines have the form of ``kubectl``'s
    """

    def __init__(self, shown: Shown, clock: Clock, *, within: bool) -> None:
        self._shown = shown
        self._clock = clock
        self._within = within
        self._form: Form | None = None
        self._asked: tuple[str, list[str]] = ("", [])
        self.lines = 0
        """Lines that were read."""

    def feed(self, line: bytes, time: float, *, stamped: bool) -> Take:
        """Takes a line.

        :param time: Unix time of what is read now
        :param stamped: the line begins with a stamp, so that it begins no form
        """
        if isinstance(self._form, Rows) and self._heads(line):
            self.finish()
        if self._form is not None:
            self._shown.time = time
            took = self._form.feed(line, stamped=stamped)
            if took is not Take.OVER:
                self.lines += 1
                return took
            self.finish()
        if stamped and not self._asked[0] and line[:1] != b"$":
            return Take.OVER
        return self._begin(line, time)

    @property
    def keeps(self) -> bool:
        """Whether the lines of a document are kept until its end: nothing else in them counts."""
        return isinstance(self._form, documents.JsonDocument | documents.YamlDocument)

    def _begin(self, line: bytes, time: float) -> Take:
        if (line[:1] in b"[($#" or b"@" in line[:40]) and self._command(line):
            return Take.OVER
        if (heading := _HEADING.search(line)) is not None:
            self._shown.heading = heading.group(1).decode("utf-8", "replace")
        if not self._asked[0] and _MAY_BEGIN.search(line) is None:
            return Take.OVER
        self._shown.time = time
        if any(reads(self._shown, line) for reads in _LINES):
            self.lines += 1
            return Take.ALSO
        if documents.is_read(line, self._shown, value_of):
            self.lines += 1
            return Take.WHOLE
        form = self._form = self._form_of(line)
        if form is None:
            return Take.OVER
        return self._first(form, line)

    @staticmethod
    def _heads(line: bytes) -> bool:
        """Whether a line heads a table: empty lines between two are not read."""
        return _MAY_BEGIN.search(line) is not None and table_of(line, _TABLES) is not None

    def read_value(self, value: object, time: float) -> int:
        """Reads a whole document; returns how much of it was known."""
        self._shown.time = time
        known = value_of(value, self._shown)
        self.lines += known
        return known

    def _first(self, form: Form, line: bytes) -> Take:
        """Gives a form the line that it begins with; a table knows its heading already."""
        self.lines += 1
        return Take.WHOLE if isinstance(form, Rows) else form.feed(line, stamped=False)

    def _command(self, line: bytes) -> bool:
        """Takes what was typed: at which host, and for which columns; false if the line is no such thing."""
        of_its_own = smi_columns.watches(line) or exposition.begins(line) or transports.begins(line)
        typed = None if of_its_own else prompt.typed(line)
        if typed is None:
            return False
        host, command = typed
        self._shown.host = host or self._shown.host
        self._shown.enters(prompt.container_in(command) or host)
        self._asked = smi_columns.asked_for(command)
        self._form = cgroup.asked(self._shown, command)
        return True

    def _form_of(self, line: bytes) -> Form | None:
        shown = self._shown
        if self._within and kubectl.begins(line):
            return kubectl.Kubectl(shown)
        made = next((make for begins, make in _BEGINS if begins(line)), None)
        if made is not None:
            return made(shown)
        return self._rows_of_smi(line) or self._table_of(line)

    def _rows_of_smi(self, line: bytes) -> Form | None:
        """Rows of comma-separated values below their heading, or below the command that asked for them."""
        columns, processes = smi_columns.headings(line), smi_columns.process_headings(line)
        if processes:
            return smi_columns.SmiCsv(self._shown, processes, self._clock, smi_columns.process_row)
        if columns:
            return smi_columns.SmiCsv(self._shown, columns, self._clock, smi_columns.card_row)
        (what, names), self._asked = self._asked, ("", [])
        if names and line.count(b",") == len(names) - 1:
            row = smi_columns.card_row if what == "gpu" else smi_columns.process_row
            return smi_columns.SmiCsv(self._shown, names, self._clock, row)
        return None

    def _table_of(self, line: bytes) -> Form | None:
        table = table_of(line, _TABLES)
        return Rows(self._shown, table, line) if table is not None else None

    def finish(self) -> None:
        """The form that is read now has ended."""
        form, self._form = self._form, None
        if form is not None:
            form.finish()

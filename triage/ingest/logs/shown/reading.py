"""Finds the forms in a text, and gives each line to the reader of the form that it belongs to."""

import re2

from triage.ingest.logs.shown import cluster, containers, host, kubectl, smi_columns, smi_report, smi_table
from triage.ingest.logs.shown.form import Form, Shown, Take
from triage.ingest.logs.shown.tables import Rows, Table, table_of
from triage.ingest.logs.timestamps import Clock

_TABLES: tuple[Table, ...] = (*cluster.TABLES, *containers.TABLES, *host.TABLES)

_MAY_BEGIN = re2.compile(
    rb"NVIDIA-SMI|NVSMI|^LAST SEEN|^NAMESPACE|^Name: |^GPU [0-9A-Fa-f]{4}|^(?:Driver Version|Attached GPUs) |^# ?(?:Date|gpu)"
    rb"|^[a-z][\w.]+(?: \[\S+\])?, ?\w|\b(?:NAMES?|PID|Filesystem|available|swpd)\b|^Device:? |%util"
)
"""What lines with which a form begins have: most lines of a log have none of it, and that must cost next to nothing."""

_PROMPT = re2.compile(rb"^(?:\([\w.-]+\) ?)?(?:\[?[\w.-]+@([\w.-]+)[: ][^$#]{0,80}[$#]|[$#]) +(\S.*)$")
"""A command that somebody typed behind a prompt, and the host that the prompt names."""


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
        if stamped and not self._asked[0]:
            return Take.OVER
        return self._begin(line, time)

    def _begin(self, line: bytes, time: float) -> Take:
        if (line[:1] in b"[($#" or b"@" in line[:40]) and self._command(line):
            return Take.OVER
        if not self._asked[0] and _MAY_BEGIN.search(line) is None:
            return Take.OVER
        self._shown.time = time
        form = self._form = self._form_of(line)
        if form is None:
            return Take.OVER
        return self._first(form, line)

    @staticmethod
    def _heads(line: bytes) -> bool:
        """Whether a line heads a table: empty lines between two are not read."""
        return _MAY_BEGIN.search(line) is not None and table_of(line, _TABLES) is not None

    def _first(self, form: Form, line: bytes) -> Take:
        """Gives a form the line that it begins with; a table knows its heading already."""
        self.lines += 1
        return Take.WHOLE if isinstance(form, Rows) else form.feed(line, stamped=False)

    def _command(self, line: bytes) -> bool:
        """Takes what was typed: at which host, and for which columns; false if the line is no such thing."""
        typed = None if smi_columns.watches(line) else _PROMPT.search(line)
        if typed is None:
            return False
        self._shown.host = (typed.group(1) or b"").decode("ascii", "replace") or self._shown.host
        self._asked = smi_columns.asked_for(typed.group(2))
        return True

    def _form_of(self, line: bytes) -> Form | None:
        shown = self._shown
        if self._within and kubectl.begins(line):
            return kubectl.Kubectl(shown)
        if smi_report.begins(line):
            return smi_report.SmiReport(shown)
        if smi_table.begins(line):
            return smi_table.SmiTable(shown)
        if smi_columns.watches(line):
            return smi_columns.SmiWatch(shown)
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

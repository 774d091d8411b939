"""The forms that are known, and by what each is known. They are loaded when a line may begin one of them: most logs hold none."""

from collections.abc import Callable

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
    reports,
    smi_columns,
    smi_report,
    smi_table,
    transports,
)
from triage.ingest.logs.shown.form import Form, Shown
from triage.ingest.logs.shown.tables import Rows, Table, table_of
from triage.ingest.logs.timestamps import Clock

_TABLES: tuple[Table, ...] = (*cluster.TABLES, *containers.TABLES, *host.TABLES, *reports.TABLES)

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

Asked = tuple[str, list[str]]
"""What a typed command asked nvidia-smi for, and the fields: its output may have no heading."""

LINES: tuple[Callable[[Shown, bytes], bool], ...] = (environment.variable, environment.limit, host.line)
"""Forms of which each line stands for itself."""


def value_of(value: object, shown: Shown) -> int:
    """Reads a document; returns how much of it was known."""
    return objects.read(value, shown) + answers.read(value, shown)


def is_document(form: Form) -> bool:
    """Whether a form keeps the lines of a document until its end: nothing else in them counts."""
    return isinstance(form, documents.JsonDocument | documents.YamlDocument)


def is_read(line: bytes, shown: Shown) -> bool:
    """Reads a line that is a whole document; false if it is none that is known."""
    return documents.is_read(line, shown, value_of)


def begins_of_itself(line: bytes) -> bool:
    """Whether a line that looks like a typed command is the first one of a form."""
    return smi_columns.watches(line) or exposition.begins(line) or transports.begins(line)


def answers_to(command: bytes, shown: Shown) -> tuple[Asked, Form | None]:
    """What a typed command asks for, and the form of what it shows, if that has no sign of its own."""
    return smi_columns.asked_for(command), cgroup.asked(shown, command)


def follows(form: Form, line: bytes) -> bool:
    """Whether a line heads another table than the one that is read: empty lines between two are not read."""
    return isinstance(form, Rows) and table_of(line, _TABLES) is not None


def form_of(line: bytes, shown: Shown, clock: Clock, asked: Asked, *, within: bool) -> tuple[Form | None, bool]:
    """The form that a line begins, or whose first row it is, and whether it has read that line already.

    :param clock: reads columns of times
    :param within: the text is of something else than the cluster, whose own lines have the form of ``kubectl``'s
    """
    if within and kubectl.begins(line):
        return kubectl.Kubectl(shown), False
    made = next((make for begins, make in _BEGINS if begins(line)), None)
    if made is not None:
        return made(shown), False
    rows = _rows_of_smi(line, shown, clock, asked)
    table = table_of(line, _TABLES) if rows is None else None
    return (rows, False) if table is None else (Rows(shown, table, line), True)


def _rows_of_smi(line: bytes, shown: Shown, clock: Clock, asked: Asked) -> Form | None:
    """Rows of comma-separated values below their heading, or below the command that asked for them."""
    columns, processes = smi_columns.headings(line), smi_columns.process_headings(line)
    if processes:
        return smi_columns.SmiCsv(shown, processes, clock, smi_columns.process_row)
    if columns:
        return smi_columns.SmiCsv(shown, columns, clock, smi_columns.card_row)
    what, names = asked
    if names and line.count(b",") == len(names) - 1:
        row = smi_columns.card_row if what == "gpu" else smi_columns.process_row
        return smi_columns.SmiCsv(shown, names, clock, row)
    return None

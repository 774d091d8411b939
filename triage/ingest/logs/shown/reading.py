"""Finds the forms in a text, and gives each line to the reader of the form that it belongs to."""

from triage.ingest.logs.shown import prompt
from triage.ingest.logs.shown.form import ONE_LINE, Form, Shown, Take
from triage.ingest.logs.timestamps import Clock
from triage.patterns import Pattern

_MAY_BEGIN = Pattern(
    b"|".join(
        (
            rb"NVIDIA-SMI|NVSMI|^(?:Driver Version|Attached GPUs) |^GPU |^# ?(?:Date|gpu)",
            rb"^[a-z][\w.]+(?: \[\S+\])?, ?\w|^\s*GPU0\s",
            rb"\b(?:NAMES?|PID|Filesystem|available|swpd)\b|(?:GPU|GFX)%|%util|^LAST SEEN|^NAMESPACE",
            rb"^(?:Name|Status|Reason): |^(?:- )?apiVersion: |^[\[{]+\s*$",
            ONE_LINE,
            rb"^=+ ?[\w -]*[Bb]enchmark|GenAI-Perf|AIPerf|^Running \d|^Summary:|\.\.: ",
            rb"^# (?:HELP|TYPE) |^[A-Za-z_:][\w:]*\{.*\} +[+-]?\d|^Collecting env|^PyTorch version|^CUDA available",
            rb"^# +Transport: |User Count",
            rb"^(?:export |- )?[A-Z]{2,}[A-Z0-9_]*=|^[a-z ]{4,60} \([^)]{0,40}-[a-z]\)|^\| *Diagnostic|^CA '|^hca_id",
            rb"^TCP: +\d|load average|^%?Cpu\(s\)|^[KMG]iB (?:Mem|Swap)|^Architecture: ",
        )
    )
)
"""What lines with which a form begins have: most lines of a log have none of it, and that must cost next to nothing."""

_HEADING = Pattern(rb"^(?:[=#*>-]{1,8} ?|\[)([A-Za-z0-9][\w.:/-]{0,80}?)[\]:]?(?: ?[=#*<-]{1,8})?\s*$")
"""What people print between the outputs of a loop: ``== 8001``, ``--- chat-0 ---``, ``# node-2:8000``."""


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
        self.keeps = False
        """The lines of a document are kept until its end: nothing else in them counts."""
        self.lines = 0
        """Lines that were read."""

    def feed(self, line: bytes, time: float, *, stamped: bool) -> Take:
        """Takes a line.

        :param time: Unix time of what is read now
        :param stamped: the line begins with a stamp, so that it begins no form
        """
        took = self._go_on(self._form, line, time, stamped=stamped) if self._form is not None else Take.OVER
        if took is not Take.OVER:
            return took
        if stamped and not self._asked[0] and line[:1] != b"$":
            return Take.OVER
        return self._begin(line, time)

    def _go_on(self, form: Form, line: bytes, time: float, *, stamped: bool) -> Take:
        """Gives a line to the form that is read now; if it is none of it, that has ended."""
        from triage.ingest.logs.shown import known

        if _MAY_BEGIN.search(line) is None or not known.follows(form, line):
            self._shown.time = time
            took = form.feed(line, stamped=stamped)
            if took is not Take.OVER:
                self.lines += 1
                return took
        self.finish()
        return Take.OVER

    def _begin(self, line: bytes, time: float) -> Take:
        if (line[:1] in b"[($#" or b"@" in line[:40]) and self._command(line):
            return Take.OVER
        if (heading := _HEADING.search(line)) is not None:
            self._shown.heading = heading.group(1).decode("utf-8", "replace")
        if not self._asked[0] and _MAY_BEGIN.search(line) is None:
            return Take.OVER
        from triage.ingest.logs.shown import known

        self._shown.time = time
        if any(reads(self._shown, line) for reads in known.LINES):
            self.lines += 1
            return Take.ALSO
        if known.is_read(line, self._shown):
            self.lines += 1
            return Take.WHOLE
        form, has_read = known.form_of(line, self._shown, self._clock, self._asked, within=self._within)
        self._form, self._asked = form, ("", [])
        if form is None:
            return Take.OVER
        self.keeps = known.is_document(form)
        self.lines += 1
        return Take.WHOLE if has_read else form.feed(line, stamped=False)

    def read_value(self, value: object, time: float) -> int:
        """Reads a whole document; returns how much of it was known."""
        from triage.ingest.logs.shown import known

        self._shown.time = time
        count = known.value_of(value, self._shown)
        self.lines += count
        return count

    def _command(self, line: bytes) -> bool:
        """Takes what was typed: at which host, and for which columns; false if the line is no such thing."""
        typed = prompt.typed(line)
        if typed is None:
            return False
        from triage.ingest.logs.shown import known

        if known.begins_of_itself(line):
            return False
        host, command = typed
        self._shown.host = host or self._shown.host
        self._shown.enters(prompt.container_in(command) or host)
        self._asked, self._form = known.answers_to(command, self._shown)
        return True

    def finish(self) -> None:
        """The form that is read now has ended."""
        form, self._form, self.keeps = self._form, None, False
        if form is not None:
            form.finish()

"""Five lines that suffice, for the incident channel: as text, as Markdown, and on top and at the end of a report."""

from triage.model.diagnosis import Diagnosis, Status
from triage.render.answer import five_lines
from triage.render.page import Line, Page
from triage.render.safe import code, inert, markdown

STATUS_SIGNS = {
    Status.HEALTHY: ("✔", "good"),
    Status.DEGRADED: ("▲", "warn"),
    Status.INCIDENT: ("✖", "bad"),
    Status.INCONCLUSIVE: ("?", "unsure"),
}


_HANG = 12
"""Columns before the words of a line: an indent of two, and its label."""


def brief_text(diagnosis: Diagnosis, *, width: int, colour: bool, utf8: bool = True, flags: str = "") -> str:
    """The five lines as text.

    :param width: columns of the terminal
    :param flags: what names the incident on the command line
    """
    page = Page(width, utf8)
    write_five(page, inert(diagnosis), flags)
    return page.printed(colour=colour)


def write_five(page: Page, diagnosis: Diagnosis, flags: str = "") -> None:
    """The five lines onto a page; the diagnosis is clean already."""
    what, *others = five_lines(diagnosis, flags)
    sign, style = STATUS_SIGNS[diagnosis.status]
    state: Line = [(diagnosis.status.value.upper(), style), "  ", (diagnosis.service, "strong"), "  ", (what.text, "strong")]
    page.para(state, lead=(f"{sign} ", style))
    for told in others:
        lead = (f"{told.label:<10}", "dim")
        if told.is_command and len(told.text) <= page.width - _HANG:
            page.verbatim([lead, (told.text, "command")], indent=2)
        elif told.is_command:
            page.para(lead, indent=2)
            page.verbatim((told.text, "command"), indent=2)
        else:
            page.para(told.text, lead=lead, indent=2)
        for below in told.below:
            page.para(below, indent=_HANG)


def brief_markdown(diagnosis: Diagnosis, *, flags: str = "") -> str:
    """The five lines as Markdown."""
    return "\n".join(five_in_markdown(inert(diagnosis), flags)) + "\n"


def five_in_markdown(diagnosis: Diagnosis, flags: str = "") -> list[str]:
    """The five lines, the first in bold and the others as a list; the diagnosis is clean already."""
    what, *others = five_lines(diagnosis, flags)
    sign, _ = STATUS_SIGNS[diagnosis.status]
    lines = [f"**{sign} {diagnosis.status.value.upper()} {markdown(diagnosis.service)}: {markdown(what.text)}**", ""]
    for told in others:
        lines.append(f"- **{told.label}:** {code(told.text) if told.is_command else markdown(told.text)}")
        lines += [f"  - {markdown(below)}" for below in told.below]
    return lines

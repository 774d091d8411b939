"""How a diagnosis reads. A view reads a diagnosis and nothing else.

What is slow to import is imported by the function that needs it, so that the command line starts at once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, get_args

from triage.errors import UsageError

if TYPE_CHECKING:
    from triage.model.diagnosis import Diagnosis

Format = Literal["text", "json", "markdown", "html"]

FORMATS: tuple[Format, ...] = get_args(Format)


def render(
    diagnosis: Diagnosis,
    format: Format,  # noqa: A002 - the name of the flag
    *,
    width: int | None = None,
    colour: bool = False,
    verbose: bool = False,
    utf8: bool = True,
) -> str:
    """The diagnosis in one of the formats, ending in a newline.

    Width, colour and characters are for text only; :mod:`triage.render.terminal` finds out what a stream can show.

    :param width: columns for text; None for those of the terminal that the process runs in
    :param verbose: everything instead of the most important part of long lists (JSON and HTML always hold everything)
    :raises UsageError: no such format
    """
    if format == "text":
        from triage.render.terminal import columns
        from triage.render.text import to_text

        return to_text(diagnosis, width=width or columns(), colour=colour, verbose=verbose, utf8=utf8)
    if format == "json":
        from triage.render.json import to_json

        return to_json(diagnosis)
    if format == "markdown":
        from triage.render.markdown import to_markdown

        return to_markdown(diagnosis, verbose=verbose)
    if format == "html":
        from triage.render.html import to_html

        return to_html(diagnosis)
    raise UsageError(f"no format is called {format}", f"choose one of {', '.join(FORMATS)}")


def one_line(diagnosis: Diagnosis) -> str:
    """The answer in one line for a scheduled check, as Nagios and its heirs read it, without a line end."""
    from triage.render.oneline import one_line as line

    return line(diagnosis)

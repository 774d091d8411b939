"""How a diagnosis reads. A view reads a diagnosis and nothing else.

What is slow to import is imported by the function that needs it, so that the command line starts at once.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Literal, get_args

from triage.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from triage.model.diagnosis import Diagnosis
    from triage.model.playbook import Playbook

Format = Literal["text", "json", "markdown", "html"]

FORMATS: tuple[Format, ...] = get_args(Format)


def render(
    diagnosis: Diagnosis,
    format: Format,  # noqa: A002 - the name of the flag
    *,
    width: int | None = None,
    colour: bool = False,
    verbose: bool = False,
    brief: bool = False,
    utf8: bool = True,
    height: int | None = None,
    flags: str = "",
    playbooks: Mapping[str, Playbook] = MappingProxyType({}),
) -> str:
    """The diagnosis in one of the formats, ending in a newline.

    Width, colour and characters are for text only; :mod:`triage.render.terminal` finds out what a stream can show.

    :param width: columns for text; None for those of the terminal that the process runs in
    :param height: lines for text; of a longer report the answer stands at its end, too. None for those of the terminal
    :param verbose: everything instead of the most important part of long lists (JSON and HTML always hold everything)
    :param brief: the five lines that suffice and nothing else (text and Markdown)
    :param flags: what names the incident on the command line, for the command that shows more
    :param playbooks: those of the kinds that were found, with the names of this incident filled in, for HTML
    :raises UsageError: no such format
    """
    if format == "text":
        from triage.render.terminal import columns, rows

        if brief:
            from triage.render.brief import brief_text

            return brief_text(diagnosis, width=width or columns(), colour=colour, utf8=utf8, flags=flags)
        from triage.render.text import to_text

        screen = {"width": width or columns(), "height": height or rows()}
        return to_text(diagnosis, **screen, colour=colour, verbose=verbose, utf8=utf8, flags=flags)
    if format == "json":
        from triage.render.json import to_json

        return to_json(diagnosis)
    if format == "markdown":
        if brief:
            from triage.render.brief import brief_markdown
            from triage.render.foreign import in_markdown

            return in_markdown(brief_markdown(diagnosis, flags=flags))
        from triage.render.foreign import in_markdown
        from triage.render.markdown import to_markdown

        return in_markdown(to_markdown(diagnosis, verbose=verbose, flags=flags))
    if format == "html":
        from triage.render.foreign import in_html
        from triage.render.html import to_html

        return in_html(to_html(diagnosis, flags=flags, playbooks=playbooks))
    raise UsageError(f"no format is called {format}", f"choose one of {', '.join(FORMATS)}")


def one_line(diagnosis: Diagnosis) -> str:
    """The answer in one line for a scheduled check, as Nagios and its heirs read it, without a line end."""
    from triage.render.oneline import one_line as line

    return line(diagnosis)

"""Several reasons that a line offers for something are guesses of its program: none of them is what happened."""

from triage.patterns import Pattern

CONJECTURE = r"\b(?:possible|potential|probable|likely|common)\W{1,3}(?:\w{1,20}\W{1,3}){0,2}(?:reasons|causes|explanations)\b"
"""The words with which a program begins a list of guesses; one of the patterns that are looked for in every line.

In the plural: a single likely cause is a finding of the program. Ray says so of each process that ends (``Possible reasons
include: (1) SIGKILL by the user or system OOM killer, (2) Invalid memory access``).
"""

_BEGIN = Pattern(rb"(?i)" + CONJECTURE.encode())
_ITEM = Pattern(rb"[(\[]?\b\d{1,2}[)\].]\s")
_SENTENCE_ENDS = Pattern(rb"[.;]\s|\\n|\n|$")


def without_guesses(text: bytes) -> bytes:
    """The line without the reasons that it offers: up to the end of the sentence, or of the last item of a numbered list."""
    begin = _BEGIN.search(text)
    if begin is None:
        return text
    items = [found.end() for found in _ITEM.finditer(text, begin.end())]
    end = _SENTENCE_ENDS.search(text, items[-1] if items else begin.end())
    return text[: begin.start()] + text[end.end() if end is not None else len(text) :]

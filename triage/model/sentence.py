"""The sentence of a rule as a template: names in braces, words by number, and parts that may be left out.

``{subject}`` and names given with ``as`` stand for values, ``{is|are}`` is the first word for one subject and the second for
several, and what stands in square brackets is told only where all its names are known and there is room.
"""

import re
from collections.abc import Mapping
from typing import NamedTuple

LONGEST = 140
"""Letters of a sentence: what a person reads at once, and what a pager and a chat show of a message."""

_OPTIONAL = re.compile(r"\[([^\[\]]*)\]")
_NAME = re.compile(r"\{([^{}]*)\}")


class Part(NamedTuple):
    """A piece of a template.

    :param optional: it may be left out
    """

    text: str
    optional: bool


def parts_of(template: str) -> tuple[Part, ...]:
    """The pieces of a template in their order.

    :raises ValueError: a bracket or a brace is open or closed too often
    """
    pieces = _OPTIONAL.split(template)
    for piece in pieces:
        if any(sign in _NAME.sub("", piece) for sign in "[]{}"):
            raise ValueError("a bracket or a brace is open or closed too often")
    return tuple(Part(piece, index % 2 == 1) for index, piece in enumerate(pieces) if piece)


def names_in(text: str) -> list[str]:
    """The values that a piece speaks of."""
    return [name for name in _NAME.findall(text) if "|" not in name]


def filled(text: str, values: Mapping[str, str], count: int) -> str:
    """A piece with its values, and its words by the number of subjects.

    :raises KeyError: it speaks of a value that is not given
    """
    return _NAME.sub(lambda found: _said(found.group(1), values, count), text)


def _said(name: str, values: Mapping[str, str], count: int) -> str:
    one, several, many = name.partition("|")
    if several:
        return one if count == 1 else many
    return values[name]

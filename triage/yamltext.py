"""Strict YAML with places: no code, no repeated keys, no aliases, and a line and column for every value."""

from collections.abc import Hashable, Sequence
from functools import cached_property

import yaml

from triage.classes import dataclass

Path = Sequence[str | int]
"""Keys and indexes from the root of a document to a value in it."""

LARGEST = 256 * 1024
"""Bytes. Files that people write by hand are a hundred times smaller."""


class YamlError(Exception):
    """The text is not YAML that we take.

    :param text: what is wrong, without a final stop
    :param line: from 1
    :param column: from 1
    """

    def __init__(self, text: str, line: int = 1, column: int = 1) -> None:
        super().__init__(text)
        self.text = text
        self.line = line
        self.column = column


class _Loader(yaml.CSafeLoader):
    """libyaml's safe loader, which also refuses a key that stands twice in one mapping."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, object]:
        """Build a mapping; PyYAML itself would silently keep the last of two equal keys."""
        seen: set[str] = set()
        for key, _ in node.value:
            if not isinstance(key, yaml.ScalarNode):
                raise YamlError("a key must be a plain word", *_place(key))
            if key.value in seen:
                raise YamlError(f"the key {key.value!r} stands here twice", *_place(key))
            seen.add(key.value)
        return super().construct_mapping(node, deep)


def load(data: bytes) -> object:
    """The value that a YAML text stands for.

    :raises YamlError: not UTF-8, not YAML, too large, too deep, with a key given twice, or with anchors and aliases
    """
    if len(data) > LARGEST:
        raise YamlError(f"the file has {len(data)} bytes, and at most {LARGEST} are read")
    text = _decode(data)
    try:
        if "*" in text or "&" in text:
            _refuse_aliases(text)
        return yaml.load(text, Loader=_Loader)  # noqa: S506 - a subclass of the safe loader
    except yaml.MarkedYAMLError as error:
        raise _from_yaml(error) from None
    except yaml.YAMLError as error:
        raise YamlError(" ".join(str(error).split())) from None
    except RecursionError:
        raise YamlError("the values are nested too deeply") from None


def _decode(data: bytes) -> str:
    """The text of UTF-8 bytes."""
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise YamlError(f"byte {error.start} is not UTF-8", line) from None


def _refuse_aliases(text: str) -> None:
    """Refuse references: a few lines of them can stand for gigabytes."""
    for event in yaml.parse(text, Loader=yaml.CSafeLoader):
        if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None):
            raise YamlError("anchors (&) and aliases (*) are not read here; write the value out", *_place(event))


def _place(marked: yaml.Node | yaml.Event) -> tuple[int, int]:
    """Line and column of a node or event, from 1."""
    mark = marked.start_mark
    return (mark.line + 1, mark.column + 1) if mark else (1, 1)


def _from_yaml(error: yaml.MarkedYAMLError) -> YamlError:
    """PyYAML's complaint as one sentence with its place."""
    mark = error.problem_mark or error.context_mark
    text = f"this is not YAML: {error.problem or error.context}"
    return YamlError(text, mark.line + 1, mark.column + 1) if mark is not None else YamlError(text)


@dataclass(frozen=True)
class Marked:
    """A YAML text that was loaded well, for asking where something stands in it."""

    text: str

    @cached_property
    def _root(self) -> yaml.Node | None:
        root: yaml.Node | None = yaml.compose(self.text, Loader=yaml.CSafeLoader)
        return root

    def place(self, path: Path, *, key: bool = False) -> tuple[int, int]:
        """Line and column, from 1, of the value at a path, or of its key; of the nearest value around it if it is not there."""
        node, name = self._root, self._root
        for step in path:
            child = _child(node, step)
            if child is None:
                break
            name, node = child
        wanted = name if key else node
        return _place(wanted) if wanted is not None else (1, 1)


def _child(node: yaml.Node | None, step: str | int) -> tuple[yaml.Node, yaml.Node] | None:
    """Key node and value node one step below."""
    if isinstance(node, yaml.MappingNode):
        return next(((key, value) for key, value in node.value if key.value == step), None)
    if isinstance(node, yaml.SequenceNode) and isinstance(step, int) and 0 <= step < len(node.value):
        return node.value[step], node.value[step]
    return None

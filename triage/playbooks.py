"""Loads playbooks from the shipped folder and the user's, and writes one out with the facts of a service filled in.

A playbook is advice for a person. Nothing in it is run. What is filled in comes from measured data, so it may be hostile:
a value goes into a command only if it is made of harmless characters; otherwise the placeholder stays, as ``<pod>``.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from triage.bundle import bundled
from triage.errors import ConfigError, InputMissingError, UsageError
from triage.model.playbook import (
    ENGINES,
    GATEWAYS,
    HEADINGS,
    PLACEHOLDERS,
    PROSE,
    Advice,
    Command,
    Heading,
    Playbook,
    Section,
    Step,
    Variant,
)

LARGEST = 64 * 1024
"""Bytes of the largest file that is read; ours have a twentieth of that."""

_ID = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
_ITEM = re.compile(r"- \[(read|change)\] (.+)")
_VARIANT = re.compile(rf"  - ({'|'.join(map(re.escape, ENGINES))}): (.+)")
_FENCE = re.compile(r"  ```([a-z]*)")
_PLACEHOLDER = re.compile(r"(?<![%$])\{([a-z_]+)\}")  # not those of curl and the shell
_HARMLESS = re.compile(r"[A-Za-z0-9/][A-Za-z0-9._:/+-]{0,252}")
_UNKNOWN = re.compile(rf"<(?:{'|'.join(PLACEHOLDERS)})>")
_PLAIN = re.compile(r"([a-z_]+): (?!(?:true|false|yes|no|on|off|null|[yn])$)([a-z](?:[^:#]*[^:# ])?)", re.IGNORECASE)
"""A key with a text that YAML takes as it stands. The top of a playbook usually holds nothing else, and to load a reader of YAML
takes 12 ms."""
_RISK = " Risk: "
_HINT = "docs/playbooks.md describes the form"


def list_playbooks(folders: Sequence[Path] = ()) -> tuple[str, ...]:
    """The ids of all playbooks, sorted.

    :param folders: further folders that the user named
    :raises InputMissingError: one of them is no folder
    """
    return tuple(sorted({path.stem for folder in _folders(folders) for path in folder.glob("*.md")}))


def load_playbook(playbook_id: str, folders: Sequence[Path] = ()) -> Playbook:
    """One playbook. A file in a later folder replaces one of the same id in an earlier.

    :raises UsageError: there is none of that id
    :raises ConfigError: its file is wrong; the message names the line
    """
    path = _find(playbook_id, folders)
    lines = _lines(path)
    head, start = _front_matter(path, lines)
    sections = [_section(path, heading, body) for heading, body in _split(path, lines, start)]
    try:
        playbook = Playbook.model_validate({**head, "sections": sections})
    except ValueError as error:
        raise ConfigError(f"{path}: {_sentence(error)}", _HINT) from error
    if playbook.id != playbook_id:
        raise ConfigError(f"{path} has the id {playbook.id!r}, which must equal the file's name", _HINT)
    return playbook


def advice(playbook_id: str, folders: Sequence[Path] = ()) -> Advice:
    """What a playbook says to do first and not to do, read from the top of its file without reading the rest.

    :raises UsageError: there is none of that id
    :raises ConfigError: the top of its file is wrong
    """
    path = _find(playbook_id, folders)
    head, _ = _front_matter(path, _lines(path))
    step, warning = head.get("first_step"), head.get("do_not", "")
    if not isinstance(step, str) or not step:
        raise ConfigError(f"{path} has no first_step", _HINT)
    if not isinstance(warning, str):
        raise ConfigError(f"{path}: do_not must be a sentence", _HINT)
    return Advice(step, warning)


# Files


def _folders(folders: Iterable[Path]) -> Iterator[Path]:
    """The shipped folder, then the user's."""
    yield bundled("playbooks")
    for folder in folders:
        if not folder.is_dir():
            raise InputMissingError(f"{folder} is not a folder of playbooks")
        yield folder


def _find(playbook_id: str, folders: Sequence[Path]) -> Path:
    """The file of an id; what cannot be an id never becomes part of a path."""
    candidates = [folder / f"{playbook_id}.md" for folder in _folders(folders)] if _ID.fullmatch(playbook_id) else []
    found = [path for path in candidates if path.is_file()]
    if found:
        return found[-1]
    from triage.validation import did_you_mean

    raise UsageError(f"there is no playbook {playbook_id!r}", did_you_mean(playbook_id, list_playbooks(folders)))


def _lines(path: Path) -> list[str]:
    """The lines of a file.

    :raises ConfigError: it cannot be read, is too large, or holds control characters
    """
    try:
        data = path.read_bytes()
        text = data.decode()
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path} cannot be read: {error}") from error
    if len(data) > LARGEST:
        raise ConfigError(f"{path} has {len(data)} bytes; a playbook has at most {LARGEST}")
    lines = text.split("\n")
    for number, line in enumerate(lines, start=1):
        if not line.isprintable():
            raise ConfigError(f"{path}:{number} holds a control character")
    return lines


# Parsing


def _front_matter(path: Path, lines: list[str]) -> tuple[dict[str, object], int]:
    """What stands between the two lines ``---`` at the top, and the index of the line after."""
    if lines[0] != "---" or "---" not in lines[1:]:
        raise ConfigError(f"{path} does not begin with front matter between two lines ---", _HINT)
    end = lines.index("---", 1)
    plain: dict[str, object] = {found[1]: found[2] for line in lines[1:end] if (found := _PLAIN.fullmatch(line))}
    if len(plain) == end - 1:
        return plain, end + 1
    from triage.yamltext import YamlError, load

    try:
        head = load("\n".join(lines[1:end]).encode())
    except YamlError as error:
        raise ConfigError(f"{path}:{error.line + 1}: {error.text}", _HINT) from error
    if not isinstance(head, dict):
        raise ConfigError(f"{path}:2 must be keys with values", _HINT)
    return head, end + 1


Numbered = tuple[int, str]


def _split(path: Path, lines: list[str], start: int) -> list[tuple[Heading, list[Numbered]]]:
    """The body cut at its headings; lines carry their numbers."""
    sections: list[tuple[Heading, list[Numbered]]] = []
    for number, line in enumerate(lines[start:], start=start + 1):
        if line.startswith("#"):
            heading = next((h for h in HEADINGS if line == f"## {h}"), None)
            if heading is None:
                raise ConfigError(f"{path}:{number}: {line!r} is none of the headings {', '.join(HEADINGS)}", _HINT)
            sections.append((heading, []))
        elif sections:
            sections[-1][1].append((number, line))
        elif line:
            raise ConfigError(f"{path}:{number} stands before the first heading", _HINT)
    return sections


def _section(path: Path, heading: Heading, body: list[Numbered]) -> Section:
    """One section from its lines."""
    for number, line in body:
        for name in _PLACEHOLDER.findall(line):
            if name not in PLACEHOLDERS:
                raise ConfigError(f"{path}:{number}: {{{name}}} is not a known placeholder", _HINT)
    try:
        if heading in PROSE:
            return Section.model_validate({"heading": heading, "text": _prose(body)})
        return Section.model_validate({"heading": heading, "steps": [_step(path, lines) for lines in _items(path, body)]})
    except ValueError as error:
        number = body[0][0] if body else 0
        raise ConfigError(f"{path}:{number}: {_sentence(error)}", _HINT) from error


def _prose(body: list[Numbered]) -> str:
    """Paragraphs, each on one line, with an empty line between them."""
    paragraphs = "\n".join(line for _, line in body).strip().split("\n\n")
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in paragraphs)


def _items(path: Path, body: list[Numbered]) -> list[list[Numbered]]:
    """The lines of each list item."""
    items: list[list[Numbered]] = []
    for number, line in body:
        if line.startswith("- "):
            items.append([(number, line)])
        elif line.startswith("  ") and items:
            items[-1].append((number, line))
        elif line:
            raise ConfigError(f"{path}:{number}: this line is neither the start of a step ('- [read] …') nor indented", _HINT)
    return items


def _step(path: Path, lines: list[Numbered]) -> Step:
    """One step from the lines of its item."""
    number, first = lines[0]
    item = _ITEM.fullmatch(first)
    if item is None:
        raise ConfigError(f"{path}:{number}: a step begins with '- [read] ' or '- [change] '", _HINT)
    words, variants, commands = [item[2]], [], []
    rest = iter(lines[1:])
    for number, line in rest:
        if fence := _FENCE.fullmatch(line):
            commands.append(_command(path, number, fence[1], rest))
        elif variant := _VARIANT.fullmatch(line):
            variants.append(Variant.model_validate({"engine": ENGINES[variant[1]], "text": variant[2]}))
        elif line.lstrip().startswith(("- ", "```")):
            raise ConfigError(f"{path}:{number}: under a step stand fences, or items for {', '.join(ENGINES)}", _HINT)
        else:
            words.append(line.strip())
    text, _, risk = " ".join(words).partition(_RISK)
    return Step.model_validate({"mark": item[1], "text": text, "risk": risk, "commands": commands, "variants": variants})


def _command(path: Path, number: int, language: str, rest: Iterator[Numbered]) -> Command:
    """The lines up to the closing fence."""
    lines: list[str] = []
    for _, line in rest:
        if line == "  ```":
            return Command(language=language, text="\n".join(lines))
        lines.append(line.removeprefix("  "))
    raise ConfigError(f"{path}:{number}: this fence is not closed", _HINT)


def _sentence(error: ValueError) -> str:
    """The first thing that is wrong, with its place."""
    from pydantic import ValidationError

    assert isinstance(error, ValidationError)
    first = error.errors(include_url=False, include_input=False)[0]
    place = ".".join(str(step) for step in first["loc"])
    return f"{place}: {first['msg']}" if place else first["msg"].removeprefix("Value error, ")


# Writing out


def fitted(playbook: Playbook, names: Mapping[str, str | float], dialects: Collection[str] = ()) -> Playbook:
    """The playbook of one incident: names filled in, and only what concerns the engine and the gateways that were seen.

    :param names: values for placeholders, by the names in :data:`triage.model.playbook.PLACEHOLDERS`, and the fact ``engine``;
        others are passed over. A value with any other character than letters, digits and ``. _ : / + -`` is not filled in.
    :param dialects: engines, gateways and exporters that were seen; nobody knows if there is none
    """
    engines = {str(names.get("engine", "")), *dialects}
    gateways = {one for known in GATEWAYS.values() for one in known if one in dialects}
    sections = tuple(
        section.model_copy(
            update={
                "text": filled(section.text, names),
                "steps": tuple(_fitted_step(step, names, engines, gateways) for step in section.steps),
            }
        )
        for section in playbook.sections
    )
    return playbook.model_copy(update={"sections": sections})


def _fitted_step(step: Step, names: Mapping[str, str | float], engines: Collection[str], gateways: Collection[str]) -> Step:
    """A step with its names, in the wording of the engine that was seen (all if it has none for that), asking no other."""
    own = tuple(variant for variant in step.variants if variant.engine in engines)
    variants = tuple(one.model_copy(update={"text": filled(one.text, names)}) for one in own or step.variants)
    commands = tuple(
        command.model_copy(update={"text": filled(command.text, names)})
        for command in step.commands
        if not gateways or _is_of(command, gateways)
    )
    told = {"text": filled(step.text, names), "risk": filled(step.risk, names), "commands": commands, "variants": variants}
    return step.model_copy(update=told)


def _is_of(command: Command, gateways: Collection[str]) -> bool:
    """Whether a query asks some gateway that was seen, or none at all."""
    asked = [known for start, known in GATEWAYS.items() if re.search(rf"\b{start}", command.text)]
    return command.language != "promql" or not asked or any(one in gateways for known in asked for one in known)


def render_text(playbook: Playbook) -> str:
    """A playbook as plain text for a terminal, ending with a newline."""
    parts = [
        f"{playbook.title} ({playbook.id})",
        f"layer {playbook.layer}, cause {playbook.cause}, usually owned by: {playbook.owner}",
        "",
        f"First: {playbook.first_step}",
        *([f"Do not {playbook.do_not}"] if playbook.do_not else []),
    ]
    for section in playbook.sections:
        parts += ["", section.heading.upper()]
        parts += [section.text] if section.text else _steps(section.steps)
    text = "\n".join(parts)
    unknown = " Names in <> are not known: fill them in before you copy." if _UNKNOWN.search(text) else ""
    return f"{text}\n\nNothing here is run for you.{unknown}\n"


def _steps(steps: Sequence[Step]) -> Iterator[str]:
    """Numbered steps with their risks, commands and wordings by engine, indented."""
    names = {code: name for name, code in ENGINES.items()}
    for number, step in enumerate(steps, start=1):
        yield f"{number:2}. [{step.mark}] {step.text}"
        if step.risk:
            yield f"      Risk: {step.risk}"
        for command in step.commands:
            yield from (f"        {line}" for line in command.text.split("\n"))
        for variant in step.variants:
            yield f"      {names[variant.engine]}: {variant.text}"


def filled(text: str, facts: Mapping[str, str | float]) -> str:
    """The text with ``{name}`` replaced by the fact of that name, or by ``<name>`` if it is unknown or not harmless."""
    return _PLACEHOLDER.sub(lambda match: _value(match, facts), text)


def _value(match: re.Match[str], facts: Mapping[str, str | float]) -> str:
    """What stands in place of one placeholder."""
    name = match[1]
    if name not in PLACEHOLDERS:
        return match[0]
    value = facts.get(name, "")
    text = value if isinstance(value, str) else _number(value)
    return text if _HARMLESS.fullmatch(text) else f"<{name}>"


def _number(value: float) -> str:
    """A number as people write it: 256 and 0.9, not 256.0."""
    return str(int(value)) if float(value).is_integer() else repr(float(value))

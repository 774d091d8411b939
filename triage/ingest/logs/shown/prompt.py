"""Commands that somebody typed: at which machine, and in which container."""

from triage.patterns import Pattern

_PROMPT = Pattern(rb"^(?:\([\w.-]+\) ?)?(?:\[?[\w.-]+@([\w.-]+)[: ][^$#]{0,80}[$#]|[$#]) +(\S.*)$")
_WITH_VALUE = frozenset({
    "-n", "--namespace", "-c", "--container", "-u", "--user", "-w", "--workdir", "-e", "--env", "--context", "--kubeconfig",
})  # fmt: skip
"""Options of ``exec`` that have a value behind them."""


def typed(line: bytes) -> tuple[str, bytes] | None:
    """The host that a prompt names, empty if it names none, and the command behind it; None if a line is no such thing."""
    found = _PROMPT.search(line)
    return ((found.group(1) or b"").decode("ascii", "replace"), found.group(2)) if found is not None else None


def container_in(command: bytes) -> str:
    """The pod or container in which a command is run by ``kubectl exec``, ``docker exec`` and the like; empty if in none."""
    words = command[:400].decode("utf-8", "replace").split()
    if "exec" not in words[1:]:
        return ""
    rest = iter(words[words.index("exec", 1) + 1 :])
    for word in rest:
        if word in _WITH_VALUE:
            next(rest, "")
        elif not word.startswith("-"):
            return word.rpartition("/")[2]
    return ""

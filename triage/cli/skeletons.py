"""``triage rules new``: the three files of a new kind, with what is left to fill in marked."""

from pathlib import Path

from triage.errors import ConfigError, UsageError
from triage.model.vocabulary import Cause, Layer

_RULE = """\
id: {id}
title: TODO what people call it
question: TODO What is asked of the data, as a person would ask it?
cause: {cause}
layer: {layer}
scale: machine                                  # how far it reaches: card, machine, cluster
scope: replica                                  # whom it is asked of: service, replica, gpu, node, gateway, client, target
severity: warning
shows:                                          # one way for each source that could see it; docs/rules.md has the conditions
  - strong: {{signal: queue.waiting, stat: max, at_least: 1, as: seen}}     # TODO from metrics
  - strong: {{observed: said, of: [residue], where: {{template: ".*TODO.*"}}, as: seen}}    # words that no signature reads
refuted_by: {{signal: queue.waiting, stat: max, below: 0}}   # TODO what was measured and rules it out, or delete the line
finding: "{{subject}} TODO since {{onset}}[ ({{seen}})]."
leads_to:
  timeout-mismatch: TODO how it brings that about; one line for each kind, or none
look_alikes:
  - {{rule: true-overload, because: "TODO what tells them apart"}}
sources:
  - TODO where the numbers above come from
"""

_PLAYBOOK = """\
---
id: {id}
title: TODO what people call it
layer: {layer}
cause: {cause}
owner: TODO who usually owns it
first_step: TODO one sentence in the imperative.
do_not: TODO what goes wrong most often, as it reads after "do not".
---

## What it means

TODO what happens, and why it hurts.

## Confirm

- [read] TODO what tells it from its look-alikes.

## Mitigate now

- [change] TODO what takes the pressure off. Risk: TODO.

## Fix

- [change] TODO what mends it. Risk: TODO.

## Prevent

- [read] TODO what keeps it from coming back.

## Who owns it

TODO the team.
"""

_CASE = """\
# TODO put what was recorded beside this file, then delete this line: logs/engine.log with the lines as printed, metrics.om,
# changes.jsonl (docs/cases.md)
service = "llm-prod"
from = "2026-01-01T12:00:00Z"                   # TODO the window to judge
to = "2026-01-01T12:30:00Z"
"""

_TRUTH = """\
[truth]
root = ["{id}"]
cause = "{cause}"
layer = "{layer}"
also = []                                       # kinds that may be found besides
not = ["true-overload"]                         # TODO kinds that would be a mistake
status = ["incident", "degraded", "inconclusive"]
note = "TODO how a person knows that it was this"
"""


def write_skeletons(name: str, cause: Cause, layer: Layer, folder: Path) -> list[Path]:
    """Writes rule, playbook and case of a new kind.

    :param folder: a checkout, whose cases lie in ``tests/incidents``, or a folder of the user's own, where they lie in ``cases``
    :return: the files, the rule first
    :raises UsageError: one of them is there already
    :raises ConfigError: they cannot be written
    """
    tried = folder / "tests" / "incidents"
    case = (tried if tried.is_dir() else folder / "cases") / f"{name}-made-first"
    files = {
        folder / "rules" / cause / f"{name}.yaml": _RULE,
        folder / "playbooks" / f"{name}.md": _PLAYBOOK,
        case / "case.toml": _CASE,
        case / "truth.toml": _TRUTH,
    }
    for path in files:
        if path.exists():
            raise UsageError(f"{path} is there already", "nothing was written; choose another id or another folder with --in")
    for path, text in files.items():
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text.format(id=name, cause=cause, layer=layer), encoding="utf-8")
        except OSError as error:
            raise ConfigError(f"{path} cannot be written: {error.strerror}") from error
    return list(files)

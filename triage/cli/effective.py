"""The settings, rules, dialects and signatures that are in force for a run of a command."""

import argparse
import os
from collections.abc import Iterable, Mapping
from dataclasses import field
from pathlib import Path

from triage import __version__
from triage.bundle import bundled
from triage.classes import dataclass
from triage.digest import digest
from triage.engine.rules.loading import load_rules
from triage.errors import ConfigError
from triage.ingest.language import Language, load_language
from triage.ingest.logs.loading import Signatures, load_signatures
from triage.model.diagnosis import RuleSet
from triage.model.rule import Rule
from triage.model.service import Mute, Service
from triage.playbooks import list_playbooks
from triage.settings import Settings, find_settings, read_settings
from triage.validation import did_you_mean


def settings_of(args: argparse.Namespace) -> Settings:
    """The settings in force; empty ones if there is no file."""
    path = find_settings(args.config, os.environ, Path.cwd())
    return read_settings(path) if path else Settings()


def rules_of(args: argparse.Namespace, settings: Settings) -> tuple[Rule, ...]:
    """All rules: shipped ones, those of the settings, those of the flags."""
    return load_rules([*settings.defaults.rules, *args.rules])


def language_of(args: argparse.Namespace, settings: Settings) -> Language:
    """All dialects and signatures: shipped ones, those of the settings, those of the flags."""
    return load_language((*settings.defaults.dialects, *args.dialects), (*settings.defaults.signatures, *args.signatures))


@dataclass(frozen=True)
class Judging:
    """What recordings are judged with.

    :param playbooks: folders of further playbooks
    :param services: what settings know of services
    :param named: the service that a flag names; empty if none does
    :param signatures: what lines mean, for the commands that look for them by hand
    """

    rules: tuple[Rule, ...]
    playbooks: tuple[Path, ...] = ()
    ruleset: RuleSet | None = None
    services: Mapping[str, Service] = field(default_factory=dict)
    named: str = ""
    signatures: Signatures = field(default_factory=load_signatures)

    def mutes(self, service: str) -> Mapping[str, Mute]:
        """The kinds that are muted for a service: the one that a flag names, else the one that a recording is of."""
        known = self.services.get(self.named or service)
        return known.mute if known is not None else {}


def judging_of(args: argparse.Namespace, settings: Settings) -> Judging:
    """Rules, playbooks and mutes in force.

    :raises ConfigError: settings mute a kind that has no rule
    """
    rules = rules_of(args, settings)
    known = {rule.id for rule in rules}
    for service in settings.services.values():
        for kind in service.mute:
            if kind not in known:
                hint = did_you_mean(kind, known) or "triage rules list shows all"
                raise ConfigError(f"{settings.path}: [service.{service.name}.mute]: no rule is called {kind!r}", hint)
    return Judging(
        rules,
        playbooks_of(args, settings),
        ruleset_of(args, settings),
        settings.services,
        args.service or "",
        load_signatures((*settings.defaults.signatures, *args.signatures)),
    )


def ruleset_of(args: argparse.Namespace, settings: Settings) -> RuleSet:
    """What is judged with, for the answer to tell."""
    defaults = settings.defaults
    rules, dialects = (*defaults.rules, *args.rules), (*defaults.dialects, *args.dialects)
    signatures = (*defaults.signatures, *args.signatures)
    known = {one.id: one for one in load_signatures().lines}
    shipped = {f"signature {name}" for name in known}
    shipped |= _named("rule", [bundled("rules")]) | _named("dialect", [bundled("collectors") / "dialects"])
    mine = _named("rule", rules) | _named("dialect", dialects)
    mine |= {f"signature {one.id}" for one in load_signatures(signatures).lines if known.get(one.id) != one}
    own, replaced = tuple(sorted(mine - shipped)), tuple(sorted(mine & shipped))
    return RuleSet(version=__version__, digest=digest(rules, dialects, signatures), own=own, replaced=replaced)


def _named(kind: str, folders: Iterable[Path]) -> set[str]:
    """The files of folders, which are called what they hold."""
    names = (name for folder in folders for _, _, there in os.walk(folder) for name in there)
    return {f"{kind} {name.removesuffix('.yaml')}" for name in names if name.endswith(".yaml")}


def playbooks_of(args: argparse.Namespace, settings: Settings) -> tuple[Path, ...]:
    """Folders of further playbooks: those of the settings, those of the flags, which a command that shows no step does not have.

    :raises ConfigError: one of them is no folder
    """
    folders = (*settings.defaults.playbooks, *vars(args).get("playbooks", ()))
    list_playbooks(folders)
    return folders


def named_service(name: str | None, settings: Settings) -> Service | None:
    """The service of a name that needs no source of its own; None if nobody named one.

    :raises UsageError: the settings know other services
    """
    if name is None:
        return None
    return settings.service(name) if settings.services else Service(name=name)

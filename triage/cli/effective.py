"""The settings, rules, dialects and signatures that are in force for a run of a command."""

import argparse
import os
from pathlib import Path

from triage.engine.rules.loading import load_rules
from triage.ingest.language import Language, load_language
from triage.model.rule import Rule
from triage.model.service import Service
from triage.settings import Settings, find_settings, read_settings


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


def playbooks_of(args: argparse.Namespace, settings: Settings) -> tuple[Path, ...]:
    """Folders of further playbooks: those of the settings, those of the flags."""
    return (*settings.defaults.playbooks, *args.playbooks)


def named_service(name: str | None, settings: Settings) -> Service | None:
    """The service of a name that needs no source of its own; None if nobody named one.

    :raises UsageError: the settings know other services
    """
    if name is None:
        return None
    return settings.service(name) if settings.services else Service(name=name)

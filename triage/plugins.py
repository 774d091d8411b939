"""Loads collectors: ours and the user's come in through the same door, a file that exposes one object."""

import sys
from collections.abc import Iterable
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

from triage.bundle import bundled
from triage.errors import ConfigError, InputMissingError
from triage.sdk import Collector


def load_collector(path: Path) -> Collector:
    """The collector in a file.

    :raises ConfigError: the file cannot be run or exposes no collector
    """
    name = f"triage.collectors.{path.stem}"
    spec = spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise ConfigError(f"{path} is not a Python file")
    module = module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        del sys.modules[name]
        raise ConfigError(f"collector {path} does not load: {type(error).__name__}: {error}") from error
    collector = getattr(module, "collector", None)
    if not isinstance(collector, Collector):
        raise ConfigError(f"collector {path} exposes no object 'collector' with name, sees, wanted and collect")
    return collector


def load_collectors(folders: Iterable[Path] = ()) -> dict[str, Collector]:
    """All shipped collectors, then those of the folders that the user named; a later one replaces one of the same name.

    :raises TriageError: a folder is missing or a file in it does not load
    """
    found: dict[str, Collector] = {}
    for folder in (bundled("collectors"), *folders):
        if not folder.is_dir():
            raise InputMissingError(f"{folder} is not a folder of collectors")
        for path in sorted(folder.glob("*.py")):
            collector = load_collector(path)
            found[collector.name] = collector
    return found

"""Answers of commands as JSON documents; that of a diagnosis is :mod:`triage.render.json`."""

import sys
from collections.abc import Mapping

from triage.errors import ExitCode


def answered(kind: str, content: Mapping[str, object]) -> ExitCode:
    """Write a document with its schema to stdout. Control and direction characters are escapes, so that printing it is safe.

    :param kind: first part of the schema's name, ``triage.KIND/1``
    """
    import json

    from triage.render.safe import json_escaped

    document = {"schema": f"triage.{kind}/1", **content}
    sys.stdout.write(json_escaped(json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False)) + "\n")
    return ExitCode.HEALTHY

"""Reads the YAML files of the learning material, and says what is wrong with one and where."""

from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from triage.errors import ConfigError
from triage.validation import complaints
from triage.yamltext import Marked, YamlError, load

Model = TypeVar("Model", bound=BaseModel)
HINT = "docs/learn.md describes the form"


def read(path: Path, model: type[Model]) -> Model:
    """A YAML file as a model.

    :raises ConfigError: it cannot be read, is not YAML or not of the form; the message names the line
    """
    try:
        data = path.read_bytes()
        value = load(data)
        return model.model_validate(value)
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error.strerror or error}") from error
    except YamlError as error:
        raise ConfigError(f"{path}:{error.line}:{error.column}: {error.text}", HINT) from error
    except ValidationError as error:
        told = complaints(error, value, _keys(model))
        first = next((one for one in told if one.hint), told[0])
        line, column = Marked(data.decode()).place(first.path, key=first.on_key)
        raise ConfigError(f"{path}:{line}:{column}: {first.text}", first.hint or HINT) from error


def _keys(model: type[BaseModel]) -> set[str]:
    """Every key that may stand anywhere in such a file, to offer the nearest one for a slip."""
    schema = model.model_json_schema()
    return {key for part in (schema, *schema.get("$defs", {}).values()) for key in part.get("properties", {})}

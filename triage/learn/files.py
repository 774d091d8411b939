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
        first = complaints(error, value, model.model_fields)[0]
        line, column = Marked(data.decode()).place(first.path, key=first.on_key)
        raise ConfigError(f"{path}:{line}:{column}: {first.text}", first.hint or HINT) from error

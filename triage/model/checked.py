"""Data that come from outside and are checked there, and are plain objects everywhere else.

A class of these says once what it holds: fields with their types, limits as marks beside the types, and in ``__post_init__`` what
no type can say. Objects that triage makes itself are not checked. What somebody wrote is: what plainly is of the right types is
taken, and whatever else is pydantic's to convert or to complain of. Pydantic is loaded for that alone: to load it takes 70 ms, a
tenth of a small replay, and to make its own models of these classes took 50 more.
"""

from collections.abc import Callable, Mapping
from dataclasses import MISSING
from functools import cache
from pathlib import Path
from types import NoneType, UnionType
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, Self, TypeVar, Union, get_args, get_origin, get_type_hints

if TYPE_CHECKING:
    from pydantic import ConfigDict, GetCoreSchemaHandler, TypeAdapter
    from pydantic_core import CoreSchema

Kind = TypeVar("Kind")


def spelt(extra: Literal["forbid", "ignore"] = "forbid", **keys: str) -> "ConfigDict":
    """How a class is read: what becomes of unknown keys, and the keys of fields that are called otherwise in files."""
    return {
        "extra": extra,
        "populate_by_name": True,
        "serialize_by_alias": True,
        "alias_generator": lambda name: keys.get(name, name),
    }


class Checked:
    """Base of such classes, each of them a data class. Methods are called as pydantic's."""

    __pydantic_config__: ClassVar[Any] = spelt()

    def model_copy(self, *, update: Mapping[str, object] | None = None) -> Self:
        """The same object with some fields changed; nothing is checked."""
        one = object.__new__(type(self))
        one.__dict__.update(self._kept(), **(update or {}))
        return one

    def _kept(self) -> dict[str, Any]:
        """What makes up the object, without what was worked out of it."""
        own = self.__dict__
        return {name: own[name] for name in type(self).model_names() if name in own}

    @classmethod
    def model_names(cls) -> Mapping[str, Any]:
        """Its fields."""
        told: Mapping[str, Any] = cls.__dataclass_fields__  # type: ignore[attr-defined]
        return told

    @classmethod
    def model_keys(cls) -> dict[str, str]:
        """Its fields, each with its key in a file."""
        spell = cls.__pydantic_config__["alias_generator"]
        assert callable(spell)
        return {name: spell(name) for name in cls.model_names()}

    @classmethod
    def model_validate(cls, value: object) -> Self:
        """What a value says.

        :raises ValidationError: it does not say that, of pydantic
        """
        if isinstance(value, dict):
            try:
                return _of_mapping(cls, value)
            except (_UnclearError, ValueError):
                pass
        return adapter(cls).validate_python(value)

    @classmethod
    def model_validate_json(cls, text: str | bytes) -> Self:
        """What JSON says.

        :raises ValidationError: it does not say that, of pydantic
        """
        return adapter(cls).validate_json(text)

    def model_dump(self, *, mode: Literal["python", "json"] = "python", exclude_defaults: bool = False) -> dict[str, Any]:
        """The object as a mapping with the keys of a file."""
        told: dict[str, Any] = adapter(type(self)).dump_python(self, mode=mode, exclude_defaults=exclude_defaults)
        return told

    def model_dump_json(self, *, indent: int | None = None) -> str:
        """The object as JSON with the keys of a file."""
        return adapter(type(self)).dump_json(self, indent=indent).decode()


def adapter(one: type[Kind]) -> "TypeAdapter[Kind]":
    """Pydantic's way to read and write a class."""
    kind: Any = one
    return _adapter(kind)


@cache
def _adapter(one: Any) -> "TypeAdapter[Any]":
    from pydantic import TypeAdapter

    return TypeAdapter(one)


# ---------------------------------------------------------------- marks beside types


class Such:
    """Limits of a value: ``min_length``, ``pattern``, ``ge``, ``le``, as pydantic calls them."""

    def __init__(self, **limits: object) -> None:
        self._limits = limits

    def __get_pydantic_core_schema__(self, source: Any, handler: "GetCoreSchemaHandler") -> "CoreSchema":
        return {**handler(source), **self._limits}


class Before:
    """What is made of a value before its type is looked at."""

    def __init__(self, change: Callable[[object], object]) -> None:
        self.change = change

    def __get_pydantic_core_schema__(self, source: Any, handler: "GetCoreSchemaHandler") -> "CoreSchema":
        from pydantic_core.core_schema import no_info_before_validator_function

        return no_info_before_validator_function(self.change, handler(source))


class OneOf:
    """One of several classes, told apart by a tag that a function finds.

    :param sorts: a class by its tag
    :param tag: gives the tag of a value, None if it has none
    :param error: name of what is wrong where there is no such tag; ``told`` is the same in words
    """

    def __init__(self, sorts: Mapping[str, type], tag: Callable[[object], str | None], error: str, told: str) -> None:
        self._sorts, self._tag, self._error, self._told = sorts, tag, error, told

    def __get_pydantic_core_schema__(self, source: Any, handler: "GetCoreSchemaHandler") -> "CoreSchema":
        from pydantic_core.core_schema import tagged_union_schema

        sorts = {tag: handler.generate_schema(one) for tag, one in self._sorts.items()}
        return tagged_union_schema(sorts, self._tag, custom_error_type=self._error, custom_error_message=self._told)


# ---------------------------------------------------------------- what is plainly right


class _UnclearError(Exception):
    """A value has to be converted, or is wrong."""


@cache
def _types(one: Any) -> dict[str, Any]:
    """What each key of a class must be."""
    return get_type_hints(one, include_extras=True)


def _of_mapping(one: type[Kind], value: Mapping[Any, object]) -> Kind:
    """An object of what a mapping says.

    :raises _UnclearError: that is not plain
    :raises ValueError: what no type can say is wrong
    """
    assert issubclass(one, Checked)
    kind: Any = one
    types, keys = _types(kind), one.model_keys()
    told = {name: _plain(types[name], value[key]) for name, key in keys.items() if key in value}
    if len(told) < len(value) and (one.__pydantic_config__["extra"] != "ignore" or not value.keys().isdisjoint(keys)):
        raise _UnclearError
    if any(name not in told and _is_needed(field) for name, field in one.model_names().items()):
        raise _UnclearError
    return one(**told)


def _is_needed(field: Any) -> bool:
    return field.default is MISSING and field.default_factory is MISSING


def _plain(kind: Any, value: object) -> object:
    """A value of some type, if it plainly is one.

    :raises _UnclearError: it is not
    """
    if kind in _SCALARS:
        return _scalar(kind, value)
    origin, parts = get_origin(kind), get_args(kind)
    if origin is Annotated:
        return _plain(parts[0], _changed(kind.__metadata__, value))
    if origin in (Union, UnionType):
        return _plain_of(parts, value)
    if origin is Literal and type(value) is str and value in parts:
        return value
    if origin is tuple and parts[1:] == (...,) and isinstance(value, list | tuple):
        return tuple(_plain(parts[0], part) for part in value)
    if origin is dict and isinstance(value, dict):
        return {_plain(parts[0], key): _plain(parts[1], part) for key, part in value.items()}
    if origin is None and issubclass(kind, Checked) and isinstance(value, dict):
        return _of_mapping(kind, value)
    raise _UnclearError


_SCALARS = (str, float, int, bool, NoneType, Path)


def _scalar(kind: type, value: object) -> object:
    """A text, a number … that is what it should be; whole numbers are numbers, too, and texts are paths."""
    if type(value) is kind:
        return value
    if kind is float and type(value) is int:
        return float(value)
    if kind is Path and type(value) is str:
        return Path(value)
    raise _UnclearError


def _changed(marks: tuple[object, ...], value: object) -> object:
    """A value as marks that make another one of it want it; limits are not looked at here."""
    for mark in marks:
        if not isinstance(mark, Before):
            raise _UnclearError
        value = mark.change(value)
    return value


def _plain_of(kinds: tuple[Any, ...], value: object) -> object:
    """A value of one of several types."""
    for kind in kinds:
        try:
            return _plain(kind, value)
        except _UnclearError:
            continue
    raise _UnclearError

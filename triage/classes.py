"""Data classes that cost a start next to nothing.

``dataclasses.dataclass`` writes up to seven methods of each class as text and compiles them anew in each process: half a
millisecond a class, 70 ms of a small replay. Here the methods that are alike for all classes are functions, and ``__init__``, the
one that is worth compiling, is compiled when the first object is made. Fields, ``replace``, ``asdict`` and whatever else a class
can be asked are the standard library's.
"""

import dataclasses
from collections.abc import Callable
from functools import cache
from operator import attrgetter
from types import MemberDescriptorType
from typing import Any, TypeVar, dataclass_transform, overload

_Class = TypeVar("_Class", bound=type[Any])

_UNSAID = object()
"""Stands for a value that is made for each object, until it is."""


@overload
def dataclass(one: _Class, /) -> _Class: ...


@overload
def dataclass(
    *, frozen: bool = False, eq: bool = True, slots: bool = False, kw_only: bool = False
) -> Callable[[_Class], _Class]: ...


@dataclass_transform(field_specifiers=(dataclasses.field,))
def dataclass(one: Any = None, /, *, frozen: bool = False, eq: bool = True, slots: bool = False, kw_only: bool = False) -> Any:
    """As ``dataclasses.dataclass``; objects of a class that cannot change can be keys where they can be compared."""

    def decorated(plain: Any) -> Any:
        if plain.__doc__ is None:
            plain.__doc__ = plain.__name__  # the signature, which the library would write here, takes longer than all else
        made: Any = dataclasses.dataclass(plain, init=False, repr=False, eq=False, slots=slots, kw_only=kw_only)
        own = vars(made)
        methods = _methods(made, frozen=frozen, eq=eq)
        if frozen and slots:
            methods |= {"__getstate__": _state, "__setstate__": _set_state}
        for name, method in methods.items():
            if name not in own or (name == "__hash__" and "__eq__" not in own):
                setattr(made, name, method)
        if frozen:
            made.__setattr__, made.__delattr__ = _refuse_to_set, _refuse_to_delete
        return made

    return decorated if one is None else decorated(one)


def _methods(made: Any, *, frozen: bool, eq: bool) -> dict[str, Any]:
    """The methods that every class has."""
    told = dataclasses.fields(made)
    shown = [field.name for field in told if field.repr]
    compared = _values_of([field.name for field in told if field.compare])

    @cache
    def compiled() -> Any:
        return _compiled_init(made)

    def init(self: Any, *values: Any, **named: Any) -> None:
        if vars(made)["__init__"] is init:  # nobody has put another one in its place
            made.__init__ = compiled()
        compiled()(self, *values, **named)

    def shown_as(self: Any) -> str:
        return f"{self.__class__.__qualname__}({', '.join(f'{name}={getattr(self, name)!r}' for name in shown)})"

    def equal(self: Any, other: object) -> Any:
        return compared(self) == compared(other) if other.__class__ is self.__class__ else NotImplemented

    def hashed(self: Any) -> int:
        return hash(compared(self))

    methods: dict[str, Any] = {"__init__": init, "__repr__": shown_as}
    if eq:
        methods |= {"__eq__": equal, "__hash__": hashed if frozen else None}
    return methods


def _values_of(names: list[str]) -> Callable[[Any], tuple[Any, ...]]:
    """What gives the values of some fields of an object."""
    if len(names) > 1:
        return attrgetter(*names)
    return lambda one: tuple(getattr(one, name) for name in names)


def _compiled_init(made: Any) -> Any:
    """A class's ``__init__``, which sets the fields in their order."""
    known: dict[str, Any] = {"_UNSAID": _UNSAID}
    positional: list[str] = []
    named: list[str] = []
    body: list[str] = []
    is_frozen = made.__setattr__ is _refuse_to_set
    if is_frozen and made.__dictoffset__:
        body.append("_own = self.__dict__")
    for field in dataclasses.fields(made):
        value = name = field.name
        told = name
        if field.default is not dataclasses.MISSING:
            known[f"_usual_{name}"] = field.default
            told = f"{name}=_usual_{name}"
        elif field.default_factory is not dataclasses.MISSING:
            known[f"_make_{name}"] = field.default_factory
            told = f"{name}=_UNSAID"
            value = f"_make_{name}() if {name} is _UNSAID else {name}" if field.init else f"_make_{name}()"
        if field.init:
            (named if field.kw_only else positional).append(told)
        if field.init or field.default_factory is not dataclasses.MISSING:
            body.append(_put(made, name, value, known) if is_frozen else f"self.{name} = {value}")
    if hasattr(made, "__post_init__"):
        body.append("self.__post_init__()")
    told_by_name = ["*", *named] if named else []
    text = f"def __init__({', '.join(['self', *positional, *told_by_name])}):\n  " + "\n  ".join(body or ["pass"])
    exec(text, known)  # noqa: S102 - of names of fields, which are code already
    return known["__init__"]


def _put(made: Any, name: str, value: str, known: dict[str, Any]) -> str:
    """The line that sets a field of an object that refuses to be changed: in its slot, or in its dictionary.

    ``object.__setattr__``, which finds out itself which of them it is, takes two to three times as long.
    """
    slot = getattr(made, name, None)
    if not isinstance(slot, MemberDescriptorType):
        return f"_own[{name!r}] = {value}"
    known[f"_put_{name}"] = slot.__set__
    return f"_put_{name}(self, {value})"


def _refuse_to_set(_self: object, name: str, _value: object) -> None:
    raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")


def _refuse_to_delete(_self: object, name: str) -> None:
    raise dataclasses.FrozenInstanceError(f"cannot delete field {name!r}")


def _state(self: Any) -> list[Any]:
    """What is kept of an object whose class has slots and whose fields cannot be set."""
    return [getattr(self, field.name) for field in dataclasses.fields(self)]


def _set_state(self: Any, state: list[Any]) -> None:
    for field, value in zip(dataclasses.fields(self), state, strict=True):
        object.__setattr__(self, field.name, value)

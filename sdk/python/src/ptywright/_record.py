"""What the generated part is made of: records, which are read, and calls, which are sent."""

from __future__ import annotations

from typing import Any, Callable, Dict, Generic, Mapping, Optional, TypeVar, cast

T = TypeVar("T")


class Record:
    """An object that the server sent. Its members are attributes, decoded when they are read; those
    that a newer server adds are in `raw` only."""

    raw: Dict[str, Any]
    """The object as it came."""

    def __init__(self, raw: Dict[str, Any]) -> None:
        self.raw = raw

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.raw!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Record) and type(self) is type(other) and self.raw == other.raw


# Those below are non-data descriptors: what they make is kept in the record's __dict__, which
# Python asks first the next time.


class Member:
    """A member of a record. Its attribute has its name, with `_` after a keyword of Python's."""

    attribute = ""

    def __set_name__(self, owner: object, attribute: str) -> None:
        self.attribute = attribute


class Plain(Member, Generic[T]):
    """A member that is always there, as it came."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __get__(self, record: Optional[Record], owner: object = None) -> T:
        if record is None:
            return cast(T, self)  # of the class
        value: T = record.raw[self.name]
        record.__dict__[self.attribute] = value
        return value


class Optionally(Member, Generic[T]):
    """A member that may be left out, and what it is then."""

    def __init__(self, name: str, absent: T) -> None:
        self.name, self.absent = name, absent

    def __get__(self, record: Optional[Record], owner: object = None) -> T:
        if record is None:
            return cast(T, self)  # of the class
        value: T = record.raw.get(self.name, self.absent)
        record.__dict__[self.attribute] = value
        return value


class Made(Member, Generic[T]):
    """A member that is made of what came, which is None when it was left out."""

    def __init__(self, name: str, make: Callable[[Any], T]) -> None:
        self.name, self.make = name, make

    def __get__(self, record: Optional[Record], owner: object = None) -> T:
        if record is None:
            return cast(T, self)  # of the class
        value = self.make(record.raw.get(self.name))
        record.__dict__[self.attribute] = value
        return value


def maybe(make: Callable[[Any], T], value: Any) -> Optional[T]:
    """What make makes of a value, None of None."""
    return None if value is None else make(value)


def one_of(table: Mapping[str, Callable[[Any], T]], tag: str, raw: Any) -> T:
    """The branch of a union that the tag names; a bare Record for one of a newer server."""
    make = table.get(raw.get(tag))
    return make(raw) if make else cast(T, Record(raw))


def given(**members: Any) -> Dict[str, Any]:
    """The members that are not None."""
    return {name: value for name, value in members.items() if value is not None}


class Call(Generic[T]):
    """A request that is to be sent, and what its result is made into."""

    def __init__(self, method: str, params: Dict[str, Any], make: Callable[[Any], T]) -> None:
        self.method, self.params, self.make = method, params, make

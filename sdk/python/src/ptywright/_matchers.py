"""Matchers: what to wait for, as values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Dict, List, Optional, Sequence, Tuple, cast

if TYPE_CHECKING:
    from ._generated import Locator, MatcherValue


class Matcher:
    """What to wait for. `a & b` holds when both do, `a | b` when one does, `~a` when a does not."""

    __slots__ = ("_wire",)

    def __init__(self, wire: MatcherValue) -> None:
        """wire is a matcher as docs/wire.md has it; the functions of this module make the common
        ones."""
        self._wire = cast(Dict[str, Any], wire)

    def __and__(self, other: Matcher) -> Matcher:
        return _joined("all", self, other)

    def __or__(self, other: Matcher) -> Matcher:
        return _joined("any", self, other)

    def __invert__(self) -> Matcher:
        return _matcher("not", self._wire)

    def __bool__(self) -> bool:
        raise TypeError("a matcher is not true or false: join matchers with &, | and ~")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Matcher) and self._wire == other._wire

    def __hash__(self) -> int:
        return hash(repr(self._wire))

    def __repr__(self) -> str:
        return f"Matcher({self._wire!r})"


def _matcher(type: str, value: Any = None) -> Matcher:
    wire: Any = {"type": type} if value is None else {"type": type, "value": value}
    return Matcher(wire)


def _joined(type: str, *parts: Matcher) -> Matcher:
    """Joins matchers; (a | b) | c is one of three, whose place a match tells."""
    all: List[Any] = []
    for part in parts:
        wire = part._wire  # pyright: ignore[reportPrivateUsage]
        all += wire["value"] if wire["type"] == type else [wire]
    return _matcher(type, all)


def text(value: str) -> Matcher:
    """The screen contains a text; in `wait` also a line that has scrolled off it."""
    return _matcher("contains_text", value)


def regex(pattern: str) -> Matcher:
    """An RE2 expression is found there. `$` is the end of the screen, `(?m)` makes it that of a
    line; rows are cut at their last character, so a prompt `$ ` ends with `$`."""
    return _matcher("screen_regex", pattern)


def output(value: str) -> Matcher:
    """The program has written a text, whatever became of it on the screen; escape sequences and the
    CR before each LF are in what is searched."""
    return _matcher("transcript_contains", value)


def output_regex(pattern: str) -> Matcher:
    """An RE2 expression is found in what the program has written, as of `output`."""
    return _matcher("transcript_regex", pattern)


def title(value: str) -> Matcher:
    """The window's title contains a text."""
    return _matcher("title_contains", value)


def stable(seconds: float) -> Matcher:
    """The screen has not changed for so long, to the millisecond."""
    return _matcher("screen_stable", {"min_ms": milliseconds(seconds)})


def screen(
    golden: str,
    masks: Sequence[str] = (),
    region: Optional[str] = None,
    quiet: Optional[float] = None,
) -> Matcher:
    """The screen equals a golden screen, the text of a file as `Session.golden` writes it. masks and a
    region, as a file has them, count beside and in place of its own. With quiet the wait also ends, as
    timed out, once the screen differs and has not changed for so many seconds."""
    value: Dict[str, Any] = {"screen": golden}
    if masks:
        value["masks"] = list(masks)
    if region is not None:
        value["region"] = region
    if quiet is not None:
        value["quiet_ms"] = milliseconds(quiet)
    return _matcher("screen", value)


def exited() -> Matcher:
    """The program has ended, and its last byte was read."""
    return _matcher("process_exited")


def bell() -> Matcher:
    """The bell has rung. An event: for `wait` only."""
    return _matcher("bell")


def cursor(row: int, col: int) -> Matcher:
    """The cursor is there, both from 0."""
    return _matcher("cursor_at", {"row": row, "col": col})


def finished(exit_code: Optional[int] = None) -> Matcher:
    """A command has ended, in a shell that was spawned with `shell_integration=True`; with an exit
    code only with that one. An event: for `wait` only."""
    return _matcher("command_finished", None if exit_code is None else {"exit_code": exit_code})


def in_state(*states: str) -> Matcher:
    """The session's adapter says one of these states of its program, such as `"blocked"`. After an
    input, or with `since`, a state counts once something has come after it."""
    return _matcher("state", list(states))


def located(locator: Locator, count: Optional[int] = None) -> Matcher:
    """A locator, such as `"'Commit' in box 'Menu'"`, means at least one place of the screen, or
    exactly `count`."""
    value: Dict[str, Any] = {"locator": locator}
    if count is not None:
        value["count"] = count
    return _matcher("located", value)


def milliseconds(seconds: float) -> int:
    """Seconds as the wire has them. A time that is not 0 is at least a millisecond."""
    return max(round(seconds * 1000), 1) if seconds > 0 else round(seconds * 1000)


def joined(
    matcher: Optional[Matcher],
    text_: Optional[str],
    regex_: Optional[str],
    output_: Optional[str],
    title_: Optional[str],
    cursor_: Optional[Tuple[int, int]],
    stable_: Optional[float],
    exited_: bool,
    bell_: bool,
) -> Matcher:
    """The matcher that `wait` and `expect` are given, and their keywords: all of them."""
    if matcher is not None and not isinstance(
        matcher, Matcher
    ):  # pyright: ignore[reportUnnecessaryIsInstance]  # it may come from untyped code
        raise TypeError(f"the matcher is {type(matcher).__name__}: for a text say text=...")
    parts = [] if matcher is None else [matcher]
    for make, value in ((text, text_), (regex, regex_), (output, output_), (title, title_)):
        if value is not None:
            parts.append(make(value))
    if cursor_ is not None:
        parts.append(cursor(*cursor_))
    if stable_ is not None:
        parts.append(stable(stable_))
    if exited_:
        parts.append(exited())
    if bell_:
        parts.append(bell())
    if not parts:
        raise TypeError("say what to wait for: a matcher, or text=, regex=, stable=, exited=, ...")
    return parts[0] if len(parts) == 1 else _joined("all", *parts)


def wire_of(matcher: Matcher, screen_only: bool) -> MatcherValue:
    """The matcher as it is sent; with screen_only texts count on the screen alone, and events are
    refused, since a state has no beginning."""
    wire = matcher._wire  # pyright: ignore[reportPrivateUsage]
    return cast("MatcherValue", _on_screen(wire) if screen_only else wire)


def _on_screen(wire: Dict[str, Any]) -> Any:
    type: str = wire["type"]
    value: Any = wire.get("value")
    if type in ("bell", "command_finished"):
        raise ValueError(f"{type} is an event, and expect looks at a state: use wait")
    if type in ("contains_text", "screen_regex"):
        return {"scope": "screen", **wire}
    if type in ("all", "any"):
        return {**wire, "value": [_on_screen(part) for part in value]}
    if type == "not":
        return {**wire, "value": _on_screen(value)}
    return wire

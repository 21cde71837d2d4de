"""What a wait has found."""

from __future__ import annotations

from typing import Any, Dict, Iterator, Optional, Tuple

from ._generated import Exit, Matched, Outcome, Snapshot


class Match:
    """What a wait has found, with the screen of that moment."""

    def __init__(self, raw: Any) -> None:
        self.matched = Matched(raw)
        told = [o for o in _parts(raw["outcome"]) if "text" in o or "capture" in o]
        self._told: Dict[str, Any] = told[0] if told else {}

    matched: Matched
    """The server's answer, whole."""

    @property
    def outcome(self) -> Outcome:
        """What held, by its kind."""
        return self.matched.outcome

    @property
    def text(self) -> str:
        """What matched: the text, or of an expression its first group, or else all of it. Of several
        matchers that of the first that has one; `""` when none has, as of `stable`."""
        return str(self._told.get("capture", self._told.get("text", "")))

    @property
    def groups(self) -> Tuple[Optional[str], ...]:
        """Each group of the expression in order, None for one that took no part."""
        return tuple(self._told.get("groups") or ())

    @property
    def named(self) -> Dict[str, str]:
        """The named groups that took part."""
        return dict(self._told.get("named") or {})

    @property
    def index(self) -> Optional[int]:
        """Which of `a | b | c` held, from 0; None when the matcher was not such a choice."""
        index = self.matched.outcome.raw.get("index")
        return None if index is None else int(index)

    @property
    def before(self) -> str:
        """The text between the last input, or since, and what matched, at most its last 16 KiB."""
        return self.matched.before or ""

    @property
    def next(self) -> str:
        """Just behind what matched: `since=m.next` has the next wait go on from there."""
        return self.matched.next

    @property
    def screen(self) -> Snapshot:
        """The screen of that moment."""
        return self.matched.snapshot

    @property
    def exit(self) -> Optional[Exit]:
        """How the program had ended by then; None while it runs."""
        return self.matched.snapshot.exit

    @property
    def elapsed(self) -> float:
        """Seconds that the wait took."""
        return self.matched.elapsed_ms / 1000

    @property
    def held_at(self) -> Optional[str]:
        """When it held, of a latched wait: a time as in RFC 3339."""
        return self.matched.held_at

    @property
    def missed(self) -> bool:
        """Lines that scrolled off the screen were lost before they could be looked at; with
        `latched` also: not all that was shown could be looked at."""
        return self.matched.missed

    def __repr__(self) -> str:
        return f"<Match {self.text!r} after {self.elapsed:g} s>"


def _parts(outcome: Dict[str, Any]) -> Iterator[Dict[str, Any]]:
    """An outcome and, of several, each."""
    yield outcome
    inner: Any = outcome.get("matched")
    for part in inner if isinstance(inner, list) else [inner]:  # pyright: ignore[reportUnknownVariableType]
        if isinstance(part, dict):
            yield from _parts(part)  # pyright: ignore[reportUnknownArgumentType]

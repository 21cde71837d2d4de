"""Errors. Those of the server are classes by their reason, in _generated.py; those of this side are
here, with what prints the evidence of a wait as the command line does."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Dict, Iterator, List, Optional, Tuple, cast

from ._record import Record

if TYPE_CHECKING:
    from ._generated import Snapshot


class PtywrightError(Exception):
    """What every error of this package is.

    Printed, it says what failed, why, and what to do, and shows the evidence of a wait. It never
    shows the environment or the arguments of a program.
    """

    reason = ""
    """The kind of error, snake_case, from the closed list of docs/wire.md; `""` of this side's."""

    code = 0
    """The code of JSON-RPC; 0 of this side's."""

    method: Optional[str] = None
    """The method that failed, such as `session.wait`."""

    def __init__(self, message: str = "", data: Optional[Dict[str, Any]] = None) -> None:
        super().__init__(message)
        self.message = message
        self._data: Dict[str, Any] = data or {}

    @property
    def data(self) -> Record:
        """What the server sent with the error."""
        return Record(self._data)

    @property
    def evidence(self) -> Optional[Evidence]:
        """Why a wait did not match, and the last screen; None when the error is not a wait's."""
        return Evidence(self._data) if "matcher" in self._data else None

    def __init_subclass__(cls) -> None:
        cls.__module__ = "ptywright"  # where it is found, and what a traceback says

    def __reduce__(self) -> Tuple[Any, ...]:
        return type(self), (self.message, self._data), self.__dict__

    def __str__(self) -> str:
        evidence = self.evidence
        return self.message if evidence is None else f"{self.message}\n{evidence}"


PtywrightError.__module__ = "ptywright"


class ServerGone(PtywrightError):
    """The server has ended, or closed the connection. Start another one."""


class ServerStuck(PtywrightError):
    """The server runs and does not read what it is sent, or gives no answer."""


class BinaryNotFound(PtywrightError):
    """There is no ptywright to be started; the message has what was tried."""


class ProtocolError(PtywrightError):
    """What was found speaks another version of the wire, or something else; the message says what
    to update."""


class ClientClosed(PtywrightError):
    """The client was closed by this program."""


class ForkError(PtywrightError):
    """The client belongs to the process that this one was forked from. Start one here."""


class NotATerminal(PtywrightError):
    """There is no terminal to give to a session."""


class Evidence(Record):
    """Why a wait did not match. Printed, it is what the command line prints."""

    @property
    def elapsed(self) -> float:
        """Seconds that the wait took."""
        return int(self.raw.get("elapsed_ms", 0)) / 1000

    @property
    def quiet(self) -> float:
        """Seconds for which the screen had not changed."""
        return int(self.raw.get("quiet_ms", 0)) / 1000

    @property
    def screen(self) -> Snapshot:
        """The last screen."""
        from ._generated import Snapshot

        return Snapshot(self.raw["snapshot"])

    @property
    def transcript_tail(self) -> str:
        """The last 2,048 characters of the output."""
        return str(self.raw.get("transcript_tail", ""))

    @property
    def lacks(self) -> List[str]:
        """What each part of the matcher lacked, one line each, parts of a part indented."""
        return list(_lacks(self.raw["matcher"], 0))

    def __str__(self) -> str:
        snapshot: Dict[str, Any] = self.raw.get("snapshot") or {}
        how = ended(snapshot.get("exit"))
        if snapshot.get("title") is not None:
            how += f", titled {snapshot['title']}"
        rows = list(map(_quiet, snapshot.get("lines") or ()))
        while rows and not rows[-1].strip():
            rows.pop()
        elapsed, quiet = (_duration(int(self.raw.get(k, 0))) for k in ("elapsed_ms", "quiet_ms"))
        return "\n".join(
            [
                f"no match after {elapsed}; the screen has been quiet for {quiet}",
                *(f"- {_one_line(lack)}" for lack in self.lacks),
                f"the last screen, at sequence {self.raw.get('sequence', 0)} ({_one_line(how)}):",
                *rows,
            ]
        )


def ended(exit: Optional[Dict[str, Any]]) -> str:
    """How a program ended, in words: `exit 3`, `SIGKILL (idle)`, `running`."""
    if exit is None:
        return "running"
    how = "ended"
    if exit.get("killed"):
        how = "killed"
    elif exit.get("signal") is not None:
        how = str(exit["signal"])
    elif exit.get("exit_code") is not None:
        how = f"exit {exit['exit_code']}"
    limits = {
        "max_ms": "max-time",
        "idle_ms": "idle",
        "max_memory": "max-memory",
        "owner": "its client is gone",
    }
    more = [limits.get(exit["limit"], "")] if exit.get("limit") else []
    if exit.get("draining"):
        more.append("draining")
    return f"{how} ({', '.join(more)})" if more else how


def _lacks(node: Any, level: int) -> Iterator[str]:
    if level > 32 or not isinstance(node, dict):
        return
    lack = cast(Dict[str, Any], node)
    if not lack.get("type"):
        return
    line = "  " * level + str(lack["type"])
    value: Any = lack.get("value")
    parts: List[Any] = []
    if isinstance(value, list):
        parts = list(cast(Any, value))
    elif isinstance(value, dict) and next(iter(cast(Dict[str, Any], value)), "") == "type":
        parts = [value]
    elif "value" in lack:
        line += " " + json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    if lack.get("held"):
        line += ": held"
    elif lack.get("why"):
        line += f": {lack['why']}"
    if lack.get("nearest"):
        line += f" (nearest: {_quote(lack['nearest'])})"
    yield line
    for part in parts:
        yield from _lacks(part, level + 1)


def _duration(ms: int) -> str:
    """Milliseconds as Go prints a duration: 300ms, 1.5s, 1m2s."""
    if ms < 1000:
        return f"{ms}ms" if ms else "0s"
    seconds = f"{ms // 1000 % 60}.{ms % 1000:03d}".rstrip("0").rstrip(".") + "s"
    minutes = ms // 60_000
    if minutes >= 60:
        return f"{minutes // 60}h{minutes % 60}m{seconds}"
    return f"{minutes}m{seconds}" if minutes else seconds


def _control(c: str) -> bool:
    return c < " " or "\x7f" <= c < "\xa0"


def _one_line(text: str) -> str:
    """Escapes what would break a line or move a cursor."""

    def escape(c: str) -> str:
        if _control(c):
            return f"\\x{ord(c):02x}"
        return c if c.isprintable() else f"\\u{ord(c):04x}"

    return "".join(map(escape, text))


def _quiet(row: str) -> str:
    return "".join("\ufffd" if _control(c) and c != "\t" else c for c in row)


_ESCAPES = {c: f"\\{e}" for c, e in zip('\a\b\f\n\r\t\v\\"', 'abfnrtv\\"')}


def _quote(text: str) -> str:
    """A string as Go quotes it."""

    def escape(c: str) -> str:
        if c in _ESCAPES:
            return _ESCAPES[c]
        if c.isprintable():
            return c
        if ord(c) < 0x80:
            return f"\\x{ord(c):02x}"
        return f"\\u{ord(c):04x}" if ord(c) < 0x10000 else f"\\U{ord(c):08x}"

    return '"' + "".join(map(escape, text)) + '"'

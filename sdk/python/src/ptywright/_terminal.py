"""Gives the person's terminal to a session, and takes it back."""

from __future__ import annotations

import codecs
import os
import select
import signal
import sys
import threading
from typing import Any, Dict, List, Optional, Tuple

from . import _generated as wire
from ._answer import Answer
from ._connection import Connection
from ._errors import NotATerminal, PtywrightError
from ._record import Call

FRAME_WAIT = 600_000
"""Milliseconds that the server waits for something new; after them it is asked again."""

# The modes of the person's terminal that follow the program's, so that what the terminal sends is
# what the program reads.
_MODES = {"application_cursor": "1", "bracketed_paste": "2004", "focus_events": "1004"}
_MOUSE = {"none": "", "x10": "9", "vt200": "1000", "drag": "1002", "any": "1003"}


def interact(
    connection: Connection, session: str, escape: str, take: bool
) -> Optional[wire.Exit]:
    """Shows the session in the terminal that is standard input and output, and types into it what
    is typed there, until the escape key or the program's end. Takes the session by a lease, and
    gives it back together with its size."""
    try:
        import termios
        import tty
    except ImportError:
        raise NotATerminal("interact needs a terminal of Unix") from None
    try:
        source, target = sys.stdin.fileno(), sys.stdout.fileno()
        before = termios.tcgetattr(source)
        os.get_terminal_size(target)
    except (OSError, ValueError, termios.error):
        raise NotATerminal(
            "interact needs a terminal as standard input and output: run the program at one"
        ) from None
    _done(connection, wire.session_lease(session, holder=f"interact {os.getpid()}", take=take))
    view = _View(connection, session, source, target)
    try:
        sys.stdout.flush()
        tty.setraw(source, termios.TCSADRAIN)  # what was typed ahead is for the session
        return view.run(escape.encode())
    finally:
        view.leave()
        termios.tcsetattr(source, termios.TCSADRAIN, before)
        _quietly(connection, wire.session_release(session))


def _done(connection: Connection, call: Call[Any]) -> Any:
    answer = connection.start(call)
    connection.wait(answer)
    return call.make(answer.get())


def _quietly(connection: Connection, call: Call[Any]) -> None:
    try:
        _done(connection, call)
    except PtywrightError:
        pass  # the session is gone, or the server


class _View:
    """One interaction. Its thread alone touches the terminal; others only wake it by a pipe."""

    def __init__(self, connection: Connection, session: str, source: int, target: int) -> None:
        self._connection, self._session = connection, session
        self._source, self._target = source, target
        self._woken, self._wake = os.pipe()
        self._ringing = threading.Lock()
        os.set_blocking(self._wake, False)
        os.set_blocking(self._woken, False)
        self._decode = codecs.getincrementaldecoder("utf-8")("replace")
        self._modes: Dict[str, Any] = {}
        self._answer: Optional[Answer] = None
        self._size: Tuple[int, int] = (0, 0)
        self._winch: Any = None

    def run(self, escape: bytes) -> Optional[wire.Exit]:
        """Shows and types until the escape key or the program's end."""
        self._write("\x1b[?1049h\x1b[2J")
        try:
            self._winch = signal.signal(signal.SIGWINCH, self._winched)
        except ValueError:
            pass  # not the main thread: the size stays
        self._fit()
        self._ask(None)
        while True:
            ready: List[int] = select.select([self._source, self._woken], [], [])[0]
            if self._woken in ready:
                try:
                    os.read(self._woken, 4096)
                except BlockingIOError:
                    pass
                self._fit()
                answer = self._answer
                if answer and answer.done:
                    frame = wire.Frame(answer.get())
                    self._show(frame)
                    if frame.exit is not None and not frame.exit.draining:
                        return frame.exit
                    self._ask(frame.sequence)
            if self._source in ready:
                typed = os.read(self._source, 4096)
                typed, found, _ = typed.partition(escape) if escape else (typed, b"", b"")
                text = self._decode.decode(typed)
                if text:
                    _done(
                        self._connection,
                        wire.session_input(
                            self._session, action=wire.TextAction(type="text", value=text)
                        ),
                    )
                if found or not typed:
                    return None

    def leave(self) -> None:
        """Puts the terminal back as it was."""
        if self._answer:
            self._connection.cancel(self._answer)
        if self._winch is not None:
            signal.signal(signal.SIGWINCH, self._winch)
        off = "".join(f"\x1b[?{mode}l" for mode in _MODES.values())
        mouse = "".join(f"\x1b[?{mode}l" for mode in [*_MOUSE.values(), "1006"] if mode)
        self._write(f"{off}{mouse}\x1b>\x1b[0 q\x1b[?25h\x1b[0m\x1b[?1049l")
        with self._ringing:  # by the thread that reads the answer
            os.close(self._woken)
            os.close(self._wake)
            self._wake = -1

    def _winched(self, number: int, frame: object) -> None:
        self._ring()

    def _answered(self) -> None:
        with self._ringing:
            self._ring()

    def _ring(self) -> None:
        try:
            os.write(self._wake, b"x")
        except OSError:
            pass  # it is full, or closed

    def _ask(self, since: Optional[int]) -> None:
        self._answer = self._connection.start(
            wire.session_frame(self._session, form="ansi", since=since, timeout_ms=FRAME_WAIT)
        )
        self._connection.reading.watch(self._answer, self._answered)

    def _fit(self) -> None:
        """Gives the session the terminal's size, for as long as it is leased."""
        cols, rows = os.get_terminal_size(self._target)
        if (rows, cols) != self._size and rows > 0 and cols > 0:
            self._size = rows, cols
            _quietly(
                self._connection, wire.session_resize(self._session, rows, cols, hold=True)
            )

    def _show(self, frame: wire.Frame) -> None:
        out = ["\x1b[?25l"]
        if frame.full:
            out.append("\x1b[0m\x1b[2J")
        for row in frame.rows:
            out.append(f"\x1b[{row.row + 1};1H\x1b[0m\x1b[2K{row.ansi or ''}")
        modes = frame.modes.raw
        for name, mode in _MODES.items():
            if modes[name] != self._modes.get(name, False):
                out.append(f"\x1b[?{mode}{'h' if modes[name] else 'l'}")
        if modes["application_keypad"] != self._modes.get("application_keypad", False):
            out.append("\x1b=" if modes["application_keypad"] else "\x1b>")
        mouse = self._modes.get("mouse", "none")
        if modes["mouse"] != mouse:
            if mouse != "none":
                out.append(f"\x1b[?{_MOUSE[mouse]}l\x1b[?1006l")
            if _MOUSE.get(modes["mouse"]):
                out.append(f"\x1b[?{_MOUSE[modes['mouse']]}h\x1b[?1006h")
        self._modes = modes
        cursor = frame.cursor
        out.append(f"\x1b[0m\x1b[{cursor.row + 1};{cursor.col + 1}H\x1b[{cursor.style} q")
        if cursor.visible:
            out.append("\x1b[?25h")
        self._write("".join(out))

    def _write(self, text: str) -> None:
        data = text.encode("utf-8", "replace")
        while data:
            data = data[os.write(self._target, data) :]

"""A connection to a server, which threads and event loops share.

Whoever asks writes in its own thread, and reads there, too, while nobody else does: see _reading.py.
"""

from __future__ import annotations

import itertools
import json
import os
import sys
import threading
import time
import weakref
from typing import Any, Callable, Dict, List, Optional, Tuple, cast

from ._answer import Answer, Queue
from ._child import END_BOUND, Child
from ._errors import ClientClosed, ForkError, PtywrightError, ServerGone, ServerStuck
from ._failures import ERRORS
from ._generated import NOTIFICATIONS, server_set_notifications
from ._reading import Reading
from ._record import Call
from ._stream import Stream

CANCEL_BOUND = 5.0
"""Seconds to wait for the answer to a cancelled request: a live server needs a millisecond."""

GRACE = 180.0
"""Seconds that an answer may take beyond the timeout of its request."""

Out = Tuple[bytes, int, List[int]]

_encode = json.JSONEncoder(separators=(",", ":")).encode  # json.dumps would make one for each line

_open: weakref.WeakSet[Connection] = weakref.WeakSet()


class Connection:
    """One connection. Everything here may be called from any thread."""

    write_bound = 30.0
    """Seconds that a server may leave a request unread."""

    def __init__(self, stream: Stream, about: str, child: Optional[Child] = None) -> None:
        """about names the server in messages; child is the server, if this process started it."""
        self.about, self.child = about, child
        self._stream = stream
        self._pid = os.getpid()
        self._ids = itertools.count(1)
        self._writing = threading.Lock()
        # What was written last: how much of it is of an older line that was begun, and how much of
        # it was taken. Guarded by _writing; whoever writes next finishes a line that is begun.
        self._out: Out = (b"", 0, [])
        self._lock = threading.Lock()  # guards _lost, and what is added to what follows
        self._pending: Dict[int, Answer] = {}
        self._queues: List[Queue] = []
        self._lost: Optional[Callable[[], PtywrightError]] = None
        self.reading = Reading(
            stream, self._pending, self._queues, self._take, self._notify, self._end
        )
        _open.add(self)

    def answer(self, call: Call[Any]) -> Answer:
        """An answer to wait for."""
        return Answer(next(self._ids), call.method)

    def begin(self, answer: Answer, call: Call[Any]) -> bytes:
        """The line that asks for an answer, which is pending from now on."""
        if os.getpid() != self._pid:
            raise ForkError(
                f"{call.method}: the server belongs to process {self._pid}, from which this one "
                "was forked: call ptywright.spawn or ptywright.start here"
            )
        line = _line({"id": answer.id, "method": call.method, "params": call.params})
        with self._lock:
            lost = self._lost
            if lost is None:
                self._pending[answer.id] = answer
        if lost is not None:
            error = lost()
            error.method = call.method
            raise error
        self.reading.asked()
        return line

    def start(self, call: Call[Any]) -> Answer:
        """Sends a request. Blocks while the server does not read, for write_bound at most."""
        answer = self.answer(call)
        try:
            self.send(self.begin(answer, call), answer)
        except BaseException:
            self.unsent(answer)
            raise
        return answer

    def wait(self, answer: Answer, seconds: Optional[float] = None) -> bool:
        """Waits for an answer; False when it has not come after so long."""
        return self.reading.wait(answer, seconds)

    def unsent(self, answer: Answer) -> None:
        """Gives up on a request that was perhaps not sent whole. What is begun is sent whole, and
        cancelled right away."""
        self._drop(answer)
        if not answer.begun:
            return
        with self._writing:
            line = self._rest() + self.cancel_line(answer)
            self._out = (line, len(line), [])
            try:
                self._write(b"", 0)
            except (OSError, ServerStuck):
                pass  # whoever writes next does it, or is told

    def _drop(self, answer: Answer) -> None:
        self._pending.pop(answer.id, None)

    def send(self, line: bytes, answer: Optional[Answer] = None) -> None:
        """Writes a line, which asks for answer."""
        try:
            with self._writing:
                self._write(line, self.write_bound, answer)
        except OSError as error:
            if error.errno is None:
                raise  # not the system's: a handler of signals has raised it
            raise self._broken(error) from None

    def try_send(self, line: bytes, answer: Optional[Answer] = None) -> bool:
        """Writes a line if that blocks nobody; else the caller sends it from another thread."""
        if not self._writing.acquire(blocking=False):
            return False
        try:
            if self._rest():
                return False
            try:
                self._write(line, 0, answer)
            except OSError:
                return False  # send tells why
            except ServerStuck:
                if not self._rest():
                    return False  # not begun
                threading.Thread(target=self._send_rest, daemon=True).start()
            return True
        finally:
            self._writing.release()

    def _send_rest(self) -> None:
        try:
            self.send(b"")
        except PtywrightError:
            pass  # whoever waits for an answer is told

    def _rest(self) -> bytes:
        """What is still to be written of a line that was begun."""
        data, older, counts = self._out
        sent = sum(counts)
        return data[sent:] if sent > older else data[sent:older]

    def _write(self, line: bytes, bound: float, answer: Optional[Answer] = None) -> None:
        rest = self._rest()
        data = rest + line if rest else line
        counts: List[int] = []
        out = (data, len(rest), counts)
        if answer is not None:
            answer.out = out
        self._out = out
        view, until, sent = memoryview(data), 0.0, 0
        while sent < len(data):
            try:
                self._stream.write(view[sent:], counts)
            except BlockingIOError:
                pass
            sent = sum(counts)
            if sent < len(data):
                until = until or time.monotonic() + bound
                if not self._stream.writable(max(until - time.monotonic(), 0)):
                    raise ServerStuck(
                        f"{self.about} has not read its input for {bound:g} s and took nothing of "
                        "the request: see what holds it up, or close the client, which ends it"
                    )

    def _broken(self, error: OSError) -> PtywrightError:
        self.reading.thread.join(END_BOUND)  # it tells why
        with self._lock:
            lost = self._lost
        return lost() if lost else ServerGone(f"{self.about} is gone: {error.strerror}")

    def cancel_line(self, answer: Answer) -> bytes:
        """The line that cancels a request."""
        return _line({"method": "$/cancelRequest", "params": {"id": answer.id}})

    def cancel(self, answer: Answer) -> None:
        """Cancels a request; its answer still comes, with the reason cancelled."""
        if not answer.done:
            try:
                self.send(self.cancel_line(answer))
            except PtywrightError:
                pass  # then its answer is that

    def abandon(self, answer: Answer) -> None:
        """Gives up on an answer that did not come although it was cancelled."""
        self._drop(answer)
        answer.finish(None, ServerStuck(f"{self.about} has not answered a cancelled request"))

    # Notifications.

    def subscription(self, add: Optional[Queue] = None, remove: Optional[Queue] = None) -> Call[Any]:
        """Adds or removes a reader of notifications, and returns the call that says so to the
        server."""
        with self._lock:
            if add is not None:
                self._queues.append(add)
            if remove is not None and remove in self._queues:
                self._queues.remove(remove)
            queues = list(self._queues)
        self.reading.serve()
        if remove is not None:
            remove.end(None)
        sessions = sorted({s for q in queues for s in q.sessions})
        if not all(q.sessions for q in queues):
            sessions = []
        events = any(q.events for q in queues)
        return server_set_notifications(
            bool(queues), events=events or None, sessions=sessions or None
        )

    # What was read.

    def _take(self, message: Dict[str, Any]) -> None:
        """Notes a response. It may come a second time."""
        id, error = message.get("id"), message.get("error")
        answer = self._pending.get(id or 0)
        if answer is not None:
            if error is None:
                answer.finish(message.get("result"))
            else:
                answer.finish(None, error_of(error, answer.method))
            self._pending.pop(answer.id, None)
        elif id is None and error is not None:
            raise ValueError(error.get("message"))  # about a request that it could not read

    def _notify(self, message: Dict[str, Any]) -> None:
        make = NOTIFICATIONS.get(message["method"])
        if make is None:
            return  # of a newer server
        params: Dict[str, Any] = message.get("params") or {}
        notification = make(params)
        for queue in tuple(self._queues):
            if queue.wants(message["method"], params.get("session")):
                queue.put(notification)

    def _end(self, why: str) -> None:
        """The connection has ended: those who wait are told, and nothing is left of the server."""
        if why:
            self._stream.end()
        how = ""
        if self.child:
            with self._lock:
                closed = self._lost is not None
            if why and not closed:
                self.child.process.kill()
            how = self.child.end()
        message = f"{self.about} has ended"
        if how:
            message += f" ({how})"
        if not self.child:
            message = f"{self.about} has closed the connection"
        if why:
            message += f": {why}"
        if self.child and self.child.words():
            message += "; its last words:\n" + self.child.words() + "\n"
        else:
            message += ": "
        message += (
            "start another one with ptywright.start, or spawn anew"
            if self.child
            else "see whether it still runs, and connect again"
        )
        self.fail(lambda: ServerGone(message))
        with self._writing:
            self._stream.close()

    def fail(self, lost: Callable[[], PtywrightError]) -> None:
        """Ends all that waits, and what is asked from now on, with an error. The first one counts."""
        with self._lock:
            if self._lost is None:
                self._lost = lost
            lost = self._lost
            pending = list(self._pending.values())
            queues = list(self._queues)
            self._pending.clear()
            self._queues.clear()
        for answer in pending:
            error = lost()
            error.method = answer.method
            answer.finish(None, error)
        for queue in queues:
            error = lost()
            queue.end(None if isinstance(error, ClientClosed) else error)

    @property
    def lost(self) -> bool:
        """It has ended, by either side."""
        return self._lost is not None

    def close(self) -> None:
        """Ends the connection, and the server if this process started it: with all its programs.
        Blocks until nothing is left of them, ten seconds at most."""
        if os.getpid() != self._pid:
            return
        _open.discard(self)
        with self._lock:
            pending = list(self._pending.values())
        self.fail(lambda: ClientClosed("the client was closed: start or connect another one"))
        # What the server has read it answers before it ends, a wait by its own deadline.
        cancels = b"".join(map(self.cancel_line, pending))
        try:
            with self._writing:
                self._write(cancels, 1.0)
        except (OSError, ServerStuck):
            pass
        self._stream.end()
        self.reading.serve(alone=True)
        self.reading.thread.join(END_BOUND)
        if self.reading.thread.is_alive() and self.child:
            self.child.process.kill()
            self.reading.thread.join(END_BOUND)
        if threading.current_thread() is not self.reading.thread:
            self._stream.close()

    def forked(self) -> None:
        """In a forked process: closes what was inherited, so that the server ends with its own."""
        _open.discard(self)
        self._stream.close()
        self.reading.forked()
        if self.child:
            self.child.forked()


def _line(message: Dict[str, Any]) -> bytes:
    return _encode({"jsonrpc": "2.0", **message}).encode() + b"\n"


def error_of(error: Dict[str, Any], method: str) -> PtywrightError:
    """The error that the server has sent, of its reason's class."""
    data = error.get("data")
    members = cast(Dict[str, Any], data) if isinstance(data, dict) else {}
    reason = str(members.get("reason", ""))
    made = ERRORS.get(reason, PtywrightError)(str(error.get("message", "")), members)
    made.reason, made.code, made.method = reason, int(error.get("code", 0)), method
    return made


def patience(call: Call[Any]) -> float:
    """Seconds to wait for an answer: what the request may take, and much for a busy machine."""
    waits: Dict[str, Any] = call.params.get("wait") or {}
    ms = call.params.get("timeout_ms", 0) + waits.get("timeout_ms", 0)
    return GRACE + float(ms) / 1000


def stuck(connection: Connection, call: Call[Any]) -> ServerStuck:
    """The error of an answer that did not come."""
    error = ServerStuck(
        f"{connection.about} has not answered within {patience(call):g} s: see what holds it up, or "
        "close the client, which ends it"
    )
    error.method = call.method
    return error


def _after_fork() -> None:
    for connection in list(_open):
        try:
            connection.forked()
        except Exception as error:  # the others are let go of all the same
            sys.excepthook(type(error), error, error.__traceback__)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)

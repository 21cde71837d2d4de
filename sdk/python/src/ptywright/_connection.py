"""A connection to a server, which threads and event loops share.

One thread reads what the server sends and finishes the answers that others wait for; whoever asks
writes in its own thread. An event loop is woken from that thread, so that one connection serves any
number of loops, one after the other or side by side.
"""

from __future__ import annotations

import itertools
import json
import os
import select
import socket
import subprocess
import threading
import time
import weakref
from collections import deque
from typing import Any, Callable, Deque, Dict, List, Optional, Sequence, Tuple, cast

from ._errors import ClientClosed, ForkError, PtywrightError, ServerGone, ServerStuck
from ._failures import ERRORS
from ._generated import NOTIFICATIONS, Notification, server_set_notifications
from ._record import Call

MAX_MESSAGE = 256 << 20
"""Bytes of one message; every cell of the largest screen is some 200 MB."""

END_BOUND = 10.0
"""Seconds that a server may take to end: twice what it promises."""

CANCEL_BOUND = 5.0
"""Seconds to wait for the answer to a cancelled request: a live server needs a millisecond."""

GRACE = 180.0
"""Seconds that an answer may take beyond the timeout of its request."""

_encode = json.JSONEncoder(separators=(",", ":")).encode  # json.dumps would make one for each line

_guard = threading.Lock()


class Answer:
    """What the server will say to one request."""

    __slots__ = ("id", "method", "done", "result", "error", "_gate", "_then")

    def __init__(self, id: int, method: str) -> None:
        self.id, self.method = id, method
        self.done = False
        self.result: Any = None
        self.error: Optional[PtywrightError] = None
        self._gate = threading.Lock()
        self._gate.acquire()
        self._then: Optional[Callable[[], None]] = None

    def finish(self, result: Any, error: Optional[PtywrightError] = None) -> None:
        """Finishes it, once; from any thread."""
        with _guard:
            if self.done:
                return
            self.result, self.error, self.done = result, error, True
            then = self._then
        self._gate.release()
        if then:
            then()

    def then(self, call: Callable[[], None]) -> None:
        """Calls call when it is finished, in the thread that finishes it, or at once."""
        with _guard:
            if not self.done:
                self._then = call
                return
        call()

    def wait(self, seconds: Optional[float] = None) -> bool:
        """Waits until it is finished; False when it is not after so long."""
        if not self._gate.acquire(timeout=-1 if seconds is None else max(seconds, 0)):
            return False
        self._gate.release()
        return True

    def get(self) -> Any:
        """The result, or the error raised anew."""
        if self.error is not None:
            raise self.error
        return self.result


class Stream:
    """The bytes of a connection: two pipes, or a socket. Writing never blocks, reading does."""

    def __init__(self, read: int, write: int, sock: Optional[socket.socket] = None) -> None:
        self._read, self._write, self._sock = read, write, sock
        self._blocks = os.name == "nt"  # where a pipe cannot say that it is full
        if not sock and not self._blocks:
            os.set_blocking(write, False)

    def read(self) -> bytes:
        """What came, b"" at the end."""
        try:
            return self._sock.recv(1 << 16) if self._sock else os.read(self._read, 1 << 16)
        except OSError:
            return b""

    def write(self, data: memoryview) -> int:
        """Writes what there is room for; raises OSError when nobody reads any more."""
        try:
            if self._sock:
                return self._sock.send(data, getattr(socket, "MSG_DONTWAIT", 0))
            return os.write(self._write, data)
        except BlockingIOError:
            return 0

    def writable(self, seconds: float) -> bool:
        """Waits for room."""
        if hasattr(select, "poll"):
            poll = select.poll()
            poll.register(self._write, select.POLLOUT)
            return bool(poll.poll(seconds * 1000))
        return bool(select.select([], [self._write], [], seconds)[1])

    def end(self) -> None:
        """Tells the server that nothing more comes."""
        if self._sock:
            try:
                self._sock.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
        elif self._write >= 0:
            write, self._write = self._write, -1
            os.close(write)

    def close(self) -> None:
        """Closes what is open still."""
        if self._sock:
            self._sock.close()
            return
        self.end()
        if self._read >= 0:
            read, self._read = self._read, -1
            os.close(read)


class Child:
    """A server that this process has started."""

    def __init__(self, command: Sequence[str], env: Optional[Dict[str, str]] = None) -> None:
        self.program = command[0]
        # Its own session: a Ctrl-C at the terminal is for this program, which ends its server.
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
            env=env,
            start_new_session=True,
        )
        self._words = b""
        self._listener = threading.Thread(
            target=self._listen, name="ptywright-stderr", daemon=True
        )

    def stream(self) -> Stream:
        """Its standard input and output, and from now on what it says on standard error is kept."""
        process = self.process
        assert process.stdin and process.stdout
        stream = Stream(os.dup(process.stdout.fileno()), os.dup(process.stdin.fileno()))
        process.stdout.close()
        process.stdin.close()
        self._listener.start()
        return stream

    def _listen(self) -> None:
        stderr = self.process.stderr
        assert stderr
        while True:
            try:
                words = stderr.read(4096)
            except (OSError, ValueError):
                return
            if not words:
                return
            self._words = (self._words + words)[-4096:]

    def end(self) -> str:
        """Waits until it has ended, kills it when that takes long, and tells how it ended."""
        try:
            code = self.process.wait(END_BOUND)
        except subprocess.TimeoutExpired:
            self.process.kill()
            code = self.process.wait()
        self._listener.join(1)
        if self.process.stderr and not self._listener.is_alive():
            self.process.stderr.close()
        return f"signal {-code}" if code < 0 else f"exit code {code}"

    def words(self) -> str:
        """The last lines that it said."""
        lines = self._words.decode("utf-8", "replace").strip().splitlines()
        return "\n".join(lines[-5:])

    def forked(self) -> None:
        """In a forked process: lets go of it without a wait."""
        self.process.returncode = 0  # nobody's to reap here
        if self.process.stderr:
            os.close(self.process.stderr.fileno())
            self.process.stderr = None


class Queue:
    """Notifications for one reader. When it holds limit of them the oldest go, and are counted."""

    def __init__(self, sessions: Tuple[str, ...], limit: int) -> None:
        self.sessions, self.limit = sessions, limit
        self.dropped = 0
        self._lock = threading.Lock()
        self._items: Deque[Notification] = deque()
        self._waiting: Optional[Answer] = None
        self._end: Optional[Tuple[Optional[PtywrightError]]] = None

    def put(self, item: Notification) -> None:
        with self._lock:
            if self._end:
                return
            waiting, self._waiting = self._waiting, None
            if waiting is None:
                if len(self._items) >= self.limit:
                    self._items.popleft()
                    self.dropped += 1
                self._items.append(item)
        if waiting:
            waiting.finish(item)

    def end(self, error: Optional[PtywrightError]) -> None:
        """Nothing more comes: what is there is still read, then error is raised, or the end."""
        with self._lock:
            if self._end:
                return
            self._end = (error,)
            waiting, self._waiting = self._waiting, None
        if waiting:
            waiting.finish(None, error)

    def next(self) -> Answer:
        """The next one, None at the end."""
        answer = Answer(0, "notifications")
        with self._lock:
            if self._items:
                answer.finish(self._items.popleft())
            elif self._end:
                answer.finish(None, self._end[0])
            elif self._waiting:
                raise RuntimeError("these notifications have a reader that waits already")
            else:
                self._waiting = answer
        return answer

    def forget(self, answer: Answer) -> None:
        """answer is not waited for any more; what it got meanwhile is put back."""
        with self._lock:
            if self._waiting is answer:
                self._waiting = None
            elif answer.done and answer.result is not None:
                self._items.appendleft(answer.result)


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
        self._rest = b""  # of a line that was written in part; guarded by _writing
        self._lock = threading.Lock()  # guards what follows
        self._pending: Dict[int, Answer] = {}
        self._queues: List[Queue] = []
        self._lost: Optional[Callable[[], PtywrightError]] = None
        self._reader = threading.Thread(target=self._read, name="ptywright-reader", daemon=True)
        self._reader.start()
        _open.add(self)

    def begin(self, call: Call[Any]) -> Tuple[Answer, bytes]:
        """An answer that is waited for, and the line that asks for it."""
        if os.getpid() != self._pid:
            raise ForkError(
                f"{call.method}: the server belongs to process {self._pid}, from which this one "
                "was forked: call ptywright.spawn or ptywright.start here"
            )
        answer = Answer(next(self._ids), call.method)
        line = _line({"id": answer.id, "method": call.method, "params": call.params})
        with self._lock:
            if self._lost is None:
                self._pending[answer.id] = answer
                return answer, line
            lost = self._lost()
        lost.method = call.method
        raise lost

    def start(self, call: Call[Any]) -> Answer:
        """Sends a request. Blocks while the server does not read, for write_bound at most."""
        answer, line = self.begin(call)
        try:
            self.send(line)
        except BaseException:
            self.unsent(answer)
            raise
        return answer

    def unsent(self, answer: Answer) -> None:
        """Gives up on a request that was not sent whole. What is begun is sent whole later, and
        cancelled right away."""
        self._drop(answer)
        with self._writing:
            if self._rest:
                self._rest += self.cancel_line(answer)

    def _drop(self, answer: Answer) -> None:
        with self._lock:
            self._pending.pop(answer.id, None)

    def send(self, line: bytes) -> None:
        """Writes a line."""
        try:
            with self._writing:
                self._write(line, self.write_bound)
        except OSError as error:
            raise self._broken(error) from None

    def try_send(self, line: bytes) -> bool:
        """Writes a line if that blocks nobody; else the caller sends it from another thread."""
        if not self._writing.acquire(blocking=False):
            return False
        try:
            if self._rest:
                return False
            try:
                self._write(line, 0)
            except OSError:
                return False  # send tells why
            except ServerStuck:
                if not self._rest:
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

    def _write(self, line: bytes, bound: float) -> None:
        older = len(self._rest)
        data = memoryview(self._rest + line)
        sent = 0
        try:
            until = time.monotonic() + bound
            while sent < len(data):
                n = self._stream.write(data[sent:])
                sent += n
                if n == 0 and not self._stream.writable(max(until - time.monotonic(), 0)):
                    raise ServerStuck(
                        f"{self.about} has not read its input for {bound:g} s and took nothing of "
                        "the request: see what holds it up, or close the client, which ends it"
                    )
        finally:
            # A line that is begun is finished by whoever writes next.
            self._rest = bytes(data[sent:] if sent > older else data[sent:older])

    def _broken(self, error: OSError) -> PtywrightError:
        self._reader.join(END_BOUND)  # it tells why
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
        if remove is not None:
            remove.end(None)
        sessions = sorted({s for q in queues for s in q.sessions})
        if not all(q.sessions for q in queues):
            sessions = []
        return server_set_notifications(bool(queues), sessions=sessions or None)

    # Reading.

    def _read(self) -> None:
        why = ""
        part = bytearray()
        try:
            while True:
                chunk = self._stream.read()
                if not chunk:
                    break
                end = chunk.rfind(b"\n")
                if end < 0:
                    part += chunk
                    if len(part) > MAX_MESSAGE:
                        raise ValueError(f"it sent a message of more than {MAX_MESSAGE} bytes")
                    continue
                lines = bytes(part) + chunk[:end]
                part = bytearray(chunk[end + 1 :])
                for line in lines.split(b"\n"):
                    if line.strip():
                        self._take(json.loads(line))
        except Exception as error:  # whatever it is, those who wait are told
            why = f"it sent something else than a message: {error}"
        self._end(why)

    def _take(self, message: Dict[str, Any]) -> None:
        if "method" in message:
            self._notify(message["method"], message.get("params") or {})
            return
        error = message.get("error")
        with self._lock:
            answer = self._pending.pop(message.get("id") or 0, None)
        if answer is not None:
            if error is None:
                answer.finish(message.get("result"))
            else:
                answer.finish(None, error_of(error, answer.method))
        elif message.get("id") is None and error is not None:
            raise ValueError(error.get("message"))  # about a request that it could not read

    def _notify(self, method: str, params: Dict[str, Any]) -> None:
        make = NOTIFICATIONS.get(method)
        if make is None:
            return  # of a newer server
        notification = make(params)
        with self._lock:
            queues = list(self._queues)
        for queue in queues:
            if not queue.sessions or params.get("session") in queue.sessions:
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
        self._reader.join(END_BOUND)
        if self._reader.is_alive() and self.child:
            self.child.process.kill()
            self._reader.join(END_BOUND)
        if threading.current_thread() is not self._reader:
            self._stream.close()

    def forked(self) -> None:
        """In a forked process: closes what was inherited, so that the server ends with its own."""
        _open.discard(self)
        self._stream.close()
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
    global _guard
    _guard = threading.Lock()  # a thread that is not here any more may have held it
    for connection in list(_open):
        connection.forked()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)

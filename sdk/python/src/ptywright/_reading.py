"""Who reads what the server sends: whoever waits for it.

A pipe is read by one at a time, who has the right to. A thread that waits for an answer takes the
right and reads until its answer is there, so that no other thread has to be woken for it; then it
passes the right on to the next that waits. An event loop watches the pipe beside its other
descriptors. The connection's own thread reads for subscribers to notifications, for whoever asked to
be called, and for good once an exception, such as KeyboardInterrupt, has come in the middle of a
caller's reading. Else it looks on, and takes over when what somebody asked for is left unread.

Every step can be done again: a line stays until what it says was noted, and noting it twice is as
good as once. So an exception between two steps loses no answer and doubles none.
"""

from __future__ import annotations

import json
import sys
import threading
import time
from typing import Any, Callable, Dict, List, Optional, Protocol, Sequence

from ._answer import Answer, Gate
from ._stream import Stream

MAX_MESSAGE = 256 << 20
"""Bytes of one message; every cell of the largest screen is some 200 MB."""

TAKE_OVER = 0.05
"""Seconds for which nobody has read before the thread does, while something is asked for."""

LOOK_AGAIN = 1.0
"""Seconds after which the thread looks itself whether something was left unread."""

_decode = json.JSONDecoder().decode  # json.loads would look for the encoding of each line
_AT_ONCE = (False,)


class Listener(Protocol):
    """An event loop that can watch the pipe."""

    def listens(self) -> bool:
        """Whether it watches."""
        ...

    def close(self) -> None:
        """Stops for good; from any thread."""
        ...

    def forked(self) -> None:
        """Closes what a forked process has inherited."""
        ...


class Reading:
    """The reading side of a connection."""

    def __init__(
        self,
        stream: Stream,
        pending: Dict[int, Answer],
        queues: Sequence[object],
        take: Callable[[Dict[str, Any]], None],
        notify: Callable[[Dict[str, Any]], None],
        end: Callable[[str], None],
    ) -> None:
        """pending and queues are the connection's, and are only looked at. take is given a response,
        perhaps twice; notify a notification, once, by the thread alone; end why it was the end."""
        self.stream = stream
        self._pending, self._queues = pending, queues
        self._take, self._notify, self._end = take, notify, end
        self._right = threading.Lock()  # to read, and to touch _came
        # What was read and not noted yet. All but the last ones are lines, and those are parts of
        # the next line.
        self._came: List[bytes] = []
        self._reads = 0
        # Only CPython looks for signals between two calls of C, and not in between.
        self._alone = stream.blocks or sys.implementation.name != "cpython"
        self._watched: Dict[int, Answer] = {}
        # Who waits for the right: threads, each at a gate, and loops.
        self._gates: Dict[Gate, Callable[[], bool]] = {}
        self._followers: Dict[object, Callable[[], bool]] = {}
        self.listeners: Dict[Any, Listener] = {}  # by loop
        self._bell = Gate()
        self._parked = False  # the thread wants to be told what happens
        self.thread = threading.Thread(target=self._run, name="ptywright-reader", daemon=True)
        self.thread.start()

    # For whoever asks.

    def asked(self) -> None:
        """Something new is pending."""
        if self._parked:
            self._bell.open()

    def served(self) -> bool:
        """Whether the thread reads for all."""
        return bool(self._alone or self._queues or self._watched)

    def serve(self, alone: bool = False) -> None:
        """Tells the thread that there are subscribers now, or that it is to read for good."""
        if alone:
            self._alone = True
        self._bell.open()

    def watch(self, answer: Answer, call: Callable[[], object]) -> None:
        """Has the thread read, and call call when answer is there."""
        self._watched[answer.id] = answer
        answer.then(lambda: self._watched.pop(answer.id, None))
        answer.then(call)
        self._bell.open()

    def wait(self, answer: Answer, seconds: Optional[float] = None) -> bool:
        """Waits for an answer, and reads if nobody else does; False when it has not come in time."""
        until = None if seconds is None else time.monotonic() + seconds
        if not answer.done:
            self._lead(answer, until)
            if not answer.done:
                self._follow(answer, until)
        return answer.done

    def look(self) -> bool:
        """Reads what is there, without waiting; False when that is somebody else's."""
        return self._lead(None, 0)

    # For listeners.

    def follow(self, who: object, poke: Callable[[], bool]) -> bool:
        """Has poke called, perhaps in another thread and more than once, when nobody reads any more;
        it answers whether who can. False, and nothing, when nobody reads now."""
        self._followers[who] = poke
        if self.served() or self._right.locked():
            return True
        self._followers.pop(who, None)
        return False

    def unfollow(self, who: object) -> None:
        """Ends that, and passes on what it was perhaps told."""
        if self._followers.pop(who, None):
            self._left()

    # How.

    def _lead(self, answer: Optional[Answer], until: Optional[float]) -> bool:
        """Reads until answer is there, or it is time; without an answer, once. False when somebody
        else reads; the thread may have to go on, too."""
        held: List[bool] = []
        try:
            if self.served():
                return False
            held.extend(map(self._right.acquire, _AT_ONCE))
            if not held[0]:
                return False
            self._read(answer, until)
            return True
        except BaseException:
            self._alone = True
            raise
        finally:
            if True in held:
                self._right.release()
                self._left()

    def _read(self, answer: Optional[Answer], until: Optional[float]) -> None:
        while self._sort():
            if self.served():
                return
            if answer:
                if answer.done:
                    return
                left = None if until is None else max(until - time.monotonic(), 0)
                if not self.stream.readable(left):
                    return
            if not self._fetch():
                break
            if not answer:
                answer = _NOBODY
        if not self._queues:
            self._alone = True  # what cannot go on here goes on there

    def _follow(self, answer: Answer, until: Optional[float]) -> None:
        gate = Gate()
        answer.then(gate.open)
        self._gates[gate] = gate.open
        try:
            while not answer.done:
                self._lead(answer, until)
                left = None if until is None else until - time.monotonic()
                if answer.done or (left is not None and left <= 0):
                    return
                gate.wait(left)
        finally:
            self._gates.pop(gate, None)
            self._left()

    def _left(self) -> None:
        """Passes the right to read on, if it is free."""
        if self._right.locked():
            return
        if self._parked or self.served():
            self._bell.open()
        # Threads first: one that waits reads at once, but a loop may be held up, by a call of its own
        # that waits, for instance.
        for poke in list(self._gates.values()) + list(self._followers.values()):
            if poke():
                break

    def _fetch(self) -> bool:
        """Reads once; False at the end."""
        came = self._came
        try:
            self.stream.read(came)
        except BlockingIOError:
            return True
        except OSError as error:
            if error.errno is None:
                raise  # not the system's: a handler of signals has raised it
            return False
        chunk = came[-1]
        self._reads += 1
        end = chunk.find(b"\n") + 1
        if not end:
            return bool(chunk) and sum(map(len, came)) <= MAX_MESSAGE
        if end < len(chunk) or len(came) > 1:
            self._cut()
        return True

    def _cut(self) -> None:
        """Cuts what came into lines."""
        *lines, rest = b"".join(self._came).split(b"\n")
        self._came[:] = [line + b"\n" for line in lines] + [rest] * bool(rest)

    def _sort(self, thread: bool = False) -> bool:
        """Notes what the lines say that came; False when that is the thread's."""
        came = self._came
        while came and came[0].endswith(b"\n"):
            if len(came[0]) > 1:
                try:
                    message: Dict[str, Any] = _decode(came[0].decode())
                    if type(message) is not dict:
                        raise ValueError("no object")
                except ValueError:
                    if thread:
                        raise
                    return False
                if "method" not in message:
                    self._take(message)
                elif thread:
                    self._notify(message)
                elif self._queues:
                    return False
            del came[0]
        return True

    def _run(self) -> None:
        why = ""
        try:
            self._attend()
        except Exception as error:  # whatever it is, those who wait are told
            why = f"it sent something else than a message: {error}"
        self._end(why)
        while self.listeners:
            self.listeners.popitem()[1].close()

    def _attend(self) -> None:
        while True:
            seen = self._reads
            if not self.served():
                self._bell.wait(TAKE_OVER)  # whoever asks and reads meanwhile wakes nobody
            if self.served() or (self._pending and self._reads == seen and not self._led()):
                if not self._read_on():
                    return
            elif self._reads == seen:
                self._park()

    def _park(self) -> None:
        """Waits for something to happen, as nothing does."""
        self._parked = True
        if not self.served():
            if not self._pending:
                self._bell.wait()
            elif self._led() and not self._bell.wait(LOOK_AGAIN):
                self.look()  # a loop that watches may be busy with something else
        self._parked = False

    def _led(self) -> bool:
        """Whether somebody reads."""
        return self._right.locked() or any(
            listener.listens() for listener in list(self.listeners.values())
        )

    def _read_on(self) -> bool:
        """Reads until somebody else can; False at the end."""
        with self._right:
            self._cut()
            while True:
                self._sort(thread=True)
                if not self.served() and (self._gates or self._followers or not self._pending):
                    break
                if not self.stream.blocks:
                    self.stream.readable(None)
                if not self._fetch():
                    size = sum(map(len, self._came))
                    if size > MAX_MESSAGE:
                        raise ValueError(f"it sent a message of more than {MAX_MESSAGE} bytes")
                    return False
        self._left()
        return True

    def forked(self) -> None:
        """In a forked process: closes what was inherited."""
        for listener in self.listeners.values():
            listener.forked()


_NOBODY = Answer(0, "")
_NOBODY.finish(None)

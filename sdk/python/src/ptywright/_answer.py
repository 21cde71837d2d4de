"""What is waited for: the answer to a request, and notifications."""

from __future__ import annotations

import threading
from collections import deque
from typing import Any, Callable, Deque, List, Optional, Tuple

from ._errors import PtywrightError
from ._generated import Notification


class Answer:
    """What the server will say to one request.

    It has no lock: each of its steps is one call of C, and may be done again after an exception, such
    as KeyboardInterrupt, has come in between.
    """

    __slots__ = ("id", "method", "out", "_said", "_calls")

    def __init__(self, id: int, method: str) -> None:
        self.id, self.method = id, method
        self.out: Optional[Tuple[bytes, int, List[int]]] = None
        """What was written with its request in it, how much before that, and how much was taken."""
        self._said: List[Tuple[Any, Optional[PtywrightError]]] = []  # the first one counts
        self._calls: List[Callable[[], object]] = []

    @property
    def begun(self) -> bool:
        """Whether any of its request was sent."""
        return self.out is not None and sum(self.out[2]) > self.out[1]

    @property
    def done(self) -> bool:
        """Whether it is there."""
        return bool(self._said)

    @property
    def result(self) -> Any:
        """What the server said, None of an error."""
        return self._said[0][0] if self._said else None

    @property
    def error(self) -> Optional[PtywrightError]:
        """The error that the server said, or that kept it from saying anything."""
        return self._said[0][1] if self._said else None

    def finish(self, result: Any, error: Optional[PtywrightError] = None) -> None:
        """Finishes it, from any thread. The first time counts."""
        self._said.append((result, error))
        for call in tuple(self._calls):
            call()

    def then(self, call: Callable[[], object]) -> None:
        """Calls call when it is finished, in the thread that finishes it, or at once; perhaps more
        than once."""
        self._calls.append(call)
        if self._said:
            call()

    def wait(self, seconds: Optional[float] = None) -> bool:
        """Waits until another thread has finished it; False when none has after so long."""
        if not self._said:
            gate = Gate()
            self.then(gate.open)
            gate.wait(seconds)
        return bool(self._said)

    def get(self) -> Any:
        """The result, or the error raised anew."""
        result, error = self._said[0]
        if error is not None:
            raise error
        return result


class Gate:
    """What one thread waits at, and others open."""

    __slots__ = ("_lock",)

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._lock.acquire()

    def open(self) -> bool:
        """Lets the thread through that waits, or the next that comes."""
        try:
            self._lock.release()
        except RuntimeError:
            pass  # it is open
        return True

    def wait(self, seconds: Optional[float] = None) -> bool:
        """Waits until it is opened, and shuts it again; False when it was not after so long."""
        return self._lock.acquire(timeout=-1 if seconds is None else max(seconds, 0))


class Queue:
    """Notifications for one reader. When it holds limit of them the oldest go, and are counted."""

    def __init__(self, sessions: Tuple[str, ...], limit: int, events: bool = False) -> None:
        self.sessions, self.limit, self.events = sessions, limit, events
        self.dropped = 0
        self._lock = threading.Lock()
        self._items: Deque[Notification] = deque()
        self._waiting: Optional[Answer] = None
        self._end: Optional[Tuple[Optional[PtywrightError]]] = None

    def wants(self, method: str, session: object) -> bool:
        """Whether the reader asked for such a notification."""
        if method == "session.event" and not self.events:
            return False
        return not self.sessions or session in self.sessions

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

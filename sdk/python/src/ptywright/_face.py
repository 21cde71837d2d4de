"""How a thread asks and waits. aio/_face.py is how a task does."""

from __future__ import annotations

from typing import Any, Callable, Generic, Optional, TypeVar, Union

from ._answer import Answer, Queue
from ._connection import CANCEL_BOUND, Connection, patience, stuck
from ._errors import PtywrightError
from ._match import Match
from ._matchers import Matcher
from ._record import Call

T = TypeVar("T")


def ask(
    connection: Connection, call: Call[T], undo: Optional[Callable[[T], Call[Any]]] = None
) -> T:
    """Sends a request and waits for its result. An interrupt (Ctrl-C) cancels it on the server;
    undo takes back what it has done all the same."""
    answer = connection.answer(call)
    try:
        connection.send(connection.begin(answer, call), answer)
        come = connection.wait(answer, patience(call))
    except PtywrightError:  # not sent, or no server
        connection.unsent(answer)
        raise
    except BaseException:
        if answer.begun:
            _take_back(connection, answer, call, undo)
        else:
            connection.unsent(answer)
        raise
    if not come:
        _take_back(connection, answer, call, undo)
        raise stuck(connection, call)
    return call.make(answer.get())


def _take_back(
    connection: Connection, answer: Answer, call: Call[T], undo: Optional[Callable[[T], Call[Any]]]
) -> None:
    connection.cancel(answer)
    if not connection.wait(answer, CANCEL_BOUND):
        connection.abandon(answer)
    elif undo and answer.error is None:
        connection.wait(connection.start(undo(call.make(answer.result))), CANCEL_BOUND)


def offload(work: Callable[[], T]) -> T:
    """Does what blocks."""
    return work()


def following(queue: Queue) -> Any:
    """The next notification, None at the end."""
    answer = queue.next()
    try:
        answer.wait()
    except BaseException:
        queue.forget(answer)
        raise
    return answer.get()


class Pending(Generic[T]):
    """What a request that goes on in the background will answer."""

    def __init__(self, connection: Connection, answer: Answer, make: Callable[[Any], T]) -> None:
        self._connection, self._answer, self._make = connection, answer, make

    def result(self, timeout: Optional[float] = None) -> T:
        """Waits for the result, which may be an error that is raised. After timeout seconds it is
        the builtin TimeoutError, and the request goes on."""
        if not self._connection.wait(self._answer, timeout):
            raise TimeoutError(f"{self._answer.method} goes on after {timeout:g} s")
        return self._make(self._answer.get())

    def done(self) -> bool:
        """Whether the answer is there."""
        return self._answer.done

    def cancel(self) -> bool:
        """Cancels the request on the server and waits until it is off the server's list; False when
        its answer came first. result() raises CancelledError then."""
        self._connection.cancel(self._answer)
        if not self._connection.wait(self._answer, CANCEL_BOUND):
            self._connection.abandon(self._answer)
        return self._answer.error is not None


class Waiting:
    """What threads have beside wait and expect: the same in the background."""

    _connection: Connection

    def _waits(
        self, what: Matcher, timeout: float, since: Union[int, str, None], latched: bool
    ) -> Call[Match]:
        raise NotImplementedError

    def _expects(self, what: Matcher, timeout: float) -> Call[Match]:
        raise NotImplementedError

    def wait_async(
        self,
        matcher: Matcher,
        *,
        timeout: float = 30,
        since: Union[int, str, None] = None,
        latched: bool = False,
    ) -> Pending[Match]:
        """Begins a `wait` and returns at once. The last input is that of this moment."""
        call = self._waits(matcher, timeout, since, latched)
        return Pending(self._connection, self._connection.start(call), call.make)

    def expect_async(self, matcher: Matcher, *, timeout: float = 30) -> Pending[Match]:
        """Begins an `expect` and returns at once."""
        call = self._expects(matcher, timeout)
        return Pending(self._connection, self._connection.start(call), call.make)


F = TypeVar("F")


def opening(function: F) -> F:
    """In a thread there is nothing to await."""
    return function

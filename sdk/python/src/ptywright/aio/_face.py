"""How a task asks and waits. ../_face.py is how a thread does."""

from __future__ import annotations

import asyncio
import os
import threading
from typing import TYPE_CHECKING, Any, Callable, Coroutine, Generator, Generic, Optional, TypeVar

from .._answer import Answer, Queue
from .._connection import CANCEL_BOUND, Connection, patience, stuck
from .._errors import PtywrightError, ServerStuck
from .._reading import Reading
from .._record import Call

if TYPE_CHECKING:
    from typing_extensions import ParamSpec

    P = ParamSpec("P")

T = TypeVar("T")


class Ear:
    """A loop's part in the reading of a connection: it watches the pipe, unless somebody else reads,
    and then is told by them. All but `settle` and `close` is the loop's thread's."""

    def __init__(self, reading: Reading, loop: asyncio.AbstractEventLoop) -> None:
        self._reading, self._loop = reading, loop
        self._thread = 0
        self._awaited = 0
        self._watches = False
        # A descriptor of its own: a loop would not notice that another one has got its number.
        self._read = reading.stream.another()

    def listens(self) -> bool:
        return self._watches and self._loop.is_running()

    async def finished(self, answer: Answer, bound: float) -> bool:
        """Waits for an answer; False when it did not come in time."""
        self._thread = threading.get_ident()
        come: asyncio.Future[bool] = self._loop.create_future()
        answer.then(lambda: self.settle(come))
        timer = self._loop.call_later(bound, _settle, come, False)
        self._awaited += 1
        if not self._watches:
            self._listen()
        try:
            return await come
        finally:
            timer.cancel()
            self._awaited -= 1
            if not self._awaited and not self._watches:
                self._reading.unfollow(self)

    def settle(self, come: asyncio.Future[bool]) -> None:
        """Lets a task go on whose answer is there."""
        if threading.get_ident() == self._thread:
            _settle(come, True)
        else:
            _call(self._loop, _settle, come, True)

    def _listen(self) -> None:
        """Watches the pipe, or has itself told when nobody reads any more."""
        if self._watches or not self._awaited or self._read < 0:
            return
        if not self._reading.follow(self, self._poke):
            try:
                self._loop.add_reader(self._read, self._hear)
            except NotImplementedError:  # of a loop that is not of this kind
                self._reading.serve(alone=True)
            else:
                self._watches = True

    def _poke(self) -> bool:
        return self._loop.is_running() and _call(self._loop, self._listen)

    def _hear(self) -> None:
        if not self._reading.look():
            self._turn_away()
            self._listen()

    def _turn_away(self) -> None:
        if self._watches:
            self._watches = False
            self._loop.remove_reader(self._read)

    def close(self) -> None:
        if self._loop.is_closed() or not _call(self._loop, self._close):
            self.forked()

    def _close(self) -> None:
        self._turn_away()
        self._reading.unfollow(self)
        self.forked()

    def __del__(self) -> None:
        self.forked()  # of a loop that was closed before it could do so

    def forked(self) -> None:
        read, self._read = self._read, -1
        if read >= 0:
            os.close(read)


def _settle(come: asyncio.Future[bool], value: bool) -> None:
    if not come.done():
        come.set_result(value)


def _call(loop: asyncio.AbstractEventLoop, call: Callable[..., None], *args: Any) -> bool:
    """Has a loop call it; False when the loop is closed, and nobody waits."""
    try:
        loop.call_soon_threadsafe(call, *args)
    except RuntimeError:
        return False
    return True


def _ear(reading: Reading) -> Ear:
    """That of the running loop."""
    loop = asyncio.get_running_loop()
    ear = reading.listeners.get(loop)
    if not isinstance(ear, Ear):
        for other in [other for other in list(reading.listeners) if other.is_closed()]:
            reading.listeners.pop(other).close()
        ear = reading.listeners[loop] = Ear(reading, loop)
    return ear


async def _finished(connection: Connection, answer: Answer, bound: float) -> bool:
    """Waits for an answer; False when it did not come in time."""
    return answer.done or await _ear(connection.reading).finished(answer, bound)


async def _told(answer: Answer) -> None:
    """Waits for an answer that another thread finishes."""
    loop = asyncio.get_running_loop()
    come: asyncio.Future[bool] = loop.create_future()
    answer.then(lambda: _call(loop, _settle, come, True))
    await come


async def _send(connection: Connection, line: bytes, answer: Optional[Answer] = None) -> None:
    if not connection.try_send(line, answer):
        await asyncio.get_running_loop().run_in_executor(None, connection.send, line, answer)


async def ask(
    connection: Connection, call: Call[T], undo: Optional[Callable[[T], Call[Any]]] = None
) -> T:
    """Sends a request and waits for its result. When the task is cancelled, so is the request on
    the server, before the task goes on; undo takes back what it has done all the same."""
    answer = connection.answer(call)
    try:
        await _send(connection, connection.begin(answer, call), answer)
        if not await _finished(connection, answer, patience(call)):
            connection.abandon(answer)
            raise stuck(connection, call)
    except ServerStuck:
        connection.unsent(answer)
        raise
    except asyncio.CancelledError:
        try:
            await _send(connection, connection.cancel_line(answer))
        except PtywrightError:
            pass  # then its answer is that
        if not await _finished(connection, answer, CANCEL_BOUND):
            connection.abandon(answer)
        elif undo and answer.error is None:
            back = undo(call.make(answer.result))
            undone = connection.answer(back)
            await _send(connection, connection.begin(undone, back), undone)
            await _finished(connection, undone, CANCEL_BOUND)
        raise
    return call.make(answer.get())


async def offload(work: Callable[[], T]) -> T:
    """Does what blocks, in another thread."""
    return await asyncio.get_running_loop().run_in_executor(None, work)


async def following(queue: Queue) -> Any:
    """The next notification, None at the end."""
    answer = queue.next()
    try:
        await _told(answer)
    except asyncio.CancelledError:
        queue.forget(answer)
        raise
    return answer.get()


class Opening(Generic[T]):
    """What `await` returns, or `async with` enters."""

    def __init__(self, opened: Coroutine[Any, Any, T]) -> None:
        self._coroutine = opened

    def __await__(self) -> Generator[Any, None, T]:
        return self._coroutine.__await__()

    async def __aenter__(self) -> T:
        self._opened: Any = await self._coroutine
        await self._opened.__aenter__()
        opened: T = self._opened
        return opened

    async def __aexit__(self, *raised: Any) -> None:
        await self._opened.__aexit__(*raised)


def opening(
    function: Callable[P, Coroutine[Any, Any, T]],
) -> Callable[P, Opening[T]]:
    """Has a function's result be awaited or entered."""

    def open(*args: P.args, **kwargs: P.kwargs) -> Opening[T]:
        return Opening(function(*args, **kwargs))

    open.__doc__, open.__name__ = function.__doc__, function.__name__
    return open


class Waiting:
    """Tasks need nothing beside wait and expect."""

    _connection: Connection

"""How a task asks and waits. ../_face.py is how a thread does."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Callable, Coroutine, Generator, Generic, Optional, TypeVar

from .._connection import CANCEL_BOUND, Answer, Connection, Queue, patience, stuck
from .._errors import PtywrightError, ServerStuck
from .._record import Call

if TYPE_CHECKING:
    from typing_extensions import ParamSpec

    P = ParamSpec("P")

T = TypeVar("T")


async def _finished(answer: Answer, bound: Optional[float] = None) -> bool:
    """Waits for an answer, which another thread finishes; False when it did not come in time."""
    loop = asyncio.get_running_loop()
    come: asyncio.Future[bool] = loop.create_future()

    def settle(value: bool) -> None:
        if not come.done():
            come.set_result(value)

    def wake() -> None:
        try:
            loop.call_soon_threadsafe(settle, True)
        except RuntimeError:
            pass  # the loop is closed, and nobody waits

    timer = None if bound is None else loop.call_later(bound, settle, False)
    answer.then(wake)
    try:
        return await come
    finally:
        if timer:
            timer.cancel()


async def _send(connection: Connection, line: bytes) -> None:
    if not connection.try_send(line):
        await asyncio.get_running_loop().run_in_executor(None, connection.send, line)


async def ask(
    connection: Connection, call: Call[T], undo: Optional[Callable[[T], Call[Any]]] = None
) -> T:
    """Sends a request and waits for its result. When the task is cancelled, so is the request on
    the server, before the task goes on; undo takes back what it has done all the same."""
    answer, line = connection.begin(call)
    try:
        await _send(connection, line)
        if not await _finished(answer, patience(call)):
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
        if not await _finished(answer, CANCEL_BOUND):
            connection.abandon(answer)
        elif undo and answer.error is None:
            undone, line = connection.begin(undo(call.make(answer.result)))
            await _send(connection, line)
            await _finished(undone, CANCEL_BOUND)
        raise
    return call.make(answer.get())


async def offload(work: Callable[[], T]) -> T:
    """Does what blocks, in another thread."""
    return await asyncio.get_running_loop().run_in_executor(None, work)


async def following(queue: Queue) -> Any:
    """The next notification, None at the end."""
    answer = queue.next()
    try:
        await _finished(answer)
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

"""Whoever waits reads: the right to passes from one to the next, and nothing is lost on the way."""

from __future__ import annotations

import asyncio
import dis
import os
import random
import signal
import sys
import threading
from types import CodeType, FrameType
from typing import Any, Dict, Optional

import pytest

import ptywright
from conftest import still_pending
from ptywright import _connection, aio, text, wire

pytestmark = [
    pytest.mark.usefixtures("nothing_left"),
    # An interrupt in the middle of a destructor is only shown.
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]


class Interrupt(BaseException):
    """What is raised in the middle of something."""


def turn(s: ptywright.Session, word: str) -> None:
    s.send(word + "\n")
    assert s.wait(text=word).text == word


class Step:
    """Raises an Interrupt at the nth of the steps, of all that this thread takes in the package, after
    which Python looks for signals."""

    CALLS = {"CALL", "CALL_FUNCTION", "CALL_METHOD", "CALL_FUNCTION_KW", "CALL_FUNCTION_EX"}
    LOOKS = {*CALLS, "CALL_KW", "RESUME", "JUMP_BACKWARD", "JUMP_ABSOLUTE"}
    PACKAGE = os.path.dirname(ptywright.__file__)

    def __init__(self) -> None:
        self.left = 0
        self._steps: Dict[CodeType, Dict[int, bool]] = {}
        self._before: Dict[FrameType, int] = {}

    def __call__(self, frame: FrameType, event: str, arg: object) -> Any:
        code = frame.f_code
        if not code.co_filename.startswith(self.PACKAGE):
            return None
        frame.f_trace_opcodes = True
        if event == "return":
            self._before.pop(frame, None)
        elif event == "opcode":
            steps = self._steps.get(code)
            if steps is None:
                steps = {i.offset: i.opname in self.LOOKS for i in dis.get_instructions(code)}
                self._steps[code] = steps
            before: Optional[int] = self._before.get(frame)
            self._before[frame] = frame.f_lasti
            if before is not None and steps[before]:
                self.left -= 1
                if self.left == 0:
                    raise Interrupt
        return self

    def turn(self, s: ptywright.Session, word: str, n: int) -> bool:
        """A turn that is broken off at its nth step; False when it came to its end before."""
        self.left = n
        sys.settrace(self)
        try:
            turn(s, word)
            return False
        except Interrupt:
            return True
        finally:
            sys.settrace(None)
            self._before.clear()


@pytest.mark.parametrize("beside", ["alone", "subscribed", "waited"])
def test_interrupt_at_each_step(beside: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Wherever a turn is broken off, no answer is lost or belongs to another request, nothing is typed
    twice, and the session goes on."""

    def abandon(connection: object, answer: Any) -> None:
        raise AssertionError(f"the answer of {answer.method} was lost")

    monkeypatch.setattr(_connection.Connection, "abandon", abandon)
    step = Step()
    with ptywright.start() as client:
        s = client.spawn("sh", "-c", "stty -echo; echo ready; exec cat", echo_off="plain")
        s.expect(text="ready")
        other = client.spawn("cat")
        told = client.notifications(s) if beside == "subscribed" else None
        waiting = other.wait_async(text("late")) if beside == "waited" else None
        reading = client.connection.reading
        n = 0
        broken = True
        while broken:
            n += 1
            broken = step.turn(s, f"broken-{n}.", n)
            turn(s, f"after-{n}.")  # the thread has read this
            reading._alone = False
            turn(s, f"again-{n}.")  # and after this gives way again
            typed = s.transcript()
            assert typed.count(f"broken-{n}.") <= 1, n
            assert typed.count(f"after-{n}.") == typed.count(f"again-{n}.") == 1, n
            assert not reading._right.locked() or waiting or told
            assert len(still_pending(client.connection)) == (1 if waiting else 0), n
        assert n > 100, n
        if waiting:
            other.send("late\n")
            assert waiting.result(30).text == "late"
        if told:
            told.close()


class Storm:
    """Breaks off what a thread does, at a random moment; and then, perhaps, what it does about that."""

    def __init__(self, seed: int, again: float) -> None:
        self.chance, self.again = random.Random(seed), again
        self.armed = False
        self.count = 0
        self.before = signal.signal(signal.SIGALRM, self.interrupt)

    def interrupt(self, number: int, frame: object) -> None:
        if self.armed:
            self.count += 1
            self.armed = self.chance.random() < self.again
            if self.armed:
                signal.setitimer(signal.ITIMER_REAL, self.chance.uniform(1e-5, 1e-3))
            raise Interrupt

    def over(self, s: ptywright.Session, word: str) -> bool:
        """A turn in the storm, and whether it came to its end."""
        try:
            signal.setitimer(signal.ITIMER_REAL, self.chance.uniform(1e-5, 3e-3))
            try:
                self.armed = True
                turn(s, word)
                self.armed = False
                return True
            finally:
                self.armed = False
        except Interrupt:
            return False
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)

    def end(self) -> None:
        signal.signal(signal.SIGALRM, self.before)


@pytest.mark.parametrize("beside", ["alone", "subscribed", "waited"])
@pytest.mark.parametrize("again", [0, 0.5], ids=["once", "again"])
def test_interrupts_at_random(beside: str, again: float) -> None:
    """Signals break off turns wherever they are, cancelling included: no answer is lost or belongs to
    another request, nothing is typed twice, and the session goes on."""
    storm = Storm(21, again)
    try:
        for _ in range(8):
            in_a_storm(storm, beside)
    finally:
        storm.end()
    assert storm.count >= 24


def in_a_storm(storm: Storm, beside: str) -> None:
    """Turns until three were broken off. After the first the thread reads for good."""
    with ptywright.start() as client:
        s = client.spawn("sh", "-c", "stty -echo; echo ready; exec cat", echo_off="plain")
        s.expect(text="ready")
        other = client.spawn("cat")
        if beside == "subscribed":
            told = client.notifications(s)
        if beside == "waited":
            waiting = other.wait_async(text("late"))
        ended = storm.count + 3
        whole: list[bool] = []
        while storm.count < ended:
            whole.append(storm.over(s, f"w{len(whole)}."))
        turn(s, "calm.")
        if beside == "subscribed":
            told.close()
        if beside == "waited":
            other.send("late\n")
            assert waiting.result(30).text == "late"
        typed = s.transcript()
        for i, came_to_its_end in enumerate(whole):
            count = typed.count(f"w{i}.")
            assert count == 1 or (count == 0 and not came_to_its_end), (i, count)
        assert not client.connection._rest()


def test_threads_take_turns_at_reading() -> None:
    """Many callers, and one that waits for long while it reads for all."""
    with ptywright.start() as client:
        sessions = [client.spawn("cat") for _ in range(8)]
        first = threading.Thread(target=lambda: sessions[0].wait(text="the last word"))
        first.start()

        def turns(n: int) -> None:
            for i in range(40):
                turn(sessions[n], f"w{n}-{i}.")

        threads = [threading.Thread(target=turns, args=(n,)) for n in range(1, 8)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        assert first.is_alive()
        sessions[0].send("the last word\n")
        first.join()
        assert not still_pending(client.connection)


def test_notifications_while_nobody_calls() -> None:
    with ptywright.start() as client, client.spawn("cat") as s:
        with client.notifications(s) as told:
            reader = iter(told)
            s.send("x")
            for n in reader:
                if isinstance(n, wire.SessionOutput):
                    break
            s.signal("kill")
            for n in reader:
                if isinstance(n, wire.SessionExited):
                    break


def test_subscribed_while_a_caller_reads() -> None:
    """The caller leaves what the server tells to the thread."""
    with ptywright.start() as client, client.spawn("cat") as s, client.spawn("cat") as other:
        waits = threading.Thread(target=lambda: other.wait(text="enough"))
        waits.start()
        with client.notifications(s) as told:
            s.send("x\n")
            for n in told:
                if isinstance(n, wire.SessionOutput):
                    break
        other.send("enough\n")
        waits.join()


def test_a_wait_without_a_caller() -> None:
    """Nobody reads for it but the thread, which takes over, and gives way again."""
    with ptywright.start() as client, client.spawn("cat") as s:
        waiting, never = s.wait_async(text("soon")), s.wait_async(text("never"))
        s.send("soon\n")
        come = threading.Event()
        waiting._answer.then(come.set)
        assert come.wait(60) and waiting.done()
        for i in range(20):
            turn(s, f"w{i}.")
        assert never.cancel()


def test_a_loop_beside_threads() -> None:
    """A loop, a thread beside it and a call that blocks the loop, on one connection."""
    with ptywright.start() as client:
        shared = aio.Client(client.connection)
        blocking = client.spawn("cat")
        other = client.spawn("cat")

        async def turns(n: int) -> None:
            async with shared.spawn("cat") as s:
                for i in range(30):
                    await s.send(f"w{n}-{i}.\n")
                    await s.wait(text=f"w{n}-{i}.")
                    if n == 0:
                        turn(blocking, f"b{i}.")

        async def main() -> None:
            await asyncio.gather(*(turns(n) for n in range(4)))

        def beside() -> None:
            for i in range(60):
                turn(other, f"t{i}.")

        thread = threading.Thread(target=beside)
        thread.start()
        asyncio.run(main())
        thread.join()
        assert not still_pending(client.connection)


def test_a_call_that_holds_up_its_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    """A loop that waits for the right to read cannot take it while a call of its own waits, too."""
    monkeypatch.setattr(_connection, "GRACE", 10.0)
    with ptywright.start() as client:
        reading = client.connection.reading
        shared = aio.Client(client.connection)
        other = client.spawn("sh", "-c", "read x; sleep 0.3; echo first")
        blocking = client.spawn("sh", "-c", "read x; sleep 0.6; echo second")
        thread = threading.Thread(target=lambda: other.wait(text="first"))

        async def main() -> None:
            async with shared.spawn("cat") as s:
                thread.start()
                while not reading._right.locked():
                    await asyncio.sleep(0.01)
                pending = asyncio.ensure_future(s.wait(text="third"))
                while not reading._followers:  # until the loop finds that the thread reads
                    await s.screen()
                other.press("enter")
                blocking.press("enter")
                blocking.wait(text="second")  # the thread reads at first, then nobody
                await s.send("third\n")
                await pending

        asyncio.run(main())
        thread.join()
        assert not reading._followers and not reading._gates


def test_a_loop_that_stands_still() -> None:
    """A loop that watched the pipe and does not run any more keeps nobody waiting."""
    loop = asyncio.new_event_loop()
    with ptywright.start() as client:
        s = client.spawn("cat")
        shared = aio.Session(aio.Client(client.connection), s.id)
        loop.run_until_complete(shared.send("one\n"))
        waiting = s.wait_async(text("two"))
        s.send("two\n")
        come = threading.Event()
        waiting._answer.then(come.set)
        assert come.wait(60)
        loop.run_until_complete(shared.screen())
    loop.close()
    del shared

"""The same surface in event loops."""

from __future__ import annotations

import asyncio
import re
import threading

import pytest

import ptywright
from ptywright import aio, text, wire

pytestmark = pytest.mark.usefixtures("nothing_left")

SHELL = {"PS1": "$ ", "ENV": ""}


def test_first_lines():
    async def main():
        async with aio.spawn("sh", env=SHELL) as s:
            await s.expect(regex=r"\$$")
            await s.send("echo $((6*7))\n")
            assert (await s.wait(regex=r"(?m)^42$")).text == "42"
            with pytest.raises(ptywright.TimeoutError, match="no match after"):
                await s.wait(text="never-there", timeout=0.1)
            assert await s.exit is None
            await s.send("exit 2\n")
            assert (await s.wait(exited=True)).exit.exit_code == 2
            assert (await s.exit).exit_code == 2

    asyncio.run(main())


def test_everything_once(tmp_path):
    async def main():
        async with aio.start() as client:
            s = await client.spawn("bash", "--norc", env=SHELL, shell_integration=True)
            ran = await s.run("echo hi")
            assert ran.output == "hi\n"
            async with s.record(tmp_path / "a.md"):
                await s.press("a", "backspace")
                await s.paste("echo pasted")
                await s.press("enter")
                await s.wait(regex="(?m)^pasted$")
            assert "pasted" in (tmp_path / "a.md").read_text()
            await s.resize(10, 40)
            assert (await s.screen()).size.rows == 10
            assert "pasted" in await s.transcript()
            assert (await client.sessions())[0].session == s.id
            async with client.notifications(events=True) as told:
                await s.signal("kill")
                events = []
                async for n in told:
                    if isinstance(n, wire.SessionEventNotification):
                        events.append(n.event.kind)
                    if isinstance(n, wire.SessionExited):
                        assert n.signal == "SIGKILL" and not n.killed
                        break
                assert "input" in events
            await s.close()

    asyncio.run(main())


def test_cancelled_task_cancels_on_the_server():
    async def main():
        async with aio.start() as client, client.spawn("cat") as s:
            for _ in range(3):
                waiting = asyncio.ensure_future(s.wait(text="never"))
                await asyncio.sleep(0)  # it has begun
                await s.send("x")  # and is on the server before this
                waiting.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await waiting
            assert (await ended_waits(client))["cancelled"] == 3
            with pytest.raises(asyncio.TimeoutError):
                await asyncio.wait_for(s.wait(text="never"), 0.1)
            assert (await ended_waits(client))["cancelled"] == 4

    asyncio.run(main())


async def ended_waits(client: aio.Client) -> dict[str, int]:
    """How many waits have ended on the server, by outcome."""
    text = (await client.call(wire.server_metrics())).text
    found = re.findall(r'^ptywright_waits_total\{outcome="(\w+)"\} (\d+)', text, re.M)
    return {outcome: int(n) for outcome, n in found}


def test_a_cancelled_spawn_leaves_no_session():
    async def main():
        async with aio.start() as client:
            for _ in range(10):
                spawning = asyncio.ensure_future(client.spawn("cat")._coroutine)
                await asyncio.sleep(0)
                spawning.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await spawning
            assert await client.sessions() == []

    asyncio.run(main())


def test_two_loops_one_client():
    """Loops one after the other, and at the same time."""
    client = ptywright.start()
    with client:
        shared = aio.Client(client.connection)

        async def turn(word: str) -> None:
            async with shared.spawn("cat") as s:
                for i in range(20):
                    await s.send(f"{word} {i}\n")
                    await s.wait(text=f"{word} {i}")

        asyncio.run(turn("first"))
        asyncio.run(turn("second"))
        threads = [threading.Thread(target=lambda n=n: asyncio.run(turn(f"t{n}"))) for n in range(3)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        with client.spawn("cat") as s:
            s.send("sync\n")
            s.wait(text("sync"))


def test_loop_that_ended_with_a_wait():
    """A loop that goes away with a task of its own takes nothing with it."""
    with ptywright.start() as client:
        shared = aio.Client(client.connection)
        s = client.spawn("cat")

        async def leave() -> None:
            asyncio.ensure_future(aio.Session(shared, s.id).wait(text="never"))
            await asyncio.sleep(0)

        asyncio.run(leave())
        s.send("still here\n")
        s.wait(text="still here")

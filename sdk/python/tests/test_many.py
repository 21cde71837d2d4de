"""Many sessions and many waits on one pipe."""

from __future__ import annotations

import asyncio
import gc
import random

import pytest

import ptywright
from ptywright import aio
from test_aio import ended_waits

pytestmark = pytest.mark.usefixtures("nothing_left")


def resident() -> int:
    """Bytes of memory that this process has."""
    with open("/proc/self/statm") as f:
        return int(f.read().split()[1]) * 4096


def test_forty_sessions_two_hundred_waits():
    async def round(client: aio.Client, sessions: list[aio.Session], n: int) -> None:
        waits = {}
        for i, s in enumerate(sessions):
            for k in range(5):
                word = f"word-{n}-{i}-{k}."
                waits[asyncio.ensure_future(s.wait(text=word, since=0))] = (s, word)
        before = await ended_waits(client)
        tasks = list(waits)
        random.Random(n).shuffle(tasks)
        for task in tasks[:100]:
            task.cancel()
        for task in tasks[100:]:
            s, word = waits[task]
            await s.send(word)
        results = await asyncio.gather(*tasks, return_exceptions=True)
        for task, result in zip(tasks[:100], results[:100]):
            assert isinstance(result, asyncio.CancelledError)
        for task, result in zip(tasks[100:], results[100:]):
            assert isinstance(result, ptywright.Match), result
            assert result.text == waits[task][1]
        after = await ended_waits(client)
        assert after["cancelled"] - before.get("cancelled", 0) == 100
        assert after["matched"] - before.get("matched", 0) == 100

    async def main() -> None:
        async with aio.start() as client:
            sessions = await asyncio.gather(*(client.spawn("cat")._coroutine for _ in range(40)))
            await round(client, sessions, 0)
            gc.collect()
            before = resident()
            for n in range(1, 6):
                await round(client, sessions, n)
            gc.collect()
            assert resident() - before < 8 << 20
            assert len(asyncio.all_tasks()) == 1
            assert not client.connection._pending

    asyncio.run(main())

"""Many sessions and many waits on one pipe."""

from __future__ import annotations

import asyncio
import gc
import random
import re
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

import ptywright
from conftest import still_pending
from ptywright import aio, text, wire
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
            assert not still_pending(client.connection)

    asyncio.run(main())


def test_forty_sessions_two_hundred_waits_of_threads():
    """Each wait has a thread that waits for it, or one that cancels it."""

    def ended(client: ptywright.Client) -> dict[str, int]:
        found = client.call(wire.server_metrics()).text
        found = re.findall(r'^ptywright_waits_total\{outcome="(\w+)"\} (\d+)', found, re.M)
        return {outcome: int(n) for outcome, n in found}

    def round(client: ptywright.Client, sessions: list[ptywright.Session], n: int) -> None:
        waits = []
        for i, s in enumerate(sessions):
            for k in range(5):
                word = f"word-{n}-{i}-{k}."
                waits.append((s, word, s.wait_async(text(word), since=0)))
        random.Random(n).shuffle(waits)
        before = ended(client)
        with ThreadPoolExecutor(200) as pool:
            cancelled = [pool.submit(waiting.cancel) for _, _, waiting in waits[:100]]
            matched = [pool.submit(waiting.result, 60) for _, _, waiting in waits[100:]]
            for s, word, _ in waits[100:]:
                s.send(word)
            assert all(c.result() for c in cancelled)
            assert [m.result().text for m in matched] == [word for _, word, _ in waits[100:]]
        for _, _, waiting in waits[:100]:
            with pytest.raises(ptywright.CancelledError):
                waiting.result()
        after = ended(client)
        assert after["cancelled"] - before.get("cancelled", 0) == 100
        assert after["matched"] - before.get("matched", 0) == 100

    with ptywright.start() as client:
        threads = threading.active_count()
        with ThreadPoolExecutor(40) as pool:
            sessions = list(pool.map(client.spawn, ["cat"] * 40))
        round(client, sessions, 0)
        gc.collect()
        before = resident()
        for n in range(1, 4):
            round(client, sessions, n)
        gc.collect()
        assert resident() - before < 8 << 20
        assert threading.active_count() == threads
        assert not still_pending(client.connection) and not client.connection.reading._gates

"""What a turn costs in the SDK beside the bare wire: type a line, and wait for what it prints.

    PTYWRIGHT_BIN=./ptywright python3 sdk/python/bench.py [turns]

Each round stands between two of the bare wire, and is compared with those, so that what else goes on
weighs on all alike. The ratio is the median of these ratios. The fastest rounds are compared, too: those
say most when the machine is busy.
"""

from __future__ import annotations

import asyncio
import json
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, Callable, Dict, List

sys.path.insert(0, str(Path(__file__).parent / "src"))

from ptywright import _launch, aio, start  # noqa: E402

ROUNDS = 60


class Bare:
    """The wire without anything around it: one thread, one request at a time."""

    def __init__(self) -> None:
        self.server = subprocess.Popen(
            [_launch.find()[0], "serve", "--stdio"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,  # as the SDK's, so that the scheduler treats both alike
        )
        self.session = self.call("session.create", program="cat")["session"]

    def call(self, method: str, **params: Any) -> Any:
        request = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        assert self.server.stdin and self.server.stdout
        self.server.stdin.write(json.dumps(request).encode() + b"\n")
        self.server.stdin.flush()
        return json.loads(self.server.stdout.readline())["result"]

    def turn(self, word: str) -> None:
        action = {"type": "text", "value": word + "\r"}
        sent = self.call("session.input", session=self.session, action=action)
        matcher = {"type": "contains_text", "value": word}
        self.call("session.wait", session=self.session, matcher=matcher, since=sent["sequence"])

    def round(self, words: List[str]) -> None:
        for word in words:
            self.turn(word)

    def close(self) -> None:
        self.server.communicate()


def main(turns: int) -> None:
    bare, client = Bare(), start()
    session = client.spawn("cat")

    def threads(words: List[str]) -> None:
        for word in words:
            session.send(word + "\n")
            session.wait(text=word)

    tasks_session = aio.Session(aio.Client(client.connection), client.spawn("cat").id)

    async def in_tasks(words: List[str]) -> None:
        for word in words:
            await tasks_session.send(word + "\n")
            await tasks_session.wait(text=word)

    loop = asyncio.new_event_loop()
    kinds: Dict[str, Callable[[List[str]], None]] = {
        "ptywright": threads,
        "ptywright.aio": lambda words: loop.run_until_complete(in_tasks(words)),
    }

    def seconds(round: Callable[[List[str]], None], words: List[str]) -> float:
        began = time.perf_counter()
        round(words)
        return (time.perf_counter() - began) / turns

    base: List[float] = []
    took: Dict[str, List[float]] = {kind: [] for kind in kinds}
    ratios: Dict[str, List[float]] = {kind: [] for kind in kinds}
    for n in range(ROUNDS + 1):
        for kind, round in kinds.items():
            words = [f"w{n}-{i}." for i in range(turns)]
            first, mine, last = (
                seconds(r, [kind[-1] + x + w for w in words])
                for x, r in (("a", bare.round), ("b", round), ("c", bare.round))
            )
            if n:  # the first is for caches
                base += [first, last]
                took[kind].append(mine)
                ratios[kind].append(2 * mine / (first + last))
    loop.close()
    client.close()
    bare.close()
    median = statistics.median
    print(f"{'':15} {'median of a turn':>17} {'ratio':>6} {'fastest round':>17} {'ratio':>6}")
    for kind, times, ratio in [("bare wire", base, 1.0)] + [
        (kind, took[kind], median(ratios[kind])) for kind in kinds
    ]:
        print(
            f"{kind:15} {median(times) * 1e6:14.0f} us {ratio:6.2f}"
            f" {min(times) * 1e6:14.0f} us {min(times) / min(base):6.2f}"
        )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 25)

"""What the tests share: the package as it stands in the tree, and what a test may leave behind."""

from __future__ import annotations

import os
import sys
import threading
from pathlib import Path
from typing import Any, Iterator

import pytest

ROOT = Path(__file__).parents[3]
sys.path.insert(0, str(ROOT / "sdk/python/src"))


def descriptors() -> int:
    """How many this process has open."""
    return len(os.listdir("/proc/self/fd"))


def children() -> list[int]:
    """The processes that this one has started, and those that ended and were not reaped."""
    found: list[int] = []
    for task in os.listdir("/proc/self/task"):
        try:
            found += map(int, Path(f"/proc/self/task/{task}/children").read_text().split())
        except (FileNotFoundError, ProcessLookupError):
            pass  # a thread that Python has joined, and the kernel was about to take away
    return found


def still_pending(connection: Any) -> list[int]:
    """The requests that wait for an answer. The last one is none: who reads its answer may be about to
    strike it off."""
    last = next(connection._ids) - 1
    return [id for id in list(connection._pending) if id != last]


@pytest.fixture
def nothing_left() -> Iterator[None]:
    """Fails a test that leaves a thread, a descriptor or a process behind."""
    from ptywright import _launch

    _launch.end_shared()
    before = set(threading.enumerate()), descriptors(), set(children())
    yield
    _launch.end_shared()
    assert set(threading.enumerate()) <= before[0]
    assert descriptors() <= before[1]
    assert set(children()) <= before[2]

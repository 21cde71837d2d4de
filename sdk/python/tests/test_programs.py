"""The ten programs: once, or with PTYWRIGHT_LONG=1 fifty times beside two busy loops."""

from __future__ import annotations

import os
import shutil
import subprocess
from typing import Iterator

import pytest

import programs
import ptywright

LONG = os.environ.get("PTYWRIGHT_LONG") == "1"


@pytest.fixture(scope="module")
def busy() -> Iterator[None]:
    """Two loops that take what processors there are, in the long form; they end with this process,
    however it ends."""
    forever = f"while kill -0 {os.getpid()} 2>/dev/null; do :; done"
    loops = [subprocess.Popen(["sh", "-c", forever]) for _ in range(2 if LONG else 0)]
    yield
    for loop in loops:
        loop.kill()
        loop.wait()


@pytest.mark.parametrize("program", programs.ALL, ids=lambda f: f.__name__)
def test_program(program, busy, tmp_path):
    name = programs.NEEDS.get(program.__name__, program.__name__)
    if not shutil.which(name):
        pytest.skip(f"{name} is not installed")
    for i in range(50 if LONG else 1):
        folder = tmp_path / str(i)
        folder.mkdir()
        program(ptywright.spawn, folder)

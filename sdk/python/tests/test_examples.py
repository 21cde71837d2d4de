"""The example of a golden test with pytest is run as a reader has it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]


@pytest.mark.skipif(not shutil.which("fzf"), reason="fzf is not installed: apt-get install fzf")
def test_pick(tmp_path):
    example = tmp_path / "fzf"
    shutil.copytree(ROOT / "examples/testing/fzf", example)
    env = {
        **os.environ,
        "CI": "true",  # the golden screens are there
        "PYTHONPATH": str(ROOT / "sdk/python/src"),
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "ptywright.pytest", "-p", "no:cacheprovider", "-q"],
        cwd=example,
        env=env,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr

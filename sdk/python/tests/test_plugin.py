"""The pytest plugin, in runs of its own."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

SRC = str(Path(__file__).parents[1] / "src")

FAILING = '''
import pytest, ptywright

def test_passes(tui):
    with tui("cat") as s:
        s.send("fine\\n")
        s.wait(text="fine")

def test_fails(tui):
    s = tui("sh", "-c", "echo 'the screen of a test that fails'; echo $API_TOKEN; read x",
            env={"API_TOKEN": "tok-5e8f1c77ab"})
    s.expect(text="the screen")
    s.wait(text="never-there", timeout=0.1)

def test_fails_beside_a_dead_program(tui):
    with tui("sh", "-c", "read x; echo bye; exit 3") as s:
        s.send("\\n")
        s.wait(exited=True)
        assert s.exit.exit_code == 4

async def in_a_task(tui_async):
    async with tui_async("cat") as s:
        await s.send("async\\n")
        await s.wait(regex=r"async\\nasync")
        assert (await s.screen()).lines[0] == "sync"

def test_async_without_a_plugin(tui_async):
    import asyncio
    asyncio.run(in_a_task(tui_async))
'''

ASYNC = '''
import pytest

@pytest.mark.asyncio
@pytest.mark.parametrize("n", range(3))
async def test_async(tui_async, tui, n):
    """Each test has a loop of its own, and all share a server."""
    async with tui_async("cat") as s:
        await s.send(f"hello {n}\\n")
        assert (await s.wait(regex=r"(?m)^hello (\\d)$")).text == str(n)
'''


def run(tmp_path: Path, source: str, *args: str) -> "tuple[int, str]":
    (tmp_path / "test_it.py").write_text(source)
    # What the plugin is told by another one's entry point would be told twice.
    env = {**os.environ, "PYTHONPATH": SRC, "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "ptywright.pytest", "-p", "no:cacheprovider", *args],
        cwd=tmp_path,
        env=env,
        capture_output=True,
        text=True,
    )
    return done.returncode, done.stdout + done.stderr


def check_failures(out: str, artifacts: Path) -> None:
    assert "3 failed, 1 passed" in out
    assert "ptywright.TimeoutError: the wait timed out" in out
    assert '- contains_text "never-there": the screen shows' in out
    assert "tui 1: sh (session" in out and "tui 1: cat (session" in out
    assert out.count("the screen of a test that fails") >= 2
    assert re.search(r"tui 1: sh \(session s\d+\) -+\n\nbye\npicture: .*1-sh.png\n", out)
    assert re.search(r"tui 1: cat \(session s\d+\) -+\nasync\nasync\npicture", out)
    assert "tok-5e8f1c77ab" not in out.replace('env={"API_TOKEN": "tok-5e8f1c77ab"}', "")
    kept = sorted(str(p.relative_to(artifacts)) for p in artifacts.rglob("*.*") if p.is_file())
    assert [k.split("/")[-1] for k in kept] == [
        "1-cat.cast",
        "1-cat.png",
        "1-sh.cast",
        "1-sh.png",
        "1-sh.cast",
        "1-sh.png",
    ]
    for path in artifacts.rglob("*.cast"):
        text = path.read_text()
        assert text.startswith('{"version"') and "tok-5e8f1c77ab" not in text
    for path in artifacts.rglob("*.png"):
        assert path.read_bytes().startswith(b"\x89PNG")


def test_failures_have_screens_recordings_and_pictures(tmp_path):
    code, out = run(tmp_path, FAILING, "--tui-artifacts", "kept")
    assert code == 1, out
    check_failures(out, tmp_path / "kept")


@pytest.mark.skipif(not importlib.util.find_spec("xdist"), reason="pytest-xdist is not installed")
def test_xdist(tmp_path):
    code, out = run(tmp_path, FAILING, "-n", "2")
    assert code == 1, out
    check_failures(out, tmp_path / "tui-artifacts")


@pytest.mark.skipif(
    not importlib.util.find_spec("pytest_asyncio"), reason="pytest-asyncio is not installed"
)
def test_asyncio(tmp_path):
    code, out = run(tmp_path, ASYNC)
    assert code == 0, out


def test_nothing_is_kept_when_all_is_well(tmp_path):
    code, out = run(tmp_path, FAILING, "-k", "passes")
    assert code == 0, out
    assert not (tmp_path / "tui-artifacts").exists()

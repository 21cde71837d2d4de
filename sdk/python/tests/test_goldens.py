"""Golden screens: what the SDK does with files is what sdk/goldens.json says that every SDK does."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

import ptywright
import ptywright.aio
from ptywright import _golden as golden

ROOT = Path(__file__).parents[3]
KEEPING: Any = json.loads((ROOT / "sdk/goldens.json").read_text(encoding="utf-8"))
PROGRAM = ["sh", "-c", 'printf %s "$1"; read -r x', "sh"]


def lines(text: str) -> "list[str]":
    assert text.endswith("\n")
    return text[:-1].split("\n")


@pytest.mark.parametrize("c", KEEPING["paths"], ids=lambda c: c["path"])
def test_path(c):
    assert golden.path_of(c["dir"], c["test"], c["name"]) == c["path"]


@pytest.mark.parametrize("c", KEEPING["updates"], ids=str)
def test_update(c, monkeypatch):
    monkeypatch.setenv("CI", c["ci"])
    monkeypatch.setenv(golden.VARIABLE, c["variable"])
    screens = ptywright.Screens(update="changed" if c["flag"] else None)
    if "error" in c:
        with pytest.raises(ValueError, match=c["error"]):
            screens.update
    else:
        assert screens.update == c["update"]


@pytest.mark.parametrize("c", KEEPING["steps"], ids=str)
def test_step(c):
    assert golden.step_of(c["update"], c["exists"]) == c["step"]


def options(c: "dict[str, Any]") -> "dict[str, Any]":
    said = dict(c.get("options", {}))
    if not c["passes"] and "before" in c and "variable" not in c and "patient" not in c:  # nothing more comes
        said["timeout"] = 0.1
    return said


@pytest.mark.parametrize("c", KEEPING["cases"], ids=lambda c: c["case"])
@pytest.mark.parametrize("face", ["thread", "task"])
def test_case(c, face, tmp_path, monkeypatch):
    monkeypatch.setenv("CI", c.get("ci", ""))
    monkeypatch.setenv(golden.VARIABLE, c.get("variable", ""))
    screens = ptywright.Screens(tmp_path, update="changed" if c.get("flag") else None)
    for name, text in c.get("before", {}).items():
        (tmp_path / name).write_text("\n".join(text) + "\n", encoding="utf-8")

    def in_a_thread() -> None:
        with ptywright.spawn(*PROGRAM, c["output"], rows=3, cols=16, env=c.get("env")) as s:
            s.screens = screens
            s.expect(text="ready")
            s.expect_screen("main", **options(c))

    async def in_a_task() -> None:
        async with ptywright.aio.spawn(*PROGRAM, c["output"], rows=3, cols=16, env=c.get("env")) as s:
            s.screens = screens
            await s.expect(text="ready")
            await s.expect_screen("main", **options(c))

    def run() -> None:
        in_a_thread() if face == "thread" else asyncio.run(in_a_task())

    if c["passes"]:
        run()
    else:
        with pytest.raises(ptywright.GoldenError) as raised:
            run()
        for text in c["says"]:
            assert text in str(raised.value)
    after = {p.name: lines(p.read_text(encoding="utf-8")) for p in tmp_path.iterdir()}
    assert after == c["after"]


def test_golden_of_the_past():
    """A golden screen of a moment, and the moments at which the screen equalled one."""
    with ptywright.spawn("sh", "-c", "echo one; read x; echo two; read x") as s:
        first = s.expect(text="one").screen.sequence
        s.send("\n")
        s.wait(text="two")
        then = s.golden(text_only=True, at=first)
        assert "|one" in then.screen and "|two" not in then.screen and then.sequence == first
        spans = s.history(ptywright.screen(then.screen))
        assert spans and spans[0].from_ <= first
        assert s.golden(previous=then.screen).same is False


def test_slow_to_draw(tmp_path, monkeypatch):
    """What a program shows before it has drawn anything is not written down."""
    monkeypatch.setenv("CI", "")
    monkeypatch.setenv(golden.VARIABLE, "")
    with ptywright.spawn("sh", "-c", "sleep 0.7; printf drawn; read -r x", rows=2, cols=9) as s:
        s.screens = ptywright.Screens(tmp_path)
        s.expect_screen("first", text_only=True)
    assert "\n|drawn\n" in (tmp_path / "first.screen").read_text(encoding="utf-8")

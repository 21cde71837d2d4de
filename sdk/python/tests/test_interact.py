"""interact, at a terminal that is a session itself."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

import ptywright

pytestmark = pytest.mark.usefixtures("nothing_left")

SRC = str(Path(__file__).parents[1] / "src")


def interacting(script: str) -> str:
    """A program that gives its terminal to a shell that runs a script."""
    return f"""
import sys; sys.path.insert(0, {SRC!r})
import ptywright
with ptywright.spawn("sh", "-c", {script!r}, env={{"PS1": "$ ", "ENV": ""}}) as s:
    print("before")
    exit = s.interact()
    print("after", exit.exit_code if exit else None, s.screen().size.cols)
"""


def person_at(source: str, **size: int) -> ptywright.Session:
    """A terminal at which a program runs; sessions get no variable of ours unless they are told."""
    env = {"PTYWRIGHT_BIN": os.environ["PTYWRIGHT_BIN"]}
    return ptywright.spawn(sys.executable, "-c", source, env=env, **size)


def test_interact():
    with person_at(interacting("exec sh -i"), rows=10, cols=50) as person:
        person.expect(regex=r"^\$$")
        person.send("stty size\n")
        person.wait(text="10 50")  # it has the terminal's size
        person.send("echo $((6*7))\n")
        person.wait(regex=r"(?m)^42$")
        person.resize(12, 60)
        person.send("stty size\n")
        person.wait(text="12 60")
        person.press("ctrl+]")
        person.wait(text="after None 80")  # and gives it back
        assert not person.screen().alternate_screen
        assert person.screen().lines[0] == "before"


def test_interact_ends_with_the_program():
    source = interacting("read x; exit 4")
    with person_at(source) as person:
        person.expect(output="before")
        person.send("\n")
        person.wait(text="after 4")


def test_interact_passes_modes_on():
    """Arrow keys are what the program asked for."""
    source = interacting("printf '\\033[?1h'; stty raw -echo; echo on; head -c 3 | cat -v; sleep 0.1")
    with person_at(source) as person:
        person.expect(text="on")
        assert person.screen().application_cursor
        person.press("up")
        person.wait(text="^[OA")

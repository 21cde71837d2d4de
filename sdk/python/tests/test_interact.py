"""interact, at a terminal that is a session itself."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

import ptywright

pytestmark = pytest.mark.usefixtures("nothing_left")

PROGRAM = f"""
import sys; sys.path.insert(0, {str(Path(__file__).parents[1] / "src")!r})
import ptywright
with ptywright.spawn("sh", "-c", {{}}, env={{"PS1": "$ ", "ENV": ""}}) as s:
    print("before")
    exit = s.interact()
    print("after", exit.exit_code if exit else None, s.screen().size.cols)
"""


def test_interact():
    source = PROGRAM.format(repr("stty size; exec sh -i"))
    with ptywright.spawn(sys.executable, "-c", source, rows=10, cols=50) as person:
        person.expect(text="10 50")  # it has the terminal's size
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
    source = PROGRAM.format(repr("read x; exit 4"))
    with ptywright.spawn(sys.executable, "-c", source) as person:
        person.expect(text="before")
        person.send("\n")
        person.wait(text="after 4")


def test_interact_passes_modes_on():
    """Arrow keys are what the program asked for."""
    source = PROGRAM.format(repr("printf '\\033[?1h'; stty raw -echo; echo on; head -c 3 | cat -v; sleep 0.1"))
    with ptywright.spawn(sys.executable, "-c", source) as person:
        person.expect(text="on")
        while not person.screen().application_cursor:
            person.expect(stable=0.02)
        person.press("up")
        person.wait(text="^[OA")

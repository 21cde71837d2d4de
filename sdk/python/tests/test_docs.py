"""What docs/python.md shows is run."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs/python.md").read_text()
SNIPPETS = re.findall(r"^```python\n(.*?)^```$", PAGE, re.M | re.S)
PRINTS = {"asyncio.run(main())\n": "42\n", "late.done())\n": "True\n", "[s.id])\n": "True\n"}


def titles() -> "list[str]":
    """The heading above each snippet."""
    before = [PAGE[: PAGE.index(s)] for s in SNIPPETS]
    return [re.findall(r"^#+ (.*)$", b, re.M)[-1] for b in before]


def execute(tmp_path: Path, source: str, *args: str) -> str:
    (tmp_path / "test_page.py").write_text(source)
    env = {
        **os.environ,
        "PYTHONPATH": str(ROOT / "sdk/python/src"),
        "PYTHONDONTWRITEBYTECODE": "1",
        "CI": "",  # golden screens are written
        "PYTHONWARNINGS": "error",
    }
    done = subprocess.run(
        [sys.executable, *args, "test_page.py"],
        cwd=tmp_path,
        env=env,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0 and done.stderr == "", done.stdout + done.stderr
    return done.stdout


def test_page_begins_with_the_first_lines():
    assert SNIPPETS[0] == Path(__file__).with_name("first_lines.py").read_text()


@pytest.mark.parametrize("source", SNIPPETS, ids=titles())
def test_snippet(source, tmp_path):
    if source.startswith("def test_"):
        execute(tmp_path, source, "-m", "pytest", "-p", "ptywright.pytest", "-q", "-p", "no:cacheprovider")
        return
    printed = execute(tmp_path, source)
    if source == SNIPPETS[0]:
        assert printed.startswith("the wait timed out\nno match after ")
    else:
        assert printed == next((p for end, p in PRINTS.items() if source.endswith(end)), "")


def columns() -> "list[list[str]]":
    table = PAGE[PAGE.index("| | pexpect | ptywright |") :].split("\n\n")[0]
    rows = [re.split(r"(?<!\\)\|", line)[2:4] for line in table.splitlines()[2:]]
    return [[row[i].strip().strip("`").replace("\\|", "|") for row in rows] for i in range(2)]


END = "\nassert (n, i, alive, code) == (42, 1, True, 0) and b, (n, i, alive, code, b)\n"


def test_the_side_of_pexpect(tmp_path):
    pytest.importorskip("pexpect")
    lines = columns()[0]
    assert len(lines) == 11
    source = "import pexpect\n" + "\n".join(lines) + END
    execute(tmp_path, source.replace("import pexpect", "import os; os.environ['PYTHON_BASIC_REPL'] = '1'\nimport pexpect", 1))


def test_the_side_of_ptywright(tmp_path):
    source = (
        "import os; os.environ['PYTHON_BASIC_REPL'] = '1'\n"
        "import ptywright\nfrom contextlib import suppress\nfrom ptywright import regex, text\n"
    )
    execute(tmp_path, source + "\n".join(columns()[1]) + END)

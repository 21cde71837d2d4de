"""Pattern 2: one agent, many instances. The agent works on a folder: it takes the instance whose folder that is, or else
the one whose folder is nearest above it, and of several such the newest.

    python3 by_cwd.py [--root DIR] FOLDER COMMAND
"""

import pathlib
import sys

from arguments import parse
from client import Unterm, discover, root_folder


def pick(records, folder):
    """The instance for a folder. Discovery tells the oldest first, so of equals the last is the newest."""
    above = [folder, *folder.parents]
    fitting = [r for r in records if r.get("cwd") and pathlib.Path(r["cwd"]) in above]
    return max(reversed(fitting), key=lambda r: len(pathlib.Path(r["cwd"]).parts), default=None)


given = parse("folder")
folder = pathlib.Path(given.folder).resolve(strict=True)
records = discover(root_folder(given.root))
record = pick(records, folder)
if record is None:
    there = ", ".join(f"{r['id']} ({r['cwd']})" for r in records) or "none"
    sys.exit(f"no instance works on {folder}; there are: {there}")

with Unterm(record) as unterm:
    done = unterm.call("exec.run_wait", id=0, command=given.command, timeout_ms=20_000)

print(f"{unterm.name} in {record['cwd']}: {done['exit_status']}, exit code {done['exit_code']}")
print(done["output"], end="")
if done["timed_out"]:
    sys.exit(3)
sys.exit(0 if done["exit_code"] == 0 else 1)

"""Pattern 4: a router and its fleet. It starts an instance for each folder, tags each with its role, gives every worker the
task, tells who is done first, waits for all, puts the results together, and ends what it has started. It never types
a command into a terminal of its own, and it never sleeps: each step ends when what it waits for has happened.

    python3 router.py [--root DIR] [--ptywright PROGRAM] --task COMMAND FOLDER...
"""

import argparse
import concurrent.futures
import json
import pathlib
import subprocess
import sys

import arguments  # what goes wrong is told in one line
from client import Unterm, discover, root_folder

parser = argparse.ArgumentParser()
parser.add_argument("--root")
parser.add_argument("--ptywright", default="ptywright")
parser.add_argument("--task", required=True)
parser.add_argument("folders", nargs="+", type=pathlib.Path)
given = parser.parse_args()
root = root_folder(given.root)


def fleet(*args):
    """Runs ptywright fleet and returns what it prints. What it complains of is said, and the end."""
    done = subprocess.run([given.ptywright, "fleet", *args, "--root", root], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(done.stderr.strip())
    return done.stdout


def dispatch(record):
    """Has a worker do the task, in a session of its own, and says how that went."""
    with Unterm(record) as unterm:
        session = unterm.call("session.create", cwd=record["cwd"])["id"]
        return unterm.call("exec.run_wait", id=session, command=given.task, timeout_ms=120_000)


places = []
for folder in [f.resolve(strict=True) for f in given.folders]:
    places += ["--cwd", folder, "--tag", f"[worker-{folder.name}]"]
started = [json.loads(line)["id"] for line in fleet("start", str(len(given.folders)), *places, "--json").splitlines()]
try:
    workers = [r for r in discover(root) if r["id"] in started]
    with concurrent.futures.ThreadPoolExecutor(len(workers)) as threads:
        tasks = {threads.submit(dispatch, r): r for r in workers}
        first = tasks[next(concurrent.futures.as_completed(tasks))]
        print(f"{first['title']} ({first['id']}) is done first", flush=True)

    good = 0
    for task, record in tasks.items():
        done = task.result()
        good += done["exit_code"] == 0
        print(f"{record['title']} ({record['id']}): exit code {done['exit_code']}")
        if done["output"]:
            print(done["output"], end="")
    print(f"{good} of {len(tasks)} succeeded")
finally:
    fleet("stop", *started)
sys.exit(0 if good == len(tasks) else 1)

"""Pattern 1: one agent, one instance. It knows nothing of several instances: it reads server.json, which always describes
the active one, lists the sessions, and runs a command in the default shell.

    python3 one.py [--root DIR] [COMMAND]
"""

import sys

from arguments import parse
from client import Unterm, active, root_folder

given = parse(default=["uname", "-s"])
root = root_folder(given.root)
record = active(root)
if record is None:
    sys.exit(f"no instance is running under {root}: start one with ptywright unterm")

with Unterm(record) as unterm:
    # Both requests are on their way before the first is answered; the answers come in the same order.
    listed, first = unterm.calls([("session.list", {}), ("session.get", {"id": 0})])
    shell = first["shell"]["process_name"] or "a shell"
    print(f"{unterm.name}: {len(listed['sessions'])} session(s), the first runs {shell}")

    done = unterm.call("exec.run_wait", id=0, command=given.command, timeout_ms=20_000)
    print(done["output"], end="")
    print(f"{done['exit_status']}, exit code {done['exit_code']}")

if done["timed_out"]:
    sys.exit(3)
sys.exit(0 if done["exit_code"] == 0 else 1)

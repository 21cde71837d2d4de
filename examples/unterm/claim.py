"""Pattern 3: many agents, one instance each. Every agent takes an instance that nobody has and puts its name on it, as the
title. A title alone cannot settle a race: whoever writes last has it, and the other one has looked already. So an agent
first opens a session of its own there, which it needs anyway. A server numbers its sessions in the order in which they
are opened, and of all who came at the same time the one with the lowest number has the instance; the others leave.
Only then comes the title, which is asked back: an agent that knows no better may have written over it.

    python3 claim.py [--root DIR] AGENT COMMAND

The instance is kept until standard input ends; then session and title are taken away.
"""

import sys

from arguments import parse
from client import Unterm, discover, root_folder


def take(unterm, title):
    """Takes the instance: the session there, or None when somebody else has it."""
    session = unterm.call("session.create")["id"]
    listed = unterm.call("session.list")["sessions"]
    first = min((s["id"] for s in listed if s["id"] > 0 and not s["is_dead"]), default=None)  # 0 is there from the start
    if first == session and not unterm.call("instance.info")["title"]:
        unterm.call("instance.set_title", title=title)
        if unterm.call("instance.info")["title"] == title:
            return session
    unterm.call("session.destroy", id=session)
    return None


def claim(root, title):
    """Goes over all instances without a title until one is taken: the connection, logged in, and the session."""
    for record in discover(root):
        if record["title"]:
            continue
        try:
            unterm = Unterm(record)
            session = take(unterm, title)
        except OSError as err:  # it ended meanwhile
            print(f"{record['id']} is passed over: {err}", file=sys.stderr)
            continue
        if session is not None:
            return unterm, session
        unterm.close()
    sys.exit("all instances are taken")


given = parse("agent")
unterm, session = claim(root_folder(given.root), f"[agent-{given.agent}]")
with unterm:
    try:
        done = unterm.call("exec.run_wait", id=session, command=given.command, timeout_ms=20_000)
        ending = f"its command ended with {done['exit_code']}: {done['output'].strip()}"
        print(f"agent-{given.agent} has {unterm.name}, {ending}", flush=True)
        sys.stdin.read()
    finally:
        unterm.calls([("instance.set_title", {"title": None}), ("session.destroy", {"id": session})])

if done["timed_out"]:
    sys.exit(3)
sys.exit(0 if done["exit_code"] == 0 else 1)

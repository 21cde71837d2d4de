"""Drives Python's prompt: waits for it, types, and waits for what came after. Then a wait that cannot match, to show what
such a wait tells.

    python3 repl.py
"""

from ptywright import Ptywright, Refused

with Ptywright() as pty:
    session = pty.call("session.create", program="python3", args=["-q"])["session"]
    pty.call("session.wait", session=session, matcher={"type": "contains_text", "value": ">>>"})

    typed = pty.call("session.input", session=session, action={"type": "text", "value": "6 * 7\r"})
    answer = pty.call(
        "session.wait",
        session=session,
        matcher={"type": "screen_regex", "value": r"(?m)^(\d+)$"},
        since=typed["sequence"],  # what was on the screen before does not count
    )
    print("python says", answer["outcome"]["capture"])

    try:
        pty.call("session.wait", session=session, matcher={"type": "contains_text", "value": "43"}, timeout_ms=100)
    except Refused as refused:
        print(f"{refused.reason}: {refused.data['matcher']['why']}")
        print("the last screen:")
        for line in refused.data["snapshot"]["plain_text"].splitlines():
            print(" ", line)

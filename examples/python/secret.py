"""Waits for a program that asks for a password, types it, and reads the screen: what was typed shows nowhere, not even
where the program prints it. Then the same screen as it really is.

    python3 secret.py
"""

from ptywright import Ptywright

LOGIN = r"""
stty -echo; printf 'Password: '; read -r password; stty echo
printf '\nlogged in with %s\n' "$password"; read -r _
"""

with Ptywright() as pty:
    session = pty.call("session.create", program="sh", args=["-c", LOGIN])["session"]

    # secret_input: the program has turned the echo off, so what is typed now is hidden from here on.
    pty.call("session.wait", session=session, matcher={"type": "contains_text", "value": "Password:"})
    shown = pty.call("session.frame", session=session)
    while not shown["secret_input"]:
        shown = pty.call("session.frame", session=session, since=shown["sequence"])
    print("it asks for a secret")

    typed = pty.call("session.input", session=session, action={"type": "text", "value": "open sesame\r"})
    pty.call(
        "session.wait",
        session=session,
        matcher={"type": "contains_text", "value": "logged in"},
        since=typed["sequence"],
    )
    print(pty.call("session.snapshot", session=session, cells="none")["plain_text"])
    print(pty.call("session.snapshot", session=session, cells="none", redact=False)["plain_text"])

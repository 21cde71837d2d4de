"""Ten programs, each driven as a person would: what a session of each looks like in this SDK.

Every function takes `spawn`, with the options of ptywright.spawn, and a folder of its own.
"""

from __future__ import annotations

import getpass
import os
import shutil
import socket
import subprocess
from pathlib import Path
from typing import Any, Callable, Dict

from ptywright import regex, text

Spawn = Callable[..., Any]

PLAIN = {"PS1": "$ ", "HISTFILE": "", "LESS": "", "LESSHISTFILE": "-", "LC_ALL": "C.UTF-8"}


def bash(spawn: Spawn, folder: Path) -> None:
    """Commands with their exit codes, and one that is interrupted."""
    with spawn("bash", "--norc", cwd=folder, env=PLAIN, shell_integration=True) as s:
        assert s.run("echo one > a; cat a").output == "one\n"
        assert s.run("false").exit_code == 1
        s.send("echo reads; while read -r line; do echo got $line; done\n")
        s.wait(regex=r"(?m)^reads$")  # not only typed: bash does not read it as a command any more
        s.send("this\n")
        s.wait(regex=r"(?m)^got this$")
        s.press("ctrl+c")
        s.expect(regex=r"\$$")
        s.send("exit 7\n")
        assert s.wait(exited=True).exit.exit_code == 7


def python(spawn: Spawn, folder: Path) -> None:
    """A loop at a prompt, where each answer feeds the next question."""
    with spawn("python3", "-q", env={**PLAIN, "PYTHONSTARTUP": "", "PYTHON_BASIC_REPL": "1"}) as s:
        s.expect(regex=">>>$")
        n = 1
        for _ in range(5):
            s.send(f"{n} * 3\n")
            n = int(s.wait(regex=r"(?m)^(\d+)\n>>>").text)
        assert n == 243
        s.send("for i in range(3): print('line', i)\n\n")
        s.wait(regex=r"(?m)^line 2\n>>>")
        s.press("ctrl+d")
        assert s.wait(exited=True).exit.exit_code == 0


def node(spawn: Spawn, folder: Path) -> None:
    """Node's prompt, with an error that is printed."""
    with spawn("node", "-i", env={**PLAIN, "NODE_REPL_HISTORY": ""}) as s:
        s.expect(regex=">$")
        s.send("[1, 2].map(n => n * 7)\n")
        s.wait(text="[ 7, 14 ]")
        s.send("nothing\n")
        s.wait(text="ReferenceError: nothing is not defined")
        s.send(".exit\n")
        assert s.wait(exited=True).exit.exit_code == 0


def vim(spawn: Spawn, folder: Path) -> None:
    """A file that is written in an editor."""
    with spawn("vim", "-u", "NONE", "-N", "a.txt", cwd=folder, env=PLAIN) as s:
        s.expect(text='"a.txt" [New]')
        s.send("ihello\nworld")
        s.wait(regex=r"(?m)^hello\nworld$")
        s.press("escape")
        s.send(":%s/world/there/\n")
        s.wait(regex=r"(?m)^there$")
        s.send(":wq\n")
        assert s.wait(exited=True).exit.exit_code == 0
    assert (folder / "a.txt").read_text() == "hello\nthere\n"


def less(spawn: Spawn, folder: Path) -> None:
    """A long file, searched."""
    (folder / "long").write_text("".join(f"line {i}\n" for i in range(1000)))
    with spawn("less", "long", cwd=folder, env=PLAIN) as s:
        s.expect(text="line 0")
        s.send("/line 500\n")
        s.expect(regex=r"\Aline 500\n")
        s.send("G")
        s.expect(text="line 999")
        s.send("q")
        assert s.wait(exited=True).exit.exit_code == 0


def fzf(spawn: Spawn, folder: Path) -> None:
    """A choice out of many."""
    names = "\n".join(f"name-{i}" for i in range(100))
    with spawn("sh", "-c", f"echo '{names}' | fzf", env=PLAIN) as s:
        s.expect(text="100/100")
        s.send("77")
        s.expect(regex(r"(?m)^\s*1/100") & text("name-77"))
        s.press("enter")
        m = s.wait(exited=True)
        assert m.exit.exit_code == 0
        s.expect(regex=r"(?m)^name-77$")


def htop(spawn: Spawn, folder: Path) -> None:
    """A screen that draws itself anew all the time."""
    env = {**PLAIN, "HTOPRC": str(folder / "htoprc")}
    with spawn("htop", "-d", "5", rows=30, cols=100, env=env) as s:
        s.expect(regex(r"F10 ?Quit") & text("PID"))
        s.press("f3")
        s.expect(text="Search:")
        s.press("escape")
        s.expect(regex(r"F10 ?Quit"))
        s.send("q")
        assert s.wait(exited=True).exit.exit_code == 0


def sqlite(spawn: Spawn, folder: Path) -> None:
    """Statements over several lines, and an error."""
    with spawn("sqlite3", "a.db", cwd=folder, env={**PLAIN, "HOME": str(folder)}) as s:
        s.expect(regex="sqlite>$")
        s.send("create table t (n);\ninsert into t\nvalues (20), (22);\n")
        s.wait(regex=r"\.\.\.> values.*\nsqlite>$")
        s.send("select 'sum', sum(n) from t;\n")
        s.wait(regex=r"(?m)^sum\|42$")
        s.send("select x;\n")
        s.wait(text="no such column: x")
        s.send(".exit 4\n")
        assert s.wait(exited=True).exit.exit_code == 4


def gdb(spawn: Spawn, folder: Path) -> None:
    """A debugger that asks before it quits."""
    env = {**PLAIN, "DEBUGINFOD_URLS": "", "HOME": str(folder)}
    with spawn("gdb", "-q", "-nx", "/bin/sleep", env=env) as s:
        s.expect(regex=r"\(gdb\)$")
        s.send("print 6 * 7\n")
        s.wait(text="$1 = 42")
        s.send("starti 60\n")
        s.wait(regex(r"stopped") & regex(r"\(gdb\)$"))
        s.send("quit\n")
        s.wait(text="Quit anyway? (y or n)")
        s.send("y\n")
        assert s.wait(exited=True).exit.exit_code == 0


def ssh(spawn: Spawn, folder: Path) -> None:
    """A shell on another machine, which is this one: a server of our own, with keys made here."""
    server, args = sshd(folder)
    try:
        with spawn("ssh", *args, "PS1='remote$ ' ENV= exec sh -i", env=PLAIN) as s:
            s.expect(regex=r"remote\$$")
            s.send("echo $((6*7)) $SSH_CONNECTION\n")
            s.wait(regex=r"(?m)^42 127\.0\.0\.1 ")
            s.send("exit 5\n")
            assert s.wait(exited=True).exit.exit_code == 5
    finally:
        server.terminate()
        server.wait()


def sshd(folder: Path) -> "tuple[subprocess.Popen[bytes], list[str]]":
    """Starts a server on a port of the loopback, and tells the arguments of ssh that reach it."""
    for name in ("host", "user"):
        subprocess.run(
            ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", folder / name], check=True
        )
    shutil.copy(folder / "user.pub", folder / "authorized")
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        port = s.getsockname()[1]
    options: Dict[str, Any] = {
        "ListenAddress": "127.0.0.1",
        "Port": port,
        "HostKey": folder / "host",
        "AuthorizedKeysFile": folder / "authorized",
        "PidFile": "none",
        "StrictModes": "no",
        "UsePAM": "no",
        "PasswordAuthentication": "no",
        "PrintMotd": "no",
        "PrintLastLog": "no",
        "SetEnv": f"HOME={folder}",  # whatever the files of this user do
    }
    (folder / "sshd_config").write_text("".join(f"{k} {v}\n" for k, v in options.items()))
    if os.geteuid() == 0:
        Path("/run/sshd").mkdir(exist_ok=True)
    log = folder / "log"
    server = subprocess.Popen(
        [shutil.which("sshd") or "/usr/sbin/sshd", "-D", "-f", folder / "sshd_config", "-E", log]
    )
    args = ["-tt", "-F", "none", "-i", str(folder / "user"), "-p", str(port)]
    args += ["-o", "StrictHostKeyChecking=no", "-o", f"UserKnownHostsFile={folder}/known"]
    # It listens a moment later: ssh asks again every second until then.
    args += ["-o", "ConnectionAttempts=30", "-o", "LogLevel=ERROR", f"{getpass.getuser()}@127.0.0.1"]
    return server, args


ALL = [bash, python, node, vim, less, fzf, htop, sqlite, gdb, ssh]
NEEDS = {"python": "python3", "sqlite": "sqlite3"}

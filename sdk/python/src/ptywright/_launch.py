"""Finds a server's binary, starts private servers and connects to running ones."""

from __future__ import annotations

import atexit
import os
import shutil
import socket
import sys
import threading
from pathlib import Path
from typing import Any, List, Optional, Tuple, Union

from ._answer import Answer
from ._child import Child
from ._connection import Connection
from ._errors import BinaryNotFound, ProtocolError, PtywrightError, ServerGone
from ._generated import (
    PROTOCOL,
    ServerCapabilitiesResult,
    server_capabilities,
    server_set_client,
    server_set_ordering,
    server_set_strict,
)
from ._stream import Stream

GREET_BOUND = 30.0
"""Seconds for a server to answer for the first time; it needs some milliseconds."""

INSTALL = "install ptywright, or set PTYWRIGHT_BIN to its path"

PathLike = Union[str, "os.PathLike[str]"]


def find(binary: Optional[PathLike] = None) -> Tuple[str, str]:
    """The path of the binary and how it was found: as given, by PTYWRIGHT_BIN, in this package, on
    the PATH. Raises BinaryNotFound, which has all that was tried."""
    name = "ptywright.exe" if os.name == "nt" else "ptywright"
    tried: List[str] = []
    for given, how in ((binary, "as given"), (os.environ.get("PTYWRIGHT_BIN"), "by PTYWRIGHT_BIN")):
        if given:
            if os.access(given, os.X_OK) and os.path.isfile(given):
                return os.path.abspath(given), how
            raise BinaryNotFound(
                f"there is no program at {os.fspath(given)!r} ({how}): {INSTALL}"
            )
    inside = Path(__file__).parent / "_bin" / name
    if inside.is_file() and os.access(inside, os.X_OK):
        return str(inside), "in this package"
    tried.append(f"in this package ({inside})")
    found = shutil.which(name)
    if found:
        return found, "on the PATH"
    tried.append(f"on the PATH ({os.environ.get('PATH', 'which is not set')})")
    raise BinaryNotFound(f"there is no {name}, neither {' nor '.join(tried)}: {INSTALL}")


def launch(binary: Optional[PathLike] = None) -> Connection:
    """Starts a private server, which ends with this process, and greets it."""
    path, how = find(binary)
    try:
        child = Child([path, "serve", "--stdio"])
    except OSError as error:
        raise BinaryNotFound(
            f"{path} ({how}) cannot be started: {error.strerror}: {INSTALL}"
        ) from error
    connection = Connection(child.stream(), f"the server (process {child.process.pid})", child)
    return greet(connection, f"{path} ({how})")


def dial(path: Optional[PathLike] = None) -> Connection:
    """Connects to the server that listens at a socket, by default this user's, and greets it."""
    if os.name == "nt":
        raise PtywrightError("named pipes are not supported yet: use ptywright.start")
    where = os.fspath(path or default_socket())
    sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        sock.settimeout(GREET_BOUND)
        sock.connect(where)
        sock.settimeout(None)
        if not _ours(sock):
            raise PtywrightError(f"the server at {where} is another user's, and is told nothing")
    except OSError as error:
        sock.close()
        raise ServerGone(
            f"no server answers at {where}: {error.strerror or error}: start one with "
            "ptywright serve, or have ptywright.start make a private one"
        ) from None
    except BaseException:
        sock.close()
        raise
    stream = Stream(sock.fileno(), sock.fileno(), sock)
    return greet(Connection(stream, f"the server at {where}"), f"the server at {where}")


def default_socket() -> str:
    """Where this user's server listens: socket in $PTYWRIGHT_HOME or ~/.ptywright."""
    home = os.environ.get("PTYWRIGHT_HOME") or os.path.expanduser("~/.ptywright")
    return os.path.join(os.path.abspath(home), "socket")


def _ours(sock: socket.socket) -> bool:
    """Whether this user's process listens at the other end, where the system can say."""
    if not sys.platform.startswith("linux"):
        return True
    peer = sock.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12)
    return int.from_bytes(peer[4:8], sys.byteorder) == os.geteuid()


def greet(connection: Connection, what: str) -> Connection:
    """Checks the version of the wire, has unknown members refused, and has requests about one
    session overtake each other, so that one thread can type while another waits."""
    try:
        asked = connection.start(server_capabilities())
        connection.start(server_set_client(_program()))  # an older server knows nothing of it
        others = [
            connection.start(server_set_strict(True)),
            connection.start(server_set_ordering("concurrent")),
        ]
        if not connection.wait(asked, GREET_BOUND):
            raise ProtocolError(
                f"{what} runs and has not answered for {GREET_BOUND:g} s: it is no server of "
                f"ptywright's wire; {INSTALL}"
            )
        check(ServerCapabilitiesResult(asked.get()), what)
        for answer in others:
            settle(connection, answer)
    except ServerGone as gone:
        connection.close()
        raise ProtocolError(
            f"{what} does not serve protocol {PROTOCOL}, which this SDK speaks: {gone.message}"
        ) from None
    except BaseException:
        connection.close()
        raise
    return connection


def _program() -> str:
    """What this program is called, for others who read who typed or has a session: the name of its
    file, or of its package behind python -m."""
    folder, name = os.path.split(sys.argv[0] if getattr(sys, "argv", None) else "")
    if name == "__main__.py":
        name = os.path.basename(folder)
    return name if name and name != "-c" and tellable(name) else "python"


def tellable(text: str) -> bool:
    """Whether the wire, which is UTF-8, can carry it."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def settle(connection: Connection, answer: Answer) -> Any:
    """Waits for an answer that comes soon."""
    if not connection.wait(answer, GREET_BOUND):
        raise ProtocolError(f"{answer.method} was not answered within {GREET_BOUND:g} s")
    return answer.get()


def check(server: ServerCapabilitiesResult, what: str) -> None:
    """Refuses a server of another version of the wire."""
    theirs = server.raw.get("protocol", 0)
    if theirs != PROTOCOL:
        older = isinstance(theirs, int) and theirs < PROTOCOL
        raise ProtocolError(
            f"{what}, version {server.raw.get('version', 'unknown')}, speaks protocol {theirs}, and "
            f"this SDK speaks {PROTOCOL}: update "
            + ("the server's binary" if older else "the Python package ptywright-sdk")
        )


_shared: Optional[Connection] = None
_sharing = threading.Lock()


def shared() -> Connection:
    """The server that ptywright.spawn uses: started by the first call in this process, ended with
    it, and replaced when it is gone."""
    global _shared
    with _sharing:
        if _shared is None or _shared.lost:
            if _shared is None:
                atexit.register(end_shared)
            _shared = launch()
        return _shared


def end_shared() -> None:
    """Ends that server; the next call starts another one."""
    global _shared
    with _sharing:
        connection, _shared = _shared, None
    if connection is not None:
        atexit.unregister(end_shared)
        connection.close()


def _after_fork() -> None:
    global _shared, _sharing
    _sharing = threading.Lock()
    _shared = None


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)

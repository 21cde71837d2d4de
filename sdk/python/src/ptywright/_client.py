# Written by go run ./sdk/gen from aio/_client.py. Do not edit.
"""Clients: a connection to a server, and what is not about one session."""

from __future__ import annotations

import os
from typing import Iterator, Dict, List, Literal, Mapping, Optional, TypeVar, Union

from . import _generated as wire
from . import _launch
from ._answer import Queue
from ._connection import Connection
from ._errors import ServerGone
from ._record import Call
from ._face import ask, following, offload, opening
from ._session import Adapter, Session

T = TypeVar("T")
PathLike = Union[str, "os.PathLike[str]"]


class Client:
    """A connection to a server. `start` and `connect` make one; as a context manager it is closed
    at the end of the block.

    Any number of threads and event loops may use it at the same time.
    """

    def __init__(self, connection: Connection) -> None:
        self.connection = connection

    def __repr__(self) -> str:
        return f"<Client of {self.connection.about}>"

    def __enter__(self) -> Client:
        return self

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        self.close()

    def _reach(self) -> Connection:
        return self.connection

    def call(self, call: Call[T]) -> T:
        """Calls a method of the wire, such as `ptywright.wire.session_forget()`."""
        return ask(self.connection, call)

    @opening
    def spawn(
        self,
        program: str,
        *args: str,
        env: Optional[Mapping[str, str]] = None,
        clear_env: bool = False,
        cwd: Optional[PathLike] = None,
        rows: int = 24,
        cols: int = 80,
        name: Optional[str] = None,
        shell_integration: bool = False,
        theme: Optional[Literal["dark", "light"]] = None,
        echo_off: Optional[Literal["ask", "secret", "plain"]] = None,
        scrollback: Optional[int] = None,
        transcript: Optional[int] = None,
        max_seconds: Optional[float] = None,
        idle_seconds: Optional[float] = None,
        max_memory: Optional[int] = None,
    ) -> Session:
        """Starts a program on a terminal of its own.

        Args:
            program: Its name, looked for on the PATH, or its path.
            args: Its arguments.
            env: Variables to set, beside those of this process.
            clear_env: Begin with no variables instead of those of this process. A server that
                `connect` has found gives its own in their place.
            cwd: Its working directory, by default this process's; of a server that `connect` has
                found, that server's.
            rows: Rows of the terminal, 1 to 1000.
            cols: Columns, 1 to 1000.
            name: A name by which the session is found beside its id.
            shell_integration: Have bash, zsh or fish mark its commands, for `run` and `finished`.
            theme: The colours that the program sees when it asks for them: dark (default) or light.
            echo_off: What is typed while the terminal does not echo: `ask` (default: a secret when
                it looks like one), `secret` or `plain`.
            scrollback: Lines to keep that have left the screen, by default 10,000.
            transcript: Characters of output to keep, by default 131,072.
            max_seconds: End it after so long.
            idle_seconds: End it when it has written nothing, and nobody has typed, for so long.
            max_memory: Bytes of memory that it may take with all that it starts.

        Errors: CannotStartError, NameTakenError, SizeOutOfRangeError, LimitExceededError, ...
        """
        connection = self._reach()
        private = connection.child is not None  # then the environment is on this machine
        base: Optional[Dict[str, str]] = None
        if private and not clear_env:
            base = {k: v for k, v in os.environ.items() if _launch.tellable(k) and _launch.tellable(v)}
        folder = os.fspath(cwd) if cwd is not None else None
        if private:
            folder = os.path.abspath(folder or ".")
        created = ask(
            connection,
            wire.session_create(
                program,
                args=list(args),
                base_env=base,
                clear_env=clear_env or None,
                cols=cols,
                cwd=folder,
                echo_off=echo_off,
                env=dict(env) if env is not None else None,
                idle_ms=None if idle_seconds is None else round(idle_seconds * 1000),
                max_memory=max_memory,
                max_ms=None if max_seconds is None else round(max_seconds * 1000),
                name=name,
                rows=rows,
                scrollback_max_lines=scrollback,
                shell_integration=shell_integration or None,
                theme=theme,
                transcript_max_chars=transcript,
            ),
            undo=lambda created: wire.session_close(created.session),
        )
        return self._begun(Session(self, created.session), program)

    def _begun(self, session: Session, program: str) -> Session:
        """What else is done about a session that was spawned."""
        return session

    def session(self, id: str) -> Session:
        """The session of that id or name, without a look whether it is there."""
        return Session(self, id)

    def sessions(self) -> List[wire.SessionInfo]:
        """All sessions, those that have ended too."""
        return (self.call(wire.session_list(details=True))).details

    def capabilities(self) -> wire.ServerCapabilitiesResult:
        """What the server can do, its version and its limits."""
        return self.call(wire.server_capabilities())

    @opening
    def adapter(
        self,
        plugin: str,
        *args: str,
        program: Optional[str] = None,
        env: Optional[Mapping[str, str]] = None,
        cwd: Optional[PathLike] = None,
        rows: Optional[int] = None,
        cols: Optional[int] = None,
        name: Optional[str] = None,
    ) -> Adapter:
        """Starts a program with a plugin that drives it, such as `claude-code`. What is not given is
        as the plugin's manifest has it."""
        started = ask(
            self.connection,
            wire.adapter_start(
                plugin,
                args=list(args) or None,
                cols=cols,
                cwd=None if cwd is None else os.path.abspath(cwd),
                env=dict(env) if env is not None else None,
                name=name,
                program=program,
                rows=rows,
            ),
            undo=lambda started: wire.adapter_close(started.adapter),
        )
        return Adapter(self, started.adapter, Session(self, started.session))

    @opening
    def notifications(
        self, *sessions: Union[Session, str], limit: int = 10_000, events: bool = False
    ) -> Notifications:
        """What happens from now on, in these sessions or in all: an iterator of
        `ptywright.wire.Notification`. As a context manager it is closed at the end of the block.

        Args:
            sessions: Sessions, or their ids; none means all, those to come too.
            limit: How many are kept for a reader that is slow; then the oldest go, and are counted
                in `dropped`.
            events: Tell `session.event`, too: who typed how much, who waits for what and how it
                ended, commands, leases.
        """
        ids = tuple(s.id if isinstance(s, Session) else s for s in sessions)
        queue = Queue(ids, limit, events)
        try:
            ask(self.connection, self.connection.subscription(add=queue))
        except BaseException:
            self.connection.subscription(remove=queue)
            raise
        return Notifications(self, queue)

    def close(self) -> None:
        """Closes the connection; what waits ends with ClientClosed. A private server ends, with all
        its programs; this returns when nothing is left of it, ten seconds at most."""
        offload(self.connection.close)


class Notifications:
    """An iterator of what the server tells. It ends when it or the client is closed; when the server
    is gone it raises ServerGone."""

    def __init__(self, client: Client, queue: Queue) -> None:
        self._client, self._queue = client, queue

    @property
    def dropped(self) -> int:
        """How many were dropped because they were not read."""
        return self._queue.dropped

    def __iter__(self) -> Iterator[wire.Notification]:
        return self

    def __next__(self) -> wire.Notification:
        notification: Optional[wire.Notification] = following(self._queue)
        if notification is None:
            raise StopIteration
        return notification

    def __enter__(self) -> Notifications:
        return self

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        self.close()

    def close(self) -> None:
        """Ends the iterator: nothing more is told."""
        call = self._client.connection.subscription(remove=self._queue)
        if not self._client.connection.lost:
            try:
                self._client.call(call)
            except ServerGone:
                pass


class _Shared(Client):
    """The client of the private server that this process shares: the first call starts it."""

    def __init__(self) -> None:
        pass

    def _reach(self) -> Connection:
        self.connection = offload(_launch.shared)
        return self.connection


spawn = _Shared().spawn


@opening
def start(binary: Optional[PathLike] = None) -> Client:
    """Starts a private server, which ends with the client, or with this process.

    Args:
        binary: The path of ptywright; by default PTYWRIGHT_BIN, then the one inside of this package,
            then the one on the PATH.

    Errors: BinaryNotFound, ProtocolError.
    """
    return Client(offload(lambda: _launch.launch(binary)))


@opening
def connect(socket: Optional[PathLike] = None) -> Client:
    """Connects to a server that runs.

    Args:
        socket: Its socket; by default the one that the command line uses.

    Errors: ServerGone when none answers there, ProtocolError.
    """
    return Client(offload(lambda: _launch.dial(socket)))

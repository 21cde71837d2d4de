"""ptywright drives terminal programs the way a person does.

    import ptywright
    with ptywright.spawn("sh", env={"PS1": "$ "}) as s:
        s.expect(regex=r"\\$$")         # a state: the prompt is there
        s.send("echo $((6*7))\\n")
        s.wait(regex=r"(?m)^42$")       # an event: only what came after the send

`ptywright.aio` is the same for asyncio, `ptywright.wire` has the types and methods of the wire.
"""

from . import _failures, wire
from ._client import Client, Notifications, connect, spawn, start
from ._errors import (
    BinaryNotFound,
    ClientClosed,
    Evidence,
    ForkError,
    NotATerminal,
    ProtocolError,
    PtywrightError,
    ServerGone,
    ServerStuck,
)
from ._face import Pending
from ._golden import GoldenError, Screens
from ._failures import *  # noqa: F403  # the errors of the server
from ._match import Match
from ._moment import History, Moment
from ._matchers import (
    Matcher,
    bell,
    cursor,
    exited,
    finished,
    in_state,
    located,
    output,
    output_regex,
    regex,
    screen,
    stable,
    text,
    title,
)
from ._session import Adapter, Recording, Session

__all__ = [
    "Adapter",
    "BinaryNotFound",
    "Client",
    "ClientClosed",
    "Evidence",
    "ForkError",
    "GoldenError",
    "History",
    "Match",
    "Moment",
    "Matcher",
    "NotATerminal",
    "Notifications",
    "Pending",
    "ProtocolError",
    "PtywrightError",
    "Recording",
    "Screens",
    "ServerGone",
    "ServerStuck",
    "Session",
    "bell",
    "connect",
    "cursor",
    "exited",
    "finished",
    "in_state",
    "located",
    "output",
    "output_regex",
    "regex",
    "screen",
    "spawn",
    "stable",
    "start",
    "text",
    "title",
    "wire",
]
__all__ += _failures.__all__

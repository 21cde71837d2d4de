"""ptywright for asyncio. Everything is as in `ptywright`, awaited.

    async with ptywright.aio.spawn("python3", "-q") as s:
        await s.expect(text=">>>")
        await s.send("6*7\\n")
        await s.wait(regex="(?m)^42$")

`spawn`, `start` and `connect` can be awaited, too. The matchers and the errors are those of
`ptywright`, and so is the private server that `spawn` starts. Any number of event loops may use one
client.
"""

from ._client import Client, Notifications, connect, spawn, start
from ._session import Adapter, Recording, Session

__all__ = [
    "Adapter",
    "Client",
    "Notifications",
    "Recording",
    "Session",
    "connect",
    "spawn",
    "start",
]

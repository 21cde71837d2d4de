"""The bytes of a connection."""

from __future__ import annotations

import os
import select
import socket
from typing import List, Optional

CHUNK = 1 << 16
"""Bytes that are read at once: what a pipe holds."""


class Stream:
    """Two pipes, or a socket. Neither reading nor writing blocks, but reading on Windows.

    What is read or written is noted within one call of C: so an exception between two steps of
    Python, such as KeyboardInterrupt, loses no byte and doubles none.
    """

    def __init__(self, read: int, write: int, sock: Optional[socket.socket] = None) -> None:
        self._read, self._write, self._sock = read, write, sock
        self.blocks = os.name == "nt"  # where a pipe cannot say that it is full, or empty
        if sock:
            sock.setblocking(False)
        elif not self.blocks:
            os.set_blocking(write, False)
            os.set_blocking(read, False)
        self._poll = None
        if hasattr(select, "poll"):
            self._poll = select.poll()
            self._poll.register(read, select.POLLIN)

    def read(self, into: List[bytes]) -> None:
        """Appends what came, b"" at the end; raises BlockingIOError when nothing did, OSError when
        the connection is broken."""
        if self._sock:
            into.extend(map(self._sock.recv, (CHUNK,)))
        else:
            into.extend(map(os.read, (self._read,), (CHUNK,)))

    def write(self, data: memoryview, counts: List[int]) -> None:
        """Writes what there is room for, and appends how much that was; raises BlockingIOError when
        there is none, OSError when nobody reads any more."""
        if self._sock:
            counts.extend(map(self._sock.send, (data,)))
        else:
            counts.extend(map(os.write, (self._write,), (data,)))

    def readable(self, seconds: Optional[float]) -> bool:
        """Waits until there is something to read; for one thread at a time."""
        if self._poll:
            return bool(self._poll.poll(None if seconds is None else seconds * 1000))
        return bool(select.select([self._read], [], [], seconds)[0])

    def writable(self, seconds: float) -> bool:
        """Waits for room."""
        if hasattr(select, "poll"):
            poll = select.poll()
            poll.register(self._write, select.POLLOUT)
            return bool(poll.poll(seconds * 1000))
        return bool(select.select([], [self._write], [], seconds)[1])

    def another(self) -> int:
        """Another descriptor of what is read, for a loop to watch; -1 when there is none."""
        try:
            return -1 if self.blocks else os.dup(self._sock.fileno() if self._sock else self._read)
        except OSError:
            return -1  # it is closed

    def end(self) -> None:
        """Tells the server that nothing more comes."""
        if self._sock:
            try:
                self._sock.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
        elif self._write >= 0:
            write, self._write = self._write, -1
            os.close(write)

    def close(self) -> None:
        """Closes what is open still."""
        if self._sock:
            self._sock.close()
            return
        self.end()
        if self._read >= 0:
            read, self._read = self._read, -1
            os.close(read)

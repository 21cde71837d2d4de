"""A server that this process has started."""

from __future__ import annotations

import os
import subprocess
import threading
from typing import Dict, Optional, Sequence

from ._stream import Stream

END_BOUND = 10.0
"""Seconds that a server may take to end: twice what it promises."""


class Child:
    """A server that this process has started."""

    def __init__(self, command: Sequence[str], env: Optional[Dict[str, str]] = None) -> None:
        self.program = command[0]
        # Its own session: a Ctrl-C at the terminal is for this program, which ends its server.
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
            env=env,
            start_new_session=True,
        )
        self._words = b""
        self._listener = threading.Thread(
            target=self._listen, name="ptywright-stderr", daemon=True
        )

    def stream(self) -> Stream:
        """Its standard input and output, and from now on what it says on standard error is kept."""
        process = self.process
        assert process.stdin and process.stdout
        stream = Stream(os.dup(process.stdout.fileno()), os.dup(process.stdin.fileno()))
        process.stdout.close()
        process.stdin.close()
        self._listener.start()
        return stream

    def _listen(self) -> None:
        stderr = self.process.stderr
        assert stderr
        while True:
            try:
                words = stderr.read(4096)
            except (OSError, ValueError):
                return
            if not words:
                return
            self._words = (self._words + words)[-4096:]

    def end(self) -> str:
        """Waits until it has ended, kills it when that takes long, and tells how it ended."""
        try:
            code = self.process.wait(END_BOUND)
        except subprocess.TimeoutExpired:
            self.process.kill()
            code = self.process.wait()
        self._listener.join(1)
        if self.process.stderr and not self._listener.is_alive():
            self.process.stderr.close()
        return f"signal {-code}" if code < 0 else f"exit code {code}"

    def words(self) -> str:
        """The last lines that it said."""
        lines = self._words.decode("utf-8", "replace").strip().splitlines()
        return "\n".join(lines[-5:])

    def forked(self) -> None:
        """In a forked process: lets go of it without a wait."""
        self.process.returncode = 0  # nobody's to reap here
        if self.process.stderr and not self.process.stderr.closed:
            os.close(self.process.stderr.fileno())
            self.process.stderr = None

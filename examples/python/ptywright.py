"""A client of ptywright's native wire: a server of its own as a child, JSON-RPC 2.0 over its pipes, one message a line.
The standard library only; docs/wire.md has the methods.

    with Ptywright() as pty:
        session = pty.call("session.create", program="python3", args=["-q"])["session"]
        pty.call("session.wait", session=session, matcher={"type": "contains_text", "value": ">>>"})
"""

import itertools
import json
import os
import subprocess
import threading
from concurrent.futures import Future


class Refused(Exception):
    """The server answered with an error. reason is a word of docs/wire.md (timeout, unknown_session, ...); data is what it has
    to show for it: of a wait that timed out the last screen, and what each part of the matcher lacked."""

    def __init__(self, method, error):
        super().__init__(f"{method}: {error['message']}")
        self.code = error["code"]
        self.data = error.get("data") or {}
        self.reason = self.data.get("reason")


class Ptywright:
    """One server and the connection to it. Any thread may call; answers are matched by their ids, so that a wait of one
    thread holds up no other. The end of the with block ends the server and all that runs in it."""

    def __init__(self, program=None, notify=None):
        """program is the path of ptywright, by default $PTYWRIGHT, else the one on the PATH. notify(method, params) is
        called for notifications, from the thread that reads: it must not call."""
        program = program or os.environ.get("PTYWRIGHT", "ptywright")
        self._server = subprocess.Popen([program, "serve", "--stdio"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self._notify = notify
        self._ids = itertools.count(1)
        self._writing = threading.Lock()  # keeps lines whole
        self._lock = threading.Lock()  # guards what follows
        self._pending = {}
        self._ended = False
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def start(self, method, **params):
        """Send a request and return a Future of its result."""
        answer = Future()
        with self._lock:
            if self._ended:
                raise ConnectionError("the server has ended")
            number = next(self._ids)
            self._pending[number] = method, answer
        request = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
        with self._writing:
            self._server.stdin.write(json.dumps(request).encode() + b"\n")
            self._server.stdin.flush()
        return answer

    def call(self, method, **params):
        """Send a request and return its result, or raise Refused. How long a wait takes is its own timeout_ms."""
        return self.start(method, **params).result()

    def _read(self):
        for line in self._server.stdout:
            message = json.loads(line)
            if "method" in message:
                if self._notify:
                    self._notify(message["method"], message["params"])
                continue
            with self._lock:
                method, answer = self._pending.pop(message["id"])
            if "error" in message:
                answer.set_exception(Refused(method, message["error"]))
            else:
                answer.set_result(message["result"])
        with self._lock:
            self._ended = True
            left = list(self._pending.values())
        for method, answer in left:
            answer.set_exception(ConnectionError(f"{method}: the server has ended"))

    def close(self):
        """End the server. What was asked before is answered first, waits by their own deadline."""
        try:
            self._server.stdin.close()
        except BrokenPipeError:
            pass
        self._reader.join()
        self._server.stdout.close()
        return self._server.wait()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

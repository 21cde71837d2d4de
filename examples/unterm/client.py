"""A client of the Unterm wire that needs nothing but Python 3: find the instances, log in, call.

    from client import Unterm, discover, root_folder
    with Unterm(discover(root_folder())[0]) as unterm:
        print(unterm.call("exec.run_wait", id=0, command="date"))
"""

import datetime
import json
import os
import pathlib
import re
import socket

# How long a connection may take to be made, in seconds. It is on this machine: what takes longer does not listen.
CONNECT_TIMEOUT = 2.0


def root_folder(given=None):
    """The folder that instances register in: as given, or $PTYWRIGHT_HOME, or ~/.ptywright."""
    return pathlib.Path(given or os.environ.get("PTYWRIGHT_HOME") or pathlib.Path.home() / ".ptywright")


def _alive(pid):
    """Whether a process with this number exists. One that we may not signal does."""
    if os.name == "nt":
        return True  # there, signal 0 would end it; what is dead does not answer
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    return True


def _read_record(path):
    """The record in a file, or None when the file is gone, is none, or describes what has ended."""
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
    except (FileNotFoundError, ValueError):
        return None
    if not isinstance(record, dict) or not record.get("id") or not record.get("auth_token"):
        return None
    if not isinstance(record.get("mcp_port"), int) or not isinstance(record.get("pid"), int):
        return None
    return record if _alive(record["pid"]) else None


def _started(record):
    """When it was started, as what can be compared. Fractions of a second are apart: Python before 3.11 takes not every length."""
    second, fraction, zone = re.fullmatch(r"([^.]+?)(\.\d+)?([+-]\d\d:\d\d|Z)", record["started_at"]).groups()
    return datetime.datetime.fromisoformat(second + zone.replace("Z", "+00:00")), float(fraction or 0), record["id"]


def discover(root):
    """The records of all live instances under a root, the oldest first."""
    return sorted(filter(None, map(_read_record, (pathlib.Path(root) / "instances").glob("*.json"))), key=_started)


def active(root):
    """The record of the active instance, which server.json mirrors, or None."""
    return _read_record(pathlib.Path(root) / "server.json")


class UntermError(Exception):
    """What the server answers instead of a result."""

    def __init__(self, method, code, message):
        super().__init__(f"{method}: {message} ({code})")
        self.code = code
        self.text = message


class Unterm:
    """One connection to the instance that a record describes, logged in.

    It is for one thread. The server takes one request after the other and answers in that order: for what shall run at
    the same time, open a connection each.
    """

    def __init__(self, record):
        self.name = record["id"]
        self._last = 0
        self._socket = socket.create_connection(("127.0.0.1", record["mcp_port"]), timeout=CONNECT_TIMEOUT)
        self._socket.settimeout(None)  # a call may wait as long as it asked for
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._lines = self._socket.makefile("rb")
        try:
            self.call("auth.login", token=record["auth_token"])
        except BaseException:
            self.close()
            raise

    def call(self, method, **params):
        """Calls a method: its result, or an UntermError with a code."""
        return self.calls([(method, params)])[0]

    def calls(self, requests):
        """Calls methods, given as (name, parameters), without waiting in between: their results, in that order.

        All are carried out; when some fail, the first one's error is raised in the end.
        """
        first = self._last + 1
        text = ""
        for method, params in requests:
            self._last += 1
            text += json.dumps({"jsonrpc": "2.0", "id": self._last, "method": method, "params": params}) + "\n"
        self._socket.sendall(text.encode())
        results, error = [], None
        for n, (method, _) in enumerate(requests):
            answer = self._answer(first + n)
            if "error" in answer:
                error = error or UntermError(method, answer["error"]["code"], answer["error"]["message"])
            else:
                results.append(answer["result"])
        if error:
            raise error
        return results

    def _answer(self, number):
        line = self._lines.readline()
        if not line.endswith(b"\n"):
            raise ConnectionError(f"{self.name} closed the connection")
        answer = json.loads(line)
        if answer.get("id") != number:
            raise ConnectionError(f"{self.name} answered what was not asked")
        return answer

    def close(self):
        """Ends the connection."""
        self._lines.close()
        self._socket.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

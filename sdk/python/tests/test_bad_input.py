"""What goes wrong: a typed error that names the next step, and nothing left."""

from __future__ import annotations

import asyncio
import os
import pickle
import signal
import stat
import sys
import threading

import pytest

import ptywright
from ptywright import _connection, aio, text

pytestmark = pytest.mark.usefixtures("nothing_left")


def test_server_killed():
    client = ptywright.start()
    with client.spawn("cat") as s:
        waiting = s.wait_async(text("never"))
        os.kill(client.capabilities().pid, signal.SIGKILL)
        with pytest.raises(ptywright.ServerGone, match="start another one") as raised:
            waiting.result(30)
        assert "signal 9" in str(raised.value) and raised.value.method == "session.wait"
        with pytest.raises(ptywright.ServerGone, match="start another one"):
            s.send("x")
        s.close = lambda: None  # the block's end would say it a third time
    with pytest.raises(ptywright.ServerGone):
        with client.spawn("cat"):
            pass
    client.close()
    client.close()


def test_server_killed_while_notifications_are_read():
    with ptywright.start() as client:
        with pytest.raises(ptywright.ServerGone):
            with client.notifications() as told:
                os.kill(client.capabilities().pid, signal.SIGKILL)
                for _ in told:
                    pass


def test_server_killed_under_tasks():
    async def main():
        async with aio.start() as client:
            s = await client.spawn("cat")
            waits = [asyncio.ensure_future(s.wait(text=f"never {i}")) for i in range(5)]
            pid = (await client.capabilities()).pid
            os.kill(pid, signal.SIGKILL)
            for w in waits:
                with pytest.raises(ptywright.ServerGone):
                    await w
        return asyncio.all_tasks()

    assert len(asyncio.run(main())) == 1


def test_the_shared_server_is_replaced():
    s = ptywright.spawn("cat")
    os.kill(s.client.capabilities().pid, signal.SIGKILL)
    with pytest.raises(ptywright.ServerGone):
        s.wait(text="never")
    with ptywright.spawn("cat") as s:
        s.send("again\n")
        s.wait(text="again")


def script(path, source):
    path.write_text(f"#!{sys.executable}\n{source}")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


FAKE = """
import json, sys
for line in sys.stdin:
    m = json.loads(line)
    result = {"protocol": %s, "version": "v9.9.9"}
    print(json.dumps({"jsonrpc": "2.0", "id": m["id"], "result": result}), flush=True)
"""


@pytest.mark.parametrize(
    "protocol, update",
    [("2", "update the Python package"), ("0", "update the server's binary")],
)
def test_another_version(tmp_path, protocol, update):
    fake = script(tmp_path / "fake", FAKE % protocol)
    with pytest.raises(ptywright.ProtocolError, match=update) as raised:
        ptywright.start(fake)
    assert f"speaks protocol {protocol}" in str(raised.value) and "speaks 1" in str(raised.value)
    assert "v9.9.9" in str(raised.value) and str(fake) in str(raised.value)


@pytest.mark.parametrize(
    "source, says",
    [
        ("print('usage: something else')", "something else than a message"),
        ("import sys; sys.exit('unknown command serve')", "unknown command serve"),
    ],
)
def test_another_program(tmp_path, source, says):
    with pytest.raises(ptywright.ProtocolError, match=says):
        ptywright.start(script(tmp_path / "fake", source))


def test_binary_missing(monkeypatch, tmp_path):
    with pytest.raises(ptywright.BinaryNotFound, match="as given.*PTYWRIGHT_BIN"):
        ptywright.start(tmp_path / "none")
    monkeypatch.setenv("PTYWRIGHT_BIN", str(tmp_path))
    with pytest.raises(ptywright.BinaryNotFound, match="by PTYWRIGHT_BIN"):
        ptywright.spawn("cat")
    monkeypatch.delenv("PTYWRIGHT_BIN")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ptywright.BinaryNotFound, match="in this package.*on the PATH"):
        ptywright.spawn("cat")
    script(tmp_path / "ptywright", FAKE % 3)
    with pytest.raises(ptywright.ProtocolError, match="on the PATH.*speaks protocol 3"):
        ptywright.spawn("cat")


def test_session_ended():
    with ptywright.spawn("sh", "-c", "echo bye; exit 3") as s:
        with pytest.raises(ptywright.SessionEndedError) as raised:
            s.wait(text="never")
        assert "(exit 3):\nbye" in str(raised.value)
        with pytest.raises(ptywright.SessionEndedError, match="exit code 3"):
            s.send("x")
    with pytest.raises(ptywright.UnknownSessionError):
        s.screen()
    s.close()  # again


def test_program_that_cannot_start():
    with pytest.raises(ptywright.CannotStartError, match="no-such-program"):
        ptywright.spawn("no-such-program", env={"SECRET_KEY": "s3cr3t-value"})


def test_closed_client():
    client = ptywright.start()
    s = client.spawn("cat")
    waiting = s.wait_async(text("never"))
    client.close()
    with pytest.raises(ptywright.ClientClosed, match="start or connect"):
        waiting.result()
    with pytest.raises(ptywright.ClientClosed):
        s.screen()


def test_full_pipe(monkeypatch):
    """A server that reads nothing costs whoever asks a bounded time, and nobody else anything."""
    monkeypatch.setattr(_connection.Connection, "write_bound", 0.2)
    client = ptywright.start()
    s = client.spawn("cat")
    pid = client.capabilities().pid
    os.kill(pid, signal.SIGSTOP)
    try:
        with pytest.raises(ptywright.ServerStuck, match="see what holds it up"):
            for _ in range(100):
                s.wait_async(text("x" * 60_000))
        with pytest.raises(ptywright.ServerStuck):
            s.wait_async(text("y"))

        async def beside():
            """A loop goes on while a task's request waits for room."""
            t = aio.Session(aio.Client(client.connection), s.id)
            asking = asyncio.ensure_future(t.screen())
            await asyncio.sleep(0)  # it has begun
            assert not asking.done()
            with pytest.raises(ptywright.ServerStuck):
                await asking

        asyncio.run(beside())
    finally:
        os.kill(pid, signal.SIGCONT)
    monkeypatch.undo()
    s.send("whole\n")  # what was begun was finished first
    s.wait(text="whole")
    client.close()


def test_fork():
    with ptywright.spawn("cat") as s:
        read, write = os.pipe()
        child = os.fork()
        if child == 0:
            said = "nothing"
            try:
                s.send("x")
            except ptywright.ForkError as error:
                said = str(error)
            try:
                with ptywright.spawn("cat") as own:
                    own.send("mine\n")
                    own.wait(text="mine")
                    said += " OWN"
            finally:
                os.write(write, said.encode())
                from ptywright import _launch

                _launch.end_shared()
                os._exit(0)
        os.close(write)
        with os.fdopen(read) as told:
            said = told.read()
        assert os.waitpid(child, 0)[1] == 0
        assert f"belongs to process {os.getpid()}" in said and "ptywright.spawn" in said
        assert said.endswith(" OWN")
        s.send("parent\n")
        s.wait(text="parent")


def test_fork_does_not_keep_the_server():
    """A forked process that lives on holds no end of the pipe, beside one of a server that is gone."""
    gone = [ptywright.start() for _ in range(5)]
    for lost in gone:
        os.kill(lost.connection.child.process.pid, signal.SIGKILL)
        with pytest.raises(ptywright.ServerGone):
            while True:
                lost.spawn("cat")
    client = ptywright.start()
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(write)
        os.read(read, 1)  # until the other end is closed
        os._exit(0)
    os.close(read)
    try:
        client.close()  # would take ten seconds and a kill
        assert client.connection.child.process.returncode == 0
    finally:
        os.close(write)
        os.waitpid(child, 0)
        for lost in gone:
            lost.close()


def test_interrupt_cancels():
    """Ctrl-C while a wait blocks cancels it on the server."""
    with ptywright.start() as client, client.spawn("cat") as s:
        with client.notifications(s) as told:

            def interrupt():
                next(iter(told))  # the wait is on the server by now: what comes after it was told
                os.kill(os.getpid(), signal.SIGINT)

            helper = threading.Thread(target=interrupt)
            with pytest.raises(KeyboardInterrupt):
                helper.start()
                client.session(s.id).wait_async(text("never"))
                s.send("x")
                s.wait(text="never")
            helper.join()
        s.send("y\n")
        s.wait(text="xy")


def test_interact_needs_a_terminal():
    with ptywright.spawn("cat") as s:
        with pytest.raises(ptywright.NotATerminal, match="run the program at one"):
            s.interact()


def test_unknown_of_a_newer_server():
    """Reasons, kinds and members that are not known are no crash."""
    error = _connection.error_of({"code": -1, "message": "m", "data": {"reason": "new"}}, "a.b")
    assert type(error) is ptywright.PtywrightError and error.reason == "new" and str(error) == "m"
    assert str(_connection.error_of({"code": 1, "message": "m"}, "a.b")) == "m"
    outcome = ptywright.wire.Matched({"outcome": {"kind": "new", "more": 1}}).outcome
    assert outcome.raw["more"] == 1


def test_errors_can_be_pickled():
    """As pytest-xdist and multiprocessing do."""
    with ptywright.spawn("cat") as s, pytest.raises(ptywright.TimeoutError) as raised:
        s.wait(text="never", timeout=0)
    again = pickle.loads(pickle.dumps(raised.value))
    assert type(again) is ptywright.TimeoutError and str(again) == str(raised.value)
    assert again.method == "session.wait" and again.evidence.screen == raised.value.evidence.screen

"""The surface, in threads."""

from __future__ import annotations

import datetime
import json
import os
import sys
import threading
from pathlib import Path

import pytest

import ptywright
from ptywright import bell, cursor, exited, finished, located, output, regex, stable, text, title, wire

pytestmark = pytest.mark.usefixtures("nothing_left")

SHELL = {"PS1": "$ ", "ENV": ""}


def shell(**options):
    return ptywright.spawn("sh", env=SHELL, **options)


def test_first_lines(capsys):
    """The lines that the page begins with, as they are."""
    exec(compile(Path(__file__).with_name("first_lines.py").read_text(), "first", "exec"), {})
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "the wait timed out"
    assert lines[1].startswith("no match after 3") and "quiet for" in lines[1]
    assert lines[2] == '- contains_text "never-there": the screen shows nothing like it'
    assert lines[3].startswith("the last screen, at sequence ") and lines[3].endswith(" (running):")
    assert lines[4:] == ["$ echo $((6*7))", "42", "$"]


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells what was read")
def test_until_it_is_read():
    with ptywright.spawn("sh", "-c", "echo ready; exec cat") as s:
        s.wait(text="ready")
        assert s.send("hello\n", until="read") is True
        s.wait(text="hello")
        assert s.send("half", until="read") is None
        assert s.press("enter", until="read") is True
        assert s.paste("a line\n", until="read") is True
        assert s.send("x\n") is None
    with ptywright.spawn("sh", "-c", "echo ready; exec sleep 1000") as s:
        s.wait(text="ready")
        assert s.send("x\n", until="read", timeout=0.05) is False


def test_wait_counts_from_the_last_input():
    with shell() as s:
        s.wait(regex=r"\$$")  # before any input everything counts
        s.send("echo one; echo two\n")
        first, second = s.wait(regex="(?m)^one$"), s.wait(regex="(?m)^two$")
        assert first.text == "one" and second.text == "two"
        assert s.wait(text="two", since=first.next).before.strip() == ""
        s.expect(regex=r"\$$")
        s.send("true\n")
        with pytest.raises(ptywright.TimeoutError) as raised:
            s.wait(regex="(?m)^one$", timeout=0)
        assert s.expect(text="one").text == "one"
        error = raised.value
        assert (error.reason, error.code, error.method) == ("timeout", -32001, "session.wait")
        assert error.evidence and error.evidence.screen.lines[0] == "$ echo one; echo two"
        assert error.evidence.lacks[0].startswith('screen_regex "(?m)^one$": ')
        assert isinstance(error, TimeoutError) and error.data.elapsed_ms is not None


def test_latched():
    """What was wiped at once is found, before any input since the program began."""
    lost = r"printf 'lost 1\033[2J\033[Hready'; read -r _; printf '\033[2Jlost 2\033[2J\033[Hagain'"
    with ptywright.spawn("sh", "-c", "stty -echo; " + lost + "; exec cat") as s:
        s.wait(text="ready")
        m = s.wait(text="lost 1", latched=True, timeout=0)
        assert m.screen.plain_text == "lost 1" and m.held_at and not m.missed
        s.send("\n")
        s.wait(text="again")
        assert s.wait(regex=r"lost (\d)", latched=True, timeout=0).text == "2"
        assert s.wait_async(text("lost 2"), latched=True, timeout=0).result().text == "lost 2"
        with pytest.raises(ptywright.TimeoutError):
            s.wait(text="lost 2", timeout=0)


def test_since_next_takes_each_line_once():
    with shell() as s:
        s.expect(regex=r"\$$")
        s.send("for i in 1 2 3; do echo tick; done; echo end\n")
        m = s.wait(regex="(?m)^(t)(i)(?P<rest>ck)(x)?$")
        assert m.groups == ("t", "i", "ck", None) and m.named == {"rest": "ck"} and m.text == "t"
        assert m.index is None
        for _ in range(2):
            m = s.wait(regex="(?m)^tick$", since=m.next)
        with pytest.raises(ptywright.TimeoutError):
            s.wait(regex="(?m)^tick$", since=m.next, timeout=0)


def test_matchers_compose():
    with shell() as s:
        m = s.wait(text("no such") | (regex(r"\$$") & cursor(0, 2) & ~title("x")) | exited())
        assert m.index == 1 and m.screen.cursor.col == 2
        s.send("printf '\\a\\033]0;a title\\007'\n")
        s.wait(bell(), timeout=10)
        s.wait(title="a title")
        s.wait(output("]0;a title") & stable(0.05))
        assert s.screen().title == "a title"
        s.send("exit 3\n")
        assert s.wait(exited=True).exit.exit_code == 3
        assert s.exit is not None and s.exit.exit_code == 3
    with pytest.raises(TypeError, match="join matchers with"):
        bool(text("a") and text("b"))
    with pytest.raises(TypeError, match="text="):
        s.wait("text")
    with pytest.raises(TypeError, match="say what to wait for"):
        s.wait()
    with pytest.raises(ValueError, match="an event"):
        s.expect(~finished())


def test_keys_pastes_and_the_screen():
    with ptywright.spawn("cat", "-v", rows=10, cols=40) as s:
        s.press("a", "ctrl+a", "b")
        s.paste("pasted")
        s.press("enter")
        s.wait(regex="(?m)^a\\^Abpasted$")
        screen = s.screen(cells="runs")
        assert screen.size.rows == 10 and screen.cells and screen.cells[0].style.bold is False
        assert screen.raw["size"]["cols"] == 40 and screen == s.screen(cells="runs")
        s.resize(5, 20)
        assert s.screen().size.cols == 20
        with pytest.raises(ptywright.MouseNotRequestedError):
            s.click(0, 0)
        with pytest.raises(ptywright.InvalidActionError):
            s.press("no such key")
        s.send("one\ntwo\n")
        s.wait(regex=r"(?m)^two\n(.*\n)*two$")
        assert [f.text for f in s.search("two")] == ["two", "two"]
        assert "two" in s.scrollback(100) and "two\r\n" in s.transcript()
        assert s.exit is None and s.info().program == "cat" and s.adapter is None
        s.kill()
        assert s.exit.signal is not None


def test_the_past():
    rounds = r"""for i in 1 2; do read go; printf '\033[2J\033[Hround %s' $i; read go; printf '\033[2J\033[Hnothing'; done; read go"""
    with ptywright.spawn("sh", "-c", rounds) as s:
        for what in ["round 1", "nothing", "round 2", "nothing"]:
            s.send("\n")
            s.wait(text=what)
        spans = s.history(regex=r"round (\d)")
        assert [x.outcome.capture for x in spans] == ["1", "2"] and spans.complete and spans.kept_from == 0
        assert len(s.history(text("round") & regex("round (.)"))) == 2
        for x in spans:
            assert s.screen(at=x.from_).plain_text == x.snapshot.plain_text
            assert x.to is not None and x.to > x.from_ and x.ms >= 0
        assert s.history(regex="round", which="first")[0].from_ == spans[0].from_
        assert s.history(regex="round", which="last")[0].from_ == spans[1].from_
        assert s.history(text="round", since=datetime.timedelta(0)) == []
        assert [x.from_ for x in s.history(text="round", since=spans[0].to, until=s.screen().sequence)] == [spans[1].from_]
        now = s.screen().sequence
        for at in [now, datetime.timedelta(0), datetime.datetime.now(), datetime.datetime.now(datetime.timezone.utc)]:
            assert s.screen(at=at).sequence == now
        with pytest.raises(ptywright.MomentNotKeptError) as e:
            s.screen(at=1_000_000)
        assert e.value.data.kept_from == 0


def test_click():
    mouse = "printf '\\033[?1000h\\033[?1006h'; stty raw -echo; echo ready; head -c 20 | cat -v"
    with ptywright.spawn("sh", "-c", mouse) as s:
        s.expect(text="ready")
        s.click(4, 9)
        s.wait(text="^[[<0;10;5M^[[<0;10;5m")


PANES = (
    "stty raw -echo; printf '\\033[?1002;1006h+- One -+ +- Two -+\\r\\n"
    "| [ Go ]| | [ Go ]|\\r\\n+-------+ +-------+\\r\\n'; cat -v"
)


def test_locators():
    with ptywright.spawn("sh", "-c", PANES) as s:
        place = s.locate("'[ Go ]' in box 'Two'", stable=True)
        assert place.text == "[ Go ]" and (place.spans[0].row, place.spans[0].col) == (1, 12)
        assert len(s.locate_all({"type": "text", "value": "[ Go ]"})) == 2
        assert s.locate_all("'[ Stop ]'") == []
        with pytest.raises(ptywright.AmbiguousError) as several:
            s.locate("'[ Go ]'", timeout=0)
        assert several.value.data.count == len(several.value.data.places) == 2
        with pytest.raises(ptywright.NotFoundError) as none:
            s.locate("'[ Goo ]'", timeout=0)
        assert "Go" in none.value.data.nearest
        with pytest.raises(ptywright.InvalidLocatorError):
            s.locate("'")
        pressed = s.click("'[ Go ]' in box 'Two'", at="start", count=2, button="right")
        assert (pressed.row, pressed.col, pressed.moved) == (1, 12, False)
        s.wait(output="^[[<2;13;2M^[[<2;13;2m^[[<2;13;2M^[[<2;13;2m")
        assert len(s.drag("'One'", {"type": "text", "value": "Two"})) == 2
        s.wait(output="^[[<0;5;1M^[[<32;15;1M^[[<0;15;1m")
        s.scroll("box 'One'", towards="up", by=2)
        s.wait(output="^[[<64;5;2M^[[<64;5;2M")
        assert s.expect(located("'[ Go ]'", 2)).outcome.kind == "located"
        s.expect(~located("'[ Stop ]'"))
        s.gone("'[ Stop ]'")
        with pytest.raises(ptywright.TimeoutError):
            s.gone("box 'One'", timeout=0)


def test_run_and_shell_integration():
    with ptywright.spawn("bash", "--norc", shell_integration=True) as s:
        ran = s.run("echo out; false")
        assert (ran.output, ran.exit_code, ran.by) == ("out\n", 1, "marks")
        s.send("true\n")
        assert s.wait(finished(0)).outcome.kind == "command_finished"
        with pytest.raises(ptywright.TimeoutError) as raised:
            s.run("echo so far; read x", timeout=0.5)
        assert raised.value.data.output == "so far\n"


def test_record(tmp_path):
    with shell() as s:
        s.expect(regex=r"\$$")
        with s.record(tmp_path / "a.cast", title="a"):
            s.send("echo hello\n")
            s.wait(regex="(?m)^hello$")
        s.screenshot(tmp_path / "a.png")
    lines = (tmp_path / "a.cast").read_text().splitlines()
    assert json.loads(lines[0])["title"] == "a" and any("hello" in line for line in lines[1:])
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")


def test_environment(monkeypatch):
    monkeypatch.setenv("OF_THIS_PROCESS", "now")
    monkeypatch.setenv("NOT_TEXT", "\udcff")
    for options, want in (({}, "now mine"), ({"clear_env": True}, " mine")):
        with ptywright.spawn(
            "/bin/sh", "-c", 'echo "[$OF_THIS_PROCESS $MINE]"; read x', env={"MINE": "mine"}, **options
        ) as s:
            s.expect(text=f"[{want}]")


def test_working_directory(monkeypatch, tmp_path):
    (tmp_path / "below").mkdir()
    ptywright.spawn("true").close()  # the server has started elsewhere
    monkeypatch.chdir(tmp_path)
    for options, want in (({}, tmp_path), ({"cwd": "below"}, tmp_path / "below")):
        with ptywright.spawn("sh", "-c", "pwd; read x", cols=200, **options) as s:
            s.expect(text=str(want))


def test_notifications():
    with ptywright.start() as client, client.spawn("sh", env=SHELL) as s:
        s.expect(regex=r"\$$")
        with client.notifications(s) as told, client.notifications() as all:
            s.send("echo hello; exit 4\n")
            seen = []
            for n in told:
                seen.append(n)
                if isinstance(n, wire.SessionExited):
                    break
            assert seen[-1].exit_code == 4 and seen[-1].session == s.id
            assert "hello" in "".join(n.output for n in seen if n.method == "session.output")
            assert next(iter(all)).session == s.id


def test_notifications_of_events_are_for_who_asks_for_them():
    with ptywright.start() as client, client.spawn("cat") as s:
        with client.notifications(s) as plain, client.notifications(s, events=True) as told:
            s.send("hello\n")
            for n in told:
                if isinstance(n, wire.SessionEventNotification) and n.event.kind == "input":
                    break
            name, _, number = n.event.by.rpartition(" ")
            assert name == os.path.basename(sys.argv[0]) or name == "pytest"
            assert int(number) > 0
            s.kill()
            for n in plain:
                assert not isinstance(n, wire.SessionEventNotification)
                if isinstance(n, wire.SessionExited):
                    break
            assert n.killed and s.exit.killed


def test_slow_reader_of_notifications_loses_the_oldest():
    with ptywright.start() as client, client.spawn("sh", env=SHELL) as s:
        with client.notifications(s, limit=2) as told, client.notifications(s) as all:
            for i in range(5):
                s.send(f"echo line $(({i}))\n")
                seen = ""
                while f"line {i}\r\n" not in seen:
                    n = next(iter(all))
                    seen += n.output if n.method == "session.output" else ""
            s.send("exit\n")
            s.wait(exited=True)
            for n in told:
                if n.method == "session.exited":
                    break
            assert told.dropped > 0


def test_client_lists_and_names():
    with ptywright.start() as client:
        with client.spawn("cat", name="the-cat") as s, client.spawn("cat"):
            assert [i.name for i in client.sessions()] == ["the-cat", None]
            client.session("the-cat").send("meow\n")
            s.wait(text="meow")
            with pytest.raises(ptywright.NameTakenError) as raised:
                client.spawn("cat", name="the-cat")
            assert raised.value.data.session == s.id
        assert client.capabilities().protocol == 1
        with pytest.raises(ptywright.UnknownSessionError, match="s99"):
            client.session("s99").screen()
        assert client.call(wire.session_forget()).forgotten == []


def test_connect(tmp_path):
    import os
    import subprocess

    socket = tmp_path / "socket"
    binary = os.environ["PTYWRIGHT_BIN"]
    server = subprocess.Popen([binary, "serve", "--socket", str(socket)], stderr=subprocess.PIPE)
    try:
        assert server.stderr and socket.name.encode() in server.stderr.readline()
        with ptywright.connect(socket) as client, client.spawn("cat") as s:
            s.send("hello\n")
            s.wait(text="hello")
            assert client.session(s.id).expect(text="hello")
        with pytest.raises(ptywright.ServerGone, match="ptywright serve"):
            ptywright.connect(tmp_path / "none")
    finally:
        server.terminate()
        server.communicate()


def test_threads_share_a_client():
    with ptywright.start() as client:
        with client.spawn("cat") as s:
            waiting = s.wait_async(text("late"))
            assert not waiting.done()
            typing = threading.Thread(target=lambda: client.session(s.id).send("late\n"))
            typing.start()
            assert waiting.result(30).text == "late"
            typing.join()
            never = s.expect_async(text("never"))
            with pytest.raises(TimeoutError):
                never.result(0)
            assert never.cancel()
            with pytest.raises(ptywright.CancelledError) as raised:
                never.result()
            assert raised.value.evidence


def test_secrets_are_hidden():
    with ptywright.spawn("sh", "-c", "echo $API_TOKEN; read x", env={"API_TOKEN": "tok-5e8f1c77ab"}) as s:
        s.expect(text="tok-5e8f1c77ab")  # matchers see what is there
        assert s.screen().plain_text == "[REDACTED]"
        assert s.screen(redact=False).plain_text == "tok-5e8f1c77ab"


def test_adapter():
    with ptywright.start() as client, client.adapter("repl", "-q", program="python3") as repl:
        repl.wait(timeout=30)
        turned = repl.turn("eval", code="6 * 7")
        assert turned.receipt.submitted and turned.matched is not None
        assert repl.state().state == "ready" and repl.explain().rule
        again = repl.wait(since=turned.receipt.sequence, latched=True, timeout=30)
        assert again.held_at is not None and not again.missed
        assert repl.turn("eval", code="1", latched=True).held_at is not None
        assert "42" in repl.session.screen().plain_text
        assert repl.events().next > 0
        with pytest.raises(ptywright.OwnedByAdapterError, match=repl.id):
            repl.session.send("x")
        assert repl.session.adapter.id == repl.id
        with pytest.raises(ptywright.UnknownIntentError):
            repl.send("no_such_intent")
    with ptywright.start() as client, pytest.raises(ptywright.UnknownPluginError, match="no-such"):
        client.adapter("no-such")

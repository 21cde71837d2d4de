"""Sessions, and the adapters that drive some of them."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Callable, List, Literal, Mapping, Optional, Sequence, Tuple, TypeVar, Union, cast, overload

from .. import _generated as wire
from .._errors import PtywrightError, ServerGone
from .._failures import NotFoundError, SessionForgottenError, UnknownAdapterError, UnknownSessionError
from .._golden import Screens
from .._match import Match
from .._matchers import Matcher, joined, milliseconds, wire_of
from .._moment import History, Moment, moment
from .._record import Call
from .._terminal import interact
from ._face import Waiting, ask, offload, opening
from ._screens import Keeping

if TYPE_CHECKING:
    from ._client import Client

T = TypeVar("T")

Button = Literal["left", "middle", "right", "wheel_up", "wheel_down", "wheel_left", "wheel_right"]
ClickButton = Literal["left", "middle", "right"]
Modifier = Literal["shift", "alt", "ctrl"]
Spot = Literal["center", "start", "end"]
Until = Literal["sent", "read"]
Signal = Literal["term", "hup", "quit", "int", "kill", "user1", "user2"]


class Session(Keeping, Waiting):
    """A program on a terminal of its own.

    As a context manager it ends the program, and all that it started, at the end of the block.

    `wait` is an event: only what came after this object's last input counts. `expect` is a state of
    the screen, which is looked at again and again until it holds. Rows and columns count from 0,
    rows first; times are seconds.

    Errors of every method: those of the server by their reason, such as UnknownSessionError;
    ServerGone; ClientClosed.
    """

    def __init__(self, client: Client, id: str) -> None:
        self.client = client
        self._connection = client.connection
        self.id = id
        """The session's id on its server, or the name that it was asked for by."""
        self._since: Union[int, str] = 0
        self.failing: Optional[Callable[[], None]] = None
        """Called when the block has failed, before the session is closed: for a test's report."""
        self.screens = Screens()
        """Where `expect_screen` keeps its files."""

    def __repr__(self) -> str:
        return f"<Session {self.id}>"

    async def __aenter__(self) -> Session:
        return self

    async def __aexit__(self, kind: object, error: object, trace: object) -> None:
        if kind is not None and self.failing:
            self.failing()
        try:
            await self.close()
        except ServerGone:
            if kind is None:  # else the block's own error says more
                raise

    async def _ask(self, call: Call[T]) -> T:
        return await ask(self._connection, call)

    async def _input(
        self,
        actions: Sequence[wire.ActionValue],
        delay: float,
        timeout: float,
        until: Until = "sent",
        id: Optional[str] = None,
    ) -> Optional[bool]:
        sent = await self._ask(
            wire.session_input(
                self.id,
                actions=actions,
                delay_ms=milliseconds(delay) or None,
                id=id,
                timeout_ms=milliseconds(timeout),
                until=None if until == "sent" else until,
            )
        )
        self._since = sent.read_sequence or sent.sequence
        return sent.read

    # Input.

    async def send(
        self,
        text: str,
        *,
        delay: float = 0,
        timeout: float = 5,
        until: Until = "sent",
        id: Optional[str] = None,
    ) -> Optional[bool]:
        r"""Types text. `\n` is the Enter key; all else is typed as it is. Returns when the terminal
        has taken it, or with `until="read"` when the program has read it: a `wait` after that
        misses no effect of it, and does not match an echo that was seen to come before it was read.

        Args:
            text: What to type.
            delay: Seconds between two keystrokes, for a program that takes fast typing for a paste.
            timeout: Seconds that the program may leave it unread; then InputBlockedError. With
                `until="read"` it begins anew once the terminal has taken it.
            until: What to wait for: "sent" or "read".
            id: 1 to 64 characters that no other input of the session has. What is sent again with it,
                as after a connection was lost, is not typed again. InputIdInUseError when something
                else was.

        Returns:
            With `until="read"` whether the program has read it; None where that cannot be known:
            off Linux, and for a line without its end. Else None.
        """
        typed = text.replace("\r\n", "\r").replace("\n", "\r")
        if not typed:
            return None
        return await self._input(
            [wire.TextAction(type="text", value=typed)], delay, timeout, until, id
        )

    async def press(
        self,
        *keys: str,
        delay: float = 0,
        timeout: float = 5,
        until: Until = "sent",
        id: Optional[str] = None,
    ) -> Optional[bool]:
        """Presses keys, one after the other.

        Args:
            keys: Their names: `enter`, `up`, `f5`, `ctrl+c`, `alt+x`, `a`; the spellings of tmux and
                of browsers (`C-c`, `ArrowUp`) are taken, too.
            delay: Seconds between two keys.
            timeout: Seconds that the program may leave them unread.
            until: As of `send`, and so is what is returned.
            id: As of `send`.
        """
        actions = [wire.KeyAction(type="key", value=key) for key in keys]
        return await self._input(actions, delay, timeout, until, id)

    async def paste(
        self,
        text: str,
        *,
        timeout: float = 5,
        until: Until = "sent",
        id: Optional[str] = None,
    ) -> Optional[bool]:
        """Pastes text as a terminal does: in brackets, if the program asks for them, and without
        control characters other than tabs and line ends. `until`, `id`, and what is returned, are
        those of `send`."""
        action: wire.ActionValue = wire.PasteAction(type="paste", value=text)
        if (await self.screen()).bracketed_paste:
            action = wire.BracketedPasteAction(type="bracketed_paste", value=text)
        return await self._input([action], 0, timeout, until, id)

    @overload
    async def click(
        self,
        row: int,
        col: int,
        *,
        button: Button = "left",
        mods: Sequence[Modifier] = (),
        timeout: float = 5,
    ) -> None: ...

    @overload
    async def click(
        self,
        row: wire.Locator,
        *,
        at: Spot = "center",
        button: ClickButton = "left",
        mods: Sequence[Modifier] = (),
        count: int = 1,
        timeout: float = 5,
    ) -> wire.Pressed: ...

    async def click(
        self,
        row: Union[int, wire.Locator],
        col: int = 0,
        *,
        at: Spot = "center",
        button: Button = "left",
        mods: Sequence[Modifier] = (),
        count: int = 1,
        timeout: float = 5,
    ) -> Optional[wire.Pressed]:
        """Presses and releases a mouse button on a cell, or on the one place that a locator means:
        `s.click("'Commit' in box 'Menu'")`. MouseNotRequestedError when the program does not ask for
        the mouse, PositionOutOfRangeError when the cell is not on the screen; for a locator also
        NotFoundError and AmbiguousError, when it does not come to mean exactly one place.

        Args:
            row: The row of a cell, or a locator, as of `locate`.
            col: The column of a cell.
            at: Which cell of the place: its center, its start or its end.
            button: The button; with a locator not the wheel's.
            mods: Keys that are held down.
            count: How often: 2 is a double click.
            timeout: Seconds to wait for exactly one place, and that the program may leave the click
                unread.

        Returns:
            With a locator where it was pressed, whether the place is `still_there`, and whether the
            program has `reacted`.
        """
        if not isinstance(row, int):
            value = wire.ClickActionValue(
                locator=row, at=at, button=cast(ClickButton, button), mods=mods, count=count
            )
            pressed = await self._press(wire.ClickAction(type="click", value=value), timeout)
            return pressed[0]
        steps: List[Literal["press", "release"]] = ["press"]
        if not button.startswith("wheel"):
            steps.append("release")
        cells = [
            wire.MouseActionValue(row=row, col=col, button=button, mods=mods, action=step)
            for step in steps
        ]
        await self._input([wire.MouseAction(type="mouse", value=v) for v in cells], 0, timeout)
        return None

    async def drag(
        self,
        start: wire.Locator,
        end: wire.Locator,
        *,
        button: ClickButton = "left",
        mods: Sequence[Modifier] = (),
        timeout: float = 5,
    ) -> List[wire.Pressed]:
        """Presses a mouse button on the place that one locator means, and releases it on that of
        another; both are found before anything is pressed. Errors are those of `click`."""
        value: Any = {
            "from": {"locator": start},
            "to": {"locator": end},
            "button": button,
            "mods": list(mods),
        }
        return await self._press(wire.DragAction(type="drag", value=value), timeout)

    async def scroll(
        self,
        in_: wire.Locator,
        *,
        towards: Literal["up", "down", "left", "right"] = "down",
        by: int = 1,
        timeout: float = 5,
    ) -> wire.Pressed:
        """Turns the wheel by so many notches on the place that a locator means. Errors are those of
        `click`."""
        value = wire.ScrollActionValue(
            {"in": wire.ClickTarget(locator=in_), "towards": towards, "by": by}
        )
        return (await self._press(wire.ScrollAction(type="scroll", value=value), timeout))[0]

    async def _press(self, action: wire.ActionValue, timeout: float) -> List[wire.Pressed]:
        sent = await self._ask(
            wire.session_input(self.id, action=action, timeout_ms=milliseconds(timeout))
        )
        self._since = sent.sequence
        return sent.receipts

    async def signal(self, name: Signal) -> None:
        """Signals the terminal's foreground process group, as Ctrl-C does with `int`."""
        sent = await self._ask(
            wire.session_input(self.id, action=wire.SignalAction(type="signal", value=name))
        )
        self._since = sent.sequence

    async def resize(self, rows: int, cols: int) -> None:
        """Changes the terminal's size, 1 to 1000 a side."""
        await self._ask(wire.session_resize(self.id, rows, cols))

    # Waiting.

    async def wait(
        self,
        matcher: Optional[Matcher] = None,
        *,
        text: Optional[str] = None,
        regex: Optional[str] = None,
        output: Optional[str] = None,
        title: Optional[str] = None,
        cursor: Optional[Tuple[int, int]] = None,
        stable: Optional[float] = None,
        exited: bool = False,
        bell: bool = False,
        timeout: float = 30,
        since: Union[int, str, None] = None,
        latched: bool = False,
    ) -> Match:
        """Waits for an event: only what came after the last input counts, before any input
        everything. Of several conditions all must hold.

        Args:
            matcher: What to wait for, such as `text("a") | regex("b+")`.
            text: A text on the screen, or in a line that has scrolled off it.
            regex: An RE2 expression there; `(?m)` makes `^` and `$` those of lines.
            output: A text in what the program writes, whatever becomes of it on the screen.
            title: A text in the window's title.
            cursor: The cursor's row and column.
            stable: Seconds for which the screen has not changed.
            exited: The program has ended.
            bell: The bell has rung.
            timeout: Seconds, at most a day; 0 looks once.
            since: Count from here instead: the `next` of a Match.
            latched: What held for a moment counts, too, also one that is over.

        Errors: TimeoutError and SessionEndedError, with `.evidence`; InvalidMatcherError.
        """
        what = joined(matcher, text, regex, output, title, cursor, stable, exited, bell)
        return await ask(self._connection, self._waits(what, timeout, since, latched))

    async def expect(
        self,
        matcher: Optional[Matcher] = None,
        *,
        text: Optional[str] = None,
        regex: Optional[str] = None,
        output: Optional[str] = None,
        title: Optional[str] = None,
        cursor: Optional[Tuple[int, int]] = None,
        stable: Optional[float] = None,
        exited: bool = False,
        timeout: float = 30,
    ) -> Match:
        """Waits until the screen is in a state, which it may be in already. The conditions are those
        of `wait`; texts count on the screen as it is, and output from the beginning of what is
        kept."""
        what = joined(matcher, text, regex, output, title, cursor, stable, exited, False)
        return await ask(self._connection, self._expects(what, timeout))

    async def locate(
        self,
        locator: wire.Locator,
        *,
        stable: bool = False,
        timeout: float = 30,
        since: Union[int, str, None] = None,
        redact: bool = True,
    ) -> wire.Place:
        """Waits until a locator means exactly one place of the screen, and returns it: its `text` and
        its cells, `spans`.

            s.locate("'Commit' in box 'Menu'").spans[0].row
            s.locate("cross 'b.txt' 'Size'").text

        Args:
            locator: Words, or an object of the wire; docs/locators.md has both.
            stable: The place has to have been as it is for 300 ms.
            timeout: Seconds to wait; 0 looks once.
            since: Only a place counts of which a row was written after it.
            redact: False shows secrets.

        Errors: NotFoundError, whose data has the `nearest` line, and AmbiguousError with all
        `places`; InvalidLocatorError.
        """
        found = await self._ask(
            wire.session_locate(
                self.id,
                locator,
                state="stable" if stable else None,
                strict=True,
                timeout_ms=milliseconds(timeout),
                since=since,
                redact=redact,
            )
        )
        return found.matches[0]

    async def locate_all(
        self, locator: wire.Locator, *, at: Optional[Moment] = None, redact: bool = True
    ) -> List[wire.Place]:
        """All places that a locator means on the screen as it is, or was; none when it means
        nothing."""
        try:
            found = await self._ask(
                wire.session_locate(
                    self.id, locator, timeout_ms=0, at=moment(at), redact=redact
                )
            )
        except NotFoundError:
            return []
        return found.matches

    async def gone(self, locator: wire.Locator, *, timeout: float = 30) -> None:
        """Waits until a locator means no place of the screen. TimeoutError when it goes on to."""
        await self._ask(
            wire.session_locate(
                self.id, locator, state="hidden", timeout_ms=milliseconds(timeout)
            )
        )

    def _waits(
        self, what: Matcher, timeout: float, since: Union[int, str, None], latched: bool
    ) -> Call[Match]:
        call = wire.session_wait(
            self.id,
            wire_of(what, screen_only=False),
            since=self._since if since is None else since,
            latched=latched or None,
            timeout_ms=milliseconds(timeout),
        )
        return Call(call.method, call.params, Match)

    def _expects(self, what: Matcher, timeout: float) -> Call[Match]:
        call = wire.session_wait(
            self.id, wire_of(what, screen_only=True), timeout_ms=milliseconds(timeout)
        )
        return Call(call.method, call.params, Match)

    async def run(self, command: str, *, timeout: float = 30) -> wire.Ran:
        """Types a command line into the session's shell and waits until it has ended: `output` is
        exactly what it wrote, `exit_code` None when the shell did not tell.

        Errors: NotAtPromptError, NoShellError, CommandNotRunError; TimeoutError, after which the
        command goes on.
        """
        ran = await self._ask(
            wire.session_run(self.id, command, timeout_ms=milliseconds(timeout))
        )
        self._since = ran.sequence
        return ran

    # Reading. Secrets are hidden unless redact is False.

    async def screen(
        self,
        *,
        cells: Literal["none", "runs", "full"] = "none",
        at: Optional[Moment] = None,
        redact: bool = True,
    ) -> wire.Snapshot:
        """The screen as it is: `plain_text`, `lines`, `cursor`, `title`, `size` and more.

        Args:
            cells: `runs` adds stretches of one style, `full` every cell.
            at: As it was then, with what is secret now hidden: a sequence, such as the `from_` of
                a span, a timedelta before now, or a datetime.
            redact: False shows secrets.

        Errors: MomentNotKeptError, for what has been dropped, or still to come.
        """
        snapshot = await self._ask(
            wire.session_snapshot(self.id, cells=cells, at=moment(at), redact=redact)
        )
        return snapshot

    async def history(
        self,
        matcher: Optional[Matcher] = None,
        *,
        text: Optional[str] = None,
        regex: Optional[str] = None,
        title: Optional[str] = None,
        cursor: Optional[Tuple[int, int]] = None,
        stable: Optional[float] = None,
        since: Optional[Moment] = None,
        until: Optional[Moment] = None,
        which: Literal["first", "last", "all"] = "all",
        timeout: float = 30,
        redact: bool = True,
    ) -> History:
        """When the conditions of `wait` held in the past, and for how long. They are about the screen
        at each moment, those of what a program drew and wiped at once included.

        Args:
            since: Only moments after it.
            until: Only moments up to it.
            which: The first span, the last, or all of them.
            timeout: Seconds that the matcher may take for one moment.

        Errors: MomentNotKeptError; TimeoutError and InvalidMatcherError.
        """
        what = wire_of(
            joined(matcher, text, regex, None, title, cursor, stable, False, False),
            screen_only=False,
        )
        spans: List[wire.Span] = []
        after: Optional[str] = None
        while True:
            part = await self._ask(
                wire.session_history(
                    self.id,
                    what,
                    since=moment(since),
                    until=moment(until),
                    which=which,
                    timeout_ms=milliseconds(timeout),
                    redact=redact,
                    next=after,
                )
            )
            if which == "last" and part.spans:
                spans = []
            spans += part.spans
            after = part.next
            if after is None or which == "first" and spans:
                return History(spans, part.kept_from, part.complete)

    async def transcript(
        self, *, since: Union[int, str, None] = None, redact: bool = True
    ) -> str:
        """The output as it came, escape sequences included, as far as it is kept; with since, such
        as the `next` of a Match, what came after it."""
        read = await self._ask(
            wire.session_transcript(self.id, since=since, redact=redact)
        )
        return read.text

    async def scrollback(self, count: int = 100, *, redact: bool = True) -> List[str]:
        """The last count lines, those of the screen at the end."""
        read = await self._ask(
            wire.session_scrollback(self.id, count=count, redact=redact)
        )
        return read.lines

    async def search(
        self,
        text: Optional[str] = None,
        *,
        regex: Optional[str] = None,
        max: int = 50,
        redact: bool = True,
    ) -> List[wire.Found]:
        """The lines of scrollback and screen in which a text, or an RE2 expression, is found."""
        found = await self._ask(
            wire.session_search(self.id, text=text, regex=regex, max=max, redact=redact)
        )
        return found.matches

    async def screenshot(
        self,
        path: Union[str, os.PathLike[str]],
        *,
        theme: Optional[Literal["dark", "light"]] = None,
        redact: bool = True,
    ) -> None:
        """Draws the screen into a file, by its extension: .png, .svg, .html or .ansi."""
        where = os.path.abspath(path)
        await self._ask(wire.session_screenshot(self.id, path=where, theme=theme, redact=redact))

    async def info(self) -> wire.SessionInfo:
        """What is known of the session: program, size, title, how long the screen was quiet."""
        listed = await self._ask(
            wire.session_list(details=True, session=self.id)
        )
        return listed.details[0]

    @property
    async def exit(self) -> Optional[wire.Exit]:
        """How the program has ended; None while it runs. Asks the server."""
        return (await self.info()).exit

    @opening
    async def record(
        self,
        path: Union[str, os.PathLike[str]],
        *,
        format: Optional[Literal["asciicast-v2", "asciicast-v3", "markdown"]] = None,
        input: bool = False,
        title: Optional[str] = None,
    ) -> Recording:
        """Records the session into a new file until the recording is stopped, or its block left.

        Args:
            path: The file, which must not exist.
            format: By default markdown for a path that ends in .md, else asciicast-v2.
            input: Keep what is typed, too.
            title: The recording's.
        """
        where = os.path.abspath(path)
        if format is None:
            format = "markdown" if where.endswith(".md") else "asciicast-v2"
        started = await self._ask(
            wire.session_record_start(
                self.id, path=where, format=format, input=input or None, title=title
            )
        )
        return Recording(self, started.recording, started.path)

    async def interact(self, *, escape: str = "\x1d", take: bool = False) -> Optional[wire.Exit]:
        """Gives the person's terminal to the session: what it shows is shown there, what is typed
        there is typed into it, and nobody else types meanwhile. Returns when the person presses the
        escape key, or the program has ended: then how. Blocks until then.

        Args:
            escape: The key that ends it, by default Ctrl-].
            take: Take the session from somebody else who holds it.

        Errors: NotATerminal, SessionLeasedError.
        """
        connection, session = self._connection, self.id
        return await offload(lambda: interact(connection, session, escape, take))

    @property
    async def adapter(self) -> Optional[Adapter]:
        """The adapter that drives the session; None when there is none. Asks the server."""
        id = (await self.info()).adapter
        return None if id is None else Adapter(self.client, id, self)

    async def kill(self) -> None:
        """Ends the program and all that it started; the session can still be read."""
        await self._ask(wire.session_kill(self.id))

    async def close(self) -> None:
        """Ends the program and all that it started, and forgets the session. Does nothing when it
        was closed before."""
        try:
            await self._ask(wire.session_close(self.id))
        except (UnknownSessionError, SessionForgottenError):
            pass


class Recording:
    """A recording under way. As a context manager it is stopped at the end of the block."""

    def __init__(self, session: Session, id: str, path: str) -> None:
        self.session, self.id, self.path = session, id, path
        self._connection = session.client.connection

    async def stop(self) -> wire.RecordingInfo:
        """Ends the recording; its file is complete then."""
        return await ask(self._connection, wire.session_record_stop(self.id))

    async def __aenter__(self) -> Recording:
        return self

    async def __aexit__(self, kind: object, error: object, trace: object) -> None:
        try:
            await self.stop()
        except PtywrightError:
            if kind is None:  # else the block's own error says more
                raise


class Adapter:
    """A plugin that drives a session: it knows what the program's screen means."""

    def __init__(self, client: Client, id: str, session: Session) -> None:
        self.client, self.id, self.session = client, id, session
        self._connection = client.connection

    def __repr__(self) -> str:
        return f"<Adapter {self.id}>"

    async def __aenter__(self) -> Adapter:
        return self

    async def __aexit__(self, kind: object, error: object, trace: object) -> None:
        try:
            await self.close()
        except ServerGone:
            if kind is None:
                raise

    async def _ask(self, call: Call[T]) -> T:
        return await ask(self._connection, call)

    async def state(self) -> wire.State:
        """What state the program is in; the words are the plugin's."""
        told = await self._ask(wire.adapter_state(self.id))
        return told.state

    async def send(self, intent: str, **params: Any) -> wire.AdapterSendResult:
        """Performs an intent of the plugin, and tells by its receipt whether it was submitted."""
        sent = await self._ask(
            wire.adapter_send(self.id, intent, params=params)
        )
        return sent

    async def wait(
        self,
        intent: Optional[str] = None,
        *,
        params: Optional[Mapping[str, Any]] = None,
        timeout: float = 120,
        since: Union[int, str, None] = None,
        latched: bool = False,
    ) -> wire.AdapterWaitResult:
        """Waits until a matcher of the plugin holds, by default until the turn is over.

        Args:
            intent: The plugin's wait matcher; its own by default.
            params: What that matcher needs.
            timeout: Seconds; 0 looks once.
            since: Only what came after it counts: a match's `next`, or a sequence.
            latched: What held for a moment counts, too, also one that is over.
        """
        waited = await self._ask(
            wire.adapter_wait(
                self.id,
                intent=intent,
                params=params,
                timeout_ms=milliseconds(timeout),
                since=since,
                latched=latched or None,
            )
        )
        return waited

    async def turn(
        self, intent: str, *, timeout: float = 120, latched: bool = False, **params: Any
    ) -> wire.AdapterTurnResult:
        """Performs an intent and waits until the turn is over, with no other client's between.

        With `latched` a turn that was over for a moment counts, too.
        """
        send: wire.AdapterTurnSend = {"intent": intent, "params": params}
        wait: wire.AdapterTurnWait = {"timeout_ms": milliseconds(timeout)}
        if latched:
            wait["latched"] = True
        turned = await self._ask(wire.adapter_turn(self.id, send, wait=wait))
        return turned

    async def events(self, since: int = 0) -> wire.AdapterEventsResult:
        """What has happened, from the `next` of the last answer."""
        told = await self._ask(wire.adapter_events(self.id, since=since))
        return told

    async def explain(self) -> wire.AdapterExplainResult:
        """Which rule decided the state, which nearly did, and on what rows."""
        told = await self._ask(wire.adapter_explain(self.id))
        return told

    async def close(self) -> None:
        """Ends the program, and forgets session and adapter."""
        try:
            await self._ask(wire.adapter_close(self.id))
        except UnknownAdapterError:
            pass

"""The wire of ptywright, protocol 1: what it sends, what it takes, what it refuses.

Written by go run ./sdk/gen from protocol/model.json. Do not edit.
"""

from __future__ import annotations

from typing import Any, Callable, Dict, List, Literal, Mapping, Optional, Sequence, TypedDict, Union

from ._record import Call, Made, Optionally, Plain, Record, given, maybe, one_of

PROTOCOL = 1
"""The version of the wire that this SDK speaks."""


class AdapterInfo(Record):
    adapter = Plain[str]("adapter")
    plugin = Plain[str]("plugin")
    session = Plain[str]("session")
    sequence = Plain[int]("sequence")
    finished = Plain[bool]("finished")
    sha256 = Plain[str]("sha256")
    """Of the plugin's code that it runs."""
    stale = Optionally[Optional[str]]("stale", None)
    """Why it does not run its plugin's newest code."""


class AdapterCancelWaitResult(Record):
    cancelled = Plain[bool]("cancelled")
    adapter = Optionally[Optional[str]]("adapter", None)
    wait_id = Optionally[Optional[str]]("wait_id", None)


class AdapterChanged(Record):
    """The state of an adapter's program is another, or something has happened in the turn."""
    method: Literal["adapter.changed"] = "adapter.changed"
    adapter = Plain[str]("adapter")
    plugin = Plain[str]("plugin")
    session = Plain[str]("session")
    sequence = Plain[int]("sequence")
    state = Plain[str]("state")
    """The state's name."""
    events = Plain[int]("events")
    """The seq of the newest event in adapter.events."""
    previous = Optionally[Optional[str]]("previous", None)
    """The state that was told last; the same when something else happened in the turn."""


class AdapterEventsResult(Record):
    events = Made["List[Event]"]("events", lambda v: [Event(x) for x in v or ()])
    next = Plain[int]("next")
    """For the next since."""
    dropped = Optionally[bool]("dropped", False)
    """Part of it had left the bound."""


class AdapterExplainResult(Record):
    state = Made["State"]("state", lambda v: State(v))
    rule = Plain[str]("rule")
    """That decided."""
    nearly = Made["List[Nearly]"]("nearly", lambda v: [Nearly(x) for x in v or ()])
    """Rules of which something held."""
    rows = Made["List[ExplainedRow]"]("rows", lambda v: [ExplainedRow(x) for x in v or ()])
    """What they looked at."""
    sources = Made["List[Witness]"]("sources", lambda v: [Witness(x) for x in v or ()])
    """What each source says."""


class AdapterInspectResult(Record):
    adapter = Plain[str]("adapter")
    plugin = Plain[str]("plugin")
    session = Plain[str]("session")
    state = Made["State"]("state", lambda v: State(v))
    plain_text = Plain[str]("plain_text")
    body_text = Plain[str]("body_text")
    status_text = Plain[str]("status_text")
    transcript_tail = Plain[str]("transcript_tail")
    sequence = Plain[int]("sequence")


class AdapterListResult(Record):
    plugins = Made["List[Manifest]"]("plugins", lambda v: [Manifest(x) for x in v or ()])


class AdapterLiveResult(Record):
    adapters = Made["List[AdapterInfo]"]("adapters", lambda v: [AdapterInfo(x) for x in v or ()])
    away = Made["List[AdapterLiveResultAway]"]("away", lambda v: [AdapterLiveResultAway(x) for x in v or ()])
    """Hosts that the list is without."""


class AdapterLiveResultAway(Record):
    host = Plain[str]("host")
    state = Plain[str]("state")
    """Down or silent."""
    since = Plain[str]("since")
    error = Plain[str]("error")
    """For people."""


class AdapterSendResult(Record):
    state = Made["State"]("state", lambda v: State(v))
    receipt = Made["Receipt"]("receipt", lambda v: Receipt(v))
    snapshot = Made["Optional[Snapshot]"]("snapshot", lambda v: maybe(Snapshot, v))
    """The screen, when what was to be submitted was not."""


class StartedAdapter(Record):
    adapter = Plain[str]("adapter")
    plugin = Plain[str]("plugin")
    session = Plain[str]("session")
    state = Made["State"]("state", lambda v: State(v))


class AdapterStateResult(Record):
    state = Made["State"]("state", lambda v: State(v))


class AdapterTurnResult(Record):
    state = Made["State"]("state", lambda v: State(v))
    matched = Made["Optional[Outcome]"]("matched", lambda v: maybe(_outcome, v))
    """Null when what was to be submitted was not: then nothing is waited for."""
    sequence = Plain[int]("sequence")
    receipt = Made["Receipt"]("receipt", lambda v: Receipt(v))
    elapsed_ms = Optionally[Optional[int]]("elapsed_ms", None)
    """Of the wait."""
    held_at = Optionally[Optional[str]]("held_at", None)
    """Of a latched wait: when the matcher held, of which sequence and state are."""
    missed = Optionally[bool]("missed", False)
    """Of a latched wait: the matcher could not be asked about all that was shown."""
    next = Optionally[Optional[str]]("next", None)
    """Just behind what matched, for the since of a wait."""
    snapshot = Made["Optional[Snapshot]"]("snapshot", lambda v: maybe(Snapshot, v))
    """The screen, when what was to be submitted was not."""
    wait_id = Optionally[Optional[str]]("wait_id", None)


class _AdapterTurnSend(TypedDict):
    intent: str
    """One of the plugin's intents; see plugin.describe."""


class AdapterTurnSend(_AdapterTurnSend, total=False):
    """The intent."""
    params: Mapping[str, Any]
    """What the intent needs."""


class AdapterTurnWait(TypedDict, total=False):
    """What to wait for afterwards; default wait_turn_matcher, 120000 ms."""
    intent: str
    """One of the plugin's wait matchers; default wait_turn_matcher."""
    latched: bool
    """Holds when the matcher held at any moment since, or from the wait's beginning on, not only
    when it looks.
    """
    params: Mapping[str, Any]
    """What the matcher needs."""
    since: Position
    """Only what came after it counts: a sequence, or the next of a wait's answer."""
    timeout_ms: int
    """Default 120000; 0 looks once."""
    wait_id: str
    """A name for adapter.cancel_wait."""


class AdapterWaitResult(Record):
    state = Made["State"]("state", lambda v: State(v))
    matched = Made["Outcome"]("matched", lambda v: _outcome(v))
    sequence = Plain[int]("sequence")
    next = Plain[str]("next")
    """Just behind what matched, for the since of a wait."""
    elapsed_ms = Plain[int]("elapsed_ms")
    held_at = Optionally[Optional[str]]("held_at", None)
    """Of a latched wait: when the matcher held, of which sequence and state are."""
    missed = Optionally[bool]("missed", False)
    """Of a latched wait: the matcher could not be asked about all that was shown."""
    wait_id = Optionally[Optional[str]]("wait_id", None)


class AllExplanation(Record):
    """Several matchers hold at once."""
    type: Literal["all"] = "all"
    value = Made["List[Explanation]"]("value", lambda v: [_explanation(x) for x in v or ()])
    held = Plain[bool]("held")
    """The matcher would have matched."""
    why = Plain[str]("why")
    """One line for people."""
    nearest = Optionally[Optional[str]]("nearest", None)
    """The line that came closest."""


class AllLocator(TypedDict):
    """The cells that belong to places of each of several locators."""
    type: Literal["all"]
    value: Sequence[Locator]


class AllMatcher(TypedDict):
    """Several matchers hold at once."""
    type: Literal["all"]
    value: Sequence[MatcherValue]


class AllOutcome(Record):
    kind: Literal["all"] = "all"
    matched = Made["List[Outcome]"]("matched", lambda v: [_outcome(x) for x in v or ()])
    """One for each matcher."""


class AmbiguousData(Record):
    """What an error has to show for it."""
    count = Optionally[Optional[int]]("count", None)
    """How many places it means."""
    done = Optionally[Optional[int]]("done", None)
    """Actions that were performed."""
    locator = Optionally[Optional[str]]("locator", None)
    """In words."""
    places = Made["List[Place]"]("places", lambda v: [Place(x) for x in v or ()])
    """At most the first 100."""
    receipt = Made["Optional[Receipt]"]("receipt", lambda v: maybe(Receipt, v))
    """Of an intent."""
    sequence = Optionally[Optional[int]]("sequence", None)
    snapshot = Made["Optional[Snapshot]"]("snapshot", lambda v: maybe(Snapshot, v))
    written = Optionally[Optional[int]]("written", None)
    """Bytes that the terminal has taken."""


class AnyExplanation(Record):
    """One of several matchers holds."""
    type: Literal["any"] = "any"
    value = Made["List[Explanation]"]("value", lambda v: [_explanation(x) for x in v or ()])
    held = Plain[bool]("held")
    """The matcher would have matched."""
    why = Plain[str]("why")
    """One line for people."""
    nearest = Optionally[Optional[str]]("nearest", None)
    """The line that came closest."""


class AnyLocator(TypedDict):
    """The places of each of several locators."""
    type: Literal["any"]
    value: Sequence[Locator]


class AnyMatcher(TypedDict):
    """One of several matchers holds."""
    type: Literal["any"]
    value: Sequence[MatcherValue]


class AnyOutcome(Record):
    kind: Literal["any"] = "any"
    index = Plain[int]("index")
    """Of the matcher that held, from 0."""
    matched = Made["Outcome"]("matched", lambda v: _outcome(v))


class ErrorData(Record):
    """What an error has to show for it."""


class BellExplanation(Record):
    """The bell rang since the wait began, or since the request's since."""
    type: Literal["bell"] = "bell"
    held = Plain[bool]("held")
    """The matcher would have matched."""
    why = Plain[str]("why")
    """One line for people."""
    nearest = Optionally[Optional[str]]("nearest", None)
    """The line that came closest."""


class BellMatcher(TypedDict):
    """The bell rang since the wait began, or since the request's since."""
    type: Literal["bell"]


class BellOutcome(Record):
    kind: Literal["bell"] = "bell"


class BesideLocator(TypedDict):
    """Places on one side of others."""
    type: Literal["beside"]
    value: BesideLocatorValue


class _BesideLocatorValue(TypedDict):
    of: Locator
    side: Literal["right_of", "left_of", "above", "below"]
    """Of what it stands."""
    what: Locator


class BesideLocatorValue(_BesideLocatorValue, total=False):
    within: int
    """At most so many cells away."""


class Block(Record):
    number = Plain[int]("number")
    command = Plain[str]("command")
    output = Plain[str]("output")
    """Exactly what the command wrote, without escape sequences."""
    truncated = Plain[bool]("truncated")
    """The beginning of output is left out: it is the last 256 KiB."""
    whole = Plain[bool]("whole")
    """Output is all of it."""
    cwd = Plain[Optional[str]]("cwd")
    started = Plain[str]("started")
    ended = Plain[Optional[str]]("ended")
    """Null while it runs."""
    exit_code = Plain[Optional[int]]("exit_code")
    """Null when the shell did not tell."""
    line = Plain[int]("line")
    """The first line of its output, from the first line ever."""
    screen_text = Optionally[Optional[str]]("screen_text", None)
    """Text as it stood on the screen, lines joined that were wrapped."""
    screen_truncated = Optionally[bool]("screen_truncated", False)
    """The beginning of screen_text is left out."""


class _BoxLocator(TypedDict):
    type: Literal["box"]


class BoxLocator(_BoxLocator, total=False):
    """The insides of frames of line characters, the smallest first; with a value those in whose
    upper edge that is found.
    """
    value: Locator


class BracketedPasteAction(TypedDict):
    """Pastes a text in brackets, without control characters other than tabs and line ends."""
    type: Literal["bracketed_paste"]
    value: str
    """What to paste."""


class CancelRequestResult(Record):
    cancelled = Plain[bool]("cancelled")
    """False: no such request was under way."""


class WaitData(Record):
    """What an error has to show for it."""
    complete = Optionally[bool]("complete", False)
    done = Optionally[Optional[int]]("done", None)
    """Actions that were performed."""
    duration_ms = Optionally[Optional[int]]("duration_ms", None)
    elapsed_ms = Optionally[Optional[int]]("elapsed_ms", None)
    ended = Made["List[UnmatchedSession]"]("ended", lambda v: [UnmatchedSession(x) for x in v or ()])
    lacking = Made["List[UnmatchedSession]"]("lacking", lambda v: [UnmatchedSession(x) for x in v or ()])
    """With evidence all: the sessions that waited."""
    lost = Made["List[LostHost]"]("lost", lambda v: [LostHost(x) for x in v or ()])
    """What could not be asked, since its host was away: whether it would have matched is not
    known.
    """
    matched = Made["List[MatchedSession]"]("matched", lambda v: [MatchedSession(x) for x in v or ()])
    """This and what follows of session.wait_many, as in its answer."""
    matcher = Made["Optional[Explanation]"]("matcher", lambda v: maybe(_explanation, v))
    """The matcher that was sent, with held, why and nearest at each node."""
    missed = Optionally[bool]("missed", False)
    """Lines that scrolled off the screen were lost before they could be looked at; with latched
    also: the matcher could not be asked about all that was shown.
    """
    output = Optionally[Optional[str]]("output", None)
    """What the command has written so far."""
    quiet_ms = Optionally[Optional[int]]("quiet_ms", None)
    """For how long the screen had not changed."""
    receipt = Made["Optional[Receipt]"]("receipt", lambda v: maybe(Receipt, v))
    """Of an intent."""
    screen_text = Optionally[Optional[str]]("screen_text", None)
    sequence = Optionally[Optional[int]]("sequence", None)
    snapshot = Made["Optional[Snapshot]"]("snapshot", lambda v: maybe(Snapshot, v))
    state = Made["Optional[State]"]("state", lambda v: maybe(State, v))
    """Of an adapter."""
    transcript_tail = Optionally[Optional[str]]("transcript_tail", None)
    truncated = Optionally[bool]("truncated", False)
    """The beginning of output is left out."""
    waiting = Optionally[Optional[int]]("waiting", None)
    written = Optionally[Optional[int]]("written", None)
    """Bytes that the terminal has taken."""


class Candidate(Record):
    state = Plain[str]("state")
    confidence = Plain[float]("confidence")


class CannotStartData(Record):
    """What an error has to show for it."""
    operation = Plain[str]("operation")
    """That failed: command, lookup, dir, open or start."""


class Cell(Record):
    row = Plain[int]("row")
    col = Plain[int]("col")
    text = Plain[str]("text")
    style = Made["Style"]("style", lambda v: Style(v))
    cols = Optionally[Optional[int]]("cols", None)
    """Of a run."""
    wide = Optionally[bool]("wide", False)
    wide_continuation = Optionally[bool]("wide_continuation", False)


class Cells(Record):
    row = Plain[int]("row")
    """From 0."""
    col = Plain[int]("col")
    """From 0."""
    cols = Plain[int]("cols")
    """How many cells; a wide character has two."""


class ClickAction(TypedDict):
    """Clicks on what a locator means, or on a cell."""
    type: Literal["click"]
    value: ClickActionValue


class ClickActionValue(TypedDict, total=False):
    at: Literal["center", "end", "start"]
    """Which cell of the place: center (default), start or end."""
    button: Literal["left", "middle", "right"]
    """Left (default), middle or right."""
    col: int
    """From 0, with row."""
    count: int
    """2 is a double click."""
    locator: Locator
    mods: Sequence[Literal["alt", "ctrl", "shift"]]
    row: int
    """From 0, in place of locator."""


class ClickTarget(TypedDict, total=False):
    at: Literal["center", "end", "start"]
    """Which cell of the place: center (default), start or end."""
    col: int
    """From 0, with row."""
    locator: Locator
    row: int
    """From 0, in place of locator."""


class Closed(Record):
    closed = Plain[bool]("closed")


class CommandFinishedExplanation(Record):
    """A command of a shell that marks them ended since the wait began, or since the request's
    since.
    """
    type: Literal["command_finished"] = "command_finished"
    held = Plain[bool]("held")
    """The matcher would have matched."""
    why = Plain[str]("why")
    """One line for people."""
    nearest = Optionally[Optional[str]]("nearest", None)
    """The line that came closest."""
    value = Made["Optional[CommandFinishedExplanationValue]"]("value", lambda v: maybe(CommandFinishedExplanationValue, v))


class CommandFinishedExplanationValue(Record):
    exit_code = Optionally[Optional[int]]("exit_code", None)
    """Only with this exit code."""


class _CommandFinishedMatcher(TypedDict):
    type: Literal["command_finished"]


class CommandFinishedMatcher(_CommandFinishedMatcher, total=False):
    """A command of a shell that marks them ended since the wait began, or since the request's
    since.
    """
    value: CommandFinishedMatcherValue


class CommandFinishedMatcherValue(TypedDict, total=False):
    exit_code: int
    """Only with this exit code."""


class CommandFinishedOutcome(Record):
    kind: Literal["command_finished"] = "command_finished"
    command = Plain[str]("command")
    exit_code = Plain[Optional[int]]("exit_code")
    """Null when the shell did not tell."""


class ContainsTextExplanation(Record):
    """The screen, or a line that scrolled off it, contains a text."""
    type: Literal["contains_text"] = "contains_text"
    value = Plain[str]("value")
    """Text to find, at most 65536 bytes."""
    held = Plain[bool]("held")
    """The matcher would have matched."""
    why = Plain[str]("why")
    """One line for people."""
    nearest = Optionally[Optional[str]]("nearest", None)
    """The line that came closest."""
    scope = Optionally[Optional[Literal["seen", "screen"]]]("scope", None)
    """Seen (default) also reads lines that scroll off the screen."""


class _ContainsTextMatcher(TypedDict):
    type: Literal["contains_text"]
    value: str
    """Text to find, at most 65536 bytes."""


class ContainsTextMatcher(_ContainsTextMatcher, total=False):
    """The screen, or a line that scrolled off it, contains a text."""
    scope: Literal["seen", "screen"]
    """Seen (default) also reads lines that scroll off the screen."""


class ContainsTextOutcome(Record):
    kind: Literal["contains_text"] = "contains_text"
    text = Plain[str]("text")
    """The text that was looked for."""
    scrolled = Made["Optional[Scrolled]"]("scrolled", lambda v: maybe(Scrolled, v))
    """The line, when it had left the screen."""


class CrossLocator(TypedDict):
    """The cell of a table: where the line of one place crosses the column of another."""
    type: Literal["cross"]
    value: CrossLocatorValue


class CrossLocatorValue(TypedDict):
    col: Locator
    row: Locator


class Cursor(Record):
    row = Plain[int]("row")
    """From 0."""
    col = Plain[int]("col")
    """From 0."""
    visible = Plain[bool]("visible")


class CursorAtExplanation(Record):
    """The cursor is there."""
    type: Literal["cursor_at"] = "cursor_at"
    value = Made["CursorAtExplanationValue"]("value", lambda v: CursorAtExplanationValue(v))
    held = Plain[bool]("held")
    """The matcher would have matched."""
    why = Plain[str]("why")
    """One line for people."""
    nearest = Optionally[Optional[str]]("nearest", None)
    """The line that came closest."""


class CursorAtExplanationValue(Record):
    col = Plain[int]("col")
    """From 0."""
    row = Plain[int]("row")
    """From 0."""


class CursorAtMatcher(TypedDict):
    """The cursor is there."""
    type: Literal["cursor_at"]
    value: CursorAtMatcherValue


class CursorAtMatcherValue(TypedDict):
    col: int
    """From 0."""
    row: int
    """From 0."""


class CursorAtOutcome(Record):
    kind: Literal["cursor_at"] = "cursor_at"
    row = Plain[int]("row")
    """From 0."""
    col = Plain[int]("col")
    """From 0."""


class CursorLocator(TypedDict):
    """The cell of the cursor, unless it is hidden."""
    type: Literal["cursor"]


class DragAction(TypedDict):
    """Presses on one target and releases on another."""
    type: Literal["drag"]
    value: DragActionValue


_DragActionValue = TypedDict("_DragActionValue", {
    "from": "ClickTarget",
    "to": "ClickTarget",
})


class DragActionValue(_DragActionValue, total=False):
    button: Literal["left", "middle", "right"]
    """Left (default), middle or right."""
    mods: Sequence[Literal["alt", "ctrl", "shift"]]


class EofAction(TypedDict):
    """Types the byte 0x04."""
    type: Literal["eof"]


class Event(Record):
    seq = Plain[int]("seq")
    kind = Plain[str]("kind")
    at = Plain[str]("at")
    sequence = Plain[int]("sequence")
    category = Optionally[Optional[str]]("category", None)
    id = Optionally[Optional[str]]("id", None)
    input = Optionally[Any]("input", None)
    message = Optionally[Optional[str]]("message", None)
    name = Optionally[Optional[str]]("name", None)
    previous = Optionally[Optional[str]]("previous", None)
    result = Optionally[Any]("result", None)
    state = Optionally[Optional[str]]("state", None)
    status = Optionally[Optional[str]]("status", None)
    summary = Optionally[Optional[str]]("summary", None)
    text = Optionally[Optional[str]]("text", None)


class Exit(Record):
    exit_code = Plain[Optional[int]]("exit_code")
    signal = Plain[Optional[str]]("signal")
    draining = Plain[bool]("draining")
    killed = Optionally[bool]("killed", False)
    """Somebody ended it, with session.kill or session.close."""
    limit = Optionally[Optional[str]]("limit", None)
    """That the session went over, which ended it: max_ms, idle_ms, max_memory or owner."""


class ExpectationFailedData(Record):
    """What an error has to show for it."""
    step = Plain[int]("step")
    elapsed_ms = Plain[int]("elapsed_ms")
    snapshot = Made["Snapshot"]("snapshot", lambda v: Snapshot(v))
    matcher = Made["Explanation"]("matcher", lambda v: _explanation(v))
    done = Optionally[Optional[int]]("done", None)
    """Actions that were performed."""
    receipt = Made["Optional[Receipt]"]("receipt", lambda v: maybe(Receipt, v))
    """Of an intent."""
    written = Optionally[Optional[int]]("written", None)
    """Bytes that the terminal has taken."""


class ExplainedRow(Record):
    row = Plain[int]("row")
    """From 0."""
    text = Plain[str]("text")


class ForbiddenData(Record):
    """What an error has to show for it."""
    method = Plain[str]("method")
    needs = Plain[str]("needs")
    """The right that the request needs: type or admin."""
    rights = Plain[str]("rights")
    """What the connection has: read or type."""
    with_ = Optionally[Optional[str]]("with", None)
    """The part of params that needs it, as redact false; left out: the method itself."""


class Found(Record):
    line = Plain[int]("line")
    """That it begins in, as in session.scrollback."""
    col = Plain[int]("col")
    """Characters before it in that line."""
    end_line = Plain[int]("end_line")
    """That it ends in: a later one when its text wraps."""
    end_col = Plain[int]("end_col")
    """Characters in that line up to its end."""
    text = Plain[str]("text")
    """The lines that it is in, joined; one line, unless it wraps."""


class Frame(Record):
    sequence = Plain[int]("sequence")
    """For the next since."""
    full = Plain[bool]("full")
    """Every row is there: the client had none, or another size."""
    first_line = Plain[int]("first_line")
    """Number of the first row's line: what session.scrollback has dropped and what it has before
    the screen.
    """
    size = Made["FrameSize"]("size", lambda v: FrameSize(v))
    rows = Made["List[FrameRow]"]("rows", lambda v: [FrameRow(x) for x in v or ()])
    """Those that have changed."""
    cursor = Made["FrameCursor"]("cursor", lambda v: FrameCursor(v))
    modes = Made["FrameModes"]("modes", lambda v: FrameModes(v))
    title = Plain[Optional[str]]("title")
    secret_input = Plain[bool]("secret_input")
    bell = Plain[int]("bell")
    """The sequence at which the bell rang last; 0: not yet."""
    lease = Made["Optional[Lease]"]("lease", lambda v: maybe(Lease, v))
    """Who alone may type; null: everybody."""
    exit = Made["Optional[Exit]"]("exit", lambda v: maybe(Exit, v))
    kept_from = Optionally[Optional[int]]("kept_from", None)
    """With at: the oldest sequence that can be shown."""
    kept_from_at = Optionally[Optional[str]]("kept_from_at", None)
    """With at: when the session came to that."""
    moved = Optionally[Optional[int]]("moved", None)
    """With moves: by how many rows up what was shown has moved, before rows are drawn."""
    shown_at = Optionally[Optional[str]]("shown_at", None)
    """With at: when the session came to its sequence."""


class FrameCursor(Record):
    row = Plain[int]("row")
    """From 0."""
    col = Plain[int]("col")
    """From 0."""
    visible = Plain[bool]("visible")
    style = Plain[int]("style")
    """What DECSCUSR set, 0 to 6."""


class FrameModes(Record):
    alternate_screen = Plain[bool]("alternate_screen")
    application_cursor = Plain[bool]("application_cursor")
    application_keypad = Plain[bool]("application_keypad")
    bracketed_paste = Plain[bool]("bracketed_paste")
    focus_events = Plain[bool]("focus_events")
    reverse_video = Plain[bool]("reverse_video")
    mouse = Plain[str]("mouse")
    alternate_scroll = Plain[bool]("alternate_scroll")
    """The wheel sends cursor keys on the alternate screen while the program does not take the
    mouse.
    """
    kitty_keyboard = Plain[int]("kitty_keyboard")
    """Flags of the kitty keyboard protocol."""
    modify_other_keys = Plain[int]("modify_other_keys")


class FrameRow(Record):
    row = Plain[int]("row")
    ansi = Optionally[Optional[str]]("ansi", None)
    """With form ansi: to be written at the beginning of a blank line, with no style set."""
    runs = Made["List[Stretch]"]("runs", lambda v: [Stretch(x) for x in v or ()])
    wrapped = Optionally[bool]("wrapped", False)
    """The line continues in the next row."""


class FrameSize(Record):
    rows = Plain[int]("rows")
    cols = Plain[int]("cols")


class GuessLocator(TypedDict):
    """Where a plugin's predicate says that it is."""
    type: Literal["guess"]
    value: GuessLocatorValue


class _GuessLocatorValue(TypedDict):
    plugin: str
    """The plugin's name."""
    predicate: str
    """A function of the plugin."""


class GuessLocatorValue(_GuessLocatorValue, total=False):
    params: Any
    """What the function gets."""


class HasLocator(TypedDict):
    """Places that hold another."""
    type: Literal["has"]
    value: HasLocatorValue


class HasLocatorValue(TypedDict):
    inner: Locator
    what: Locator


class HostLostData(Record):
    """What an error has to show for it."""
    host = Plain[str]("host")
    since = Plain[str]("since")
    """By the clock of the machine that tells it."""
    error = Plain[str]("error")
    """What happened last, for people."""
    unknown = Plain[bool]("unknown")
    """True: it may have been done."""


class HostMark(Record):
    label = Plain[str]("label")


class HostUnreachableData(Record):
    """What an error has to show for it."""
    host = Plain[str]("host")
    since = Plain[str]("since")
    """By the clock of the machine that tells it."""
    error = Plain[str]("error")
    """What happened last, for people."""
    retry_ms = Optionally[Optional[int]]("retry_ms", None)
    """When it is tried again."""


class InLocator(TypedDict):
    """Places within others, whose rows are cut to them."""
    type: Literal["in"]
    value: InLocatorValue


class InLocatorValue(TypedDict):
    what: Locator
    where: Locator


class InputBlockedData(Record):
    """What an error has to show for it."""
    length = Plain[int]("length")
    """Bytes of the input."""
    done = Optionally[Optional[int]]("done", None)
    """Actions that were performed."""
    receipt = Made["Optional[Receipt]"]("receipt", lambda v: maybe(Receipt, v))
    """Of an intent."""
    written = Optionally[Optional[int]]("written", None)
    """Bytes that the terminal has taken."""


class InputData(Record):
    """What an error has to show for it."""
    done = Optionally[Optional[int]]("done", None)
    """Actions that were performed."""
    receipt = Made["Optional[Receipt]"]("receipt", lambda v: maybe(Receipt, v))
    """Of an intent."""
    written = Optionally[Optional[int]]("written", None)
    """Bytes that the terminal has taken."""


class Instant(TypedDict, total=False):
    ago_ms: int
    """So long before the request."""
    time: str
    """By the server's clock."""


class IntentRefusedData(Record):
    """What an error has to show for it."""
    plugin = Plain[str]("plugin")
    function = Plain[str]("function")
    kind = Plain[str]("kind")
    code = Plain[str]("code")
    """The plugin's own."""
    done = Optionally[Optional[int]]("done", None)
    """Actions that were performed."""
    line = Optionally[Optional[int]]("line", None)
    """From 1."""
    module = Optionally[Optional[str]]("module", None)
    receipt = Made["Optional[Receipt]"]("receipt", lambda v: maybe(Receipt, v))
    """Of an intent."""
    written = Optionally[Optional[int]]("written", None)
    """Bytes that the terminal has taken."""


class InterruptAction(TypedDict):
    """Types the byte 0x03."""
    type: Literal["interrupt"]


class InvalidManifestData(Record):
    """What an error has to show for it."""
    key = Plain[str]("key")
    line = Plain[int]("line")
    """From 1; 0: not known."""


class KeyAction(TypedDict):
    """Presses a key."""
    type: Literal["key"]
    value: Union[str, KeyActionValue]


class _KeyActionValue(TypedDict):
    key: str
    """The key's name."""


class KeyActionValue(_KeyActionValue, total=False):
    event: Literal["press", "release", "repeat"]
    """What happens to the key; without it a tap."""


class KillAction(TypedDict):
    """Ends the program and all it started."""
    type: Literal["kill"]


class LacksLocator(TypedDict):
    """Places that hold no such other."""
    type: Literal["lacks"]
    value: LacksLocatorValue


class LacksLocatorValue(TypedDict):
    inner: Locator
    what: Locator


class Lease(Record):
    holder = Plain[str]("holder")
    since = Plain[str]("since")
    yours = Plain[bool]("yours")
    """This connection has it."""


class LimitExceededData(Record):
    """What an error has to show for it."""
    limit = Optionally[Optional[int]]("limit", None)
    what = Optionally[Optional[str]]("what", None)


class LineTooLongData(Record):
    """What an error has to show for it."""
    length = Plain[int]("length")
    """Bytes of the line."""
    limit = Plain[int]("limit")
    done = Optionally[Optional[int]]("done", None)
    """Actions that were performed."""
    receipt = Made["Optional[Receipt]"]("receipt", lambda v: maybe(Receipt, v))
    """Of an intent."""
    written = Optionally[Optional[int]]("written", None)
    """Bytes that the terminal has taken."""


class LinesLocator(TypedDict):
    """Whole lines that hold a place."""
    type: Literal["lines"]
    value: Locator


class LinkLocator(TypedDict):
    """The text of hyperlinks whose address contains a text."""
    type: Literal["link"]
    value: str
    """Part of the address."""


class LocatedExplanation(Record):
    """A locator means places of the screen."""
    type: Literal["located"] = "located"
    value = Made["LocatedExplanationValue"]("value", lambda v: LocatedExplanationValue(v))
    held = Plain[bool]("held")
    """The matcher would have matched."""
    why = Plain[str]("why")
    """One line for people."""
    nearest = Optionally[Optional[str]]("nearest", None)
    """The line that came closest."""


class LocatedExplanationValue(Record):
    locator = Plain[str]("locator")
    """In words."""
    count = Optionally[Optional[int]]("count", None)
    """Exactly so many; without it at least one."""


class LocatedMatcher(TypedDict):
    """A locator means places of the screen."""
    type: Literal["located"]
    value: LocatedMatcherValue


class _LocatedMatcherValue(TypedDict):
    locator: Locator


class LocatedMatcherValue(_LocatedMatcherValue, total=False):
    count: int
    """Exactly so many; without it at least one."""


class LocatedOutcome(Record):
    kind: Literal["located"] = "located"
    count = Plain[int]("count")
    """How many places there are."""
    places = Made["List[Place]"]("places", lambda v: [Place(x) for x in v or ()])
    """At most the first 100."""


class LostHost(Record):
    host = Plain[str]("host")
    sessions = Plain[List[str]]("sessions")
    """Its sessions that were waited for."""
    since = Plain[Dict[str, int]]("since")
    """The last sequence that is known of each."""
    reason = Plain[str]("reason")
    """Down or silent."""
    for_ms = Plain[int]("for_ms")
    """For how long it had been away."""


class LuaExplanation(Record):
    """A plugin's predicate says so."""
    type: Literal["lua"] = "lua"
    value = Made["LuaExplanationValue"]("value", lambda v: LuaExplanationValue(v))
    held = Plain[bool]("held")
    """The matcher would have matched."""
    why = Plain[str]("why")
    """One line for people."""
    nearest = Optionally[Optional[str]]("nearest", None)
    """The line that came closest."""


class LuaExplanationValue(Record):
    plugin = Plain[str]("plugin")
    """The plugin's name; a plugin's own matchers may leave it out."""
    predicate = Plain[str]("predicate")
    """A function of the plugin."""
    params = Optionally[Any]("params", None)
    """What the function gets."""


class LuaMatcher(TypedDict):
    """A plugin's predicate says so."""
    type: Literal["lua"]
    value: LuaMatcherValue


class _LuaMatcherValue(TypedDict):
    plugin: str
    """The plugin's name; a plugin's own matchers may leave it out."""
    predicate: str
    """A function of the plugin."""


class LuaMatcherValue(_LuaMatcherValue, total=False):
    params: Any
    """What the function gets."""


class LuaOutcome(Record):
    kind: Literal["lua"] = "lua"
    plugin = Plain[str]("plugin")
    predicate = Plain[str]("predicate")
    capture = Optionally[Any]("capture", None)
    """What the predicate captured."""
    evidence = Optionally[Any]("evidence", None)
    """What the predicate told."""


class Manifest(Record):
    name = Plain[str]("name")
    kind = Plain[str]("kind")
    version = Plain[str]("version")
    permissions = Plain[List[Literal["session.spawn", "session.kill", "session.resize", "screen.read", "transcript.read", "input.write", "matcher.wait"]]]("permissions")
    default_target = Made["Optional[Target]"]("default_target", lambda v: maybe(Target, v))
    entrypoint = Optionally[Optional[str]]("entrypoint", None)
    program_status = Optionally[bool]("program_status", False)
    runtime = Optionally[Optional[str]]("runtime", None)
    shell_integration = Optionally[bool]("shell_integration", False)


class MarkTranscriptAction(TypedDict):
    """Sets a label at the end of the output."""
    type: Literal["mark_transcript"]
    value: MarkTranscriptActionValue


class MarkTranscriptActionValue(TypedDict):
    label: str
    """1 to 256 bytes."""


class Matched(Record):
    matched = Plain[bool]("matched")
    sequence = Plain[int]("sequence")
    next = Plain[str]("next")
    """Just behind what matched, for the since of the next wait."""
    elapsed_ms = Plain[int]("elapsed_ms")
    outcome = Made["Outcome"]("outcome", lambda v: _outcome(v))
    snapshot = Made["Snapshot"]("snapshot", lambda v: Snapshot(v))
    transcript_tail = Plain[str]("transcript_tail")
    before = Optionally[Optional[str]]("before", None)
    """With since: what came between it and the text that matched, at most the last 16 KiB."""
    before_truncated = Optionally[bool]("before_truncated", False)
    """Before had more."""
    forgotten = Optionally[bool]("forgotten", False)
    """The session was: of the snapshot only exit means anything."""
    held_at = Optionally[Optional[str]]("held_at", None)
    """Of a latched wait: when the matcher held, of which sequence and snapshot are."""
    missed = Optionally[bool]("missed", False)
    """Lines that scrolled off the screen were lost before they could be looked at; with latched
    also: the matcher could not be asked about all that was shown.
    """


class MatchedSession(Record):
    session = Plain[str]("session")
    sequence = Plain[int]("sequence")
    next = Plain[str]("next")
    """Just behind what matched, for the since of the next wait."""
    elapsed_ms = Plain[int]("elapsed_ms")
    """Since the whole wait began."""
    outcome = Made["Outcome"]("outcome", lambda v: _outcome(v))
    before = Optionally[Optional[str]]("before", None)
    """As of session.wait."""
    before_truncated = Optionally[bool]("before_truncated", False)
    """Before had more."""
    forgotten = Optionally[bool]("forgotten", False)
    """The session was: of the snapshot only exit means anything."""
    held_at = Optionally[Optional[str]]("held_at", None)
    """Of a latched wait: when the matcher held, of which sequence and snapshot are."""
    missed = Optionally[bool]("missed", False)
    """As of session.wait."""
    name = Optionally[Optional[str]]("name", None)
    snapshot = Made["Optional[Snapshot]"]("snapshot", lambda v: maybe(Snapshot, v))
    """Unless evidence is none, without cells."""
    transcript_tail = Optionally[Optional[str]]("transcript_tail", None)
    """Likewise."""


class MatchedSessions(Record):
    matched = Made["List[MatchedSession]"]("matched", lambda v: [MatchedSession(x) for x in v or ()])
    """In the order in which they did."""
    waiting = Plain[int]("waiting")
    """How many sessions have neither matched nor ended."""
    ended = Made["List[UnmatchedSession]"]("ended", lambda v: [UnmatchedSession(x) for x in v or ()])
    """Sessions that have ended and can no longer match."""
    lost = Made["List[LostHost]"]("lost", lambda v: [LostHost(x) for x in v or ()])
    """What could not be asked, since its host was away; none without other machines."""
    complete = Plain[bool]("complete")
    """Nothing is left to wait for: no session waits, and none is lost."""
    truncated = Optionally[bool]("truncated", False)
    """Some screens are left out: there were more than 16 MiB."""


class MomentNotKeptData(Record):
    """What an error has to show for it."""
    kept_from = Plain[int]("kept_from")
    """The oldest sequence that can be shown."""
    sequence = Plain[int]("sequence")
    """The newest."""
    kept_from_at = Optionally[Optional[str]]("kept_from_at", None)
    """When the session came to that, where a time was asked for."""


class MouseAction(TypedDict):
    """Presses, releases or moves the mouse."""
    type: Literal["mouse"]
    value: MouseActionValue


class _MouseActionValue(TypedDict):
    col: int
    """From 0."""
    row: int
    """From 0."""


class MouseActionValue(_MouseActionValue, total=False):
    action: Literal["move", "press", "release"]
    """Press (default), release or move."""
    button: Literal["left", "middle", "none", "right", "wheel_down", "wheel_left", "wheel_right", "wheel_up"]
    """Left (default), or another."""
    mods: Sequence[Literal["alt", "ctrl", "shift"]]


class NameTakenData(Record):
    """What an error has to show for it."""
    name = Plain[str]("name")
    session = Plain[str]("session")


class Nearly(Record):
    rule = Plain[str]("rule")
    state = Plain[str]("state")
    lacks = Plain[str]("lacks")
    rows = Made[List[int]]("rows", lambda v: list(v or ()))


class NotExplanation(Record):
    """A matcher does not hold."""
    type: Literal["not"] = "not"
    value = Made["Explanation"]("value", lambda v: _explanation(v))
    held = Plain[bool]("held")
    """The matcher would have matched."""
    why = Plain[str]("why")
    """One line for people."""
    nearest = Optionally[Optional[str]]("nearest", None)
    """The line that came closest."""


class NotFoundData(Record):
    """What an error has to show for it."""
    done = Optionally[Optional[int]]("done", None)
    """Actions that were performed."""
    locator = Optionally[Optional[str]]("locator", None)
    """In words."""
    nearest = Optionally[Optional[str]]("nearest", None)
    """The line that comes closest to what was not found."""
    receipt = Made["Optional[Receipt]"]("receipt", lambda v: maybe(Receipt, v))
    """Of an intent."""
    sequence = Optionally[Optional[int]]("sequence", None)
    snapshot = Made["Optional[Snapshot]"]("snapshot", lambda v: maybe(Snapshot, v))
    stages = Made["List[Stage]"]("stages", lambda v: [Stage(x) for x in v or ()])
    """What each part of the locator means on the whole screen, the innermost first."""
    written = Optionally[Optional[int]]("written", None)
    """Bytes that the terminal has taken."""


class NotMatcher(TypedDict):
    """A matcher does not hold."""
    type: Literal["not"]
    value: MatcherValue


class NotOutcome(Record):
    kind: Literal["not"] = "not"


class OffScreenData(Record):
    """What an error has to show for it."""
    line = Plain[int]("line")
    """That has left the screen, counted from the session's first line."""
    done = Optionally[Optional[int]]("done", None)
    """Actions that were performed."""
    locator = Optionally[Optional[str]]("locator", None)
    """In words."""
    receipt = Made["Optional[Receipt]"]("receipt", lambda v: maybe(Receipt, v))
    """Of an intent."""
    sequence = Optionally[Optional[int]]("sequence", None)
    snapshot = Made["Optional[Snapshot]"]("snapshot", lambda v: maybe(Snapshot, v))
    written = Optionally[Optional[int]]("written", None)
    """Bytes that the terminal has taken."""


class OwnedByAdapterData(Record):
    """What an error has to show for it."""
    adapter = Plain[str]("adapter")


class PasteAction(TypedDict):
    """Writes a text as it is, without brackets."""
    type: Literal["paste"]
    value: str
    """What to write."""


class PermissionDeniedData(Record):
    """What an error has to show for it."""
    required_permission = Plain[Literal["session.spawn", "session.kill", "session.resize", "screen.read", "transcript.read", "input.write", "matcher.wait"]]("required_permission")
    plugin = Plain[str]("plugin")
    action = Optionally[Optional[str]]("action", None)
    done = Optionally[Optional[int]]("done", None)
    """Actions that were performed."""
    method = Optionally[Optional[str]]("method", None)
    receipt = Made["Optional[Receipt]"]("receipt", lambda v: maybe(Receipt, v))
    """Of an intent."""
    written = Optionally[Optional[int]]("written", None)
    """Bytes that the terminal has taken."""


class PickLocator(TypedDict):
    """One of several places, by its number."""
    type: Literal["pick"]
    value: PickLocatorValue


class PickLocatorValue(TypedDict):
    n: int
    """From 0, or negative from the end: -1 is the last."""
    what: Locator


class Place(Record):
    text = Plain[str]("text")
    """What stands there, its rows joined by line feeds unless they wrap."""
    spans = Made["List[Cells]"]("spans", lambda v: [Cells(x) for x in v or ()])
    """Its cells, one stretch for each row."""
    line = Plain[int]("line")
    """Of its first row, as in session.scrollback."""
    changed = Plain[int]("changed")
    """The sequence at which one of its rows was written last."""
    style = Optionally[Optional[str]]("style", None)
    """In the words of a locator, such as fg=green bold; absent when it has none, or several."""


class PluginCapabilitiesResult(Record):
    permissions = Plain[List[Literal["session.spawn", "session.kill", "session.resize", "screen.read", "transcript.read", "input.write", "matcher.wait"]]]("permissions")
    embedded_lua = Plain[bool]("embedded_lua")
    wasm = Plain[bool]("wasm")
    builtin_plugins = Made["List[Manifest]"]("builtin_plugins", lambda v: [Manifest(x) for x in v or ()])
    plugin_load = Plain[bool]("plugin_load")
    """Whether plugin.load, plugin.reload and plugin.unload are granted."""


class PluginDescribeResult(Record):
    plugin = Plain[str]("plugin")
    manifest = Made["Manifest"]("manifest", lambda v: Manifest(v))
    sha256 = Plain[str]("sha256")
    """Of the manifest and the files that were loaded."""
    builtin = Plain[bool]("builtin")
    intents = Plain[List[Dict[str, Any]]]("intents")
    wait_matchers = Plain[List[Dict[str, Any]]]("wait_matchers")
    states = Plain[List[Dict[str, Any]]]("states")
    predicates = Plain[List[Dict[str, Any]]]("predicates")
    reload_error = Made["Optional[ReloadError]"]("reload_error", lambda v: maybe(ReloadError, v))
    """Why the plugin's files, which have changed, are not what runs."""
    stale_adapters = Made["List[StaleAdapter]"]("stale_adapters", lambda v: [StaleAdapter(x) for x in v or ()])
    """Adapters that run older code of the plugin."""


class PluginFailedData(Record):
    """What an error has to show for it."""
    plugin = Plain[str]("plugin")
    function = Plain[str]("function")
    kind = Plain[str]("kind")
    complete = Optionally[bool]("complete", False)
    done = Optionally[Optional[int]]("done", None)
    """Actions that were performed."""
    duration_ms = Optionally[Optional[int]]("duration_ms", None)
    elapsed_ms = Optionally[Optional[int]]("elapsed_ms", None)
    ended = Made["List[UnmatchedSession]"]("ended", lambda v: [UnmatchedSession(x) for x in v or ()])
    lacking = Made["List[UnmatchedSession]"]("lacking", lambda v: [UnmatchedSession(x) for x in v or ()])
    """With evidence all: the sessions that waited."""
    line = Optionally[Optional[int]]("line", None)
    """From 1."""
    lost = Made["List[LostHost]"]("lost", lambda v: [LostHost(x) for x in v or ()])
    """What could not be asked, since its host was away: whether it would have matched is not
    known.
    """
    matched = Made["List[MatchedSession]"]("matched", lambda v: [MatchedSession(x) for x in v or ()])
    """This and what follows of session.wait_many, as in its answer."""
    matcher = Made["Optional[Explanation]"]("matcher", lambda v: maybe(_explanation, v))
    """The matcher that was sent, with held, why and nearest at each node."""
    missed = Optionally[bool]("missed", False)
    """Lines that scrolled off the screen were lost before they could be looked at; with latched
    also: the matcher could not be asked about all that was shown.
    """
    module = Optionally[Optional[str]]("module", None)
    output = Optionally[Optional[str]]("output", None)
    """What the command has written so far."""
    quiet_ms = Optionally[Optional[int]]("quiet_ms", None)
    """For how long the screen had not changed."""
    receipt = Made["Optional[Receipt]"]("receipt", lambda v: maybe(Receipt, v))
    """Of an intent."""
    screen_text = Optionally[Optional[str]]("screen_text", None)
    sequence = Optionally[Optional[int]]("sequence", None)
    snapshot = Made["Optional[Snapshot]"]("snapshot", lambda v: maybe(Snapshot, v))
    state = Made["Optional[State]"]("state", lambda v: maybe(State, v))
    """Of an adapter."""
    transcript_tail = Optionally[Optional[str]]("transcript_tail", None)
    truncated = Optionally[bool]("truncated", False)
    """The beginning of output is left out."""
    waiting = Optionally[Optional[int]]("waiting", None)
    written = Optionally[Optional[int]]("written", None)
    """Bytes that the terminal has taken."""


class PluginLoadResult(Record):
    plugin = Plain[str]("plugin")
    sha256 = Plain[str]("sha256")


class PluginReloadResult(Record):
    plugin = Plain[str]("plugin")
    sha256 = Plain[str]("sha256")
    changed = Plain[bool]("changed")
    """The files are others than those that ran."""
    adapters = Made["List[ReloadedAdapter]"]("adapters", lambda v: [ReloadedAdapter(x) for x in v or ()])
    """The plugin's live adapters that ran older code."""


class PluginUnloadResult(Record):
    unloaded = Plain[bool]("unloaded")


class PluginValidateManifestResult(Record):
    valid = Plain[bool]("valid")


class Pressed(Record):
    row = Plain[int]("row")
    """From 0."""
    col = Plain[int]("col")
    """From 0."""
    sequence = Plain[int]("sequence")
    """Of the screen on which the target was found and pressed."""
    still_there = Plain[bool]("still_there")
    """The locator means the same cells after it; without a locator: the cell shows the same."""
    reacted = Plain[bool]("reacted")
    """The program has written something since, within 200 ms."""
    moved = Optionally[bool]("moved", False)
    """A warning: when the terminal had taken it the target was gone from there, so it may have
    hit something else.
    """


class ProcessExitedExplanation(Record):
    """The program has ended and its last byte has been read."""
    type: Literal["process_exited"] = "process_exited"
    held = Plain[bool]("held")
    """The matcher would have matched."""
    why = Plain[str]("why")
    """One line for people."""
    nearest = Optionally[Optional[str]]("nearest", None)
    """The line that came closest."""


class ProcessExitedMatcher(TypedDict):
    """The program has ended and its last byte has been read."""
    type: Literal["process_exited"]


class ProcessExitedOutcome(Record):
    kind: Literal["process_exited"] = "process_exited"


class Receipt(Record):
    written = Plain[int]("written")
    echoed = Plain[Optional[bool]]("echoed")
    submitted = Plain[Optional[bool]]("submitted")
    read = Plain[Optional[bool]]("read")
    evidence = Plain[str]("evidence")
    retries = Plain[int]("retries")
    sequence = Plain[int]("sequence")


class RecordingInfo(Record):
    recording = Plain[str]("recording")
    session = Plain[str]("session")
    path = Plain[str]("path")
    format = Plain[str]("format")
    bytes = Plain[int]("bytes")
    duration_ms = Plain[int]("duration_ms")
    state = Plain[str]("state")
    """Recording, done, limit (it has reached its size) or failed."""
    error = Optionally[Optional[str]]("error", None)


class RectLocator(TypedDict):
    """A rectangle."""
    type: Literal["rect"]
    value: RectLocatorValue


class _RectLocatorValue(TypedDict):
    col: int
    """From 0, or negative from the end."""
    row: int
    """From 0, or negative from the end."""


class RectLocatorValue(_RectLocatorValue, total=False):
    cols: int
    """0: to the end."""
    rows: int
    """0: to the end."""


class Redaction(TypedDict, total=False):
    enabled: bool
    """Taken and ignored: only redact says whether anything is hidden."""
    extra_literals: Sequence[str]
    """Texts to hide."""
    extra_regexes: Sequence[str]
    """RE2 expressions of what to hide."""
    replacement: str
    """What stands in place of a secret; default [REDACTED]."""


class RegexLocator(TypedDict):
    """What an RE2 expression matches in a line, or its first group."""
    type: Literal["regex"]
    value: str
    """The expression."""


class ReloadError(Record):
    at = Plain[str]("at")
    message = Plain[str]("message")


class ReloadedAdapter(Record):
    adapter = Plain[str]("adapter")
    switched = Plain[bool]("switched")
    """It runs the new code, and has forgotten what the old knew."""
    why = Optionally[Optional[str]]("why", None)
    """Why it runs the old code."""


class ResizeAction(TypedDict):
    """Changes the terminal's size."""
    type: Literal["resize"]
    value: ResizeActionValue


class _ResizeActionValue(TypedDict):
    cols: int
    """Columns of the terminal."""
    rows: int
    """Rows of the terminal."""


class ResizeActionValue(_ResizeActionValue, total=False):
    pixel_height: int
    """Height in pixels; 0: not known."""
    pixel_width: int
    """Width in pixels; 0: not known."""


class ScreenExplanation(Record):
    """The screen equals a golden screen."""
    type: Literal["screen"] = "screen"
    held = Plain[bool]("held")
    """The matcher would have matched."""
    why = Plain[str]("why")
    """One line for people."""
    diff = Optionally[Optional[str]]("diff", None)
    """What differs in the screen that came closest."""
    nearest = Optionally[Optional[str]]("nearest", None)
    """The line that came closest."""


class ScreenMatcher(TypedDict):
    """The screen equals a golden screen."""
    type: Literal["screen"]
    value: ScreenMatcherValue


class _ScreenMatcherValue(TypedDict):
    screen: str
    """The text of a golden screen, at most 1048576 bytes."""


class ScreenMatcherValue(_ScreenMatcherValue, total=False):
    masks: Sequence[str]
    """Masks that count beside those of the screen, or in place of one of their name."""
    quiet_ms: int
    """End the wait as timed out when the screen differs and has not changed for so long, since
    the wait began and since the program has written something after since; 0: no.
    """
    region: str
    """Compare this rectangle alone: ROW,COLUMN ROWSxCOLUMNS, from 0."""


class ScreenOutcome(Record):
    kind: Literal["screen"] = "screen"


class ScreenRegexExplanation(Record):
    """An expression is found on the screen, or in lines that scrolled off it."""
    type: Literal["screen_regex"] = "screen_regex"
    value = Plain[str]("value")
    """RE2 expression to find, at most 4096 bytes."""
    held = Plain[bool]("held")
    """The matcher would have matched."""
    why = Plain[str]("why")
    """One line for people."""
    nearest = Optionally[Optional[str]]("nearest", None)
    """The line that came closest."""
    scope = Optionally[Optional[Literal["seen", "screen"]]]("scope", None)
    """Seen (default) also reads lines that scroll off the screen."""


class _ScreenRegexMatcher(TypedDict):
    type: Literal["screen_regex"]
    value: str
    """RE2 expression to find, at most 4096 bytes."""


class ScreenRegexMatcher(_ScreenRegexMatcher, total=False):
    """An expression is found on the screen, or in lines that scrolled off it."""
    scope: Literal["seen", "screen"]
    """Seen (default) also reads lines that scroll off the screen."""


class ScreenRegexOutcome(Record):
    kind: Literal["screen_regex"] = "screen_regex"
    pattern = Plain[str]("pattern")
    capture = Plain[str]("capture")
    """Group 1, else the whole match."""
    groups = Made[List[Optional[str]]]("groups", lambda v: list(v or ()))
    """Each group in order, null for one that took no part."""
    named = Made[Dict[str, str]]("named", lambda v: dict(v or {}))
    """The named groups that took part."""
    scrolled = Made["Optional[Scrolled]"]("scrolled", lambda v: maybe(Scrolled, v))
    """The line, when it had left the screen."""


class ScreenStableExplanation(Record):
    """The screen has not changed for so long."""
    type: Literal["screen_stable"] = "screen_stable"
    value = Made["ScreenStableExplanationValue"]("value", lambda v: ScreenStableExplanationValue(v))
    held = Plain[bool]("held")
    """The matcher would have matched."""
    why = Plain[str]("why")
    """One line for people."""
    nearest = Optionally[Optional[str]]("nearest", None)
    """The line that came closest."""


class ScreenStableExplanationValue(Record):
    min_ms = Plain[int]("min_ms")
    """Milliseconds without a change."""


class ScreenStableMatcher(TypedDict):
    """The screen has not changed for so long."""
    type: Literal["screen_stable"]
    value: ScreenStableMatcherValue


class ScreenStableMatcherValue(TypedDict):
    min_ms: int
    """Milliseconds without a change."""


class ScreenStableOutcome(Record):
    kind: Literal["screen_stable"] = "screen_stable"
    min_ms = Plain[int]("min_ms")


class ScrollAction(TypedDict):
    """Turns the wheel on a target."""
    type: Literal["scroll"]
    value: ScrollActionValue


_ScrollActionValue = TypedDict("_ScrollActionValue", {
    "in": "ClickTarget",
})


class ScrollActionValue(_ScrollActionValue, total=False):
    by: int
    """Notches of the wheel."""
    mods: Sequence[Literal["alt", "ctrl", "shift"]]
    towards: Literal["down", "left", "right", "up"]
    """Down (default), up, left or right."""


class Scrolled(Record):
    line = Plain[int]("line")
    """Counted from the session's first line."""
    text = Plain[str]("text")
    """The whole line."""


class Selection(TypedDict, total=False):
    adapter: str
    """Id of the adapter that drives it."""
    host: str
    """The machine it is on, as hosts.toml names it; default all of them, and this one."""
    name: str
    """Its name."""
    plugin: str
    """Name of the plugin that drives it."""
    program: str
    """Its program as it was created with, or the last part of that path."""
    tag: str
    """One of its tags."""


class ServerAudit(Record):
    """The file of the server's audit takes no lines, or takes them again."""
    method: Literal["server.audit"] = "server.audit"
    lost = Plain[int]("lost")
    """Requests that its file has not taken since the server began."""
    problem = Optionally[Optional[str]]("problem", None)
    """Why its file takes none now; left out: it does."""
    since = Optionally[Optional[str]]("since", None)
    """When that began."""


class ServerCapabilitiesResult(Record):
    name = Plain[str]("name")
    version = Plain[str]("version")
    protocol = Plain[int]("protocol")
    """Version of the wire; a client that knows only another says so and ends."""
    pid = Plain[int]("pid")
    """Of the server's process, as it knows it itself."""
    epoch = Plain[str]("epoch")
    """Another one with each start of a server: ids and sequences of another epoch mean nothing
    here.
    """
    framing = Plain[List[str]]("framing")
    methods = Plain[List[str]]("methods")
    notifications = Plain[List[str]]("notifications")
    actions = Plain[List[str]]("actions")
    matchers = Plain[List[str]]("matchers")
    ordering = Plain[List[str]]("ordering")
    rights = Plain[str]("rights")
    """What this connection may do: read, type or admin."""
    limits = Plain[Dict[str, int]]("limits")
    audit = Made["Optional[ServerAudit]"]("audit", lambda v: maybe(ServerAudit, v))
    """Left out: the server writes none."""
    reasons = Made[List[str]]("reasons", lambda v: list(v or ()))
    schema = Made[Dict[str, Any]]("schema", lambda v: dict(v or {}))
    """The model of the wire, as ptywright schema prints it."""


class ServerDidNotGrantPluginLoadData(Record):
    """What an error has to show for it."""
    method = Plain[str]("method")


class ServerHostsResult(Record):
    hosts = Made["List[ServerHostsResultHosts]"]("hosts", lambda v: [ServerHostsResultHosts(x) for x in v or ()])


class ServerHostsResultHosts(Record):
    host = Plain[str]("host")
    state = Plain[str]("state")
    """None (nobody has needed it), up, silent or down."""
    error = Optionally[Optional[str]]("error", None)
    """Why, for people."""
    round_trip_ms = Optionally[Optional[float]]("round_trip_ms", None)
    """With check: how long a question and its answer take."""
    sessions = Optionally[Optional[int]]("sessions", None)
    """With check: how many it has."""
    since = Optionally[Optional[str]]("since", None)
    """Since when it is away."""
    version = Optionally[Optional[str]]("version", None)
    """Of the program there, when it answered last."""


class ServerLostData(Record):
    """What an error has to show for it."""
    host = Plain[str]("host")


class ServerMetricsResult(Record):
    text = Plain[str]("text")
    """Counts in the text format of Prometheus, version 0.0.4; nothing that a program wrote."""


class ServerSetClientResult(Record):
    name = Plain[str]("name")
    """As it is kept."""
    host = Optionally[Optional[str]]("host", None)
    """Likewise."""


class ServerSetHostsResult(Record):
    hosts = Plain[bool]("hosts")


class ServerSetNotificationsResult(Record):
    enabled = Plain[bool]("enabled")
    adapters = Made[List[str]]("adapters", lambda v: list(v or ()))
    events = Optionally[bool]("events", False)
    sessions = Made[List[str]]("sessions", lambda v: list(v or ()))


class ServerSetOrderingResult(Record):
    ordering = Plain[str]("ordering")
    """Session (default) or concurrent."""


class ServerSetRightsResult(Record):
    rights = Plain[str]("rights")


class ServerSetStrictResult(Record):
    strict = Plain[bool]("strict")


class SessionInfo(Record):
    session = Plain[str]("session")
    program = Plain[str]("program")
    args = Plain[List[str]]("args")
    cwd = Plain[str]("cwd")
    pid = Plain[int]("pid")
    started = Plain[str]("started")
    rows = Plain[int]("rows")
    cols = Plain[int]("cols")
    title = Plain[Optional[str]]("title")
    sequence = Plain[int]("sequence")
    quiet_ms = Plain[int]("quiet_ms")
    alternate_screen = Plain[bool]("alternate_screen")
    theme = Plain[str]("theme")
    exit = Made["Optional[Exit]"]("exit", lambda v: maybe(Exit, v))
    lease = Made["Optional[Lease]"]("lease", lambda v: maybe(Lease, v))
    adapter = Optionally[Optional[str]]("adapter", None)
    """That drives it."""
    bell = Optionally[Optional[str]]("bell", None)
    """When it rang last."""
    command = Made["Optional[SessionEvent]"]("command", lambda v: maybe(SessionEvent, v))
    """The command that runs, or ran last, in a shell that marks them."""
    ended = Optionally[Optional[str]]("ended", None)
    """When the program did."""
    idle_ms = Optionally[Optional[int]]("idle_ms", None)
    """Likewise."""
    max_memory = Optionally[Optional[int]]("max_memory", None)
    """Likewise."""
    max_ms = Optionally[Optional[int]]("max_ms", None)
    """As it was created with."""
    name = Optionally[Optional[str]]("name", None)
    """As it was created with."""
    owner = Optionally[Optional[str]]("owner", None)
    """Connection: it is ended with the connection that created it."""
    tags = Made[List[str]]("tags", lambda v: list(v or ()))
    """Likewise."""
    transcript_error = Optionally[Optional[str]]("transcript_error", None)
    typed = Optionally[Optional[str]]("typed", None)
    """When somebody typed last."""
    waits = Made["List[SessionEvent]"]("waits", lambda v: [SessionEvent(x) for x in v or ()])
    """Who waits for what: the oldest of the waits that are pending, at most 8."""


class SessionBlocksResult(Record):
    blocks = Made["List[Block]"]("blocks", lambda v: [Block(x) for x in v or ()])
    integration = Plain[str]("integration")
    """Osc133, osc633, or none: then the program marks no commands, and none are guessed."""
    truncated = Plain[bool]("truncated")
    """There are more than max."""


class SessionChanged(Record):
    """The screen has changed."""
    method: Literal["session.changed"] = "session.changed"
    session = Plain[str]("session")
    sequence = Plain[int]("sequence")
    secret_input = Optionally[bool]("secret_input", False)


class SessionCreateResult(Record):
    session = Plain[str]("session")


class SessionEvent(Record):
    event = Plain[int]("event")
    """Its number, from 1; the same while it goes on."""
    seq = Plain[int]("seq")
    """For since; an event that has ended or grown comes again with a higher one."""
    kind = Plain[str]("kind")
    """Input, wait, command, lease, resize, redacted, adapter, bell, title or exit."""
    at = Plain[str]("at")
    """When it began."""
    sequence = Plain[int]("sequence")
    """Of the session by then, for at of session.snapshot."""
    by = Optionally[Optional[str]]("by", None)
    """Who typed, waits, resized or has the lease."""
    bytes = Optionally[Optional[int]]("bytes", None)
    """How much was typed."""
    cols = Optionally[Optional[int]]("cols", None)
    """Of a resize."""
    count = Optionally[Optional[int]]("count", None)
    """How often the bell rang, or how many secrets were hidden."""
    evidence = Optionally[Optional[str]]("evidence", None)
    """Of a wait that has ended: what matched, or what was lacking."""
    exit_code = Optionally[Optional[int]]("exit_code", None)
    """Of a command, or of the program."""
    keys = Made[List[str]]("keys", lambda v: list(v or ()))
    """The keys that were pressed and type no text, at most the first 16."""
    limit = Optionally[Optional[str]]("limit", None)
    """That the session went over: see session.exited."""
    number = Optionally[Optional[int]]("number", None)
    """Of the command in session.blocks."""
    previous = Optionally[Optional[str]]("previous", None)
    """The adapter's state before."""
    rows = Optionally[Optional[int]]("rows", None)
    """Of a resize."""
    secret = Optionally[bool]("secret", False)
    """What was typed may be a secret: nothing more is told of it."""
    signal = Optionally[Optional[str]]("signal", None)
    """That ended the program."""
    state = Optionally[Optional[str]]("state", None)
    """How far it is, if it has a beginning and an end: pending, running and held go on."""
    text = Optionally[Optional[str]]("text", None)
    """What a wait waits for, in words; a command line; a title; the state of an adapter."""
    timeout_ms = Optionally[Optional[int]]("timeout_ms", None)
    """How long a wait may last; left out: no limit."""
    until = Optionally[Optional[str]]("until", None)
    """When it ended, or grew last; left out while it goes on."""
    until_sequence = Optionally[Optional[int]]("until_sequence", None)
    """Of the session by then."""
    what = Optionally[Optional[str]]("what", None)
    """Kind of input: text, paste, key, mouse or signal; of an adapter its plugin."""


class SessionEventNotification(Record):
    """Something has happened to the session, or an event has ended or grown."""
    method: Literal["session.event"] = "session.event"
    session = Plain[str]("session")
    event = Made["SessionEvent"]("event", lambda v: SessionEvent(v))
    dropped = Optionally[bool]("dropped", False)
    """Some before it are not kept: the client was too slow."""


class SessionEventsResult(Record):
    events = Made["List[SessionEvent]"]("events", lambda v: [SessionEvent(x) for x in v or ()])
    """By seq: one that has ended or grown stands where that was noted."""
    next = Plain[int]("next")
    """For the next since."""
    dropped = Optionally[bool]("dropped", False)
    """Some after since are not kept."""


class SessionExited(Record):
    """The program has ended, and its last byte was told."""
    method: Literal["session.exited"] = "session.exited"
    session = Plain[str]("session")
    sequence = Plain[int]("sequence")
    exit_code = Plain[Optional[int]]("exit_code")
    """Null when a signal ended it."""
    signal = Plain[Optional[str]]("signal")
    """Such as SIGKILL; null when it exited."""
    killed = Optionally[bool]("killed", False)
    """Somebody ended it, with session.kill or session.close."""
    limit = Optionally[Optional[str]]("limit", None)
    """That the session went over, which ended it: max_ms, idle_ms, max_memory or owner."""


class SessionForgetResult(Record):
    forgotten = Plain[List[str]]("forgotten")
    """The ids of the sessions."""
    away = Made["List[SessionForgetResultAway]"]("away", lambda v: [SessionForgetResultAway(x) for x in v or ()])
    """Hosts that the list is without."""


class SessionForgetResultAway(Record):
    host = Plain[str]("host")
    state = Plain[str]("state")
    """Down or silent."""
    since = Plain[str]("since")
    error = Plain[str]("error")
    """For people."""


class SessionForgottenData(Record):
    """What an error has to show for it."""
    exit = Made["Optional[Exit]"]("exit", lambda v: maybe(Exit, v))
    forgotten = Plain[str]("forgotten")


class SessionGoldenResult(Record):
    screen = Plain[str]("screen")
    """The text of the file."""
    sequence = Plain[int]("sequence")
    """Of the screen."""
    kept_from = Optionally[Optional[int]]("kept_from", None)
    """With at: the oldest sequence that can be shown."""
    kept_from_at = Optionally[Optional[str]]("kept_from_at", None)
    """With at: when the session came to that."""
    same = Optionally[bool]("same", False)
    """Previous says the same, maybe in other words."""
    shown_at = Optionally[Optional[str]]("shown_at", None)
    """With at: when the session came to its sequence."""


class SessionHistoryResult(Record):
    spans = Made["List[Span]"]("spans", lambda v: [Span(x) for x in v or ()])
    kept_from = Plain[int]("kept_from")
    """The oldest sequence that can be shown."""
    complete = Plain[bool]("complete")
    """Everything that was asked about was looked at: nothing of it was gone, and there is no
    next.
    """
    next = Optionally[Optional[str]]("next", None)
    """There is more to look at: ask again with it."""


class SessionInputResult(Record):
    sent = Plain[bool]("sent")
    sequence = Plain[int]("sequence")
    again = Optionally[bool]("again", False)
    """The input of this id was typed before, and not now: sequence is that one's."""
    read = Optionally[Optional[bool]]("read", None)
    """With until read: whether the program has read all of it; null: that cannot be known."""
    read_sequence = Optionally[Optional[int]]("read_sequence", None)
    """With until read: for a wait since it, which misses no effect of all of it, and does not
    match an echo that was seen to come before it was read.
    """
    receipts = Made["List[Pressed]"]("receipts", lambda v: [Pressed(x) for x in v or ()])
    """Of clicks, drags and scrolls, in their order: one each, of a drag one for each end."""
    stripped = Optionally[Optional[int]]("stripped", None)


class SessionKillResult(Record):
    killed = Plain[bool]("killed")
    pids = Made[List[int]]("pids", lambda v: list(v or ()))
    """What could not be ended."""
    state = Optionally[Optional[str]]("state", None)
    """Unkillable: the kernel has not ended it in time."""


class SessionLeaseResult(Record):
    holder = Plain[str]("holder")
    since = Plain[str]("since")


class SessionLeasedData(Record):
    """What an error has to show for it."""
    holder = Plain[str]("holder")
    since = Plain[str]("since")
    done = Optionally[Optional[int]]("done", None)
    """Actions that were performed."""
    receipt = Made["Optional[Receipt]"]("receipt", lambda v: maybe(Receipt, v))
    """Of an intent."""
    written = Optionally[Optional[int]]("written", None)
    """Bytes that the terminal has taken."""


class SessionLeased(Record):
    """A client has taken the right to type, or given it back."""
    method: Literal["session.leased"] = "session.leased"
    session = Plain[str]("session")
    lease = Made["Optional[Lease]"]("lease", lambda v: maybe(Lease, v))
    """Null: it was given back."""


class SessionListResult(Record):
    sessions = Plain[List[str]]("sessions")
    away = Made["List[SessionListResultAway]"]("away", lambda v: [SessionListResultAway(x) for x in v or ()])
    """Hosts that the list is without."""
    details = Made["List[SessionInfo]"]("details", lambda v: [SessionInfo(x) for x in v or ()])


class SessionListResultAway(Record):
    host = Plain[str]("host")
    state = Plain[str]("state")
    """Down or silent."""
    since = Plain[str]("since")
    error = Plain[str]("error")
    """For people."""


class SessionLocateResult(Record):
    matches = Made["List[Place]"]("matches", lambda v: [Place(x) for x in v or ()])
    """The places in reading order, frames from the innermost; at most 1000."""
    total = Plain[int]("total")
    """How many there are."""
    sequence = Plain[int]("sequence")
    """Of the screen on which they are."""
    kept_from = Optionally[Optional[int]]("kept_from", None)
    """With at: the oldest sequence that can be shown."""
    kept_from_at = Optionally[Optional[str]]("kept_from_at", None)
    """With at: when the session came to that."""
    shown_at = Optionally[Optional[str]]("shown_at", None)
    """With at: when the session came to its sequence."""
    why = Optionally[Optional[str]]("why", None)
    """What plugins have guessed, with their confidence."""


class SessionOutput(Record):
    """The program has written something."""
    method: Literal["session.output"] = "session.output"
    session = Plain[str]("session")
    sequence = Plain[int]("sequence")
    output = Plain[str]("output")
    dropped = Optionally[bool]("dropped", False)


class SessionRecordListResult(Record):
    recordings = Made["List[RecordingInfo]"]("recordings", lambda v: [RecordingInfo(x) for x in v or ()])
    away = Made["List[SessionRecordListResultAway]"]("away", lambda v: [SessionRecordListResultAway(x) for x in v or ()])
    """Hosts that the list is without."""


class SessionRecordListResultAway(Record):
    host = Plain[str]("host")
    state = Plain[str]("state")
    """Down or silent."""
    since = Plain[str]("since")
    error = Plain[str]("error")
    """For people."""


class SessionRecordStartResult(Record):
    recording = Plain[str]("recording")
    path = Plain[str]("path")
    format = Plain[str]("format")


class SessionReleaseResult(Record):
    released = Plain[bool]("released")
    """False: this connection had it not, or no more."""


class SessionResizeResult(Record):
    resized = Plain[bool]("resized")


class Ran(Record):
    sequence = Plain[int]("sequence")
    """The session's right before the command was typed, for since."""
    output = Plain[str]("output")
    """Exactly what the command wrote, without escape sequences."""
    truncated = Plain[bool]("truncated")
    """The beginning of output is left out: it is the last 256 KiB."""
    duration_ms = Plain[int]("duration_ms")
    exit_code = Plain[Optional[int]]("exit_code")
    """Null when the shell did not tell, as of a command that was interrupted."""
    by = Plain[str]("by")
    """How its end was told: marks, or sentinel."""
    exit = Made["Optional[Exit]"]("exit", lambda v: maybe(Exit, v))
    """The command has ended the shell itself: how."""
    number = Optionally[Optional[int]]("number", None)
    """Of its block in session.blocks, where the shell has marks."""
    screen_text = Optionally[Optional[str]]("screen_text", None)
    """Text as a screen shows it: lines as they were left, tabs as blanks."""


class SessionScreenshotResult(Record):
    format = Plain[str]("format")
    bytes = Plain[int]("bytes")
    rows = Plain[int]("rows")
    cols = Plain[int]("cols")
    data = Optionally[Optional[str]]("data", None)
    """Base64 for png, else text."""
    kept_from = Optionally[Optional[int]]("kept_from", None)
    """With at: the oldest sequence that can be shown."""
    kept_from_at = Optionally[Optional[str]]("kept_from_at", None)
    """With at: when the session came to that."""
    missing = Made[List[str]]("missing", lambda v: list(v or ()))
    """Png: characters that no font of the server has; they are drawn as their numbers."""
    path = Optionally[Optional[str]]("path", None)
    sequence = Optionally[Optional[int]]("sequence", None)
    """With at: of the screen that was drawn."""
    shown_at = Optionally[Optional[str]]("shown_at", None)
    """With at: when the session came to its sequence."""


class SessionScrollbackResult(Record):
    lines = Plain[List[str]]("lines")
    """With form runs none."""
    start = Plain[int]("start")
    count = Plain[int]("count")
    """Of the lines told: with form runs fewer than asked for when they are long."""
    total = Plain[int]("total")
    dropped = Plain[int]("dropped")
    rows = Made["List[StyledLine]"]("rows", lambda v: [StyledLine(x) for x in v or ()])
    """With form runs."""


class SessionSearchResult(Record):
    matches = Made["List[Found]"]("matches", lambda v: [Found(x) for x in v or ()])
    total = Plain[int]("total")
    truncated = Plain[bool]("truncated")
    dropped = Plain[int]("dropped")
    """How many older lines are gone, as in session.scrollback."""
    kept_from = Optionally[Optional[int]]("kept_from", None)
    """With at: the oldest sequence that can be shown."""
    kept_from_at = Optionally[Optional[str]]("kept_from_at", None)
    """With at: when the session came to that."""
    sequence = Optionally[Optional[int]]("sequence", None)
    """With at: of the screen and the scrollback that were searched."""
    shown_at = Optionally[Optional[str]]("shown_at", None)
    """With at: when the session came to its sequence."""


class SignalAction(TypedDict):
    """Signals the foreground process group."""
    type: Literal["signal"]
    value: Literal["term", "hup", "quit", "int", "kill", "user1", "user2"]
    """The signal's name."""


class Size(Record):
    rows = Plain[int]("rows")
    cols = Plain[int]("cols")
    pixel_width = Plain[int]("pixel_width")
    pixel_height = Plain[int]("pixel_height")


class Snapshot(Record):
    size = Made["Size"]("size", lambda v: Size(v))
    cursor = Made["Cursor"]("cursor", lambda v: Cursor(v))
    sequence = Plain[int]("sequence")
    plain_text = Plain[str]("plain_text")
    """Rows cut at their last non-blank, soft-wrapped rows joined, blank rows at the end dropped."""
    lines = Plain[List[str]]("lines")
    """One string a row."""
    cells = Made["List[Cell]"]("cells", lambda v: [Cell(x) for x in v or ()])
    """Every cell by rows; with runs: stretches of one style; else empty."""
    alternate_screen = Plain[bool]("alternate_screen")
    application_cursor = Plain[bool]("application_cursor")
    application_keypad = Plain[bool]("application_keypad")
    bracketed_paste = Plain[bool]("bracketed_paste")
    """The program takes a paste in brackets."""
    mouse = Plain[str]("mouse")
    """What the program asks for: none, x10, vt200, drag or any."""
    title = Plain[Optional[str]]("title")
    secret_input = Plain[bool]("secret_input")
    """The program reads a secret: the terminal does not echo what is typed."""
    exit = Made["Optional[Exit]"]("exit", lambda v: maybe(Exit, v))
    kept_from = Optionally[Optional[int]]("kept_from", None)
    """With at: the oldest sequence that can be shown."""
    kept_from_at = Optionally[Optional[str]]("kept_from_at", None)
    """With at: when the session came to that."""
    shown_at = Optionally[Optional[str]]("shown_at", None)
    """With at: when the session came to its sequence."""


class Span(Record):
    from_ = Plain[int]("from")
    """The first sequence in which the matcher held."""
    to = Plain[Optional[int]]("to")
    """The first sequence after it in which it no longer did, from itself when it held within one
    batch of output only; null: it held in the last moment that was looked at.
    """
    from_at = Plain[str]("from_at")
    to_at = Plain[str]("to_at")
    ms = Plain[int]("ms")
    """How long it held, in milliseconds."""
    outcome = Made["Outcome"]("outcome", lambda v: _outcome(v))
    """What matched first."""
    snapshot = Made["Snapshot"]("snapshot", lambda v: Snapshot(v))
    """The screen on which it did, without cells."""


class Stage(Record):
    locator = Plain[str]("locator")
    """The part in words."""
    count = Plain[int]("count")
    nearest = Optionally[Optional[str]]("nearest", None)
    """Of a text that was not found: the line that comes closest."""


class StaleAdapter(Record):
    adapter = Plain[str]("adapter")
    why = Plain[str]("why")


class State(Record):
    state = Plain[str]("state")
    confidence = Plain[float]("confidence")
    evidence = Plain[str]("evidence")
    sequence = Plain[int]("sequence")
    candidates = Made["List[Candidate]"]("candidates", lambda v: [Candidate(x) for x in v or ()])
    exit = Made["Optional[Exit]"]("exit", lambda v: maybe(Exit, v))
    """How the program ended, once it has."""
    host_marks = Made["List[HostMark]"]("host_marks", lambda v: [HostMark(x) for x in v or ()])
    last_intent = Optionally[Optional[str]]("last_intent", None)
    metadata = Made[Dict[str, Any]]("metadata", lambda v: dict(v or {}))
    source = Optionally[Optional[str]]("source", None)
    """What told it."""


class StateExplanation(Record):
    """The session's adapter says that its program is in one of these states."""
    type: Literal["state"] = "state"
    value = Plain[List[str]]("value")
    held = Plain[bool]("held")
    """The matcher would have matched."""
    why = Plain[str]("why")
    """One line for people."""
    nearest = Optionally[Optional[str]]("nearest", None)
    """The line that came closest."""


class StateMatcher(TypedDict):
    """The session's adapter says that its program is in one of these states."""
    type: Literal["state"]
    value: Sequence[str]


class StateOutcome(Record):
    kind: Literal["state"] = "state"
    state = Plain[str]("state")
    """The one of those that were named."""
    plugin = Plain[str]("plugin")
    evidence = Optionally[Optional[str]]("evidence", None)
    """What the plugin says for people."""


class StreamTextAction(TypedDict):
    """Types a text in chunks, with a pause after each."""
    type: Literal["stream_text"]
    value: StreamTextActionValue


class _StreamTextActionValue(TypedDict):
    text: str
    """What to type."""


class StreamTextActionValue(_StreamTextActionValue, total=False):
    chunk_chars: int
    """Characters of a chunk; more than 1024 are taken for 1024."""
    delay_ms: int
    """Pause after each chunk; more than 100 are taken for 100."""


class Stretch(Record):
    col = Plain[int]("col")
    cols = Plain[int]("cols")
    """Of all its characters, which are equally wide."""
    text = Plain[str]("text")
    style = Made["Style"]("style", lambda v: Style(v))
    cluster = Optionally[bool]("cluster", False)
    """The text is one character of several code points."""


class Style(Record):
    foreground = Plain[str]("foreground")
    """Default, idx:N or rgb:R:G:B."""
    background = Plain[str]("background")
    """Default, idx:N or rgb:R:G:B."""
    bold = Plain[bool]("bold")
    dim = Plain[bool]("dim")
    italic = Plain[bool]("italic")
    underline = Plain[bool]("underline")
    inverse = Plain[bool]("inverse")
    blink = Optionally[bool]("blink", False)
    hidden = Optionally[bool]("hidden", False)
    link = Optionally[Optional[str]]("link", None)
    overline = Optionally[bool]("overline", False)
    strike = Optionally[bool]("strike", False)
    underline_color = Optionally[Optional[str]]("underline_color", None)
    underline_style = Optionally[Optional[str]]("underline_style", None)


class StyleLocator(TypedDict):
    """The longest stretches of cells that have all of these colours and attributes."""
    type: Literal["style"]
    value: str
    """As in fg=green bold, bg=208, fg=#ff8800 underline, fg=default, inverse."""


class StyledLine(Record):
    runs = Made["List[Stretch]"]("runs", lambda v: [Stretch(x) for x in v or ()])
    wrapped = Optionally[bool]("wrapped", False)
    """The line continues in the next row."""


class Target(Record):
    program = Plain[str]("program")
    args = Made[List[str]]("args", lambda v: list(v or ()))
    cols = Optionally[Optional[int]]("cols", None)
    env = Made[Dict[str, str]]("env", lambda v: dict(v or {}))
    required_env = Made[Dict[str, str]]("required_env", lambda v: dict(v or {}))
    rows = Optionally[Optional[int]]("rows", None)


class TextAction(TypedDict):
    """Types a text as it is."""
    type: Literal["text"]
    value: str
    """What to type."""


class _TextLocator(TypedDict):
    type: Literal["text"]
    value: str
    """What to find; rows that wrapped are one line."""


class TextLocator(_TextLocator, total=False):
    """A text, each time that it stands there."""
    exact: bool
    """It is all that its line has, but for blanks."""
    flow: bool
    """Blanks and line ends are one space, as in a paragraph."""
    nocase: bool
    """Capital and small letters are the same."""


class ThemeAction(TypedDict):
    """Changes the colours that the program sees when it asks for them."""
    type: Literal["theme"]
    value: Literal["dark", "light"]
    """The theme's name."""


class TitleContainsExplanation(Record):
    """The window title contains a text."""
    type: Literal["title_contains"] = "title_contains"
    value = Plain[str]("value")
    """Text to find, at most 65536 bytes."""
    held = Plain[bool]("held")
    """The matcher would have matched."""
    why = Plain[str]("why")
    """One line for people."""
    nearest = Optionally[Optional[str]]("nearest", None)
    """The line that came closest."""


class TitleContainsMatcher(TypedDict):
    """The window title contains a text."""
    type: Literal["title_contains"]
    value: str
    """Text to find, at most 65536 bytes."""


class TitleContainsOutcome(Record):
    kind: Literal["title_contains"] = "title_contains"
    text = Plain[str]("text")
    """The text that was looked for."""
    scrolled = Made["Optional[Scrolled]"]("scrolled", lambda v: maybe(Scrolled, v))
    """The line, when it had left the screen."""


class TitleRegexExplanation(Record):
    """An expression is found in the window title."""
    type: Literal["title_regex"] = "title_regex"
    value = Plain[str]("value")
    """RE2 expression to find, at most 4096 bytes."""
    held = Plain[bool]("held")
    """The matcher would have matched."""
    why = Plain[str]("why")
    """One line for people."""
    nearest = Optionally[Optional[str]]("nearest", None)
    """The line that came closest."""


class TitleRegexMatcher(TypedDict):
    """An expression is found in the window title."""
    type: Literal["title_regex"]
    value: str
    """RE2 expression to find, at most 4096 bytes."""


class TitleRegexOutcome(Record):
    kind: Literal["title_regex"] = "title_regex"
    pattern = Plain[str]("pattern")
    capture = Plain[str]("capture")
    """Group 1, else the whole match."""
    groups = Made[List[Optional[str]]]("groups", lambda v: list(v or ()))
    """Each group in order, null for one that took no part."""
    named = Made[Dict[str, str]]("named", lambda v: dict(v or {}))
    """The named groups that took part."""
    scrolled = Made["Optional[Scrolled]"]("scrolled", lambda v: maybe(Scrolled, v))
    """The line, when it had left the screen."""


class TooManySecretsData(Record):
    """What an error has to show for it."""
    count = Plain[int]("count")
    limit = Plain[int]("limit")


class Transcript(Record):
    text = Plain[str]("text")
    sequence = Plain[int]("sequence")
    """For the next since."""
    dropped = Optionally[bool]("dropped", False)
    """Part of it had left the bound."""


class TranscriptContainsExplanation(Record):
    """The retained output contains a text."""
    type: Literal["transcript_contains"] = "transcript_contains"
    value = Plain[str]("value")
    """Text to find, at most 65536 bytes."""
    held = Plain[bool]("held")
    """The matcher would have matched."""
    why = Plain[str]("why")
    """One line for people."""
    nearest = Optionally[Optional[str]]("nearest", None)
    """The line that came closest."""


class TranscriptContainsMatcher(TypedDict):
    """The retained output contains a text."""
    type: Literal["transcript_contains"]
    value: str
    """Text to find, at most 65536 bytes."""


class TranscriptContainsOutcome(Record):
    kind: Literal["transcript_contains"] = "transcript_contains"
    text = Plain[str]("text")
    """The text that was looked for."""
    scrolled = Made["Optional[Scrolled]"]("scrolled", lambda v: maybe(Scrolled, v))
    """The line, when it had left the screen."""


class TranscriptRegexExplanation(Record):
    """An expression is found in the retained output."""
    type: Literal["transcript_regex"] = "transcript_regex"
    value = Plain[str]("value")
    """RE2 expression to find, at most 4096 bytes."""
    held = Plain[bool]("held")
    """The matcher would have matched."""
    why = Plain[str]("why")
    """One line for people."""
    nearest = Optionally[Optional[str]]("nearest", None)
    """The line that came closest."""


class TranscriptRegexMatcher(TypedDict):
    """An expression is found in the retained output."""
    type: Literal["transcript_regex"]
    value: str
    """RE2 expression to find, at most 4096 bytes."""


class TranscriptRegexOutcome(Record):
    kind: Literal["transcript_regex"] = "transcript_regex"
    pattern = Plain[str]("pattern")
    capture = Plain[str]("capture")
    """Group 1, else the whole match."""
    groups = Made[List[Optional[str]]]("groups", lambda v: list(v or ()))
    """Each group in order, null for one that took no part."""
    named = Made[Dict[str, str]]("named", lambda v: dict(v or {}))
    """The named groups that took part."""
    scrolled = Made["Optional[Scrolled]"]("scrolled", lambda v: maybe(Scrolled, v))
    """The line, when it had left the screen."""


class UnkillableData(Record):
    """What an error has to show for it."""
    pids = Plain[List[int]]("pids")
    """Processes that could not be ended."""


class UnknownIntentData(Record):
    """What an error has to show for it."""
    plugin = Plain[str]("plugin")
    done = Optionally[Optional[int]]("done", None)
    """Actions that were performed."""
    receipt = Made["Optional[Receipt]"]("receipt", lambda v: maybe(Receipt, v))
    """Of an intent."""
    written = Optionally[Optional[int]]("written", None)
    """Bytes that the terminal has taken."""


class UnmatchedSession(Record):
    session = Plain[str]("session")
    exit = Made["Optional[Exit]"]("exit", lambda v: maybe(Exit, v))
    elapsed_ms = Optionally[Optional[int]]("elapsed_ms", None)
    """This and what follows with evidence all, as of a session.wait that timed out."""
    forgotten = Optionally[bool]("forgotten", False)
    """The session was."""
    matcher = Made["Optional[Explanation]"]("matcher", lambda v: maybe(_explanation, v))
    missed = Optionally[bool]("missed", False)
    name = Optionally[Optional[str]]("name", None)
    quiet_ms = Optionally[Optional[int]]("quiet_ms", None)
    sequence = Optionally[Optional[int]]("sequence", None)
    snapshot = Made["Optional[Snapshot]"]("snapshot", lambda v: maybe(Snapshot, v))
    transcript_tail = Optionally[Optional[str]]("transcript_tail", None)


class WaitMatched(Record):
    """A session has matched, of a session.wait_many of this connection with until each."""
    method: Literal["wait.matched"] = "wait.matched"
    session = Plain[str]("session")
    sequence = Plain[int]("sequence")
    next = Plain[str]("next")
    """Just behind what matched, for the since of the next wait."""
    elapsed_ms = Plain[int]("elapsed_ms")
    """Since the whole wait began."""
    outcome = Made["Outcome"]("outcome", lambda v: _outcome(v))
    before = Optionally[Optional[str]]("before", None)
    """As of session.wait."""
    before_truncated = Optionally[bool]("before_truncated", False)
    """Before had more."""
    forgotten = Optionally[bool]("forgotten", False)
    """The session was: of the snapshot only exit means anything."""
    held_at = Optionally[Optional[str]]("held_at", None)
    """Of a latched wait: when the matcher held, of which sequence and snapshot are."""
    missed = Optionally[bool]("missed", False)
    """As of session.wait."""
    name = Optionally[Optional[str]]("name", None)
    snapshot = Made["Optional[Snapshot]"]("snapshot", lambda v: maybe(Snapshot, v))
    """Unless evidence is none, without cells."""
    transcript_tail = Optionally[Optional[str]]("transcript_tail", None)
    """Likewise."""
    wait = Optionally[Optional[str]]("wait", None)
    """As of the request."""


class Witness(Record):
    source = Plain[str]("source")
    says = Plain[str]("says")


ActionValue = Union[
    BracketedPasteAction,
    ClickAction,
    DragAction,
    EofAction,
    InterruptAction,
    KeyAction,
    KillAction,
    MarkTranscriptAction,
    MouseAction,
    PasteAction,
    ResizeAction,
    ScrollAction,
    SignalAction,
    StreamTextAction,
    TextAction,
    ThemeAction,
]
"""What to do, by type."""


Explanation = Union[
    AllExplanation,
    AnyExplanation,
    BellExplanation,
    CommandFinishedExplanation,
    ContainsTextExplanation,
    CursorAtExplanation,
    LocatedExplanation,
    LuaExplanation,
    NotExplanation,
    ProcessExitedExplanation,
    ScreenExplanation,
    ScreenRegexExplanation,
    ScreenStableExplanation,
    StateExplanation,
    TitleContainsExplanation,
    TitleRegexExplanation,
    TranscriptContainsExplanation,
    TranscriptRegexExplanation,
]
"""How near a matcher of that type came."""

_EXPLANATION: Mapping[str, Callable[[Any], Explanation]] = {
    "all": AllExplanation,
    "any": AnyExplanation,
    "bell": BellExplanation,
    "command_finished": CommandFinishedExplanation,
    "contains_text": ContainsTextExplanation,
    "cursor_at": CursorAtExplanation,
    "located": LocatedExplanation,
    "lua": LuaExplanation,
    "not": NotExplanation,
    "process_exited": ProcessExitedExplanation,
    "screen": ScreenExplanation,
    "screen_regex": ScreenRegexExplanation,
    "screen_stable": ScreenStableExplanation,
    "state": StateExplanation,
    "title_contains": TitleContainsExplanation,
    "title_regex": TitleRegexExplanation,
    "transcript_contains": TranscriptContainsExplanation,
    "transcript_regex": TranscriptRegexExplanation,
}


def _explanation(v: Any) -> Explanation:
    return one_of(_EXPLANATION, "type", v)


LocatorTree = Union[
    AllLocator,
    AnyLocator,
    BesideLocator,
    BoxLocator,
    CrossLocator,
    CursorLocator,
    GuessLocator,
    HasLocator,
    InLocator,
    LacksLocator,
    LinesLocator,
    LinkLocator,
    PickLocator,
    RectLocator,
    RegexLocator,
    StyleLocator,
    TextLocator,
]
"""What is meant, by type."""


MatcherValue = Union[
    AllMatcher,
    AnyMatcher,
    BellMatcher,
    CommandFinishedMatcher,
    ContainsTextMatcher,
    CursorAtMatcher,
    LocatedMatcher,
    LuaMatcher,
    NotMatcher,
    ProcessExitedMatcher,
    ScreenMatcher,
    ScreenRegexMatcher,
    ScreenStableMatcher,
    StateMatcher,
    TitleContainsMatcher,
    TitleRegexMatcher,
    TranscriptContainsMatcher,
    TranscriptRegexMatcher,
]
"""What to wait for, by type."""


Outcome = Union[
    AllOutcome,
    AnyOutcome,
    BellOutcome,
    CommandFinishedOutcome,
    ContainsTextOutcome,
    CursorAtOutcome,
    LocatedOutcome,
    LuaOutcome,
    NotOutcome,
    ProcessExitedOutcome,
    ScreenOutcome,
    ScreenRegexOutcome,
    ScreenStableOutcome,
    StateOutcome,
    TitleContainsOutcome,
    TitleRegexOutcome,
    TranscriptContainsOutcome,
    TranscriptRegexOutcome,
]
"""What matched, by kind."""

_OUTCOME: Mapping[str, Callable[[Any], Outcome]] = {
    "all": AllOutcome,
    "any": AnyOutcome,
    "bell": BellOutcome,
    "command_finished": CommandFinishedOutcome,
    "contains_text": ContainsTextOutcome,
    "cursor_at": CursorAtOutcome,
    "located": LocatedOutcome,
    "lua": LuaOutcome,
    "not": NotOutcome,
    "process_exited": ProcessExitedOutcome,
    "screen": ScreenOutcome,
    "screen_regex": ScreenRegexOutcome,
    "screen_stable": ScreenStableOutcome,
    "state": StateOutcome,
    "title_contains": TitleContainsOutcome,
    "title_regex": TitleRegexOutcome,
    "transcript_contains": TranscriptContainsOutcome,
    "transcript_regex": TranscriptRegexOutcome,
}


def _outcome(v: Any) -> Outcome:
    return one_of(_OUTCOME, "kind", v)

Locator = Union[str, LocatorTree]
"""what is meant on the screen: in words, or as an object"""

Moment = Union[int, Instant]
"""a sequence, or a time"""

Position = Union[int, str]
"""a sequence, or the next of a wait's answer"""


Notification = Union[AdapterChanged, ServerAudit, SessionChanged, SessionEventNotification, SessionExited, SessionLeased, SessionOutput, WaitMatched]
"""What the server tells of its own accord."""

NOTIFICATIONS: Mapping[str, Callable[[Any], Notification]] = {
    "adapter.changed": AdapterChanged,
    "server.audit": ServerAudit,
    "session.changed": SessionChanged,
    "session.event": SessionEventNotification,
    "session.exited": SessionExited,
    "session.leased": SessionLeased,
    "session.output": SessionOutput,
    "wait.matched": WaitMatched,
}
"""What makes one of its params, by its method."""


def cancel_request(
    id: Union[str, float],
) -> Call[CancelRequestResult]:
    """Cancels requests of this connection by their id.

    Args:
        id: Of the request.

    Reasons of errors: cancelled, duplicate_member, internal_error, invalid_params,
    limit_exceeded.
    """
    return Call("$/cancelRequest", given(id=id), CancelRequestResult)


def adapter_cancel_wait(
    wait_id: str,
) -> Call[AdapterCancelWaitResult]:
    """Cancels a wait by its wait_id.

    Args:
        wait_id: As it was given to adapter.wait or adapter.turn.

    Reasons of errors: cancelled, duplicate_member, forbidden, internal_error, invalid_params,
    limit_exceeded.
    """
    return Call("adapter.cancel_wait", given(wait_id=wait_id), AdapterCancelWaitResult)


def adapter_close(
    adapter: str,
) -> Call[Closed]:
    """Ends an adapter's program and all it started, and forgets both.

    Args:
        adapter: The adapter's id.

    Reasons of errors: cancelled, duplicate_member, forbidden, host_lost, host_unreachable,
    internal_error, invalid_params, limit_exceeded, permission_denied, plugin_failed,
    server_lost, unkillable, unknown_adapter, unknown_host.
    """
    return Call("adapter.close", given(adapter=adapter), Closed)


def adapter_events(
    adapter: str,
    *,
    redact: Optional[bool] = None,
    redaction: Optional[Redaction] = None,
    since: Optional[int] = None,
) -> Call[AdapterEventsResult]:
    """Reads what has happened, from a place of the client's own.

    Args:
        adapter: The adapter's id.
        redact: False shows the text as it is, whatever redaction says; default true.
        redaction: More rules for this read.
        since: The next of the last answer; default 0, everything that is kept.

    Reasons of errors: cancelled, duplicate_member, forbidden, host_lost, host_unreachable,
    internal_error, invalid_params, invalid_redaction, limit_exceeded, permission_denied,
    plugin_failed, server_lost, unknown_adapter, unknown_host.
    """
    return Call("adapter.events", given(adapter=adapter, redact=redact, redaction=redaction, since=since), AdapterEventsResult)


def adapter_explain(
    adapter: str,
    *,
    redact: Optional[bool] = None,
    redaction: Optional[Redaction] = None,
) -> Call[AdapterExplainResult]:
    """Tells which rule decided the state, which nearly did, and on what rows.

    Args:
        adapter: The adapter's id.
        redact: False shows the text as it is, whatever redaction says; default true.
        redaction: More rules for this read.

    Reasons of errors: cancelled, duplicate_member, forbidden, host_lost, host_unreachable,
    internal_error, invalid_params, invalid_redaction, limit_exceeded, permission_denied,
    plugin_failed, server_lost, unknown_adapter, unknown_host.
    """
    return Call("adapter.explain", given(adapter=adapter, redact=redact, redaction=redaction), AdapterExplainResult)


def adapter_inspect(
    adapter: str,
    *,
    redact: Optional[bool] = None,
    redaction: Optional[Redaction] = None,
) -> Call[AdapterInspectResult]:
    """Reads the screen as a plugin sees it, with its state.

    Args:
        adapter: The adapter's id.
        redact: False shows the text as it is, whatever redaction says; default true.
        redaction: More rules for this read.

    Reasons of errors: cancelled, duplicate_member, forbidden, host_lost, host_unreachable,
    internal_error, invalid_params, invalid_redaction, limit_exceeded, permission_denied,
    plugin_failed, server_lost, unknown_adapter, unknown_host.
    """
    return Call("adapter.inspect", given(adapter=adapter, redact=redact, redaction=redaction), AdapterInspectResult)


def adapter_list(
    *,
    host: Optional[str] = None,
) -> Call[AdapterListResult]:
    """Lists the plugins that adapters can be started with.

    Args:
        host: The machine that is asked, as hosts.toml names it; default this one.

    Reasons of errors: cancelled, duplicate_member, host_lost, host_unreachable,
    internal_error, invalid_params, limit_exceeded, server_lost, unknown_host.
    """
    return Call("adapter.list", given(host=host), AdapterListResult)


def adapter_live(
    *,
    host: Optional[str] = None,
) -> Call[AdapterLiveResult]:
    """Lists the adapters that are live.

    Args:
        host: The machine that is asked, as hosts.toml names it; default this one.

    Reasons of errors: cancelled, duplicate_member, host_lost, host_unreachable,
    internal_error, invalid_params, limit_exceeded, server_lost, unknown_host.
    """
    return Call("adapter.live", given(host=host), AdapterLiveResult)


def adapter_resume(
    plugin: str,
    *,
    args: Optional[Sequence[str]] = None,
    base_env: Optional[Mapping[str, str]] = None,
    cols: Optional[int] = None,
    cwd: Optional[str] = None,
    env: Optional[Mapping[str, str]] = None,
    host: Optional[str] = None,
    name: Optional[str] = None,
    pixel_height: Optional[int] = None,
    pixel_width: Optional[int] = None,
    prior_adapter: Optional[str] = None,
    program: Optional[str] = None,
    redact: Optional[bool] = None,
    redaction: Optional[Redaction] = None,
    rows: Optional[int] = None,
    tags: Optional[Sequence[str]] = None,
) -> Call[StartedAdapter]:
    """Closes an adapter and starts another in its place.

    Args:
        plugin: The plugin's name.
        args: Arguments; default the manifest's, an empty list is none.
        base_env: Start from this environment instead of the server's, as of session.create.
        cols: Columns of the terminal, 1 to 1000; default 80.
        cwd: Working directory; default the server's.
        env: Variables to set, over the manifest's env.
        host: The machine that is asked, as hosts.toml names it; default this one.
        name: Of the session, as of session.create.
        pixel_height: Height in pixels, 0 to 65535; default 0, not known.
        pixel_width: Width in pixels, 0 to 65535; default 0, not known.
        prior_adapter: An adapter to close first, if it is still live.
        program: Executable name or path; default the manifest's.
        redact: False shows the text as it is, whatever redaction says; default true.
        redaction: More rules for this read.
        rows: Rows of the terminal, 1 to 1000; default 24.
        tags: Likewise.

    Reasons of errors: cancelled, cannot_start, duplicate_member, file_refused, forbidden,
    host_lost, host_unreachable, internal_error, invalid_environment, invalid_params,
    invalid_redaction, limit_exceeded, name_taken, no_program, permission_denied,
    plugin_failed, plugin_without_code, server_lost, shutting_down, size_out_of_range,
    too_many_secrets, unkillable, unknown_host, unknown_plugin.
    """
    return Call("adapter.resume", given(plugin=plugin, args=args, base_env=base_env, cols=cols, cwd=cwd, env=env, host=host, name=name, pixel_height=pixel_height, pixel_width=pixel_width, prior_adapter=prior_adapter, program=program, redact=redact, redaction=redaction, rows=rows, tags=tags), StartedAdapter)


def adapter_send(
    adapter: str,
    intent: str,
    *,
    params: Optional[Mapping[str, Any]] = None,
    redact: Optional[bool] = None,
    redaction: Optional[Redaction] = None,
    timeout_ms: Optional[int] = None,
) -> Call[AdapterSendResult]:
    """Performs an intent, and tells whether it was submitted.

    Args:
        adapter: The adapter's id.
        intent: One of the plugin's intents; see plugin.describe.
        params: What the intent needs.
        redact: False shows the text as it is, whatever redaction says; default true.
        redaction: More rules for this read.
        timeout_ms: For a turn under way to end, and for a program that does not read; default
            5000.

    Reasons of errors: ambiguous, cancelled, duplicate_member, expectation_failed, forbidden,
    host_lost, host_unreachable, input_blocked, input_full, intent_refused, internal_error,
    invalid_action, invalid_params, invalid_redaction, key_not_requested, limit_exceeded,
    line_too_long, mouse_not_requested, not_found, off_screen, permission_denied,
    plugin_failed, plugin_without_code, position_out_of_range, server_lost, session_closed,
    session_ended, session_leased, shutting_down, size_out_of_range, timeout, too_many_marks,
    turn_in_progress, unkillable, unknown_adapter, unknown_host, unknown_intent.
    """
    return Call("adapter.send", given(adapter=adapter, intent=intent, params=params, redact=redact, redaction=redaction, timeout_ms=timeout_ms), AdapterSendResult)


def adapter_snapshot(
    adapter: str,
    *,
    cells: Optional[Literal["full", "runs", "none"]] = None,
    redact: Optional[bool] = None,
    redaction: Optional[Redaction] = None,
) -> Call[Snapshot]:
    """Reads the screen.

    Args:
        adapter: The adapter's id.
        cells: Full (default), runs or none.
        redact: False shows the text as it is, whatever redaction says; default true.
        redaction: More rules for this read.

    Reasons of errors: cancelled, duplicate_member, forbidden, host_lost, host_unreachable,
    internal_error, invalid_params, invalid_redaction, limit_exceeded, permission_denied,
    plugin_failed, reply_too_large, server_lost, unknown_adapter, unknown_host.
    """
    return Call("adapter.snapshot", given(adapter=adapter, cells=cells, redact=redact, redaction=redaction), Snapshot)


def adapter_start(
    plugin: str,
    *,
    args: Optional[Sequence[str]] = None,
    base_env: Optional[Mapping[str, str]] = None,
    cols: Optional[int] = None,
    cwd: Optional[str] = None,
    env: Optional[Mapping[str, str]] = None,
    host: Optional[str] = None,
    name: Optional[str] = None,
    pixel_height: Optional[int] = None,
    pixel_width: Optional[int] = None,
    program: Optional[str] = None,
    redact: Optional[bool] = None,
    redaction: Optional[Redaction] = None,
    rows: Optional[int] = None,
    tags: Optional[Sequence[str]] = None,
) -> Call[StartedAdapter]:
    """Starts a program with a plugin that drives it.

    Args:
        plugin: The plugin's name.
        args: Arguments; default the manifest's, an empty list is none.
        base_env: Start from this environment instead of the server's, as of session.create.
        cols: Columns of the terminal, 1 to 1000; default 80.
        cwd: Working directory; default the server's.
        env: Variables to set, over the manifest's env.
        host: The machine that is asked, as hosts.toml names it; default this one.
        name: Of the session, as of session.create.
        pixel_height: Height in pixels, 0 to 65535; default 0, not known.
        pixel_width: Width in pixels, 0 to 65535; default 0, not known.
        program: Executable name or path; default the manifest's.
        redact: False shows the text as it is, whatever redaction says; default true.
        redaction: More rules for this read.
        rows: Rows of the terminal, 1 to 1000; default 24.
        tags: Likewise.

    Reasons of errors: cancelled, cannot_start, duplicate_member, file_refused, forbidden,
    host_lost, host_unreachable, internal_error, invalid_environment, invalid_params,
    invalid_redaction, limit_exceeded, name_taken, no_program, permission_denied,
    plugin_failed, plugin_without_code, server_lost, shutting_down, size_out_of_range,
    too_many_secrets, unknown_host, unknown_plugin.
    """
    return Call("adapter.start", given(plugin=plugin, args=args, base_env=base_env, cols=cols, cwd=cwd, env=env, host=host, name=name, pixel_height=pixel_height, pixel_width=pixel_width, program=program, redact=redact, redaction=redaction, rows=rows, tags=tags), StartedAdapter)


def adapter_state(
    adapter: str,
    *,
    redact: Optional[bool] = None,
    redaction: Optional[Redaction] = None,
) -> Call[AdapterStateResult]:
    """Tells what state the program is in.

    Args:
        adapter: The adapter's id.
        redact: False shows the text as it is, whatever redaction says; default true.
        redaction: More rules for this read.

    Reasons of errors: cancelled, duplicate_member, forbidden, host_lost, host_unreachable,
    internal_error, invalid_params, invalid_redaction, limit_exceeded, permission_denied,
    plugin_failed, server_lost, unknown_adapter, unknown_host.
    """
    return Call("adapter.state", given(adapter=adapter, redact=redact, redaction=redaction), AdapterStateResult)


def adapter_transcript(
    adapter: str,
    *,
    mark: Optional[str] = None,
    redact: Optional[bool] = None,
    redaction: Optional[Redaction] = None,
    since: Optional[Position] = None,
) -> Call[Transcript]:
    """Reads the retained output.

    Give at most one of since and mark.

    Args:
        adapter: The adapter's id.
        mark: Only what came after this mark was set.
        redact: False shows the text as it is, whatever redaction says; default true.
        redaction: More rules for this read.
        since: Only what came after it: a sequence, or the next of a wait's answer.

    Reasons of errors: cancelled, duplicate_member, forbidden, host_lost, host_unreachable,
    internal_error, invalid_params, invalid_redaction, limit_exceeded, permission_denied,
    plugin_failed, server_lost, unknown_adapter, unknown_host.
    """
    return Call("adapter.transcript", given(adapter=adapter, mark=mark, redact=redact, redaction=redaction, since=since), Transcript)


def adapter_turn(
    adapter: str,
    send: AdapterTurnSend,
    *,
    redact: Optional[bool] = None,
    redaction: Optional[Redaction] = None,
    timeout_ms: Optional[int] = None,
    wait: Optional[AdapterTurnWait] = None,
) -> Call[AdapterTurnResult]:
    """Performs an intent and waits, with no other client's intent between.

    Args:
        adapter: The adapter's id.
        send: The intent.
        redact: False shows the text as it is, whatever redaction says; default true.
        redaction: More rules for this read.
        timeout_ms: For another turn to end, and for a program that does not read; default
            5000.
        wait: What to wait for afterwards; default wait_turn_matcher, 120000 ms.

    Reasons of errors: ambiguous, cancelled, duplicate_member, expectation_failed, forbidden,
    host_lost, host_unreachable, input_blocked, input_full, intent_refused, internal_error,
    invalid_action, invalid_matcher, invalid_params, invalid_redaction, key_not_requested,
    limit_exceeded, line_too_long, mouse_not_requested, not_found, off_screen,
    permission_denied, plugin_failed, plugin_without_code, position_out_of_range, server_lost,
    session_closed, session_ended, session_leased, shutting_down, size_out_of_range, timeout,
    too_many_marks, turn_in_progress, unkillable, unknown_adapter, unknown_host,
    unknown_intent, unknown_plugin, unknown_predicate, wait_id_in_use.
    """
    return Call("adapter.turn", given(adapter=adapter, send=send, redact=redact, redaction=redaction, timeout_ms=timeout_ms, wait=wait), AdapterTurnResult)


def adapter_wait(
    adapter: str,
    *,
    intent: Optional[str] = None,
    latched: Optional[bool] = None,
    params: Optional[Mapping[str, Any]] = None,
    redact: Optional[bool] = None,
    redaction: Optional[Redaction] = None,
    since: Optional[Position] = None,
    timeout_ms: Optional[int] = None,
    wait_id: Optional[str] = None,
) -> Call[AdapterWaitResult]:
    """Waits until a matcher of the plugin holds.

    Args:
        adapter: The adapter's id.
        intent: One of the plugin's wait matchers; default wait_turn_matcher.
        latched: Holds when the matcher held at any moment since, or from the wait's beginning
            on, not only when it looks.
        params: What the matcher needs.
        redact: False shows the text as it is, whatever redaction says; default true.
        redaction: More rules for this read.
        since: Only what came after it counts: a sequence, or the next of a wait's answer.
        timeout_ms: Default 120000; 0 looks once.
        wait_id: A name for adapter.cancel_wait.

    Reasons of errors: cancelled, duplicate_member, expectation_failed, forbidden, host_lost,
    host_unreachable, intent_refused, internal_error, invalid_matcher, invalid_params,
    invalid_redaction, limit_exceeded, permission_denied, plugin_failed, plugin_without_code,
    server_lost, session_closed, session_ended, timeout, unknown_adapter, unknown_host,
    unknown_intent, unknown_plugin, unknown_predicate, wait_id_in_use.
    """
    return Call("adapter.wait", given(adapter=adapter, intent=intent, latched=latched, params=params, redact=redact, redaction=redaction, since=since, timeout_ms=timeout_ms, wait_id=wait_id), AdapterWaitResult)


def plugin_capabilities() -> Call[PluginCapabilitiesResult]:
    """Tells what plugins can be and which are built in.

    Reasons of errors: cancelled, duplicate_member, internal_error, invalid_params,
    limit_exceeded.
    """
    return Call("plugin.capabilities", given(), PluginCapabilitiesResult)


def plugin_describe(
    plugin: str,
) -> Call[PluginDescribeResult]:
    """Tells a plugin's intents, wait matchers and states.

    Args:
        plugin: The plugin's name.

    Reasons of errors: cancelled, duplicate_member, internal_error, invalid_params,
    limit_exceeded, permission_denied, plugin_failed, plugin_without_code, unknown_plugin.
    """
    return Call("plugin.describe", given(plugin=plugin), PluginDescribeResult)


def plugin_load(
    manifest_path: str,
) -> Call[PluginLoadResult]:
    """Loads a plugin from its manifest.toml.

    Args:
        manifest_path: Path of a manifest.toml, relative to the server's working directory.

    Reasons of errors: cancelled, duplicate_member, file_refused, forbidden, internal_error,
    invalid_manifest, invalid_params, limit_exceeded, plugin_built_in, plugin_exists,
    plugin_failed, server_did_not_grant_plugin_load.
    """
    return Call("plugin.load", given(manifest_path=manifest_path), PluginLoadResult)


def plugin_reload(
    plugin: str,
) -> Call[PluginReloadResult]:
    """Reads a loaded plugin's files again.

    Args:
        plugin: The plugin's name.

    Reasons of errors: cancelled, duplicate_member, file_refused, forbidden, internal_error,
    invalid_manifest, invalid_params, limit_exceeded, permission_denied, plugin_built_in,
    plugin_failed, server_did_not_grant_plugin_load, unknown_plugin.
    """
    return Call("plugin.reload", given(plugin=plugin), PluginReloadResult)


def plugin_unload(
    plugin: str,
) -> Call[PluginUnloadResult]:
    """Forgets a plugin that was loaded.

    Args:
        plugin: The plugin's name.

    Reasons of errors: cancelled, duplicate_member, forbidden, internal_error, invalid_params,
    limit_exceeded, permission_denied, plugin_built_in, plugin_in_use,
    server_did_not_grant_plugin_load, unknown_plugin.
    """
    return Call("plugin.unload", given(plugin=plugin), PluginUnloadResult)


def plugin_validate_manifest(
    manifest: Mapping[str, Any],
) -> Call[PluginValidateManifestResult]:
    """Checks a manifest without loading anything.

    Args:
        manifest: What would stand in manifest.toml.

    Reasons of errors: cancelled, duplicate_member, internal_error, invalid_manifest,
    invalid_params, limit_exceeded.
    """
    return Call("plugin.validate_manifest", given(manifest=manifest), PluginValidateManifestResult)


def server_capabilities(
    *,
    host: Optional[str] = None,
    schema: Optional[bool] = None,
) -> Call[ServerCapabilitiesResult]:
    """Tells what this server can do; with schema, the shape of every method.

    Args:
        host: The machine that is asked, as hosts.toml names it; default this one.
        schema: Add the model of the wire.

    Reasons of errors: cancelled, duplicate_member, host_lost, host_unreachable,
    internal_error, invalid_params, limit_exceeded, server_lost, unknown_host.
    """
    return Call("server.capabilities", given(host=host, schema=schema), ServerCapabilitiesResult)


def server_hosts(
    *,
    check: Optional[bool] = None,
    host: Optional[str] = None,
) -> Call[ServerHostsResult]:
    """Lists the other machines whose sessions are here, too.

    Args:
        check: True asks each of them now; default false tells what is known.
        host: Only this one.

    Reasons of errors: cancelled, duplicate_member, host_lost, host_unreachable,
    internal_error, invalid_params, limit_exceeded, server_lost, unknown_host.
    """
    return Call("server.hosts", given(check=check, host=host), ServerHostsResult)


def server_metrics() -> Call[ServerMetricsResult]:
    """Tells counts of the server, for a monitor.

    Reasons of errors: cancelled, duplicate_member, internal_error, invalid_params,
    limit_exceeded.
    """
    return Call("server.metrics", given(), ServerMetricsResult)


def server_set_client(
    name: str,
    *,
    host: Optional[str] = None,
) -> Call[ServerSetClientResult]:
    """Says who this client is, for others to read; nothing verifies it.

    Args:
        name: The program, for others to read: with its number in events, and as the holder of
            leases; at most 64 characters of it.
        host: The machine that it is a link for, for the audit; at most 64 characters of it.

    Reasons of errors: cancelled, duplicate_member, host_lost, host_unreachable,
    internal_error, invalid_params, limit_exceeded, server_lost, unknown_host.
    """
    return Call("server.set_client", given(name=name, host=host), ServerSetClientResult)


def server_set_hosts(
    hosts: bool,
) -> Call[ServerSetHostsResult]:
    """Says whether this connection sees the sessions of other machines.

    Args:
        hosts: False: this connection sees this machine alone; true: the others, too, as at
            first.

    Reasons of errors: cancelled, duplicate_member, internal_error, invalid_params,
    limit_exceeded.
    """
    return Call("server.set_hosts", given(hosts=hosts), ServerSetHostsResult)


def server_set_notifications(
    enabled: bool,
    *,
    adapters: Optional[Sequence[str]] = None,
    events: Optional[bool] = None,
    redact: Optional[bool] = None,
    redaction: Optional[Redaction] = None,
    sessions: Optional[Sequence[str]] = None,
    since: Optional[int] = None,
) -> Call[ServerSetNotificationsResult]:
    """Turns notifications of this connection on or off.

    Args:
        enabled: Whether to notify.
        adapters: Only sessions of these adapters.
        events: True tells session.event and server.audit, too.
        redact: False shows the text as it is, whatever redaction says; default true.
        redaction: More rules for this read.
        sessions: Only these sessions.
        since: With sessions: tell their output after this sequence, too, from 0 all that is
            kept.

    Reasons of errors: cancelled, duplicate_member, forbidden, internal_error, invalid_params,
    invalid_redaction, limit_exceeded.
    """
    return Call("server.set_notifications", given(enabled=enabled, adapters=adapters, events=events, redact=redact, redaction=redaction, sessions=sessions, since=since), ServerSetNotificationsResult)


def server_set_ordering(
    ordering: Literal["session", "concurrent"],
) -> Call[ServerSetOrderingResult]:
    """Says whether requests queue behind others of their session.

    Args:
        ordering: Session (default) or concurrent.

    Reasons of errors: cancelled, duplicate_member, internal_error, invalid_params,
    limit_exceeded.
    """
    return Call("server.set_ordering", given(ordering=ordering), ServerSetOrderingResult)


def server_set_rights(
    rights: Literal["admin", "type", "read"],
) -> Call[ServerSetRightsResult]:
    """Lowers what this connection may do from now on.

    Args:
        rights: What this connection may do from now on: read, type or admin; nothing raises
            them again.

    Reasons of errors: cancelled, duplicate_member, forbidden, internal_error, invalid_params,
    limit_exceeded.
    """
    return Call("server.set_rights", given(rights=rights), ServerSetRightsResult)


def server_set_strict(
    strict: bool,
) -> Call[ServerSetStrictResult]:
    """Says whether members of params that a method does not have are refused.

    Args:
        strict: True: members of params that a method does not have are refused on this
            connection; false: they are ignored, as at first.

    Reasons of errors: cancelled, duplicate_member, internal_error, invalid_params,
    limit_exceeded.
    """
    return Call("server.set_strict", given(strict=strict), ServerSetStrictResult)


def session_blocks(
    session: str,
    *,
    max: Optional[int] = None,
    raw: Optional[bool] = None,
    redact: Optional[bool] = None,
    redaction: Optional[Redaction] = None,
    screen_text: Optional[bool] = None,
    since: Optional[int] = None,
) -> Call[SessionBlocksResult]:
    """Reads the commands of a shell that marks them.

    Args:
        session: The session's id or name.
        max: The newest so many; default 50.
        raw: True leaves escape sequences in output.
        redact: False shows the text as it is, whatever redaction says; default true.
        redaction: More rules for this read.
        screen_text: True adds screen_text to each block.
        since: Only blocks with a greater number.

    Reasons of errors: cancelled, duplicate_member, forbidden, host_lost, host_unreachable,
    internal_error, invalid_params, invalid_redaction, limit_exceeded, server_lost,
    session_forgotten, unknown_host, unknown_session.
    """
    return Call("session.blocks", given(session=session, max=max, raw=raw, redact=redact, redaction=redaction, screen_text=screen_text, since=since), SessionBlocksResult)


def session_close(
    session: str,
) -> Call[Closed]:
    """Ends a session's program and all it started, and forgets the session.

    Args:
        session: The session's id or name.

    Reasons of errors: cancelled, duplicate_member, forbidden, host_lost, host_unreachable,
    internal_error, invalid_params, limit_exceeded, owned_by_adapter, server_lost,
    session_forgotten, unkillable, unknown_host, unknown_session.
    """
    return Call("session.close", given(session=session), Closed)


def session_create(
    program: str,
    *,
    args: Optional[Sequence[str]] = None,
    base_env: Optional[Mapping[str, str]] = None,
    clear_env: Optional[bool] = None,
    cols: Optional[int] = None,
    cwd: Optional[str] = None,
    echo_off: Optional[Literal["ask", "secret", "plain"]] = None,
    env: Optional[Mapping[str, str]] = None,
    history_max_bytes: Optional[int] = None,
    host: Optional[str] = None,
    idle_ms: Optional[int] = None,
    max_memory: Optional[int] = None,
    max_ms: Optional[int] = None,
    name: Optional[str] = None,
    owner: Optional[Literal["server", "connection"]] = None,
    pixel_height: Optional[int] = None,
    pixel_width: Optional[int] = None,
    raw_transcript_append: Optional[bool] = None,
    raw_transcript_path: Optional[str] = None,
    rows: Optional[int] = None,
    scrollback_max_lines: Optional[int] = None,
    shell_integration: Optional[bool] = None,
    tags: Optional[Sequence[str]] = None,
    theme: Optional[Literal["dark", "light"]] = None,
    transcript_max_chars: Optional[int] = None,
) -> Call[SessionCreateResult]:
    """Starts a program on a terminal of its own.

    Give at most one of base_env and clear_env.

    Args:
        program: Executable name or path.
        args: Arguments.
        base_env: Start from this environment instead of the server's, less what describes
            another terminal.
        clear_env: Start from an empty environment instead of the server's.
        cols: Columns of the terminal, 1 to 1000; default 80.
        cwd: Working directory; default the server's.
        echo_off: What is typed while the terminal does not echo: ask (default), secret or
            plain.
        env: Variables to set.
        history_max_bytes: Memory with which the session shows its past beside the retained
            output, for at and session.history; 0: none; default the server's.
        host: The machine that is asked, as hosts.toml names it; default this one.
        idle_ms: It is ended when it has written nothing, and nobody has typed, for so long.
        max_memory: Bytes of memory that it may take with all that it starts; refused with
            memory_limit_unsupported where the server may make no cgroup.
        max_ms: It is ended after so long.
        name: By which it is found beside its id, unique among those that run: a letter and up
            to 63 letters, digits, dots, underscores and hyphens, not a lower-case letter and
            digits alone.
        owner: Server (default): it lives until it ends or is closed; connection: it is ended
            with this connection.
        pixel_height: Height in pixels, 0 to 65535; default 0, not known.
        pixel_width: Width in pixels, 0 to 65535; default 0, not known.
        raw_transcript_append: Append to an existing file instead.
        raw_transcript_path: File that gets the unredacted output; it must not exist.
        rows: Rows of the terminal, 1 to 1000; default 24.
        scrollback_max_lines: Lines to retain that have left the screen; default 10000.
        shell_integration: Have program, an interactive bash, zsh or fish, mark its commands
            for session.blocks and command_finished.
        tags: Words by which sessions are selected: at most 16, each of 1 to 64 lower-case
            letters, digits, dots, underscores and hyphens.
        theme: Dark (default) or light: what a program that asks for the terminal's colours is
            told, and what pictures are drawn with.
        transcript_max_chars: Characters of output to retain; default 131072.

    Reasons of errors: cancelled, cannot_start, duplicate_member, file_refused, forbidden,
    host_lost, host_unreachable, internal_error, invalid_environment, invalid_params,
    limit_exceeded, memory_limit_unsupported, name_taken, server_lost,
    shell_integration_unsupported, shutting_down, size_out_of_range, too_many_secrets,
    unknown_host.
    """
    return Call("session.create", given(program=program, args=args, base_env=base_env, clear_env=clear_env, cols=cols, cwd=cwd, echo_off=echo_off, env=env, history_max_bytes=history_max_bytes, host=host, idle_ms=idle_ms, max_memory=max_memory, max_ms=max_ms, name=name, owner=owner, pixel_height=pixel_height, pixel_width=pixel_width, raw_transcript_append=raw_transcript_append, raw_transcript_path=raw_transcript_path, rows=rows, scrollback_max_lines=scrollback_max_lines, shell_integration=shell_integration, tags=tags, theme=theme, transcript_max_chars=transcript_max_chars), SessionCreateResult)


def session_events(
    session: str,
    *,
    max: Optional[int] = None,
    redact: Optional[bool] = None,
    redaction: Optional[Redaction] = None,
    since: Optional[int] = None,
) -> Call[SessionEventsResult]:
    """Reads what has happened to a session: input, waits, commands, leases, its end.

    Args:
        session: The session's id or name.
        max: The oldest so many; default 500.
        redact: False shows the text as it is, whatever redaction says; default true.
        redaction: More rules for this read.
        since: Only events that were noted after this seq; default 0, all that are kept.

    Reasons of errors: cancelled, duplicate_member, forbidden, host_lost, host_unreachable,
    internal_error, invalid_params, invalid_redaction, limit_exceeded, server_lost,
    session_forgotten, unknown_host, unknown_session.
    """
    return Call("session.events", given(session=session, max=max, redact=redact, redaction=redaction, since=since), SessionEventsResult)


def session_forget(
    *,
    host: Optional[str] = None,
) -> Call[SessionForgetResult]:
    """Forgets all sessions that have ended and that nobody needs.

    Args:
        host: The machine that is asked, as hosts.toml names it; default this one.

    Reasons of errors: cancelled, duplicate_member, forbidden, host_lost, host_unreachable,
    internal_error, invalid_params, limit_exceeded, server_lost, unkillable, unknown_host.
    """
    return Call("session.forget", given(host=host), SessionForgetResult)


def session_frame(
    session: str,
    *,
    at: Optional[Moment] = None,
    form: Optional[Literal["runs", "ansi"]] = None,
    moves: Optional[bool] = None,
    redact: Optional[bool] = None,
    redaction: Optional[Redaction] = None,
    since: Optional[int] = None,
    timeout_ms: Optional[int] = None,
) -> Call[Frame]:
    """Waits for the screen to change, and reads the rows that did.

    Give at most one of since and at.

    Args:
        session: The session's id or name.
        at: The screen as it was then, hidden by what is secret now; default: as it is.
        form: Runs (default): styled text, or ansi: a string with SGR and OSC 8.
        moves: True: rows that have scrolled are not told again, moved says how far they did.
        redact: False shows the text as it is, whatever redaction says; default true.
        redaction: More rules for this read.
        since: The sequence of the frame that the client has; without it the whole screen is
            told at once.
        timeout_ms: How long to wait for something new; default 30000; then what there is,
            which is nothing.

    Reasons of errors: cancelled, duplicate_member, forbidden, host_lost, host_unreachable,
    internal_error, invalid_params, invalid_redaction, limit_exceeded, moment_not_kept,
    reply_too_large, server_lost, session_closed, session_forgotten, unknown_host,
    unknown_session.
    """
    return Call("session.frame", given(session=session, at=at, form=form, moves=moves, redact=redact, redaction=redaction, since=since, timeout_ms=timeout_ms), Frame)


def session_golden(
    session: str,
    *,
    at: Optional[Moment] = None,
    masks: Optional[Sequence[str]] = None,
    previous: Optional[str] = None,
    redact: Optional[bool] = None,
    redaction: Optional[Redaction] = None,
    region: Optional[str] = None,
    text_only: Optional[bool] = None,
) -> Call[SessionGoldenResult]:
    """Writes the screen down as a golden screen, the text of a file that tests compare screens
    with.

    Args:
        session: The session's id or name.
        at: The screen as it was then, hidden by what is secret now; default: as it is.
        masks: What differs from run to run, as a file has it, such as: clock /[0-9:]+/ in row
            1; they count beside those of previous, or in place of one of their name.
        previous: The text of the file that the new one replaces: styles keep their letters,
            and what it leaves out is left out.
        redact: False shows the text as it is, whatever redaction says; default true.
        redaction: More rules for this read.
        region: Only this rectangle: ROW,COLUMN ROWSxCOLUMNS, from 0; default that of previous,
            else all.
        text_only: Neither styles nor cursor, title and modes; with previous what that has is
            written.

    Reasons of errors: cancelled, duplicate_member, forbidden, golden_refused, host_lost,
    host_unreachable, internal_error, invalid_golden, invalid_params, invalid_redaction,
    limit_exceeded, moment_not_kept, server_lost, session_forgotten, unknown_host,
    unknown_session.
    """
    return Call("session.golden", given(session=session, at=at, masks=masks, previous=previous, redact=redact, redaction=redaction, region=region, text_only=text_only), SessionGoldenResult)


def session_history(
    session: str,
    matcher: MatcherValue,
    *,
    max: Optional[int] = None,
    next: Optional[str] = None,
    redact: Optional[bool] = None,
    redaction: Optional[Redaction] = None,
    since: Optional[Moment] = None,
    timeout_ms: Optional[int] = None,
    until: Optional[Moment] = None,
    which: Optional[Literal["first", "last", "all"]] = None,
) -> Call[SessionHistoryResult]:
    """Tells when a matcher held in a session's past, and for how long.

    Args:
        session: The session's id or name.
        matcher: An object with type and, where the type needs one, value; it is asked about
            the screen of each moment.
        max: Most spans to return; default 50.
        next: Of an answer to the same question: goes on there.
        redact: False shows the text as it is, whatever redaction says; default true.
        redaction: More rules for this read.
        since: Only moments after it; default: all that are kept.
        timeout_ms: How long the matcher may take for one moment; default 30000.
        until: Only moments up to it; default: up to now.
        which: First (default), last or all.

    Reasons of errors: cancelled, duplicate_member, forbidden, host_lost, host_unreachable,
    internal_error, invalid_matcher, invalid_params, invalid_redaction, limit_exceeded,
    moment_not_kept, plugin_failed, server_lost, session_closed, session_ended,
    session_forgotten, timeout, unknown_host, unknown_session.
    """
    return Call("session.history", given(session=session, matcher=matcher, max=max, next=next, redact=redact, redaction=redaction, since=since, timeout_ms=timeout_ms, until=until, which=which), SessionHistoryResult)


def session_input(
    session: str,
    *,
    action: Optional[ActionValue] = None,
    actions: Optional[Sequence[ActionValue]] = None,
    delay_ms: Optional[int] = None,
    id: Optional[str] = None,
    timeout_ms: Optional[int] = None,
    until: Optional[Literal["sent", "read"]] = None,
) -> Call[SessionInputResult]:
    """Types, pastes, presses a key, signals.

    Give one of action and actions.

    Args:
        session: The session's id or name.
        action: An object with type and, where the type needs one, value.
        actions: In place of action: what is typed as one, in this order, with nothing of
            others between.
        delay_ms: Pause between two keystrokes; a text is typed character by character then;
            default 0.
        id: Of this input, 1 to 64 characters that no other input has: sent again with it,
            nothing is typed, and the first one's answer comes again.
        timeout_ms: How long a program that does not read may take; default 5000. Pauses do not
            count.
        until: Sent (default): answer when the terminal has taken it; read: when the program
            has read it, at most for another timeout_ms.

    Reasons of errors: ambiguous, cancelled, duplicate_member, forbidden, host_lost,
    host_unreachable, input_blocked, input_full, input_id_in_use, internal_error,
    invalid_action, invalid_params, key_not_requested, limit_exceeded, line_too_long,
    mouse_not_requested, not_found, off_screen, owned_by_adapter, plugin_failed,
    position_out_of_range, server_lost, session_closed, session_ended, session_forgotten,
    session_leased, shutting_down, size_out_of_range, too_many_marks, unkillable, unknown_host,
    unknown_session.
    """
    return Call("session.input", given(session=session, action=action, actions=actions, delay_ms=delay_ms, id=id, timeout_ms=timeout_ms, until=until), SessionInputResult)


def session_kill(
    session: str,
) -> Call[SessionKillResult]:
    """Ends a session's program and all it started; the session stays readable.

    Args:
        session: The session's id or name.

    Reasons of errors: cancelled, duplicate_member, forbidden, host_lost, host_unreachable,
    internal_error, invalid_params, limit_exceeded, owned_by_adapter, server_lost,
    session_closed, session_forgotten, unkillable, unknown_host, unknown_session.
    """
    return Call("session.kill", given(session=session), SessionKillResult)


def session_lease(
    session: str,
    *,
    holder: Optional[str] = None,
    take: Optional[bool] = None,
) -> Call[SessionLeaseResult]:
    """Takes the right to type into a session, which nobody else has then.

    Args:
        session: The session's id or name.
        holder: Who takes it, for others to read; default: what this client is called, or
            client.
        take: Take it from whoever has it.

    Reasons of errors: cancelled, duplicate_member, forbidden, host_lost, host_unreachable,
    internal_error, invalid_params, limit_exceeded, owned_by_adapter, server_lost,
    session_closed, session_ended, session_forgotten, session_leased, unknown_host,
    unknown_session.
    """
    return Call("session.lease", given(session=session, holder=holder, take=take), SessionLeaseResult)


def session_list(
    *,
    details: Optional[bool] = None,
    host: Optional[str] = None,
    redact: Optional[bool] = None,
    redaction: Optional[Redaction] = None,
    session: Optional[str] = None,
) -> Call[SessionListResult]:
    """Lists all sessions, those that have ended too.

    Args:
        details: Add one object a session.
        host: The machine that is asked, as hosts.toml names it; default this one.
        redact: False shows the text as it is, whatever redaction says; default true.
        redaction: More rules for this read.
        session: Only this one, by its id or its name.

    Reasons of errors: cancelled, duplicate_member, forbidden, host_lost, host_unreachable,
    internal_error, invalid_params, invalid_redaction, limit_exceeded, server_lost,
    session_forgotten, unknown_host, unknown_session.
    """
    return Call("session.list", given(details=details, host=host, redact=redact, redaction=redaction, session=session), SessionListResult)


def session_locate(
    session: str,
    locator: Locator,
    *,
    at: Optional[Moment] = None,
    redact: Optional[bool] = None,
    redaction: Optional[Redaction] = None,
    since: Optional[Position] = None,
    state: Optional[Literal["visible", "hidden", "stable"]] = None,
    strict: Optional[bool] = None,
    timeout_ms: Optional[int] = None,
) -> Call[SessionLocateResult]:
    """Waits until a locator means places of the screen, and tells where they are.

    Give at most one of since and at.

    Args:
        session: The session's id or name.
        locator: Words, such as 'Commit' in box 'Menu', or an object with type and value.
        at: The screen as it was then, hidden by what is secret now; default: as it is.
        redact: False shows the text as it is, whatever redaction says; default true.
        redaction: More rules for this read.
        since: Only places count of which a row was written after it: a sequence, or the next
            of a wait's answer.
        state: Visible (default): it means at least one place; hidden: it means none; stable:
            it means at least one, which has been as it is for 300 ms.
        strict: But for hidden it has to mean exactly one place.
        timeout_ms: Default 30000; 0 looks once.

    Reasons of errors: ambiguous, cancelled, duplicate_member, forbidden, host_lost,
    host_unreachable, internal_error, invalid_locator, invalid_params, invalid_redaction,
    limit_exceeded, moment_not_kept, not_found, plugin_failed, server_lost, session_closed,
    session_ended, session_forgotten, timeout, unknown_host, unknown_session.
    """
    return Call("session.locate", given(session=session, locator=locator, at=at, redact=redact, redaction=redaction, since=since, state=state, strict=strict, timeout_ms=timeout_ms), SessionLocateResult)


def session_record_list(
    *,
    host: Optional[str] = None,
    session: Optional[str] = None,
) -> Call[SessionRecordListResult]:
    """Lists recordings, those that have ended too.

    Args:
        host: The machine that is asked, as hosts.toml names it; default this one.
        session: Only recordings of this session.

    Reasons of errors: cancelled, duplicate_member, host_lost, host_unreachable,
    internal_error, invalid_params, limit_exceeded, server_lost, session_forgotten,
    unknown_host, unknown_session.
    """
    return Call("session.record_list", given(host=host, session=session), SessionRecordListResult)


def session_record_start(
    session: str,
    *,
    dir: Optional[str] = None,
    format: Optional[Literal["asciicast-v2", "asciicast-v3", "markdown"]] = None,
    idle_limit: Optional[int] = None,
    input: Optional[bool] = None,
    path: Optional[str] = None,
    redact: Optional[bool] = None,
    redaction: Optional[Redaction] = None,
    title: Optional[str] = None,
) -> Call[SessionRecordStartResult]:
    """Records a session from here on, as asciicast or Markdown.

    Give one of path and dir.

    Args:
        session: The session's id or name.
        dir: Folder in which the file gets a name of its own.
        format: Asciicast-v2 (default), asciicast-v3 or markdown.
        idle_limit: Milliseconds: pauses are to be played no longer than this.
        input: Keep what is typed, too.
        path: File to write; it must not exist.
        redact: False shows the text as it is, whatever redaction says; default true.
        redaction: More rules for this read.
        title: Of the recording.

    Reasons of errors: cancelled, duplicate_member, file_refused, forbidden, host_lost,
    host_unreachable, internal_error, invalid_params, invalid_redaction, limit_exceeded,
    server_lost, session_closed, session_ended, session_forgotten, unknown_host,
    unknown_session.
    """
    return Call("session.record_start", given(session=session, dir=dir, format=format, idle_limit=idle_limit, input=input, path=path, redact=redact, redaction=redaction, title=title), SessionRecordStartResult)


def session_record_stop(
    recording: str,
) -> Call[RecordingInfo]:
    """Ends a recording and gives its file its name.

    Args:
        recording: As session.record_start returned it.

    Reasons of errors: cancelled, duplicate_member, file_refused, forbidden, host_lost,
    host_unreachable, internal_error, invalid_params, limit_exceeded, server_lost,
    unknown_host, unknown_recording.
    """
    return Call("session.record_stop", given(recording=recording), RecordingInfo)


def session_release(
    session: str,
) -> Call[SessionReleaseResult]:
    """Gives that right back.

    Args:
        session: The session's id or name.

    Reasons of errors: cancelled, duplicate_member, forbidden, host_lost, host_unreachable,
    internal_error, invalid_params, limit_exceeded, server_lost, session_forgotten,
    unknown_host, unknown_session.
    """
    return Call("session.release", given(session=session), SessionReleaseResult)


def session_resize(
    session: str,
    rows: int,
    cols: int,
    *,
    hold: Optional[bool] = None,
    pixel_height: Optional[int] = None,
    pixel_width: Optional[int] = None,
) -> Call[SessionResizeResult]:
    """Changes a terminal's size.

    Args:
        session: The session's id or name.
        rows: Rows of the terminal, 1 to 1000.
        cols: Columns of the terminal, 1 to 1000.
        hold: For as long as this connection has the session by session.lease; then the size
            before comes back.
        pixel_height: Height in pixels, 0 to 65535; default 0, not known.
        pixel_width: Width in pixels, 0 to 65535; default 0, not known.

    Reasons of errors: cancelled, duplicate_member, forbidden, host_lost, host_unreachable,
    input_full, internal_error, invalid_params, limit_exceeded, server_lost, session_closed,
    session_ended, session_forgotten, session_leased, size_out_of_range, unknown_host,
    unknown_session.
    """
    return Call("session.resize", given(session=session, rows=rows, cols=cols, hold=hold, pixel_height=pixel_height, pixel_width=pixel_width), SessionResizeResult)


def session_run(
    session: str,
    command: str,
    *,
    raw: Optional[bool] = None,
    redact: Optional[bool] = None,
    redaction: Optional[Redaction] = None,
    screen_text: Optional[bool] = None,
    timeout_ms: Optional[int] = None,
) -> Call[Ran]:
    """Runs a command line in a session's shell, and tells its output and exit code.

    Args:
        session: The session's id or name.
        command: The command line, as it would be typed; it may have several lines.
        raw: True leaves escape sequences in output.
        redact: False shows the text as it is, whatever redaction says; default true.
        redaction: More rules for this read.
        screen_text: True adds screen_text.
        timeout_ms: For the command to end; default 30000; it goes on after that.

    Reasons of errors: ambiguous, cancelled, command_not_run, duplicate_member, forbidden,
    host_lost, host_unreachable, input_blocked, input_full, internal_error, invalid_action,
    invalid_params, invalid_redaction, key_not_requested, limit_exceeded, line_too_long,
    mouse_not_requested, no_shell, not_at_prompt, not_found, off_screen, owned_by_adapter,
    plugin_failed, position_out_of_range, server_lost, session_closed, session_ended,
    session_forgotten, session_leased, shutting_down, size_out_of_range, timeout,
    too_many_marks, unknown_host, unknown_session.
    """
    return Call("session.run", given(session=session, command=command, raw=raw, redact=redact, redaction=redaction, screen_text=screen_text, timeout_ms=timeout_ms), Ran)


def session_screenshot(
    session: str,
    *,
    at: Optional[Moment] = None,
    font_size: Optional[float] = None,
    format: Optional[Literal["png", "svg", "html", "ansi"]] = None,
    frame: Optional[Literal["none", "window", "poster"]] = None,
    no_cursor: Optional[bool] = None,
    padding: Optional[int] = None,
    path: Optional[str] = None,
    redact: Optional[bool] = None,
    redaction: Optional[Redaction] = None,
    scale: Optional[float] = None,
    theme: Optional[Literal["dark", "light", "dracula", "nord", "gruvbox-dark", "gruvbox-light", "solarized-dark", "solarized-light", "one-dark", "tokyo-night", "catppuccin-mocha", "catppuccin-latte", "github-light", "monokai"]] = None,
    title: Optional[str] = None,
) -> Call[SessionScreenshotResult]:
    """Draws the screen as PNG, SVG, HTML or ANSI text.

    Args:
        session: The session's id or name.
        at: The screen as it was then, hidden by what is secret now; default: as it is.
        font_size: Pixels, 6 to 128; default 15.
        format: Png, svg, html or ansi; default that of the path, else png.
        frame: What is around the screen: none (default), window, or poster: a window on a
            coloured ground.
        no_cursor: Draw no cursor.
        padding: Pixels around the text; default 0, in a window 16.
        path: File to write or replace, mode 0600, by its extension such a picture; default:
            the picture is in the answer.
        redact: False shows the text as it is, whatever redaction says; default true.
        redaction: More rules for this read.
        scale: Pixels for one, 1 to 4; default 1.
        theme: Dark, light or that of a known theme; default the session's.
        title: In the bar of a window; default the session's.

    Reasons of errors: cancelled, duplicate_member, file_refused, forbidden, host_lost,
    host_unreachable, internal_error, invalid_params, invalid_redaction, limit_exceeded,
    moment_not_kept, reply_too_large, server_lost, session_forgotten, unknown_host,
    unknown_session.
    """
    return Call("session.screenshot", given(session=session, at=at, font_size=font_size, format=format, frame=frame, no_cursor=no_cursor, padding=padding, path=path, redact=redact, redaction=redaction, scale=scale, theme=theme, title=title), SessionScreenshotResult)


def session_scrollback(
    session: str,
    *,
    count: Optional[int] = None,
    form: Optional[Literal["text", "runs"]] = None,
    redact: Optional[bool] = None,
    redaction: Optional[Redaction] = None,
    start: Optional[int] = None,
) -> Call[SessionScrollbackResult]:
    """Reads lines that have left the screen, and the screen's after them.

    Args:
        session: The session's id or name.
        count: How many lines; default 100.
        form: Text (default): lines has strings, or runs: rows has styled text as in
            session.frame.
        redact: False shows the text as it is, whatever redaction says; default true.
        redaction: More rules for this read.
        start: First line, from 0; default: the last count lines.

    Reasons of errors: cancelled, duplicate_member, forbidden, host_lost, host_unreachable,
    internal_error, invalid_params, invalid_redaction, limit_exceeded, server_lost,
    session_forgotten, unknown_host, unknown_session.
    """
    return Call("session.scrollback", given(session=session, count=count, form=form, redact=redact, redaction=redaction, start=start), SessionScrollbackResult)


def session_search(
    session: str,
    *,
    at: Optional[Moment] = None,
    max: Optional[int] = None,
    redact: Optional[bool] = None,
    redaction: Optional[Redaction] = None,
    regex: Optional[str] = None,
    text: Optional[str] = None,
) -> Call[SessionSearchResult]:
    """Finds text in scrollback and screen.

    Give one of text and regex.

    Args:
        session: The session's id or name.
        at: The screen as it was then, hidden by what is secret now; default: as it is.
        max: Most matches to return; default 50.
        redact: False shows the text as it is, whatever redaction says; default true.
        redaction: More rules for this read.
        regex: RE2 expression to find; this or text.
        text: Text to find; this or regex.

    Reasons of errors: cancelled, duplicate_member, forbidden, host_lost, host_unreachable,
    internal_error, invalid_params, invalid_redaction, limit_exceeded, moment_not_kept,
    server_lost, session_forgotten, unknown_host, unknown_session.
    """
    return Call("session.search", given(session=session, at=at, max=max, redact=redact, redaction=redaction, regex=regex, text=text), SessionSearchResult)


def session_snapshot(
    session: str,
    *,
    at: Optional[Moment] = None,
    cells: Optional[Literal["full", "runs", "none"]] = None,
    redact: Optional[bool] = None,
    redaction: Optional[Redaction] = None,
) -> Call[Snapshot]:
    """Reads the screen.

    Args:
        session: The session's id or name.
        at: The screen as it was then, hidden by what is secret now; default: as it is.
        cells: Full (default), runs or none.
        redact: False shows the text as it is, whatever redaction says; default true.
        redaction: More rules for this read.

    Reasons of errors: cancelled, duplicate_member, forbidden, host_lost, host_unreachable,
    internal_error, invalid_params, invalid_redaction, limit_exceeded, moment_not_kept,
    reply_too_large, server_lost, session_forgotten, unknown_host, unknown_session.
    """
    return Call("session.snapshot", given(session=session, at=at, cells=cells, redact=redact, redaction=redaction), Snapshot)


def session_transcript(
    session: str,
    *,
    mark: Optional[str] = None,
    redact: Optional[bool] = None,
    redaction: Optional[Redaction] = None,
    since: Optional[Position] = None,
) -> Call[Transcript]:
    """Reads the retained output.

    Give at most one of since and mark.

    Args:
        session: The session's id or name.
        mark: Only what came after this mark was set.
        redact: False shows the text as it is, whatever redaction says; default true.
        redaction: More rules for this read.
        since: Only what came after it: a sequence, or the next of a wait's answer.

    Reasons of errors: cancelled, duplicate_member, forbidden, host_lost, host_unreachable,
    internal_error, invalid_params, invalid_redaction, limit_exceeded, server_lost,
    session_forgotten, unknown_host, unknown_session.
    """
    return Call("session.transcript", given(session=session, mark=mark, redact=redact, redaction=redaction, since=since), Transcript)


def session_wait(
    session: str,
    matcher: MatcherValue,
    *,
    cells: Optional[Literal["full", "runs", "none"]] = None,
    latched: Optional[bool] = None,
    redact: Optional[bool] = None,
    redaction: Optional[Redaction] = None,
    since: Optional[Position] = None,
    timeout_ms: Optional[int] = None,
) -> Call[Matched]:
    """Waits until a matcher holds.

    Args:
        session: The session's id or name.
        matcher: An object with type and, where the type needs one, value.
        cells: None (default), full or runs.
        latched: Holds when the matcher held at any moment since, or from the wait's beginning
            on, not only when it looks.
        redact: False shows the text as it is, whatever redaction says; default true.
        redaction: More rules for this read.
        since: Only what came after it counts: a sequence, or the next of a wait's answer.
        timeout_ms: Default 30000; 0 looks once.

    Reasons of errors: cancelled, duplicate_member, forbidden, host_lost, host_unreachable,
    internal_error, invalid_matcher, invalid_params, invalid_redaction, limit_exceeded,
    plugin_failed, reply_too_large, server_lost, session_closed, session_ended,
    session_forgotten, timeout, unknown_host, unknown_session.
    """
    return Call("session.wait", given(session=session, matcher=matcher, cells=cells, latched=latched, redact=redact, redaction=redaction, since=since, timeout_ms=timeout_ms), Matched)


def session_wait_many(
    matcher: MatcherValue,
    *,
    evidence: Optional[Literal["matched", "all", "none"]] = None,
    latched: Optional[bool] = None,
    redact: Optional[bool] = None,
    redaction: Optional[Redaction] = None,
    select: Optional[Selection] = None,
    sessions: Optional[Sequence[str]] = None,
    since: Optional[Mapping[str, Position]] = None,
    timeout_ms: Optional[int] = None,
    until: Optional[Literal["any", "all", "each"]] = None,
    wait: Optional[str] = None,
) -> Call[MatchedSessions]:
    """Waits until a matcher holds in one of several sessions, or in each of them.

    Give one of sessions and select.

    Args:
        matcher: An object with type and, where the type needs one, value; each session is
            asked for itself.
        evidence: Whose screens the answer has: those that matched (default), all, or none.
        latched: As of session.wait.
        redact: False shows the text as it is, whatever redaction says; default true.
        redaction: More rules for this read.
        select: Which sessions, those that appear meanwhile too; this or sessions.
        sessions: Ids or names; this or select.
        since: By session, as it is named in sessions, else by its id: only what came after it
            counts there.
        timeout_ms: Default 30000; 0 looks once.
        until: Any (default): it has held in one session; all: in each; each: each has matched
            or ended, and every match is told at once with wait.matched.
        wait: A word of the client's, at most 64 characters, that wait.matched repeats.

    Reasons of errors: cancelled, duplicate_member, forbidden, host_lost, host_unreachable,
    internal_error, invalid_matcher, invalid_params, invalid_redaction, limit_exceeded,
    plugin_failed, reply_too_large, server_lost, session_closed, session_ended, timeout,
    unknown_host, unknown_session.
    """
    return Call("session.wait_many", given(matcher=matcher, evidence=evidence, latched=latched, redact=redact, redaction=redaction, select=select, sessions=sessions, since=since, timeout_ms=timeout_ms, until=until, wait=wait), MatchedSessions)


__all__ = [
    "ActionValue",
    "AdapterCancelWaitResult",
    "AdapterChanged",
    "AdapterEventsResult",
    "AdapterExplainResult",
    "AdapterInfo",
    "AdapterInspectResult",
    "AdapterListResult",
    "AdapterLiveResult",
    "AdapterLiveResultAway",
    "AdapterSendResult",
    "AdapterStateResult",
    "AdapterTurnResult",
    "AdapterTurnSend",
    "AdapterTurnWait",
    "AdapterWaitResult",
    "AllExplanation",
    "AllLocator",
    "AllMatcher",
    "AllOutcome",
    "AmbiguousData",
    "AnyExplanation",
    "AnyLocator",
    "AnyMatcher",
    "AnyOutcome",
    "BellExplanation",
    "BellMatcher",
    "BellOutcome",
    "BesideLocator",
    "BesideLocatorValue",
    "Block",
    "BoxLocator",
    "BracketedPasteAction",
    "CancelRequestResult",
    "Candidate",
    "CannotStartData",
    "Cell",
    "Cells",
    "ClickAction",
    "ClickActionValue",
    "ClickTarget",
    "Closed",
    "CommandFinishedExplanation",
    "CommandFinishedExplanationValue",
    "CommandFinishedMatcher",
    "CommandFinishedMatcherValue",
    "CommandFinishedOutcome",
    "ContainsTextExplanation",
    "ContainsTextMatcher",
    "ContainsTextOutcome",
    "CrossLocator",
    "CrossLocatorValue",
    "Cursor",
    "CursorAtExplanation",
    "CursorAtExplanationValue",
    "CursorAtMatcher",
    "CursorAtMatcherValue",
    "CursorAtOutcome",
    "CursorLocator",
    "DragAction",
    "DragActionValue",
    "EofAction",
    "ErrorData",
    "Event",
    "Exit",
    "ExpectationFailedData",
    "ExplainedRow",
    "Explanation",
    "ForbiddenData",
    "Found",
    "Frame",
    "FrameCursor",
    "FrameModes",
    "FrameRow",
    "FrameSize",
    "GuessLocator",
    "GuessLocatorValue",
    "HasLocator",
    "HasLocatorValue",
    "HostLostData",
    "HostMark",
    "HostUnreachableData",
    "InLocator",
    "InLocatorValue",
    "InputBlockedData",
    "InputData",
    "Instant",
    "IntentRefusedData",
    "InterruptAction",
    "InvalidManifestData",
    "KeyAction",
    "KeyActionValue",
    "KillAction",
    "LacksLocator",
    "LacksLocatorValue",
    "Lease",
    "LimitExceededData",
    "LineTooLongData",
    "LinesLocator",
    "LinkLocator",
    "LocatedExplanation",
    "LocatedExplanationValue",
    "LocatedMatcher",
    "LocatedMatcherValue",
    "LocatedOutcome",
    "Locator",
    "LocatorTree",
    "LostHost",
    "LuaExplanation",
    "LuaExplanationValue",
    "LuaMatcher",
    "LuaMatcherValue",
    "LuaOutcome",
    "Manifest",
    "MarkTranscriptAction",
    "MarkTranscriptActionValue",
    "Matched",
    "MatchedSession",
    "MatchedSessions",
    "MatcherValue",
    "Moment",
    "MomentNotKeptData",
    "MouseAction",
    "MouseActionValue",
    "NOTIFICATIONS",
    "NameTakenData",
    "Nearly",
    "NotExplanation",
    "NotFoundData",
    "NotMatcher",
    "NotOutcome",
    "Notification",
    "OffScreenData",
    "Outcome",
    "OwnedByAdapterData",
    "PROTOCOL",
    "PasteAction",
    "PermissionDeniedData",
    "PickLocator",
    "PickLocatorValue",
    "Place",
    "PluginCapabilitiesResult",
    "PluginDescribeResult",
    "PluginFailedData",
    "PluginLoadResult",
    "PluginReloadResult",
    "PluginUnloadResult",
    "PluginValidateManifestResult",
    "Position",
    "Pressed",
    "ProcessExitedExplanation",
    "ProcessExitedMatcher",
    "ProcessExitedOutcome",
    "Ran",
    "Receipt",
    "RecordingInfo",
    "RectLocator",
    "RectLocatorValue",
    "Redaction",
    "RegexLocator",
    "ReloadError",
    "ReloadedAdapter",
    "ResizeAction",
    "ResizeActionValue",
    "ScreenExplanation",
    "ScreenMatcher",
    "ScreenMatcherValue",
    "ScreenOutcome",
    "ScreenRegexExplanation",
    "ScreenRegexMatcher",
    "ScreenRegexOutcome",
    "ScreenStableExplanation",
    "ScreenStableExplanationValue",
    "ScreenStableMatcher",
    "ScreenStableMatcherValue",
    "ScreenStableOutcome",
    "ScrollAction",
    "ScrollActionValue",
    "Scrolled",
    "Selection",
    "ServerAudit",
    "ServerCapabilitiesResult",
    "ServerDidNotGrantPluginLoadData",
    "ServerHostsResult",
    "ServerHostsResultHosts",
    "ServerLostData",
    "ServerMetricsResult",
    "ServerSetClientResult",
    "ServerSetHostsResult",
    "ServerSetNotificationsResult",
    "ServerSetOrderingResult",
    "ServerSetRightsResult",
    "ServerSetStrictResult",
    "SessionBlocksResult",
    "SessionChanged",
    "SessionCreateResult",
    "SessionEvent",
    "SessionEventNotification",
    "SessionEventsResult",
    "SessionExited",
    "SessionForgetResult",
    "SessionForgetResultAway",
    "SessionForgottenData",
    "SessionGoldenResult",
    "SessionHistoryResult",
    "SessionInfo",
    "SessionInputResult",
    "SessionKillResult",
    "SessionLeaseResult",
    "SessionLeased",
    "SessionLeasedData",
    "SessionListResult",
    "SessionListResultAway",
    "SessionLocateResult",
    "SessionOutput",
    "SessionRecordListResult",
    "SessionRecordListResultAway",
    "SessionRecordStartResult",
    "SessionReleaseResult",
    "SessionResizeResult",
    "SessionScreenshotResult",
    "SessionScrollbackResult",
    "SessionSearchResult",
    "SignalAction",
    "Size",
    "Snapshot",
    "Span",
    "Stage",
    "StaleAdapter",
    "StartedAdapter",
    "State",
    "StateExplanation",
    "StateMatcher",
    "StateOutcome",
    "StreamTextAction",
    "StreamTextActionValue",
    "Stretch",
    "Style",
    "StyleLocator",
    "StyledLine",
    "Target",
    "TextAction",
    "TextLocator",
    "ThemeAction",
    "TitleContainsExplanation",
    "TitleContainsMatcher",
    "TitleContainsOutcome",
    "TitleRegexExplanation",
    "TitleRegexMatcher",
    "TitleRegexOutcome",
    "TooManySecretsData",
    "Transcript",
    "TranscriptContainsExplanation",
    "TranscriptContainsMatcher",
    "TranscriptContainsOutcome",
    "TranscriptRegexExplanation",
    "TranscriptRegexMatcher",
    "TranscriptRegexOutcome",
    "UnkillableData",
    "UnknownIntentData",
    "UnmatchedSession",
    "WaitData",
    "WaitMatched",
    "Witness",
    "adapter_cancel_wait",
    "adapter_close",
    "adapter_events",
    "adapter_explain",
    "adapter_inspect",
    "adapter_list",
    "adapter_live",
    "adapter_resume",
    "adapter_send",
    "adapter_snapshot",
    "adapter_start",
    "adapter_state",
    "adapter_transcript",
    "adapter_turn",
    "adapter_wait",
    "cancel_request",
    "plugin_capabilities",
    "plugin_describe",
    "plugin_load",
    "plugin_reload",
    "plugin_unload",
    "plugin_validate_manifest",
    "server_capabilities",
    "server_hosts",
    "server_metrics",
    "server_set_client",
    "server_set_hosts",
    "server_set_notifications",
    "server_set_ordering",
    "server_set_rights",
    "server_set_strict",
    "session_blocks",
    "session_close",
    "session_create",
    "session_events",
    "session_forget",
    "session_frame",
    "session_golden",
    "session_history",
    "session_input",
    "session_kill",
    "session_lease",
    "session_list",
    "session_locate",
    "session_record_list",
    "session_record_start",
    "session_record_stop",
    "session_release",
    "session_resize",
    "session_run",
    "session_screenshot",
    "session_scrollback",
    "session_search",
    "session_snapshot",
    "session_transcript",
    "session_wait",
    "session_wait_many",
]

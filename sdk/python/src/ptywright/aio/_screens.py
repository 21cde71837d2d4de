"""Golden screens: a screen as a text, and compared with the file that a test keeps of it."""

from __future__ import annotations

from typing import Mapping, Optional, Sequence, Tuple, TypeVar, Union

from .. import _generated as wire
from .._errors import PtywrightError
from .._failures import GoldenRefusedError, InvalidGoldenError, InvalidMatcherError, SessionEndedError
from .._failures import TimeoutError as TimedOut
from .._golden import QUIET, SETTLE, VARIABLE, GoldenError, Screens, Wanted, drop, explained, in_ci, keep
from .._golden import pending, read, save, step_of, wanted
from .._match import Match
from .._matchers import Matcher, exited, regex, screen, stable
from .._moment import Moment, moment
from .._record import Call
from ._face import offload

T = TypeVar("T")


def _bound(timeout: Optional[float]) -> float:
    """Seconds that a wait lasts at most."""
    return 30 if timeout is None else timeout


class Keeping:
    """What a session has for golden screens."""

    id: str
    screens: Screens
    _since: Union[int, str]

    async def _ask(self, call: Call[T]) -> T:
        raise NotImplementedError

    def _expects(self, what: Matcher, timeout: float) -> Call[Match]:
        raise NotImplementedError

    def _waits(
        self, what: Matcher, timeout: float, since: Union[int, str, None], latched: bool
    ) -> Call[Match]:
        raise NotImplementedError

    async def golden(
        self,
        *,
        masks: Sequence[str] = (),
        region: Optional[str] = None,
        text_only: bool = False,
        previous: Optional[str] = None,
        at: Optional[Moment] = None,
        redact: bool = True,
    ) -> wire.SessionGoldenResult:
        """The screen as a golden screen, the text of a file that `expect(screen(...))` compares with.

        Args:
            masks: What differs from run to run, as a file has it: `clock /[0-9:]+/ in row 1`.
            region: Only this rectangle: `ROW,COLUMN ROWSxCOLUMNS`, from 0.
            text_only: Neither styles nor cursor, title and modes.
            previous: The file that it replaces: styles keep their letters, parts, masks and region
                are its, and `same` says whether it says the same.
            at: The screen as it was then, as of `screen`.
            redact: False shows secrets.

        Errors: InvalidGoldenError; GoldenRefusedError, when a mask covers nothing.
        """
        made = await self._ask(
            wire.session_golden(
                self.id,
                masks=masks or None,
                region=region,
                text_only=text_only or None,
                previous=previous,
                at=moment(at),
                redact=redact,
            )
        )
        return made

    async def expect_screen(
        self,
        name: str,
        *,
        mask: Optional[Mapping[str, str]] = None,
        masks: Sequence[str] = (),
        region: Optional[Tuple[int, int, int, int]] = None,
        text_only: bool = False,
        timeout: Optional[float] = None,
    ) -> None:
        """Waits until the screen equals the golden screen of that name, with its colours, cursor,
        title and modes. A file that does not exist is written, but not in CI: see docs/goldens.md.

        Args:
            name: The file's, in the folder of `screens`.
            mask: What differs from run to run: names, and what is covered, as RE2 expressions (their
                first group, if they have one). One that covers nothing fails.
            masks: The same as a file has it: `clock /[0-9:]+/ in row 1`, `logo rect 0,0 3x20`.
            region: Only a rectangle: row, column, rows and columns, from 0.
            text_only: Of a file that is new: neither styles nor cursor, title and modes.
            timeout: Seconds. Without it a screen that differs fails once it has not changed for 5 s, or
                after 30 s.

        Errors: GoldenError, which is an AssertionError.
        """
        what = wanted(mask, masks, region, text_only)
        about, file = f"expect screen {name}", self.screens.path(name)
        try:
            update = self.screens.update
            old = await offload(lambda: read(file))
            step = step_of(update, old is not None)
            if step == "compare":
                await self._compare(file, old or "", what, timeout)
            elif step == "write":
                await self._write(file, old, what, timeout, update == "all")
            else:
                shown = await self._ask(wire.session_snapshot(self.id, cells="none"))
                raise GoldenError(
                    f"{file} does not exist, and CI writes none: run the test without CI set, and "
                    f"commit what it writes\n{shown.plain_text}"
                )
        except (InvalidGoldenError, InvalidMatcherError) as error:
            raise GoldenError(f"{about}: {file}: {error.message}") from None
        except GoldenRefusedError as error:
            raise GoldenError(f"{about}: {error.message}") from None
        except (GoldenError, ValueError) as error:
            raise GoldenError(f"{about}: {error}") from None

    async def _write(
        self, file: str, old: Optional[str], what: Wanted, timeout: Optional[float], always: bool
    ) -> None:
        shown = stable(SETTLE)
        if not self._since:  # before any input a blank screen is one that is not drawn yet
            shown = (regex(r"\S") | exited()) & shown
        still = await self._ask(self._expects(shown, _bound(timeout)))
        made = await self.golden(
            masks=what.masks,
            region=what.region,
            text_only=what.text_only,
            previous=old,
            at=still.screen.sequence,
        )
        if always or not made.same:
            await offload(lambda: keep(file, made.screen))
        else:
            await offload(lambda: drop(file))

    async def _compare(
        self, file: str, old: str, what: Wanted, timeout: Optional[float]
    ) -> None:
        quiet = QUIET if timeout is None else None  # who says how long means it
        try:
            equal = screen(old, what.masks, what.region, quiet)
            await self._ask(self._waits(equal, _bound(timeout), None, False))
        except (TimedOut, SessionEndedError) as error:
            evidence = error.evidence
            why = explained(evidence.raw["matcher"]) if evidence else ""
            left = "" if in_ci() else await self._leave(file, old, what)
            raise GoldenError(f"{error.message}: {file} differs: {why}{left}") from None
        if not in_ci():
            await offload(lambda: drop(file))  # what was to be reviewed is out of date

    async def _leave(self, file: str, old: str, what: Wanted) -> str:
        """Leaves the last screen for a review, and says so; nothing when it cannot be written."""
        try:
            seen = await self.golden(masks=what.masks, region=what.region, previous=old)
        except PtywrightError:
            return ""
        await offload(lambda: save(pending(file), seen.screen))
        return (
            f"\nThe last screen is in {pending(file)}. If it is right, run the test with "
            f"{VARIABLE}=changed."
        )

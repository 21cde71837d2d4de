"""The pytest plugin. Installed with the package; from a source tree: `-p ptywright.pytest`.

    def test_vim(tui):
        with tui("vim", "-u", "NONE") as s:
            s.expect(text="VIM")

`tui` spawns sessions, `tui_async` those of `ptywright.aio`, both on the server `tui_server`, which
the worker's tests share. When a test fails the report has the screens of its sessions; recordings and
pictures of them are kept below `--tui-artifacts`. Sessions that a test leaves open are closed.
`s.expect_screen("start")` keeps its file beside the test, in `__screens__/test_it/test_vim/`;
`--tui-update` writes those that differ.
"""

from __future__ import annotations

import asyncio
import os
import re
import shutil
import tempfile
import uuid
from pathlib import Path
from typing import Any, Callable, Generator, Iterator, List

import pytest

from . import aio, wire
from ._client import Client, start
from ._errors import PtywrightError
from ._golden import UPDATES, Screens
from ._session import Session


def pytest_addoption(parser: pytest.Parser) -> None:
    """Adds --tui-artifacts and --tui-update."""
    group = parser.getgroup("ptywright")
    group.addoption(
        "--tui-artifacts",
        metavar="DIR",
        default="tui-artifacts",
        help="where recordings and pictures of tests that fail are kept (default: tui-artifacts)",
    )
    group.addoption(
        "--tui-update",
        nargs="?",
        const="changed",
        choices=UPDATES,
        help="which golden screens are written: those that differ (changed, also when no word "
        "follows), those that are missing, all or none; by default PTYWRIGHT_UPDATE says so, else "
        "missing, and in CI none",
    )


class _Open:
    """A session of a test, its recording, and how it looked when its block failed."""

    def __init__(self, session: Session, program: str, cast: Path) -> None:
        self.session = session
        self.program = os.path.basename(program)  # alone: arguments may be secret
        self.cast = cast
        self.png = cast.with_suffix(".png")
        self.screen = ""
        try:
            self.recording = session.record(cast).id
        except PtywrightError:
            self.recording = ""  # the program has ended already

    def look(self) -> None:
        """Keeps what the session shows."""
        try:
            self.screen = self.session.screen().plain_text
            self.session.screenshot(self.png)
        except PtywrightError as error:
            self.screen = self.screen or f"no screen: {error}"

    def keep(self, name: str) -> Iterator[str]:
        """What the report says of it; recording and picture get that name."""
        if not self.screen:
            self.look()
        yield self.screen
        try:
            if self.recording:
                self.session.client.call(wire.session_record_stop(self.recording))
        except PtywrightError:
            pass  # it has ended with its session, or the server is gone
        for what, file in (("picture", self.png), ("recording", self.cast)):
            if file.exists():
                os.makedirs(os.path.dirname(name), exist_ok=True)
                shutil.move(file, name + file.suffix)
                yield f"{what}: {name}{file.suffix}"

    def end(self) -> None:
        """Closes the session, and removes what is not kept."""
        try:
            self.session.close()
        except PtywrightError:
            pass  # the server is gone
        for file in (self.cast, Path(f"{self.cast}.part"), self.png):
            if file.exists():
                file.unlink()


class _Test:
    """The sessions of one test."""

    def __init__(self, item: pytest.Item, client: Client, folder: Path) -> None:
        self._item, self._client, self._folder = item, client, folder
        self._open: List[_Open] = []
        self._told = False

    def screens(self) -> Screens:
        """Where its golden screens are: beside it, in __screens__."""
        file, _, test = self._item.nodeid.partition("::")
        folder = Path(str(getattr(self._item, "path", file))).parent / "__screens__"
        name = "/".join([Path(file).stem, *test.split("::")])
        update: Any = self._item.config.getoption("--tui-update")
        return Screens(folder, name, update)

    def add(self, id: str, program: str) -> Callable[[], None]:
        """Notes a session that the test has spawned; returns what is called when its block fails."""
        cast = self._folder / f"{uuid.uuid4().hex}.cast"
        self._open.append(_Open(Session(self._client, id), program, cast))
        return self._open[-1].look

    def tell(self, report: pytest.TestReport) -> None:
        """Adds the screens to the report of a test that failed, and keeps the rest."""
        if self._told:
            return
        self._told = True
        root = self._item.config.rootpath / str(self._item.config.getoption("--tui-artifacts"))
        folder = root / re.sub(r"[^\w.-]+", "-", self._item.nodeid).strip("-")[-150:]
        for n, one in enumerate(self._open, 1):
            program = re.sub(r"[^\w.-]+", "-", one.program)
            title = f"tui {n}: {one.program} (session {one.session.id})"
            report.sections.append((title, "\n".join(one.keep(f"{folder}/{n}-{program}"))))

    def end(self) -> None:
        """Closes what the test has left open."""
        for one in self._open:
            one.end()


_TEST = pytest.StashKey[_Test]()


class Tui(Client):
    """Spawns sessions for a test: `tui("vim")`, with the options of `ptywright.spawn`."""

    def __init__(self, client: Client, test: _Test) -> None:
        super().__init__(client.connection)
        self._test = test

    __call__ = Client.spawn

    def _begun(self, session: Session, program: str) -> Session:
        session.failing = self._test.add(session.id, program)
        session.screens = self._test.screens()
        return session


class AsyncTui(aio.Client):
    """Spawns sessions of `ptywright.aio` for a test: `async with tui_async("vim") as s:`."""

    def __init__(self, client: Client, test: _Test) -> None:
        super().__init__(client.connection)
        self._test = test

    __call__ = aio.Client.spawn

    async def _begun(self, session: aio.Session, program: str) -> aio.Session:
        session.failing = await asyncio.to_thread(self._test.add, session.id, program)
        session.screens = self._test.screens()
        return session


@pytest.fixture(scope="session")
def tui_server() -> Iterator[Client]:
    """A private server for this run, or this worker of pytest-xdist."""
    with start() as client:
        yield client


@pytest.fixture(scope="session")
def _tui_folder() -> Iterator[Path]:  # pyright: ignore[reportUnusedFunction]
    with tempfile.TemporaryDirectory(prefix="ptywright-") as folder:
        yield Path(folder)


@pytest.fixture
def _tui_test(  # pyright: ignore[reportUnusedFunction]
    request: pytest.FixtureRequest, tui_server: Client, _tui_folder: Path
) -> Iterator[_Test]:
    item: Any = request.node
    test = _Test(item, tui_server, _tui_folder)
    item.stash[_TEST] = test
    yield test
    test.end()


@pytest.fixture
def tui(tui_server: Client, _tui_test: _Test) -> Tui:
    """Spawns sessions: `tui(program, *args, ...)`, with the options of `ptywright.spawn`."""
    return Tui(tui_server, _tui_test)


@pytest.fixture
def tui_async(tui_server: Client, _tui_test: _Test) -> AsyncTui:
    """Spawns sessions of `ptywright.aio`, with whatever runs the asynchronous tests."""
    return AsyncTui(tui_server, _tui_test)


@pytest.hookimpl(hookwrapper=True)  # type: ignore[misc]  # pyright: ignore[reportUntypedFunctionDecorator]
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, Any, None]:
    """Adds the screens to the report of a test that fails."""
    outcome = yield
    report: pytest.TestReport = outcome.get_result()
    if report.failed and _TEST in item.stash:
        item.stash[_TEST].tell(report)


"""The pytest plugin. Installed with the package; from a source tree: `-p ptywright.pytest`.

    def test_vim(tui):
        with tui("vim", "-u", "NONE") as s:
            s.expect(text="VIM")

`tui` spawns sessions, `tui_async` those of `ptywright.aio`, both on the server `tui_server`, which
the worker's tests share. When a test fails the report has the screens of its sessions; recordings and
pictures of them are kept below `--tui-artifacts`. Sessions that a test leaves open are closed.
"""

from __future__ import annotations

import os
import re
import shutil
import tempfile
import uuid
from pathlib import Path
from typing import Any, Generator, Iterator, List, NamedTuple, Optional

import pytest

from . import aio, wire
from ._client import Client, start
from ._errors import PtywrightError
from ._session import Session


def pytest_addoption(parser: pytest.Parser) -> None:
    """Adds --tui-artifacts."""
    parser.getgroup("ptywright").addoption(
        "--tui-artifacts",
        metavar="DIR",
        default="tui-artifacts",
        help="where recordings and pictures of tests that fail are kept (default: tui-artifacts)",
    )


class _Open(NamedTuple):
    """A session of a test, and its recording."""

    session: str
    program: str  # its name alone: arguments may be secret
    recording: str
    cast: str


class _Test:
    """The sessions of one test."""

    def __init__(self, item: pytest.Item, client: Client, folder: Path) -> None:
        self._item, self._client, self._folder = item, client, folder
        self._open: List[_Open] = []
        self._told = False

    def cast(self) -> str:
        """A file that a recording can be written to."""
        return str(self._folder / f"{uuid.uuid4().hex}.cast")

    def add(self, session: str, program: str, recording: str, cast: str) -> None:
        """Notes a session that the test has spawned."""
        self._open.append(_Open(session, os.path.basename(program), recording, cast))

    def tell(self, report: pytest.TestReport) -> None:
        """Adds the screens to the report of a test that failed, and keeps the rest."""
        if self._told:
            return
        self._told = True
        root = Path(self._item.config.rootpath, self._item.config.getoption("--tui-artifacts"))
        folder = root / re.sub(r"[^\w.-]+", "-", self._item.nodeid).strip("-")[-150:]
        for n, one in enumerate(self._open, 1):
            title = f"tui {n}: {one.program} (session {one.session})"
            report.sections.append((title, "\n".join(self._keep(one, folder, n))))

    def _keep(self, one: _Open, folder: Path, n: int) -> Iterator[str]:
        session = Session(self._client, one.session)
        program = re.sub(r"[^\w.-]+", "-", one.program)
        name = folder / f"{n}-{program}"
        try:
            yield session.screen().plain_text
            folder.mkdir(parents=True, exist_ok=True)
            session.screenshot(f"{name}.png")
            yield f"picture: {name}.png"
        except (PtywrightError, OSError) as error:
            yield f"no picture: {error}"
        if not one.recording:
            return
        try:
            self._stop(one)
            folder.mkdir(parents=True, exist_ok=True)
            shutil.move(one.cast, f"{name}.cast")
            yield f"recording: {name}.cast"
        except (PtywrightError, OSError) as error:
            yield f"no recording: {error}"

    def _stop(self, one: _Open) -> None:
        try:
            self._client.call(wire.session_record_stop(one.recording))
        except wire.UnknownRecordingError:
            pass  # it has ended with its session

    def end(self) -> None:
        """Closes what the test has left open."""
        for one in self._open:
            try:
                Session(self._client, one.session).close()
            except PtywrightError:
                pass  # the server is gone
            for file in (one.cast, one.cast + ".part"):
                if os.path.exists(file):
                    os.unlink(file)


_TEST = pytest.StashKey[_Test]()


class Tui(Client):
    """Spawns sessions for a test: `tui("vim")`, with the options of `ptywright.spawn`."""

    def __init__(self, client: Client, test: _Test) -> None:
        super().__init__(client.connection)
        self._test = test

    __call__ = Client.spawn

    def _begun(self, session: Session, program: str) -> Session:
        cast = self._test.cast()
        try:
            recording = session.record(cast).id
        except PtywrightError:
            recording = ""  # it has ended already
        self._test.add(session.id, program, recording, cast)
        return session


class AsyncTui(aio.Client):
    """Spawns sessions of `ptywright.aio` for a test: `async with tui_async("vim") as s:`."""

    def __init__(self, client: Client, test: _Test) -> None:
        super().__init__(client.connection)
        self._test = test

    __call__ = aio.Client.spawn

    async def _begun(self, session: aio.Session, program: str) -> aio.Session:
        cast = self._test.cast()
        try:
            recording = (await session.record(cast)).id
        except PtywrightError:
            recording = ""  # it has ended already
        self._test.add(session.id, program, recording, cast)
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


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, Any, None]:
    """Adds the screens to the report of a test that fails."""
    outcome = yield
    report: pytest.TestReport = outcome.get_result()
    test: Optional[_Test] = item.stash.get(_TEST, None)
    if test is not None and report.failed:
        test.tell(report)


"""Golden screens: where tests keep them, and when they are written. The rule is that of every SDK and
of Go's tuitest; docs/goldens.md tells it, sdk/goldens.json holds all of them against it."""

from __future__ import annotations

import os
import re
import tempfile
from typing import Any, List, Literal, Mapping, NamedTuple, Optional, Sequence, Tuple, Union, cast

from ._errors import PtywrightError

Update = Literal["none", "missing", "changed", "all"]
Step = Literal["fail", "write", "compare"]

UPDATES: Tuple[Update, ...] = ("none", "missing", "changed", "all")

VARIABLE = "PTYWRIGHT_UPDATE"

SETTLE = 0.25
"""Seconds for which a screen has to be unchanged before it is written down: longer than programs pause
between two parts of a frame."""


QUIET = 5.0
"""Seconds for which a screen that differs has to be unchanged, after the program has reacted to the last
input, until a comparison that was given no time is over. Most programs that think longer show it."""


class GoldenError(PtywrightError, AssertionError):
    """A screen is not as its golden file has it, or the file is missing, or cannot be read."""


class Screens:
    """Where the golden screens of a test are, for the sessions that it spawns.

    The fixtures of pytest set it; elsewhere:

        s.screens = ptywright.Screens("tests/__screens__", "test_menu")
    """

    def __init__(
        self,
        folder: Union[str, os.PathLike[str]] = "__screens__",
        test: str = "",
        update: Optional[Update] = None,
    ) -> None:
        """folder has a folder for each `/` in test, and in it NAME.screen. update says which files are
        written; without it the variable PTYWRIGHT_UPDATE does, and by default those that are missing,
        in CI none."""
        self._folder = os.fspath(folder)
        self._test = test
        self._update: Optional[Update] = update

    def path(self, name: str) -> str:
        """The file of a golden screen."""
        return path_of(self._folder, self._test, name)

    @property
    def update(self) -> Update:
        """Which files are written. ValueError when the variable says something else."""
        return self._update or update_from(os.environ)


def path_of(folder: str, test: str, name: str) -> str:
    """Where a test keeps a golden screen. What a file's name may not have on some system becomes a
    hyphen."""
    parts = (f"{test}/{name}" if test else name).split("/")
    parts = [re.sub(r'[\x00-\x1f<>:"\\|?*]', "-", part) for part in parts]
    return os.path.join(folder, *(part if part.strip(".") else f"-{part}" for part in parts)) + ".screen"


def update_from(environ: Mapping[str, str]) -> Update:
    """Which files are written, by the environment."""
    said = environ.get(VARIABLE, "")
    for update in UPDATES:
        if said == update:
            return update
    if said:
        raise ValueError(f"{VARIABLE}={said[:32]!r}: have none, missing, changed and all")
    return "none" if environ.get("CI") else "missing"


def step_of(update: Update, exists: bool) -> Step:
    """What a test does with a file."""
    if update in ("changed", "all"):
        return "write"
    if exists:
        return "compare"
    return "fail" if update == "none" else "write"


class Wanted(NamedTuple):
    """What is compared."""

    masks: Tuple[str, ...]
    region: Optional[str]
    text_only: bool


def wanted(
    mask: Optional[Mapping[str, str]],
    masks: Sequence[str],
    region: Optional[Sequence[int]],
    text_only: bool,
) -> Wanted:
    """Masks and a region as a file has them."""
    all: List[str] = [f"{name} /{pattern.replace('/', chr(92) + '/')}/" for name, pattern in (mask or {}).items()]
    area = None
    if region is not None:
        row, col, rows, cols = region
        area = f"{row},{col} {rows}x{cols}"
    return Wanted((*all, *masks), area, text_only)


def read(path: str) -> Optional[str]:
    """The text of a golden file; None when there is none."""
    try:
        with open(path, encoding="utf-8", newline="") as file:
            return file.read()
    except FileNotFoundError:
        return None
    except UnicodeDecodeError as error:
        raise GoldenError(f"{path}: not UTF-8: {error.reason} at byte {error.start}") from None


def save(path: str, text: str) -> None:
    """Writes a file, with the folders above it: readers see the old one or the new one."""
    folder = os.path.dirname(path) or "."
    os.makedirs(folder, exist_ok=True)
    file, temporary = tempfile.mkstemp(prefix=".screen-", dir=folder)
    try:
        with open(file, "w", encoding="utf-8", newline="\n") as out:
            out.write(text)
        os.chmod(temporary, 0o644)
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise


def pending(path: str) -> str:
    """What could replace a file, for a review."""
    return path + ".new"


def keep(path: str, text: str) -> None:
    """Writes a golden file; nothing is left to be reviewed."""
    save(path, text)
    drop(path)


def drop(path: str) -> None:
    """Removes what was left for a review."""
    try:
        os.unlink(pending(path))
    except FileNotFoundError:
        pass


def in_ci() -> bool:
    """Whether this is continuous integration, where nothing is left for a review."""
    return bool(os.environ.get("CI"))


def explained(matcher: Any) -> str:
    """What the evidence of a wait has to say of the screen."""
    node = cast("dict[str, Any]", matcher or {})
    return "\n".join(str(node[k]) for k in ("why", "diff") if node.get(k)).rstrip("\n")

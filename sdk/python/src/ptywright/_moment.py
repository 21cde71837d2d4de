"""Moments of a session's past."""

from __future__ import annotations

import datetime
from typing import Iterable, List, Optional, Union

from . import _generated as wire

Moment = Union[int, datetime.timedelta, datetime.datetime]
"""A moment of a session's past: a sequence, a time before now, or a time by the server's clock. A
datetime without a zone is local time."""


class History(List[wire.Span]):
    """The spans in which a matcher held, in order."""

    kept_from: int
    """The oldest sequence that could be looked at."""
    complete: bool
    """All that was asked about was looked at; otherwise part of it had been dropped."""

    def __init__(self, spans: Iterable[wire.Span], kept_from: int, complete: bool) -> None:
        super().__init__(spans)
        self.kept_from = kept_from
        self.complete = complete


def moment(at: Optional[Moment]) -> Optional[wire.Moment]:
    """A moment as the wire has it."""
    if isinstance(at, datetime.timedelta):
        return {"ago_ms": round(at.total_seconds() * 1000)}
    if isinstance(at, datetime.datetime):
        return {"time": at.astimezone(datetime.timezone.utc).isoformat().replace("+00:00", "Z")}
    return at

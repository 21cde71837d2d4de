"""Waits hold when sdk/waits.json says so, of real programs on a real server."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import ptywright

VECTORS = json.loads((Path(__file__).parents[2] / "waits.json").read_text())


def script(pieces):
    """A shell script that writes the pieces. Each ends with a title, so that it is known to have been
    read, and is followed by a line that is to be typed."""
    parts = ["stty -echo -opost"]
    for i, piece in enumerate(pieces, 1):
        octal = "".join(f"\\{c:03o}" for c in f"{piece}\x1b]2;piece {i}\x07".encode())
        parts += [f"printf '{octal}'", "read -r _"]
    return "; ".join(parts)


@pytest.fixture(scope="module")
def client():
    with ptywright.start() as c:
        yield c


@pytest.mark.parametrize("vector", VECTORS, ids=lambda v: v["name"])
def test_waits(client, vector):
    with client.spawn("sh", "-c", script(vector["pieces"]), rows=4, cols=20) as s:
        after, behind = [0], [None]
        for i in range(1, len(vector["pieces"]) + 1):
            if i > 1:
                s.send("\n")
            m = s.expect(title=f"piece {i}")
            after.append(m.screen.sequence)
            behind.append(m.next)
        following = []
        for ask in vector["asks"]:
            if "from" in ask:
                since = following[ask["from"]]
            elif "behind" in ask:
                since = behind[ask["behind"]]
            else:
                since = after[ask["since"]]
            matcher = ptywright.Matcher(ask["matcher"])
            latched = ask.get("latched", False)
            if not ask["holds"]:
                with pytest.raises(ptywright.TimeoutError) as raised:
                    s.wait(matcher, since=since, latched=latched, timeout=0)
                assert not raised.value.data.missed, ask
                following.append(None)
                continue
            m = s.wait(matcher, since=since, latched=latched, timeout=0)
            following.append(m.next)
            assert not m.missed, ask
            assert m.text == ask.get("text", m.text), ask
            assert m.screen.plain_text == ask.get("screen", m.screen.plain_text), ask

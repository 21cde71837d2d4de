"""A golden test of pick.sh with pytest: the first run writes __screens__, every later one compares."""

from pathlib import Path

PICK = str(Path(__file__).with_name("pick.sh"))


def test_pick(tui):
    with tui("sh", PICK, env={"FZF_DEFAULT_OPTS": ""}) as s:
        s.expect(text="5/5")
        s.expect_screen("all")
        s.send("feat")
        s.wait(text="2/5")
        s.expect_screen("filtered")
        s.press("up", "enter")
        s.wait(text="on feature/search")
        assert s.wait(exited=True).exit.exit_code == 0

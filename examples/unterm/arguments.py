"""The command lines of the examples, and what they say when something goes wrong: one line."""

import argparse
import sys

from client import UntermError


def parse(*words, default=()):
    """Reads --root, a word for each of these names, and a command.

    Everything from the command on is the command's, its options too. A -- before it is no part of it.
    """
    parser = argparse.ArgumentParser()
    parser.add_argument("--root", metavar="DIR", help="the folder that the instances register in")
    for word in words:
        parser.add_argument(word, metavar=word.upper())
    parser.add_argument("command", metavar="COMMAND", nargs=argparse.REMAINDER, help="a command line for the instance's shell")
    given = parser.parse_args()
    command = given.command[1:] if given.command[:1] == ["--"] else given.command
    given.command = " ".join(command or default)
    if not given.command:
        parser.error("COMMAND is missing")
    return given


def _tell(kind, error, trace):
    if issubclass(kind, (OSError, UntermError)):
        print(error, file=sys.stderr)
    else:
        sys.__excepthook__(kind, error, trace)


# What nobody has caught is told in one line, but for mistakes in a program.
sys.excepthook = _tell

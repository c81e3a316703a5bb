"""The `retrograde` command: reads the arguments and calls the subcommand's file. Also `python -m retrograde`."""

from __future__ import annotations

import argparse
import importlib
import sys
from collections.abc import Sequence
from typing import Any

from .._version import __version__

_SUBCOMMANDS = {"run": "run", "diff": "diff", "graph": "graph.command", "install-shim": "shim", "stubs": "stubs"}
"""Name -> file; each has `NAME`, `HELP`, `configure(parser)`, `split(arguments)` and `execute(options, rest)`."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit status.

    `arguments` defaults to those of the process. What a subcommand runs may end in an exception of its own, which
    is left to the interpreter, so that `retrograde run` ends as the program does.
    """
    arguments = list(sys.argv[1:] if arguments is None else arguments)
    parser = argparse.ArgumentParser(
        prog="retrograde", description="Programs written for other autograd frameworks, on one engine."
    )
    parser.add_argument("--version", action="version", version=f"retrograde {__version__}")
    subparsers = parser.add_subparsers(metavar="COMMAND", required=True)
    commands = {}
    for name in arguments[:1] if arguments[:1] in ([x] for x in _SUBCOMMANDS) else _SUBCOMMANDS:  # one that is named comes alone
        command: Any = importlib.import_module(f".{_SUBCOMMANDS[name]}", __package__)
        subparser = subparsers.add_parser(command.NAME, help=command.HELP, description=command.HELP)
        command.configure(subparser)
        subparser.set_defaults(execute=command.execute)
        commands[command.NAME] = command
    rest: list[str] = []
    if arguments and arguments[0] in commands:
        own, rest = commands[arguments[0]].split(arguments[1:])
        arguments = [arguments[0], *own]
    options, unknown = parser.parse_known_args(arguments)
    if unknown:
        _refuse(subparsers.choices[arguments[0]] if arguments[0] in commands else parser, unknown)
    status: int = options.execute(options, rest)
    return status


def _refuse(parser: Any, unknown: Sequence[str]) -> None:
    """Say which arguments there are not, and which options are near, as argparse ends a process."""
    import difflib

    flags = [flag for action in parser._actions for flag in action.option_strings]
    near = [flag for x in unknown for flag in difflib.get_close_matches(x, flags, 1)]
    parser.error(f"not understood: {' '.join(unknown)}" + (f"; near it is {', '.join(near)}" if near else ""))

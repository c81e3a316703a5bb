"""`retrograde stubs`: type stubs of a dialect under the framework's name, for editors and type checkers.

`import torch` in a program resolves to the dialect when the program runs; an editor that does not run it finds the names,
signatures and documentation in the stubs. They are written from the dialect that is installed: signatures from the
functions and classes themselves (`writer`), what functions give from `results/`, which is recorded where their
annotations say `Any` (`make stub-results`).
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from ... import _activate
from .writer import modules, write

NAME = "stubs"
HELP = "write type stubs of the dialects, under the frameworks' names, for editors and type checkers"


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the subcommand's arguments."""
    parser.epilog = (
        "Name the folder to the checker: MYPYPATH=FOLDER for mypy, `stubPath` for pyright and editors that use it "
        "(python.analysis.stubPath), a folder `typings` in the project being what these look into unasked."
    )
    parser.add_argument("folder", metavar="FOLDER", type=Path, help="where the stubs go")
    parser.add_argument(
        "names", nargs="*", metavar="NAME", choices=[*_activate.available(), []], help="torch, paddle or mindspore; all"
    )


def split(arguments: Sequence[str]) -> tuple[list[str], list[str]]:
    """All arguments are our own."""
    return list(arguments), []


def execute(options: argparse.Namespace, rest: list[str]) -> int:
    """Write the stubs; returns the exit status."""
    names = options.names or _activate.available()
    _activate.take_over(names)
    for name in names:
        try:
            count = write(modules(name), options.folder)
        except OSError as error:
            print(f"retrograde stubs: cannot write to {options.folder}: {error}", file=sys.stderr)
            return 1
        print(f"{options.folder / name}: {count} modules")
    return 0

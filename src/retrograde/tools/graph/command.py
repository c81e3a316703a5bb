"""`retrograde graph`: a program is watched while it runs, and at the end its graph is written."""

from __future__ import annotations

import argparse
import contextlib
import os
import sys
from collections.abc import Iterator, Sequence
from typing import Any

from ..._errors import UnsupportedError
from .. import run
from ..seeing.calls import Place
from . import COLOURS, Graph, checked
from .collect import Collecting, collected
from .fold import said
from .records import Leaf, Operation

NAME = "graph"
HELP = "run a program as `retrograde run` does, and write the graph of its last backward pass as a page or picture"

_VALUES = ("--of", "-o", "--output", "--colour", "-m")
"""Options with a value."""


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the subcommand's own arguments, which may stand before the program or behind it."""
    parser.usage = "retrograde graph (SCRIPT | -m MODULE) [--of NAME] [--colour WHAT] -o FILE [--] [ARGS...]"
    parser.add_argument("-o", "--output", metavar="FILE", required=True, help="the file to write: .html, .svg or .dot")
    parser.add_argument(
        "--of",
        metavar="NAME",
        help="the graph of the variable NAME as the program leaves it, instead of its last backward pass",
    )
    parser.add_argument("--colour", choices=COLOURS, default="kind", help="what colours say at first")
    parser.add_argument("-m", dest="module", metavar="MODULE", help="run a module or package, as `python -m` does")
    parser.add_argument("script", nargs="?", metavar="SCRIPT", help="a file, or a folder or zip file with __main__.py")
    parser.set_defaults(compile=False, real=False)


def split(arguments: Sequence[str]) -> tuple[list[str], list[str]]:
    """Divide the arguments into our own and the program's: ours are those that are known here, up to `--`."""
    own: list[str] = []
    rest: list[str] = []
    named = False
    at = 0
    while at < len(arguments):
        argument = arguments[at]
        at += 1
        if argument == "--":
            rest += arguments[at:]
            break
        if argument in _VALUES and not (named and argument == "-m"):
            own += [argument, *arguments[at : at + 1]]
            named = named or argument == "-m"
            at += 1
        elif argument.startswith(("--of=", "--output=", "--colour=")) or (argument in ("-h", "--help") and not named):
            own.append(argument)
        elif named:
            rest.append(argument)
        else:
            own.append(argument)
            named = not argument.startswith("-")
    return own, rest


def execute(options: argparse.Namespace, rest: list[str]) -> int:
    """Run the program and write the graph; the status is 1 where there is none to write."""
    if (options.script is None) == (options.module is None):
        print("retrograde graph: name a SCRIPT or -m MODULE; see retrograde graph --help", file=sys.stderr)
        return 2
    try:
        checked(options.output)
    except ValueError as problem:
        print(f"retrograde {problem}", file=sys.stderr)
        return 2
    outcome: list[int] = []
    status = run.program(options, rest, _watching(options, outcome), NAME)
    return status or max(outcome, default=0)


@contextlib.contextmanager
def _watching(options: argparse.Namespace, outcome: list[int]) -> Iterator[None]:
    """Watch what is computed within, and write its graph at the end, however the program ends."""
    output, watch = os.path.abspath(options.output), Collecting()
    try:
        with watch:
            yield
    finally:
        try:
            root, note = _chosen(watch, options.of)
            graph = Graph(root, options.module or os.path.basename(options.script), note)
            size = graph.save(output, options.colour)
            number = sum(node["k"] == "op" for node in graph.model["nodes"])
            print(f"retrograde: {options.output}: {number} operations, {note}; {size / 1e6:.2f} MB", file=sys.stderr)
        except (ValueError, TypeError, UnsupportedError) as problem:
            print(f"retrograde graph: {str(problem).removeprefix('graph: ')}", file=sys.stderr)
            outcome.append(1)


def _chosen(watch: Collecting, name: str | None) -> tuple[Operation | Leaf, str]:
    """What the graph is of, and how to say so."""
    if name is not None:
        scope: dict[str, Any] = vars(sys.modules["__main__"])
        if name not in scope:
            raise ValueError(f"graph: the program has no variable {name} at its end")
        return collected(scope[name], "graph"), f"the graph of {name}"
    root = watch.backward or watch.asked
    if root is None:
        raise ValueError("graph: the program has made no backward pass; --of NAME shows the graph of a variable")
    watch.name_leaves(root)
    place: Place = root.place if type(root) is Operation else ("", 0)
    return root, "the last of " * (watch.passes > 1) + _passes(watch.passes) + (
        f", from {said(place)}" if place[0] else ""
    )


def _passes(number: int) -> str:
    return "1 backward pass" if number == 1 else f"{number} backward passes"

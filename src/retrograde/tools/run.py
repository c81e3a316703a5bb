"""`retrograde run`: a script or module as `python` would run it, with the frameworks' names resolving to the dialects.

Owns what makes a process look like the script's own: `__main__`, `sys.argv`, `sys.path[0]`, tracebacks, exit status.
"""

from __future__ import annotations

import argparse
import builtins
import contextlib
import gc
import importlib.util
import io
import os
import pkgutil
import re
import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from types import CodeType, ModuleType, TracebackType
from typing import Any

from .. import _activate
from .._collection import Paused
from .._errors import UnsupportedError
from ..backend import launch
from .compiling import Compiling

NAME = "run"
HELP = "run a Python program with `import torch` (and the other dialects there are) answered by retrograde"


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the subcommand's own arguments; those after SCRIPT or `-m MODULE` are the program's."""
    parser.usage = (
        "retrograde run [--processes N [--prefix] [--hosts LIST]] [--compile | --real | --nan [--json] | --report FILE] "
        "(SCRIPT | -m MODULE) [ARGS...]"
    )
    parser.add_argument(
        "--compile", action="store_true",
        help="compile the statements that take the time, such as a training step, while the program runs, and say on standard "
        "error at the end which and what it has changed",
    )  # fmt: skip
    parser.add_argument("--real", action="store_true", help="use the installed frameworks instead, for comparison")
    parser.add_argument(
        "--nan", action="store_true",
        help="say on standard error at the end where the first nan (or infinity) that reached a loss, a gradient or a parameter "
        "began: the operation, its line, its operands, and what usually helps",
    )  # fmt: skip
    parser.add_argument(
        "--json", action="store_true", help="with --nan: say it on standard output as JSON, and print there nothing else"
    )
    parser.add_argument(
        "--report", metavar="FILE",
        help="write a page (.html) at the end: losses, gradients, updates, dead units, time and memory by line",
    )
    parser.add_argument(
        "--processes", type=int, metavar="N",
        help="start N processes of the program through MPI, which torch.distributed and the other dialects' collective "
        "operations connect",
    )  # fmt: skip
    parser.add_argument("--prefix", action="store_true", help="with --processes: begin each line with the process's number")
    parser.add_argument(
        "--hosts", metavar="LIST",
        help="with --processes: on which machines they run, and how many on each: a:2,b:2 (mpiexec's --host; reached by ssh, "
        "with this Python and the program at the same places)",
    )  # fmt: skip
    parser.add_argument("-m", dest="module", metavar="MODULE", help="run a module or package, as `python -m` does")
    parser.add_argument("script", nargs="?", metavar="SCRIPT", help="a file, or a folder or zip file with __main__.py")


def split(arguments: Sequence[str]) -> tuple[list[str], list[str]]:
    """Divide the arguments into our own and the program's, which come after what names the program."""
    for i, argument in enumerate(arguments):
        if i and arguments[i - 1] in ("--processes", "--hosts", "--report"):
            continue
        if argument == "-m":
            return list(arguments[: i + 2]), list(arguments[i + 2 :])
        if argument.startswith("-m") or not argument.startswith("-"):
            return list(arguments[: i + 1]), list(arguments[i + 1 :])
    return list(arguments), []


def execute(options: argparse.Namespace, rest: list[str]) -> int:
    """Run the program in this process; gives a status other than 0 only when it could not be started.

    An exception that the program does not catch, SystemExit and KeyboardInterrupt included, passes through, and the
    interpreter ends the process as it does after `python SCRIPT`; only the traceback leaves out retrograde's frames.
    """
    if (options.script is None) == (options.module is None):
        print("retrograde run: name a SCRIPT or -m MODULE; see retrograde run --help", file=sys.stderr)
        return 2
    if options.compile and options.real:
        print("retrograde run: --compile is for retrograde's dialects, not for --real", file=sys.stderr)
        return 2
    if options.nan and (options.compile or options.real):
        print("retrograde run: --nan goes with neither --compile nor --real: it watches every operation", file=sys.stderr)
        return 2
    if options.json and not options.nan:
        print("retrograde run: --json goes with --nan", file=sys.stderr)
        return 2
    if options.report is not None and (options.compile or options.real or options.nan or options.processes is not None):
        print(
            "retrograde run: --report goes with none of --compile, --real, --nan and --processes: it watches every operation",
            file=sys.stderr,
        )
        return 2
    if options.report is not None and not options.report.endswith(".html"):
        print(f"retrograde run: --report writes a page, whose name ends in .html; got {options.report}", file=sys.stderr)
        return 2
    if options.hosts is not None and options.processes is None:
        print("retrograde run: --hosts goes with --processes", file=sys.stderr)
        return 2
    if options.processes is not None:
        return _several(options, rest)
    return program(options, rest, _watching(options))


def program(
    options: argparse.Namespace, rest: list[str], watching: contextlib.AbstractContextManager[Any], command: str = NAME
) -> int:
    """Run what `options` names (`script` or `module`; `compile`, `real`) in this process, within `watching`."""
    launch.describe()
    dialects = _activate.available()
    if dialects and not options.real:
        _activate.take_over(dialects)
        sys.meta_path.insert(0, _Spawning(dialects))
        _load_ahead(options.script, dialects)
    elif options.real:
        _activate.only_real()
    main = ModuleType("__main__")
    main.__dict__["__builtins__"] = builtins  # as in a script: the module, where exec alone would put its dict
    sys.modules["__main__"] = main
    compiling = Compiling(main) if options.compile else None
    try:
        if options.module is not None:
            code = _prepare_module(main, options.module, rest)
        else:
            code = prepare_script(main, options.script, rest)
        if compiling is not None:
            code = compiling.begin(code)
        with watching:
            exec(code, main.__dict__)  # noqa: S102 - this is what was asked for
        if compiling is not None:
            compiling.whole = True
    except _CannotRun as reason:
        print(f"retrograde {command}: {reason}", file=sys.stderr)
        return reason.status
    except BaseException as error:
        if compiling is not None and isinstance(error, SystemExit) and not error.code:
            compiling.whole = True
        if options.real and isinstance(error, ModuleNotFoundError) and error.name in dialects:
            error.add_note(f"--real needs {error.name} installed for {sys.executable}; install it, or leave --real out")
        _begin_traceback_in_program()
        raise
    return 0


def _several(options: argparse.Namespace, rest: list[str]) -> int:
    """Become what starts several processes of the program: signals and the exit status are its."""
    if options.processes < 1:
        print(f"retrograde run: --processes wants a number above 0, got {options.processes}", file=sys.stderr)
        return 2
    flags = [f"--{name}" for name in ("compile", "real", "nan", "json") if getattr(options, name)]
    program = [options.script] if options.module is None else ["-m", options.module]
    try:
        whole = launch.command(
            options.processes, [sys.executable, "-m", "retrograde", NAME, *flags, *program, *rest], prefix=options.prefix,
            hosts=options.hosts,
        )  # fmt: skip
    except UnsupportedError as problem:
        print(f"retrograde run: {problem}", file=sys.stderr)
        return 2
    sys.stdout.flush()
    return launch.become(whole)


def _load_ahead(script: str | None, dialects: Sequence[str]) -> None:
    """Load the dialects that a file begins with importing, as long as there is nothing of the program, and let no garbage
    collection look at what there is by then: at the end of a process there are three, which took a fifth of the time of a short
    program. What the program makes is collected as ever."""
    source = b""
    with contextlib.suppress(Exception), Paused():  # whatever is wrong is for the program to meet
        if script is not None and os.path.isfile(script):
            with io.open_code(os.path.abspath(script)) as file:
                source = file.read()
        for name in dialects:
            if re.search(rb"^(?:import|from)\s+%b\b" % name.encode(), source, re.MULTILINE):
                importlib.import_module(f"{_activate.DIALECTS}.{name}")
        gc.freeze()


def _watching(options: argparse.Namespace) -> contextlib.AbstractContextManager[None]:
    if options.report is not None:
        from .report.program import reporting

        return reporting(options.report)
    if not options.nan:
        return contextlib.nullcontext()
    from .nan.program import watching

    return watching(options.json)


class _CannotRun(Exception):
    """The program could not be started; the message says why, the status is what `python` gives then."""

    def __init__(self, reason: str, status: int) -> None:
        super().__init__(reason)
        self.status = status


def prepare_script(main: ModuleType, script: str, rest: list[str]) -> CodeType:
    """Set up the process for a file, or for a folder or zip file with a `__main__.py`; returns the code to run."""
    sys.argv[:] = [script, *rest]
    path = os.path.abspath(script)
    importer = pkgutil.get_importer(path)
    if importer is not None:  # a folder or a zip file: it goes on the path itself
        _set_first_path(path)
        spec = importer.find_spec("__main__", None)
        if spec is None:
            raise _CannotRun(f"there is no __main__.py in {script!r}", 1)
        return _prepare_spec(main, spec)
    try:
        with io.open_code(path) as file:
            source = file.read()
    except OSError as error:
        raise _CannotRun(f"cannot open {script!r}: {error.strerror}{_near_files(path)}", 2) from None
    _set_first_path(os.path.dirname(os.path.realpath(path)))
    loader = SourceFileLoader("__main__", path)
    vars(main).update(__file__=path, __cached__=None, __loader__=loader, __package__=None, __spec__=None)
    return compile(source, path, "exec", dont_inherit=True)


def _near_files(path: str) -> str:
    """The clause of an error message that names what is near a file that does not exist."""
    import difflib

    folder, name = os.path.split(path)
    found = difflib.get_close_matches(name, os.listdir(folder) if os.path.isdir(folder) else (), 1)
    return f"; near it is {found[0]}" if found else ""


def _prepare_module(main: ModuleType, name: str, rest: list[str]) -> CodeType:
    """Set up the process for a module, as `python -m` does; returns the code to run."""
    sys.argv[:] = ["-m", *rest]
    _set_first_path(os.getcwd())
    name = _activate.own_name(name)
    spec = _find(name)
    if spec is not None and spec.submodule_search_locations is not None:
        name += ".__main__"
        spec = _find(name)
    if spec is None:
        raise _CannotRun(f"no module named {name!r}", 1)
    code = _prepare_spec(main, spec)
    sys.argv[0] = main.__file__ or name
    return code


def _find(name: str) -> ModuleSpec | None:
    """A module's spec, its parents imported; None when it or a parent is missing, not when one fails to import."""
    if name.startswith("."):
        return None
    try:
        return importlib.util.find_spec(name)
    except ModuleNotFoundError as error:
        if error.name is not None and f"{name}.".startswith(f"{error.name}."):
            return None
        raise
    except ValueError:  # a module in sys.modules that has no spec, such as `__main__`
        return None


def _prepare_spec(main: ModuleType, spec: ModuleSpec) -> CodeType:
    loader: Any = spec.loader
    code = loader.get_code(spec.name) if hasattr(loader, "get_code") else None
    if code is None:
        raise _CannotRun(f"{spec.name!r} has no Python code to run", 1)
    vars(main).update(
        __file__=spec.origin, __cached__=spec.cached, __loader__=loader, __package__=spec.parent, __spec__=spec
    )
    return code


def _set_first_path(entry: str) -> None:
    """Put the program's folder where the interpreter has put the folder of the command (nowhere under `python -P`)."""
    if not sys.flags.safe_path:
        sys.path[0] = entry


def _begin_traceback_in_program() -> None:
    """Let the report of the exception that is about to end the process begin with the program's first frame."""
    hook = sys.excepthook  # the program's own, if it has set one
    ours = (__file__, importlib.util.__file__)

    def report(kind: type[BaseException], error: BaseException, traceback: TracebackType | None) -> None:
        entry = traceback
        while entry is not None and entry.tb_frame.f_code is not program.__code__:
            entry = entry.tb_next
        if entry is not None:
            traceback = entry.tb_next
        # What looked for the program failed before it began: a syntax error, or a package that does not import.
        while traceback is not None and traceback.tb_frame.f_code.co_filename.startswith(("<frozen ", *ours)):
            traceback = traceback.tb_next
        from .._traceback import shorten

        _activate.say_who_answers(error)
        shorten(error.with_traceback(traceback))
        hook(kind, error, error.__traceback__)

    sys.excepthook = report


class _Spawning:
    """A meta-path finder that lets processes which multiprocessing starts afresh activate the dialects before they import the
    program. It acts when multiprocessing is asked for them: to load that takes ten milliseconds."""

    def __init__(self, dialects: tuple[str, ...]) -> None:
        self.dialects = dialects

    def find_spec(self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None) -> ModuleSpec | None:
        """See `importlib.abc.MetaPathFinder`."""
        if name != "multiprocessing.spawn":
            return None
        spec = PathFinder.find_spec(name, path, target)
        loader: Any = None if spec is None else spec.loader
        if loader is not None:
            execute = loader.exec_module

            def exec_module(module: Any) -> None:
                execute(module)
                prepare = module.get_preparation_data
                module.get_preparation_data = lambda main: {**prepare(main), "retrograde": _Activation(self.dialects)}

            loader.exec_module = exec_module
        return spec


class _Activation:
    """Activates the dialects where it is unpickled: a new process unpickles it before anything of the program."""

    def __init__(self, dialects: tuple[str, ...]) -> None:
        self.dialects = dialects

    def __reduce__(self) -> tuple[Any, ...]:
        return _activate.take_over, (self.dialects,)

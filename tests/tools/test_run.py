"""`retrograde run`: a program runs as under `python`, only that the frameworks' names give the dialects."""

import os
import signal
import subprocess
import sys
import zipfile
from pathlib import Path
from textwrap import dedent

import pytest

from retrograde import __version__

PYTHON = [sys.executable]
RUN = [sys.executable, "-m", "retrograde", "run"]

PROGRAMS = {
    "prints": "print('hello')",
    "identity": """
        import os, sys
        spec = __spec__ and (__spec__.name, __spec__.origin)
        print(__name__, __file__, __package__, spec, type(__loader__).__name__, type(__builtins__).__name__)
        print(sys.argv, sys.path[0], sys.modules["__main__"].__dict__ is globals())
        """,
    "annotations are not turned to strings": "def f(x: int): pass\nprint(f.__annotations__)",
    "encoding": "# coding: latin-1\nprint(ascii('é'))",
    "stdin": "import sys\nprint(sys.stdin.read(), input.__name__)",
    "exit status": "import sys\nsys.exit(7)",
    "exit with a message": "import sys\nsys.exit('bye')",
    "exit with nothing": "raise SystemExit",
    "uncaught": """
        def f(x):
            return 1 / x

        f(0)
        """,
    "uncaught with a cause and a note": """
        def f():
            raise KeyError("k")
        try:
            f()
        except KeyError as e:
            error = ValueError("v")
            error.add_note("a note")
            raise error from e
        """,
    "uncaught group": "raise ExceptionGroup('several', [ValueError(1), TypeError(2)])",
    "syntax error": "print(1)\nx = = 1",
    "missing import": "import a_module_that_is_nowhere",
    "own excepthook": """
        import sys, traceback
        def hook(kind, error, tb):
            print("hook", kind.__name__, error, [f.name for f in traceback.extract_tb(tb)],
                  [f.line for f in traceback.extract_tb(error.__traceback__)])
        sys.excepthook = hook
        def f():
            raise ValueError("v")
        f()
        """,
    "failing excepthook": """
        import sys
        def hook(kind, error, tb):
            sys.stderr.write("in the hook\\n")
            raise SystemExit(9)
        sys.excepthook = hook
        1 / 0
        """,
    "pristine hooks": "import sys\nprint(sys.excepthook is sys.__excepthook__, sys.displayhook is sys.__displayhook__)",
    # The handler is set because a background job of a shell, and what `nohup` starts, inherit SIGINT as ignored.
    "keyboard interrupt": """
        import os, signal, time
        signal.signal(signal.SIGINT, signal.default_int_handler)
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(5)
        """,
    "killed": "import os, signal\nos.kill(os.getpid(), signal.SIGKILL)",
    "threads and atexit": """
        import atexit, threading, time
        atexit.register(print, "at exit")
        def work():
            time.sleep(0.2)
            import __main__
            print("thread", __main__.marker)
        threading.Thread(target=work).start()
        marker = 5
        print("end")
        """,
    "pickle": """
        import pickle
        class Point:
            def __init__(self, x):
                self.x = x
        data = pickle.dumps(Point(3))
        print(b"__main__" in data, pickle.loads(data).x, Point.__module__)
        """,
    "dataclass and inspect": """
        import dataclasses, inspect
        @dataclasses.dataclass
        class Point:
            x: "int"
        print(Point(1), inspect.getsource(Point).splitlines()[1])
        """,
    "spawned pool": """
        import multiprocessing
        def square(x):
            return x * x
        if __name__ == "__main__":
            with multiprocessing.get_context("spawn").Pool(1) as pool:
                print(pool.map(square, range(4)))
        """,
    "warning": "import warnings\nwarnings.warn('old', DeprecationWarning)",
    "sibling": "import sibling\nprint(sibling.value)",
}


def run(command: list[str], folder: Path, **options) -> subprocess.CompletedProcess:
    return subprocess.run(
        command,
        check=False,
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=60,
        **{"input": "some input", **options},
    )


def write(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(dedent(text).encode("latin-1"))


def assert_same(ours: list[str], folder: Path, **options) -> subprocess.CompletedProcess:
    """Both commands print the same on both streams and end the same."""
    wanted, got = run(PYTHON + ours, folder, **options), run(RUN + ours, folder, **options)
    assert (got.returncode, got.stdout, got.stderr) == (wanted.returncode, wanted.stdout, wanted.stderr)
    return got


@pytest.mark.parametrize("name", PROGRAMS)
def test_script_as_python_runs_it(tmp_path, name):
    write(tmp_path, {"sub/program.py": PROGRAMS[name], "sub/sibling.py": "value = 3"})
    assert_same(["sub/program.py", "one", "--two", "-m", "--help"], tmp_path)


def test_the_comparison_compares_something(tmp_path):
    write(tmp_path, {"uncaught.py": PROGRAMS["uncaught"], "interrupt.py": PROGRAMS["keyboard interrupt"]})
    uncaught = run([*RUN, "uncaught.py"], tmp_path)
    assert uncaught.returncode == 1
    assert uncaught.stderr.startswith('Traceback (most recent call last):\n  File "' + str(tmp_path / "uncaught.py"))
    assert "return 1 / x" in uncaught.stderr
    assert "retrograde" not in uncaught.stderr
    assert run([*RUN, "interrupt.py"], tmp_path).returncode == -signal.SIGINT
    assert run(["sh", "-c", " ".join(RUN) + " interrupt.py; echo $?"], tmp_path).stdout == "130\n"


def test_link_to_a_script(tmp_path):
    files = {"there/program.py": dedent(PROGRAMS["identity"]) + PROGRAMS["sibling"], "there/sibling.py": "value = 3"}
    write(tmp_path, files)
    (tmp_path / "link.py").symlink_to(tmp_path / "there" / "program.py")
    assert assert_same(["link.py"], tmp_path).stdout.endswith("3\n")


def test_folder_and_zip_file(tmp_path):
    main = dedent(PROGRAMS["identity"]) + "import sibling\nsibling.f()"
    files = {"__main__.py": main, "sibling.py": "def f(): raise ValueError"}
    write(tmp_path / "folder", files)
    with zipfile.ZipFile(tmp_path / "program.zip", "w") as file:
        for name in files:
            file.write(tmp_path / "folder" / name, name)
    for program in ("folder", "program.zip"):
        wanted, got = (run([*command, program, "-x"], tmp_path) for command in (PYTHON, RUN))
        assert (got.returncode, got.stdout) == (wanted.returncode, wanted.stdout)
        assert got.returncode == 1
        # The interpreter's own frames that lead to a folder's program are left out as ours are.
        first = f'  File "{tmp_path / program / "__main__.py"}"'
        assert got.stderr.startswith(f"Traceback (most recent call last):\n{first}")
        assert got.stderr.splitlines()[-3:] == wanted.stderr.splitlines()[-3:]
    (tmp_path / "empty").mkdir()
    got = run([*RUN, "empty"], tmp_path)
    assert (got.returncode, got.stdout) == (1, "")
    assert "no __main__.py in 'empty'" in got.stderr


PACKAGE = {
    "pack/__init__.py": "print('pack')",
    "pack/__main__.py": PROGRAMS["identity"],
    "pack/mod.py": "from . import sibling\nimport sys\nprint(__name__, __package__, __spec__.name, __file__, sys.argv)",
    "pack/sibling.py": "",
    "pack/fails.py": "import pack.sibling\ndef f():\n    raise KeyError(1)\nf()",
    "pack/wrong.py": "x = = 1",
    "bad/__init__.py": "import a_module_that_is_nowhere",
    "bad/mod.py": "",
}


@pytest.mark.parametrize("module", ["pack", "pack.mod", "pack.sibling", "json.tool"])
def test_module_as_python_runs_it(tmp_path, module):
    write(tmp_path, PACKAGE)
    assert_same(["-m", module, "--", "-"], tmp_path, input='{"a": [1, 2]}')


def test_module_argument_may_be_joined(tmp_path):
    write(tmp_path, PACKAGE)
    assert run([*RUN, "-mpack.mod", "a"], tmp_path).stdout == run([*RUN, "-m", "pack.mod", "a"], tmp_path).stdout


@pytest.mark.parametrize(
    ("module", "first"), [("pack.fails", "fails.py"), ("pack.wrong", "wrong.py"), ("bad.mod", "bad")]
)
def test_module_that_fails(tmp_path, module, first):
    write(tmp_path, PACKAGE)
    wanted, got = (run([*command, "-m", module], tmp_path) for command in (PYTHON, RUN))
    assert (got.returncode, got.stdout) == (wanted.returncode, wanted.stdout)
    files = [line for line in got.stderr.splitlines() if line.startswith("  File")]
    assert first in files[0]
    assert "retrograde" not in got.stderr
    assert got.stderr.splitlines()[-1] == wanted.stderr.splitlines()[-1]


@pytest.mark.parametrize("module", ["nowhere", "pack.nowhere", "nowhere.mod", "json", ".pack", "sys"])
def test_module_that_cannot_run(tmp_path, module):
    write(tmp_path, PACKAGE)
    wanted, got = (run([*command, "-m", module], tmp_path) for command in (PYTHON, RUN))
    assert got.returncode == wanted.returncode == 1
    assert got.stderr.startswith("retrograde run: ")
    assert module in got.stderr
    assert got.stderr.count("\n") == 1


def test_missing_script(tmp_path):
    got = run([*RUN, "nowhere.py"], tmp_path)
    assert (got.returncode, got.stdout) == (2, "")
    assert got.stderr == "retrograde run: cannot open 'nowhere.py': No such file or directory\n"


def test_nothing_to_run(tmp_path):
    for arguments in ([], ["--real"]):
        got = run(RUN + arguments, tmp_path)
        assert (got.returncode, got.stdout) == (2, "")
        assert "SCRIPT" in got.stderr
    assert run([*RUN, "-m"], tmp_path).returncode == 2
    assert run([*RUN, "--unknown", "x.py"], tmp_path).returncode == 2


def test_safe_path(tmp_path):
    write(tmp_path, {"program.py": "import sys\nprint('' in sys.path, sys.path[0] == sys.argv[1])"})
    for command in (PYTHON, RUN):
        command = [command[0], "-P", *command[1:], "program.py", str(tmp_path)]
        assert run(command, tmp_path).stdout == "False False\n"


def test_console_script(tmp_path):
    command = Path(sys.executable).with_name("retrograde")
    if not command.exists():
        pytest.skip("the console script is not installed beside this interpreter")
    write(tmp_path, {"sub/program.py": PROGRAMS["identity"], "sub/fails.py": PROGRAMS["uncaught"]})
    for program in ("sub/program.py", "sub/fails.py"):
        wanted, got = run([*PYTHON, program], tmp_path), run([str(command), "run", program], tmp_path)
        assert (got.returncode, got.stdout, got.stderr) == (wanted.returncode, wanted.stdout, wanted.stderr)


def test_help_and_version(tmp_path):
    command = [sys.executable, "-m", "retrograde"]
    assert run([*command, "--version"], tmp_path).stdout == f"retrograde {__version__}\n"
    assert " run " in run([*command, "--help"], tmp_path).stdout
    assert "-m MODULE" in run([*command, "run", "--help"], tmp_path).stdout
    nothing = run(command, tmp_path)
    assert nothing.returncode == 2
    assert "usage: retrograde" in nothing.stderr
    assert run([*command, "frobnicate"], tmp_path).returncode == 2


WRONG = {"torch/__init__.py": "print('the framework in the folder')"}


def test_torch_is_the_dialect(tmp_path):
    write(tmp_path, WRONG)
    write(tmp_path, {"program.py": """
        import os, sys
        import torch
        import torch.nn.functional as F
        from torch.optim import lr_scheduler
        import retrograde
        print(torch is retrograde.dialects.torch, F is torch.nn.functional, torch.optim.lr_scheduler is lr_scheduler)
        print(torch.__file__.startswith(os.path.dirname(retrograde.__file__)))
        x = torch.tensor(3.0, requires_grad=True)
        print(torch.autograd.grad(x ** 2, x))
        """})
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])}
    for command in ([*RUN, "program.py"], [*RUN, "-m", "program"]):
        got = run(command, tmp_path, env=environment)
        assert got.stdout == "True True True\nTrue\n(tensor(6.),)\n", got.stderr


def test_no_collection_looks_at_what_was_there_before_the_program(tmp_path):
    write(tmp_path, {"program.py": """
        import gc, sys
        print(gc.get_freeze_count() > 10_000, "torch" in sys.modules, "multiprocessing" in sys.modules)

        class Cell:
            def __init__(self, name):
                self.own, self.name = self, name

            def __del__(self):
                print(self.name, sys is not None, torch.ones(2).sum().item())

        import torch
        cell = Cell("first")
        del cell
        gc.collect()
        cell = Cell("at the end")

        @torch.no_grad()
        def f(x):
            return f
        f.f = f
        """})
    got = run([*RUN, "program.py"], tmp_path)
    assert (got.stdout, got.stderr) == ("True False False\nfirst True 2.0\nat the end True 2.0\n", "")


def test_torch_in_spawned_processes(tmp_path):
    write(tmp_path, WRONG)
    write(tmp_path, {"program.py": """
        import multiprocessing
        import torch

        class Cell:
            def __init__(self, x):
                self.x = x

        def work(cell):
            return torch.__package__, float(torch.tensor(cell.x) * 2)

        if __name__ == "__main__":
            for method in ("spawn", "forkserver", "fork"):
                with multiprocessing.get_context(method).Pool(1) as pool:
                    print(method, pool.map(work, [Cell(1.5)]))
        """})
    got = run([*RUN, "program.py"], tmp_path)
    assert got.stdout == "".join(
        f"{method} [('retrograde.dialects.torch', 3.0)]\n" for method in ("spawn", "forkserver", "fork")
    ), got.stderr


def test_unknown_module_of_the_dialect(tmp_path):
    write(tmp_path, {"program.py": "import torch\nimport torch.nn.functionall"})
    got = run([*RUN, "program.py"], tmp_path)
    assert got.returncode == 1
    assert "retrograde" in got.stderr
    assert "near: torch.nn.functional" in got.stderr


def test_real(tmp_path):
    write(tmp_path, {**WRONG, "program.py": "import torch"})
    assert run([*RUN, "--real", "program.py"], tmp_path).stdout == "the framework in the folder\n"
    assert run([*RUN, "--real", "-m", "program"], tmp_path).stdout == "the framework in the folder\n"


def test_real_that_is_not_installed(tmp_path):
    if run([*PYTHON, "-c", "import torch"], tmp_path).returncode == 0:
        pytest.skip("PyTorch is installed beside this interpreter")
    write(tmp_path, {"program.py": "import torch"})
    got = run([*RUN, "--real", "program.py"], tmp_path)
    assert got.returncode == 1
    assert "No module named 'torch'" in got.stderr
    assert "--real needs torch installed" in got.stderr

"""The torch dialect on CUDA devices: no GPU is at hand, so a stand-in for CuPy (cupy_stand_in.py) says where it would not run.

What needs the stand-in runs in a process of its own, since the name `cupy` and what is remembered of it are the process's.
"""

from __future__ import annotations

import importlib.util
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
CASES = re.findall(r"^def (\w+)\(\) -> None:$", (HERE / "cuda_cases.py").read_text(), re.MULTILINE)
PROGRAMS = sorted((HERE / "cuda_programs").glob("*.py"))
IN_STAND_IN = (
    "import sys, runpy; sys.path.insert(0, {here!r}); import cupy_stand_in; {install}; import retrograde; "
    "retrograde.activate('torch'); runpy.run_path(sys.argv[1], run_name='__main__'); {count}"
)


def run(*arguments: str, **environment: str) -> str:
    done = subprocess.run(
        [sys.executable, *arguments], capture_output=True, text=True, timeout=600, env={**os.environ, **environment}, check=False
    )
    assert not done.returncode, done.stdout[-2000:] + done.stderr[-4000:]
    return done.stdout


@pytest.fixture(scope="module")
def outcomes() -> dict[str, str]:
    """What each case raised, of one process that ran them all."""
    found: dict[str, str] = json.loads(run(str(HERE / "cuda_cases.py")).splitlines()[-1])
    return found


def test_every_case_runs(outcomes: dict[str, str]) -> None:
    assert sorted(outcomes) == sorted(CASES)


@pytest.mark.parametrize("case", CASES)
def test_on_the_stand_in(case: str, outcomes: dict[str, str]) -> None:
    assert not outcomes[case], outcomes[case]


def numbers(text: str) -> list[float]:
    return [float(x) for x in re.findall(r"-?\d+\.?\d*(?:e[+-]\d+)?", text)]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.stem)
def test_programs_print_what_they_print_on_the_cpu(program: Path) -> None:
    count = "print('host copies', cupy_stand_in.GETS[0])"
    cuda = run("-c", IN_STAND_IN.format(here=str(HERE), install="cupy_stand_in.installed()", count=count), str(program))
    cpu = run("-c", IN_STAND_IN.format(here=str(HERE), install="pass", count=count), str(program))
    (*found, copies), (*expected, _) = cuda.splitlines(), cpu.splitlines()
    assert len(found) == len(expected) > 2
    for a, b in zip(found, expected):
        assert re.sub(r"[\d.e+-]+", "#", a) == re.sub(r"[\d.e+-]+", "#", b)
        for x, y in zip(numbers(a), numbers(b)):
            assert x == pytest.approx(y, rel=2e-3), (a, b)
    assert numbers(copies)[0] < 50  # state dicts, a file, drawn numbers; no step copies arrays


@pytest.mark.long
def test_recorded_operations_are_the_cpu_s() -> None:
    """The samples of tests/opinfo, on the second device: those that are right on the CPU, but for second derivatives of products
    along an axis (index_reduce, scatter_reduce) and the one that asks for the CPU."""
    text = run(str(HERE.parent / "opinfo" / "replay.py"), "--device", "cuda:1", "--stand-in", "--min-ops", "286")
    assert "ops missing: 0" in text


@pytest.mark.long
def test_layers_are_the_cpu_s() -> None:
    assert run(str(HERE / "cuda_layers.py")).splitlines()[-1].startswith("all")


def test_the_stand_in_refuses_what_cupy_refuses() -> None:
    spec = importlib.util.spec_from_file_location("cupy_stand_in_alone", HERE / "cupy_stand_in.py")
    assert spec is not None
    assert spec.loader is not None
    stand_in = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(stand_in)
    cupy = stand_in.modules()["cupy"]
    import numpy as np

    x = cupy.arange(3.0)
    for call in (lambda: x + np.ones(3), lambda: np.ones(3) + x, lambda: cupy.add(x, np.ones(3)), lambda: np.asarray(x),
                 lambda: x[np.array([0])], lambda: cupy.concatenate([x, np.ones(1)])):  # fmt: skip
        with pytest.raises((TypeError, ValueError)):
            call()
    with stand_in.Device(1):
        y = cupy.arange(3.0)
        for call in (lambda: x + y, lambda: cupy.sin(x), lambda: x.sum()):
            with pytest.raises(ValueError, match="current"):
                call()
        assert x.copy().device.id == 1
    for name in ("block", "errstate", "bfloat16", "vecdot", "geomspace"):
        assert not hasattr(cupy, name)
    assert type(x.sum()) is type(x[0]) is type(x)

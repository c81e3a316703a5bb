"""benchmarks/threads.py, which nothing else runs: its calls fit the kernels, its numbers of threads the machine."""

import importlib.util
from pathlib import Path

import pytest

from retrograde.backend.jit import llvm


@pytest.fixture(scope="module")
def script():
    place = Path(__file__).parents[1] / "benchmarks" / "threads.py"
    spec = importlib.util.spec_from_file_location("benchmark_of_threads", place)
    module = importlib.util.module_from_spec(spec)
    with pytest.MonkeyPatch.context() as environment:  # the script sets what its process is to have
        environment.setenv("OPENBLAS_NUM_THREADS", "1")
        spec.loader.exec_module(module)
    return module


@pytest.mark.skipif(not llvm.available(), reason="it measures generated code")
def test_each_operation_runs(script):
    for call, moved in script.kernels(200_000).values():
        call()
        assert moved in (0, *(200_000 * each for each in (4, 8, 12)))


def test_the_numbers_of_threads(script):
    assert [script.counts_up_to(n) for n in (1, 2, 6, 16)] == [[1], [1, 2], [1, 2, 4, 6], [1, 2, 4, 8, 16]]

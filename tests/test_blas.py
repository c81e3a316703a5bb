"""BLAS has one thread while LAPACK works on matrices of a middling size, and as many as before afterwards."""

import os
import subprocess
import sys

import pytest

from retrograde.backend import blas

PROGRAM = """
import threading
import numpy as np
import scipy.linalg
from threadpoolctl import threadpool_info
from retrograde.backend import blas
from retrograde.ops import linalg, linalg_spectral

def threads():
    return [library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"]

several = threads()
assert several and max(several) > 1, several
seen, whole = [], np.linalg.eigvalsh
np.linalg.eigvalsh = lambda x, UPLO: (seen.append(max(threads())), whole(x, UPLO))[1]
for n in (8, 200, 600):
    linalg_spectral.eigvalsh(np.eye(n) + 1.0)
assert seen == [max(several), 1, max(several)], seen
assert threads() == several

try:
    linalg.inv(np.zeros((200, 300)))
except Exception:
    pass
assert threads() == several

inside, left = threading.Barrier(2), threading.Barrier(2)
others = []

def other():
    with blas.one_thread:
        inside.wait()
        left.wait()
    others.extend(threads())

worker = threading.Thread(target=other)
with blas.one_thread:
    assert max(threads()) == 1
    worker.start()
    inside.wait()
assert threads() == several
left.wait()
worker.join()
assert others == threads() == several
assert not blas._before
print("done")
"""


def test_one_thread_for_middling_matrices_and_as_many_as_before_afterwards():
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], capture_output=True, text=True, timeout=120, check=False,
        env={**os.environ, "OPENBLAS_NUM_THREADS": "3", "MKL_NUM_THREADS": "3", "OMP_NUM_THREADS": "3"},
    )  # fmt: skip
    if "AssertionError: []" in done.stderr:
        pytest.skip("threadpoolctl knows nothing of the BLAS that NumPy has here")
    assert done.stdout == "done\n", done.stderr


@pytest.mark.parametrize(("shape", "held_up"), [((), False), ((8, 8), False), ((3, 100, 20), True), ((2000, 100), False)])
def test_which_matrices_are_meant(shape, held_up):
    assert blas.held_up(shape) == held_up

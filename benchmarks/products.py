"""Products of matrices of 60 shapes: is what is chosen within 15 % of the best? python benchmarks/products.py [BEGINNING]

Eager products choose between BLAS and generated code, compiled ones between these and tiles (a product of sizes that the code
knows). Every way that there is takes turns with the chosen one; the thread's time counts, and the least of the rounds. Exits
with 1 where a choice costs more. What chooses stands in backend/jit/thresholds.py.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from unittest import mock

os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"

import numpy as np

import retrograde as rg
from retrograde.backend.jit import products, thresholds
from retrograde.compile import pipeline

MOST, CHOOSING = 1.15, 0.5
"""How many times the best a choice may cost, and microseconds that choosing itself may take."""
ROUNDS, SECONDS = 7, 4e-3

SHAPES = [
    # m, k, n: layers of small networks, on few and many rows
    (1, 64, 64), (1, 784, 256), (8, 64, 64), (16, 16, 16), (32, 32, 32), (64, 64, 64), (64, 784, 256), (64, 256, 10),
    (64, 256, 784), (100, 100, 100), (128, 128, 128), (128, 64, 256), (128, 256, 64), (256, 1, 64), (256, 64, 1), (256, 2, 32),
    (256, 64, 64), (256, 256, 256), (512, 64, 64), (512, 64, 192), (512, 64, 256), (512, 256, 64), (512, 64, 65),
    (512, 784, 96), (512, 784, 1024), (512, 1024, 10), (512, 512, 512), (1024, 32, 32), (1024, 128, 128), (1024, 512, 512),
    (2048, 16, 512), (2048, 64, 64), (4096, 1, 64), (4096, 64, 64), (4096, 64, 1), (4096, 8, 8), (4096, 128, 16),
    # gradients of weights: few rows, many summands
    (64, 512, 64), (64, 4096, 64), (256, 512, 64), (192, 512, 64), (784, 64, 256), (784, 512, 1024), (1024, 512, 10),
    (10, 512, 1024), (16, 4096, 16), (8, 8192, 8), (128, 1024, 128), (65, 512, 64), (1, 4096, 64),
    # none of whose sizes is a multiple of a vector's
    (7, 13, 5), (33, 65, 17), (50, 70, 90), (63, 127, 31), (129, 257, 65), (301, 203, 99), (511, 63, 9), (999, 31, 33),
    (200, 300, 400), (37, 1000, 41),
]  # fmt: skip


def least(calls: dict[str, Callable[[], object]]) -> dict[str, float]:
    """The least time of each call, taking turns."""
    found: dict[str, float] = {}
    count = {}
    for name, call in calls.items():
        call()
        begin = time.perf_counter()
        call()
        count[name] = max(1, int(SECONDS / (time.perf_counter() - begin)))
    for _ in range(ROUNDS):
        for name, call in calls.items():
            begin = time.thread_time_ns()
            for _ in range(count[name]):
                call()
            took = (time.thread_time_ns() - begin) / count[name] / 1e3
            found[name] = min(found.get(name, took), took)
    return found


def eager(x: np.ndarray, y: np.ndarray) -> dict[str, Callable[[], object]]:
    """The product as it is chosen, and each way that there is."""
    calls = {"chosen": lambda: products.product(x, y), "BLAS": lambda: x.dot(y)}
    function = products._set_up(x.dtype.char)
    if function is not None and min(x.shape[0], *y.shape) > 1:
        calls["generated"] = lambda: products.computed(function, x, y, None, products.panel_rows(x.shape[1]))
    return calls


def compiled(x: np.ndarray, y: np.ndarray) -> dict[str, Callable[[], object]]:
    """The same for a compiled function of nothing but the product; the code is called without looking at arguments."""
    graph = rg.jit(rg.matmul).lower(rg.asarray(x), rg.asarray(y)).graph
    calls = {}
    here = thresholds.here()
    for name, small in {"chosen": here.small, "a call": 0, "tiles": 1 << 62}.items():
        with mock.patch.object(thresholds, "here", lambda small=small: here._replace(small=small)):
            code = pipeline.compiled(graph, anew=True)
        calls[name] = lambda code=code: code(x, y)
    return calls


def main() -> int:
    wanted = sys.argv[1] if len(sys.argv) > 1 else ""
    rng, missed = np.random.default_rng(0), 0
    for ways in (eager, compiled):
        for m, k, n in SHAPES:
            label = f"{ways.__name__} {m}x{k}x{n}"
            if not label.startswith(wanted):
                continue
            x, y = (rng.standard_normal(shape, np.float32) for shape in ((m, k), (k, n)))
            took = least(ways(x, y))
            chosen = took.pop("chosen")
            best = min(took, key=took.__getitem__)
            over = chosen / took[best]
            wrong = over > MOST and chosen > took[best] + CHOOSING
            missed += wrong
            others = ", ".join(f"{name} {us:.1f}" for name, us in took.items())
            print(f"{label:28} {chosen:10.1f} µs, {over:.2f} of {best:10} ({others}){'  !' if wrong else ''}", flush=True)
    print(f"{missed} choices cost more than {MOST - 1:.0%}")
    return int(missed > 0)


if __name__ == "__main__":
    sys.exit(main())

"""What more threads gain: python benchmarks/threads.py [SECONDS]. Times of operations with 1, 2, 4, ... threads, as many as
the machine has.

For each the time with one thread over that with so many, and that over their number (the efficiency); for those whose limit at
10^7 numbers is the memory, gigabytes per second too, and how near they are to what a copy by as many threads reaches. The copy
writes to memory that is there; the others' results are new, and the system fills new memory of that size with zeros first.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from itertools import takewhile
from time import perf_counter

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np

import retrograde as rg
from retrograde.backend.jit import llvm, products, recurrent, rows, threads
from retrograde.backend.jit.vectors import LANES, Vectors

LARGE = 10_000_000


def copied(code: llvm.Code) -> None:
    """out = x, a unit being 4096 numbers."""
    v = Vectors(code, LANES)
    start = code.mul("%first", 4096)
    end = code.least(code.mul("%last", 4096), "%n")
    code.declare("declare i64 @llvm.smin.i64(i64, i64)")
    x, out = (code.at("float", name, start) for name in ("%x", "%out"))
    v.over(code.value(f"sub i64 {end}, {start}"), lambda i, part: part.store(v, part.load(v, x, i), out, i))


def kernels(large: int = LARGE) -> dict[str, tuple[Callable[[], object], int]]:
    """By name: a call, and the bytes that it moves, or 0 where it computes more than it moves; large: numbers of those."""
    rng = np.random.default_rng(0)

    def numbers(*shape: int) -> np.ndarray:
        return rng.standard_normal(shape, dtype=np.float32)

    x, out = numbers(large), np.empty(large, np.float32)
    copy = llvm.shared("copied", "ptr out, ptr x, i64 n", copied)
    assert copy is not None
    wide, w, b = x[: large // 1000 * 1000].reshape(-1, 1000), numbers(1000), numbers(1000)
    native, second = rg.asarray(x), rg.asarray(numbers(large))
    gates, h, c, weight = numbers(50, 64, 1024), numbers(64, 256), numbers(64, 256), numbers(1024, 256) / 16
    left, right = numbers(512, 256), numbers(256, 512)
    units = -(-large // 4096)
    return {
        "copy of 10^7 numbers": (
            lambda: copy(*threads.tiles(units, large), out.ctypes.data, x.ctypes.data, large), 8 * large
        ),
        "x + y of 10^7 numbers": (lambda: native + second, 12 * large),
        "tanh of 10^7 numbers": (lambda: rg.tanh(native), 8 * large),
        "sum of 10^7 numbers": (lambda: rg.sum(native), 4 * large),
        "softmax of 10^4 rows of 1000": (lambda: rows.softmax(wide), 8 * large),
        "layer norm of 10^4 rows of 1000": (lambda: rows.layer_norm(wide, w, b, 1000, 1e-5), 8 * large),
        "softmax of 100 rows of 1000": (lambda: rows.softmax(wide[:100]), 0),
        "LSTM 64 x 50 x 256": (lambda: recurrent.lstm(gates, h, c, weight, None, False), 0),
        "product 512 x 256 x 512": (lambda: products.product(left, right), 0),
    }


def least(call: Callable[[], object], seconds: float) -> float:
    """The shortest of as many calls as there is time for."""
    call()
    found, end = float("inf"), perf_counter() + seconds
    while perf_counter() < end:
        begin = perf_counter()
        call()
        found = min(found, perf_counter() - begin)
    return found


def counts_up_to(most: int) -> list[int]:
    """1, 2, 4 and so on, and the most that there can be."""
    doubled = takewhile(lambda n: n < most, (1 << k for k in range(most)))
    return [*doubled, most]


def main() -> None:
    """Print the table."""
    if not llvm.available():
        sys.exit("no code is generated here (llvmlite is not installed, or RETROGRADE_JIT=0): there are no threads to measure")
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 1.0
    most = threads.count()
    counts = counts_up_to(most)
    kind = llvm.processor()
    print(f"{kind.name if kind else ''}, up to {most} threads; speed-up (efficiency)")
    print(f"{'':34s}" + "".join(f"{n:>16d}" for n in counts))
    reached: list[float] = []  # bytes per second of the copy, which is the first
    for name, (call, moved) in kernels().items():
        times = []
        for n in counts:
            threads.set_count(n)
            times.append(least(call, seconds))
        cells = [f"{times[0] / t:.2f} ({times[0] / t / n:.0%})" for n, t in zip(counts, times)]
        print(f"{name:34s}" + "".join(f"{cell:>16s}" for cell in cells))
        if moved:
            rates = [moved / t for t in times]
            reached = reached or rates
            cells = [f"{rate / 1e9:.1f} GB/s {rate / limit:4.0%}" for rate, limit in zip(rates, reached)]
            print(f"{'':34s}" + "".join(f"{cell:>16s}" for cell in cells))


if __name__ == "__main__":
    main()

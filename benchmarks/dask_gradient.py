"""The gradient of a logistic loss on a Dask array with two worker processes, beside the same written by hand with dask.array.

Prints times, the largest memory of a worker, the sizes of both graphs, the differences from NumPy's float64, and how long it
takes to record operations and to build a graph of 200 operations over 1,000 blocks:
`python benchmarks/dask_gradient.py [--rows N] [--repeat N]`.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import dask
import dask.array as da
import numpy as np

import retrograde as rg

COLUMNS, BLOCKS = 20, 100
WEIGHTS = np.linspace(-1, 1, COLUMNS, dtype=np.float32)


def rows(block_id: Any = None, count: int = 0) -> np.ndarray:
    """A block of the data: made where it is needed, the same each time."""
    return np.random.default_rng(block_id[0]).random((count, COLUMNS), np.float32) - np.float32(0.5)


def labels(x: np.ndarray) -> np.ndarray:
    return np.where(x[:, 0] + x[:, 1] * x[:, 2] > 0, 1, -1).astype(np.float32)


def data(count: int) -> tuple[Any, Any]:
    each = count // BLOCKS
    chunks, empty = ((each,) * BLOCKS, (COLUMNS,)), np.empty((0, 0), np.float32)
    x = da.map_blocks(rows, count=each, chunks=chunks, dtype=np.float32, meta=empty)
    return x, x.map_blocks(labels, drop_axis=1, dtype=np.float32, meta=np.empty(0, np.float32))


def ours(x: Any, y: Any) -> tuple[Any, ...]:
    """Loss and gradient through retrograde: how the loss is written is the only thing that is said."""
    x, y = rg.asarray(x), rg.asarray(y)
    return rg.value_and_grad(lambda w: rg.mean(rg.logaddexp(-y * (x @ w), 0.0)))(rg.asarray(WEIGHTS))


def plainly(x: Any, y: Any) -> tuple[Any, ...]:
    """The same with the loss as most people write it."""
    x, y = rg.asarray(x), rg.asarray(y)
    return rg.value_and_grad(lambda w: rg.mean(rg.log(1 + rg.exp(-y * (x @ w)))))(rg.asarray(WEIGHTS))


def by_hand(x: Any, y: Any) -> tuple[Any, ...]:
    """Loss and gradient, derived and written in dask.array."""
    e = da.exp(-y * (x @ WEIGHTS))
    return da.log1p(e).mean(), (x.T @ (-y * e / (1 + e))) / np.float32(x.shape[0])


def in_numpy(count: int) -> tuple[float, np.ndarray]:
    """The same in float64, block by block."""
    loss, slope, w = 0.0, np.zeros(COLUMNS), WEIGHTS.astype(float)
    for i in range(BLOCKS):
        x = rows((i,), count // BLOCKS)
        y = labels(x).astype(float)
        x = x.astype(float)
        z = -y * (x @ w)
        loss += np.logaddexp(z, 0).sum()
        slope += x.T @ (-y / (1 + np.exp(-z)))
    return loss / count, slope / count


def off(found: Any, expected: Any) -> float:
    return max(float(np.max(np.abs(np.asarray(a, float) - b)) / np.max(np.abs(b))) for a, b in zip(found, expected))


def largest() -> float:
    """The largest memory that this process had, in MB. (`getrusage` would count that of the process which started it.)"""
    said = Path("/proc/self/status").read_text()
    return int(said.partition("VmHWM:")[2].split()[0]) / 1024


def tasks(found: Any) -> tuple[int, ...]:
    """How many tasks a graph has as it was built, and optimised."""
    found = [x.detach() if isinstance(x, rg.Tensor) else x for x in found]
    return tuple(len({k for x in some for k in dict(x.__dask_graph__())}) for some in (found, dask.optimize(*found)))


def recording() -> None:
    x = da.ones((1000 * 20, COLUMNS), chunks=(20, COLUMNS))
    tensor = rg.asarray(x, requires_grad=True)

    def chain(x: Any, sin: Callable[[Any], Any]) -> Any:
        for _ in range(100):
            x = sin(x) * 1.5
        return x

    def seconds(f: Callable[[], Any]) -> float:
        begun = time.process_time()
        f()
        return time.process_time() - begun

    pairs = [(seconds(lambda: chain(tensor.detach(), rg.sin)), seconds(lambda: chain(x, da.sin))) for _ in range(5)]
    a, b = (min(times) for times in zip(*pairs))
    print(f"recording 200 operations: {a * 1000:.0f} ms, dask.array {b * 1000:.0f} ms ({a / b:.2f})")
    begun = time.process_time()
    (slope,) = rg.autograd.grad(rg.sum(chain(tensor, rg.sin)), tensor)
    built = len(dict(slope.data.__dask_graph__()))
    print(f"gradient of 200 operations over 1,000 blocks: {built:,} tasks in {time.process_time() - begun:.1f} s, "
          f"{len(dict(dask.optimize(slope.data)[0].__dask_graph__())):,} after optimisation")  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=20_000_000)
    parser.add_argument("--repeat", type=int, default=3)
    given = parser.parse_args()
    from distributed import Client, LocalCluster

    count = given.rows // BLOCKS * BLOCKS
    expected = in_numpy(count)
    programs = {"by hand": by_hand, "retrograde": ours, "retrograde, log(1 + exp)": plainly}
    options: dict[str, Any] = {"n_workers": 2, "threads_per_worker": 1, "memory_limit": "600MB", "dashboard_address": None,
                               "host": "127.0.0.1"}  # fmt: skip
    with LocalCluster(**options) as cluster, Client(cluster) as client:
        times: dict[str, list[tuple[float, float]]] = {name: [] for name in programs}

        def used() -> float:
            return time.process_time() + sum(client.run(time.process_time).values())

        for repeat in range(given.repeat + 1):
            for name, program in programs.items():
                before, begun = used(), time.perf_counter()
                found = program(*data(count))
                done = rg.compute(*found) if isinstance(found[0], rg.Tensor) else dask.compute(*found)
                if repeat:  # the first round starts the workers' imports
                    times[name].append((time.perf_counter() - begun, used() - before))
                error = off(done, expected)
                assert error < 1e-5, (name, error)
        memory = max(client.run(largest).values())
    medians = {name: [statistics.median(each) for each in zip(*pairs)] for name, pairs in times.items()}
    for name, program in programs.items():
        built, optimised = tasks(program(*data(count)))
        (wall, cpu), (wall_by_hand, cpu_by_hand) = medians[name], medians["by hand"]
        print(f"{name}: {wall:.1f} s ({wall / wall_by_hand:.2f}), of processors {cpu:.1f} s ({cpu / cpu_by_hand:.2f}); "
              f"{built:,} tasks, {optimised:,} after optimisation")  # fmt: skip
    print(f"{count:,} x {COLUMNS} float32 in {BLOCKS} blocks, two workers: largest memory of one {memory:.0f} MB; relative error "
          f"of the last {error:.1e}")  # fmt: skip
    recording()


if __name__ == "__main__":
    main()

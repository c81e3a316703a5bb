"""Training on a dataset that is larger than the memory of the machines that read it: retrograde over Dask arrays.

The program writes a dataset to disk, starts two worker processes whose memory together is less than the dataset, and trains on it
a logistic regression with SciPy's L-BFGS, and a network of two layers with L-BFGS and with minibatches:

    python examples/dask_training.py --png training.png

`pip install 'retrograde[dask,demo]' distributed`. With `--scheduler ADDRESS` it computes on a cluster of yours, which has to see
the folder of the dataset (`--data`).
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import dask
import dask.array as da
import numpy as np
from scipy.optimize import minimize

import retrograde as rg

COLUMNS, HIDDEN = 20, 16


def write(folder: Path, rows: int, block: int) -> None:
    """A dataset of `rows` points with a label each in the last column, on disk as Dask's stack of .npy files."""
    key = rg.random.key(0)
    like = rg.asarray(da.zeros((rows, COLUMNS), chunks=(block, COLUMNS), dtype=np.float32))
    x = rg.random.normal(key, like=like)
    inside = rg.sum(x[:, :3] ** 2, axis=1) + x[:, 3] < 2.5
    noise = rg.random.bernoulli(rg.random.fold_in(key, 1), 0.05, like=inside)
    label = (inside ^ noise).astype(np.float32)
    table = rg.concat([x, label[:, None]], axis=1).data.rechunk({1: -1})
    da.to_npy_stack(str(folder), table, axis=0)


def read(folder: Path) -> tuple[Any, Any]:
    """The dataset as two tensors over Dask arrays: a block is read when it is computed with, and not kept."""
    table = rg.asarray(da.from_npy_stack(str(folder)))
    return table[:, :-1], table[:, -1]


# ------------------------------------------------------------------------------------------ models: from parameters to one number


def cross_entropy(score: Any, label: Any) -> Any:
    """The mean of -log p(label), where p(1) is the sigmoid of the score."""
    return rg.mean(rg.logaddexp(score, 0.0) - label * score)


def regression(theta: Any, x: Any, label: Any) -> Any:
    """Logistic regression on the points and their squares."""
    w, v, bias = theta[:COLUMNS], theta[COLUMNS:-1], theta[-1]
    return cross_entropy(x @ w + (x * x) @ v + bias, label)


def network(theta: Any, x: Any, label: Any) -> Any:
    """Two layers."""
    n = COLUMNS * HIDDEN
    hidden = rg.tanh(x @ rg.reshape(theta[:n], (COLUMNS, HIDDEN)) + theta[n : n + HIDDEN])
    return cross_entropy(hidden @ theta[n + HIDDEN : -1] + theta[-1], label)


def starts() -> dict[str, np.ndarray]:
    """The parameters to begin with."""
    rng = np.random.default_rng(0)
    return {
        "regression": np.zeros(2 * COLUMNS + 1, np.float32),
        "network": rng.normal(0, 0.4, COLUMNS * HIDDEN + 2 * HIDDEN + 1).astype(np.float32),
    }


# ------------------------------------------------------------------------------------------ training


def lbfgs(loss: Callable[..., Any], theta: np.ndarray, x: Any, label: Any, steps: int) -> tuple[np.ndarray, list[float]]:
    """Full-batch L-BFGS: each evaluation is one pass over the data for loss and gradient."""
    losses: list[float] = []

    def evaluated(theta: np.ndarray) -> tuple[float, np.ndarray]:
        value, slope = rg.compute(*rg.value_and_grad(loss)(rg.asarray(theta.astype(np.float32)), x, label))
        losses.append(value.item())
        return losses[-1], slope.numpy().astype(np.float64)

    found = minimize(evaluated, theta, jac=True, method="L-BFGS-B", options={"maxfun": steps})
    return found.x.astype(np.float32), losses


def minibatches(
    loss: Callable[..., Any], theta: np.ndarray, x: Any, label: Any, steps: int, batch: int, rate: float = 0.3
) -> tuple[np.ndarray, list[float]]:
    """SGD with momentum on pieces of the dataset in an order that a key names: each step reads the blocks that it needs."""
    rows, losses, speed = x.shape[0], list[float](), np.zeros_like(theta)
    order = rg.random.permutation(rg.random.key(1), rows // batch).numpy()
    for step in range(steps):
        first = int(order[step % len(order)]) * batch
        piece = slice(first, first + batch)
        value, slope = rg.compute(*rg.value_and_grad(loss)(rg.asarray(theta), x[piece], label[piece]))
        losses.append(value.item())
        speed = 0.9 * speed - rate * slope.numpy()
        theta = theta + speed
    return theta, losses


def train(folder: Path, steps: int, batch: int) -> dict[str, list[float]]:
    """The losses of each training."""
    x, label = read(folder)
    begin, curves = starts(), {}
    for name, run in {
        "regression, L-BFGS": lambda: lbfgs(regression, begin["regression"], x, label, steps),
        "network, L-BFGS": lambda: lbfgs(network, begin["network"], x, label, steps),
        "network, minibatches": lambda: minibatches(network, begin["network"], x, label, 4 * steps, batch),
    }.items():
        begun = time.perf_counter()
        _, curves[name] = run()
        print(f"{name}: {curves[name][0]:.4f} -> {curves[name][-1]:.4f} in {len(curves[name])} evaluations, "
              f"{time.perf_counter() - begun:.1f} s")  # fmt: skip
    return curves


def picture(curves: dict[str, list[float]], stream: list[dict[str, Any]], path: Path) -> None:
    """The losses, and below them which worker computed what when."""
    import matplotlib.pyplot as plt

    figure, (above, below) = plt.subplots(2, figsize=(9, 6), gridspec_kw={"height_ratios": [2, 1]}, layout="constrained")
    for name, losses in curves.items():
        above.plot(np.linspace(0, 1, len(losses)), losses, label=name)
    above.set(xlabel="share of the evaluations", ylabel="loss")
    above.legend()
    spans = [(task["worker"], s["start"], s["stop"]) for task in stream for s in task["startstops"] if s["action"] == "compute"]
    zero = min((start for _, start, _ in spans), default=0.0)
    for i, worker in enumerate(sorted({worker for worker, _, _ in spans})):
        below.broken_barh([(a - zero, b - a) for w, a, b in spans if w == worker], (i - 0.4, 0.8))
    below.set(xlabel="seconds", ylabel="worker", yticks=[])
    figure.savefig(path, dpi=120)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=8_000_000, help="points in the dataset, of 84 bytes each")
    parser.add_argument("--block", type=int, default=100_000, help="points in a file")
    parser.add_argument("--memory", default="300MB", help="what each worker may use")
    parser.add_argument("--steps", type=int, default=15, help="evaluations of L-BFGS, and a quarter of the minibatches")
    parser.add_argument("--batch", type=int, default=50_000, help="points in a minibatch")
    parser.add_argument("--data", type=Path, help="a folder to write the dataset to (and to read it from, if it is there)")
    parser.add_argument("--scheduler", help="the address of a cluster")
    parser.add_argument("--png", type=Path, help="where to draw the losses and the workers' tasks")
    given = parser.parse_args()
    from distributed import Client, LocalCluster, get_task_stream

    with tempfile.TemporaryDirectory() as temporary:
        folder = given.data or Path(temporary) / "points"
        if not folder.exists():
            with dask.config.set(scheduler="threads"):
                write(folder, given.rows, given.block)
        size = sum(f.stat().st_size for f in folder.iterdir()) / 1e6
        print(f"{given.rows:,} points on disk, {size:.0f} MB; two workers with {given.memory} each")
        options: dict[str, Any] = {"n_workers": 2, "threads_per_worker": 1, "memory_limit": given.memory,
                                   "dashboard_address": None, "host": "127.0.0.1"}  # fmt: skip
        cluster = given.scheduler or LocalCluster(**options)
        with Client(cluster) as client:
            if given.png:
                with get_task_stream(client) as stream:
                    curves = train(folder, given.steps, given.batch)
                picture(curves, list(stream.data), given.png)
            else:
                train(folder, given.steps, given.batch)
        if not given.scheduler:
            cluster.close()


if __name__ == "__main__":
    main()

"""Transforms over Dask arrays in blocks: derivatives of both modes and orders, what stays divided, the same bits everywhere."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import retrograde as rg

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array", reason="dask is not installed")

from dask_tasks import Longest  # noqa: E402 - needs dask

RNG = np.random.default_rng(1)
N, BLOCK = 12, 3
ROWS, LABELS, WEIGHTS = RNG.normal(size=(N, 5)), np.where(RNG.random(N) > 0.5, 1.0, -1.0), RNG.normal(size=5)
DIRECTION, PLACES = RNG.normal(size=5), np.array([1, 7, 7, 11])


def divided(x: np.ndarray) -> Any:
    return rg.asarray(da.from_array(x, chunks=(BLOCK, *x.shape[1:])))


def loss(w: Any, x: Any, y: Any) -> Any:
    """The logistic loss of rows with labels -1 and 1."""
    return rg.mean(rg.log(1 + rg.exp(-y * rg.matmul(x, w))))


def of_rows(p: Any) -> Any:
    """A function of a divided parameter."""
    return rg.sum(rg.sin(p) ** 2 * rg.cumulative_sum(p, axis=1)) + rg.mean(rg.softmax(p, axis=1) * p / rg.std(p, axis=0))


W, V = rg.asarray(WEIGHTS), rg.asarray(DIRECTION)
OF_PARAMETERS: dict[str, Callable[[Any, Any], Any]] = {
    "value_and_grad": lambda x, y: rg.value_and_grad(loss)(W, x, y),
    "hessian": lambda x, y: rg.hessian(loss)(W, x, y),
    "hvp": lambda x, y: rg.hvp(lambda w: loss(w, x, y), (W,), (V,)),
    "jvp": lambda x, y: rg.jvp(lambda w: loss(w, x, y), (W,), (V,)),
    "jacfwd": lambda x, y: rg.jacfwd(lambda w: rg.tanh(rg.matmul(x, w)))(W),
    "grad of grad": lambda x, y: rg.grad(lambda w: rg.sum(rg.grad(loss)(w, x, y) ** 2))(W),
    "vmap": lambda x, y: rg.vmap(lambda row: rg.sum(row * row))(x),
    "each row's gradient": lambda x, y: rg.vmap(rg.grad(loss), in_axes=(None, 0, 0))(W, x[:, None], y[:, None]),
    "vmap of jvp": lambda x, y: rg.vmap(lambda row: rg.jvp(rg.sin, (row,), (V,))[1])(x),
}
OF_DATA: dict[str, Callable[[Any], Any]] = {
    "grad": rg.grad(of_rows),
    "grad of grad": rg.grad(lambda p: rg.sum(rg.grad(of_rows)(p) ** 2)),
    "hvp": lambda p: rg.hvp(of_rows, (p,), (p,)),
    "of a slice": rg.grad(lambda p: rg.sum(p[2:7] ** 3)),
    "of every second row": rg.grad(lambda p: rg.sum(p[::2, 1] ** 3)),
    "of rows by position": rg.grad(lambda p: rg.sum(p[PLACES] ** 3)),
    "of a concatenation": rg.grad(lambda p: rg.sum(rg.concat([p, 2 * p]) ** 3)),
    "of a mask": rg.grad(lambda p: rg.sum(rg.where(p > 0, p, 0) ** 3)),
}


def leaves(found: Any) -> list[Any]:
    return list(found) if isinstance(found, tuple) else [found]


def agree(found: Any, expected: Any) -> None:
    with Longest() as longest:
        computed = rg.compute(*leaves(found), scheduler="sync", optimize_graph=False)
    for x, y in zip(computed, leaves(expected), strict=True):
        np.testing.assert_allclose(x.numpy(), y.numpy(), rtol=1e-9, atol=1e-12)
    assert longest.rows < N


@pytest.mark.parametrize("name", OF_PARAMETERS)
def test_derivatives_of_parameters_that_are_whole(name: str) -> None:
    agree(OF_PARAMETERS[name](divided(ROWS), divided(LABELS)), OF_PARAMETERS[name](rg.asarray(ROWS), rg.asarray(LABELS)))


@pytest.mark.parametrize("name", OF_DATA)
def test_derivatives_of_divided_parameters_are_divided(name: str) -> None:
    found = OF_DATA[name](divided(ROWS))
    agree(found, OF_DATA[name](rg.asarray(ROWS)))
    assert all(x.data.numblocks[0] > 1 for x in leaves(found))


def test_every_scheduler_gives_the_same_bits() -> None:
    given = RNG.normal(size=(64, 5)), RNG.normal(size=64)
    x, y = (da.from_array(a.astype(np.float32), chunks=(7, *a.shape[1:])) for a in given)
    found = rg.value_and_grad(loss)(rg.asarray(WEIGHTS.astype(np.float32)), rg.asarray(x), rg.asarray(y))
    key = rg.random.key(3)
    found += rg.random.uniform(key, like=x), rg.random.normal(key, like=x), rg.random.integers(key, 0, 9, like=x)
    first, *others = (
        [t.numpy().tobytes() for t in rg.compute(*found, scheduler=scheduler, num_workers=workers)]
        for scheduler, workers in (("sync", 1), ("threads", 1), ("threads", 4), ("processes", 2))
    )
    assert all(other == first for other in others)


def test_recording_takes_no_longer_than_dask_arrays_do() -> None:
    """At most 1.5 times, by processor time; the best of a few rounds of each in turn."""
    x = da.ones((20000, 20), chunks=(200, 20))
    tensor = rg.asarray(x)

    def seconds(f: Callable[[], Any]) -> float:
        begun = time.process_time()
        for _ in range(20):
            f()
        return time.process_time() - begun

    for name, ours, theirs in (
        ("exp", lambda: rg.exp(tensor), lambda: da.exp(x)), ("add", lambda: tensor + tensor, lambda: x + x),
        ("scale", lambda: tensor * 2.0, lambda: x * 2.0), ("sum", lambda: rg.sum(tensor, axis=0), lambda: x.sum(axis=0)),
        ("std", lambda: rg.std(tensor, axis=0), lambda: x.std(axis=0)),
        ("take", lambda: rg.take(tensor, np.arange(5), axis=1), lambda: da.take(x, np.arange(5), axis=1)),
    ):  # fmt: skip
        rounds = [(seconds(ours), seconds(theirs)) for _ in range(4)]
        assert min(a for a, _ in rounds) < 1.5 * min(b for _, b in rounds), name


def test_numbers_need_no_tasks() -> None:
    x = divided(ROWS)
    assert len(dict((x * 2.0 + 1.0).data.__dask_graph__())) == len(dict(x.data.__dask_graph__())) + 2 * N // BLOCK


def test_positions_that_are_known_read_their_blocks_only() -> None:
    read = []

    def block(i: Any) -> Any:
        read.append(int(i[0]))
        return ROWS[i[0] * BLOCK : (i[0] + 1) * BLOCK]

    rows = da.map_blocks(block, da.from_array(np.arange(N // BLOCK), chunks=1), dtype=float, new_axis=1,
                         chunks=((BLOCK,) * (N // BLOCK), (5,)), meta=np.empty((0, 0)))  # fmt: skip
    (found,) = rg.compute(rg.asarray(rows)[np.array([4, 3, 11])], scheduler="sync")
    np.testing.assert_array_equal(found.numpy(), ROWS[[4, 3, 11]])
    assert sorted(read) == [1, 3]


def test_what_no_task_can_hold_is_refused() -> None:
    x = divided(ROWS)
    with pytest.raises(rg.UnsupportedError, match="matmul: a Dask array stands beside Traced.*jit takes no Dask arrays"):
        rg.jit(lambda w: rg.sum(rg.matmul(x, w)))(W)

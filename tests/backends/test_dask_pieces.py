"""Dask arrays whose first axis is divided: operations go block by block along it, and none has the whole array in one task."""

from __future__ import annotations

import importlib
import pkgutil
from typing import Any

import numpy as np
import pytest

import retrograde as rg
import retrograde.ops
from retrograde.core.primitive import PRIMITIVES

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array", reason="dask is not installed")

from dask_tasks import Longest  # noqa: E402 - needs dask

for module in pkgutil.walk_packages(retrograde.ops.__path__, "retrograde.ops."):
    importlib.import_module(module.name)

RNG = np.random.default_rng(0)
N, BLOCK = 12, 3
IMAGES, SQUARES, ROWS = RNG.normal(size=(N, 2, 6, 6)), RNG.normal(size=(N, 3, 3)) + 3 * np.eye(3), RNG.normal(size=(N, 5))
LABELS = RNG.integers(0, 5, N)
WINDOW: dict[str, Any] = {"kernel": (2, 2), "stride": (2, 2), "padding": ((0, 0), (0, 0))}
STRIDES: dict[str, Any] = {"stride": (1, 1), "padding": ((1, 1), (1, 1)), "dilation": (1, 1), "groups": 1}

CASES: dict[str, tuple[list[Any], dict[str, Any]]] = {
    "argsort": ([ROWS], {"axis": 1, "descending": False, "ties": "stable"}),
    "attention": ([SQUARES, SQUARES[::-1], SQUARES, None], {"scale": 0.5, "causal": True}),
    "avg_pool": ([IMAGES], {**WINDOW, "counted": ((0, 0), (0, 0)), "divisor": None}),
    "cholesky": ([SQUARES @ SQUARES.swapaxes(1, 2)], {"upper": False, "check": True}),
    "convolve": ([IMAGES, RNG.normal(size=(4, 2, 3, 3)), RNG.normal(size=4)], STRIDES),
    "cumsum": ([ROWS], {"axis": 1, "reverse": False}),
    "det": ([SQUARES], {}),
    "embedding": ([RNG.normal(size=(5, 4)), LABELS],
                  {"padding": None, "by_frequency": False, "weighted": False, "sparse": False}),
    "fft_c2c": ([ROWS + 1j * ROWS[::-1]], {"axes": (1,), "norm": "backward", "inverse": False}),
    "inv": ([SQUARES], {"check": True}),
    "log_softmax": ([ROWS], {"axis": 1}),
    "max_pool": ([IMAGES], {**WINDOW, "dilation": (1, 1)}),
    "median": ([ROWS], {"axis": (1,), "keepdims": False, "ignore_nan": False}),
    "nll_loss": ([ROWS, LABELS, np.linspace(0.5, 1.5, 5)], {"reduction": "mean", "ignore_index": 2}),
    "one_hot": ([LABELS], {"classes": 5, "dtype": np.dtype(np.float64)}),
    "solve": ([SQUARES, ROWS[:, :3, None]], {"left": True, "vector": False, "check": True}),
    "take_along_axis": ([ROWS, RNG.integers(0, 5, (N, 2))], {"axis": 1}),
}  # fmt: skip


def divided(x: Any) -> Any:
    """An operand in blocks of its first axis, if that is the long one; what is small stays NumPy's."""
    return da.from_array(x, chunks=(BLOCK, *x.shape[1:])) if x is not None and len(x) == N else x


@pytest.mark.parametrize("name", CASES)
def test_operations_and_gradients_go_by_blocks(name: str) -> None:
    operands, params = CASES[name]
    prim = PRIMITIVES[name]

    def evaluated(wrap: Any) -> list[Any]:
        given = [None if x is None else rg.asarray(wrap(x), requires_grad=prim.differentiable and x.dtype.kind in "fc")
                 for x in operands]  # fmt: skip
        out = prim.op(*given, **params)
        if not prim.differentiable:
            return [out]
        seed = np.cos(np.arange(out.size)).reshape(out.shape).astype(out.dtype)
        seed = rg.asarray(wrap(seed) if seed.ndim else seed)
        leaves = [x for x in given if x is not None and x.requires_grad]
        return [out, *rg.autograd.grad(out, leaves, seed, allow_unused=True)]

    expected = evaluated(lambda x: x)
    found = evaluated(divided)
    with Longest() as largest:
        computed = rg.compute(*found, scheduler="sync", optimize_graph=False)
    for x, y in zip(computed, expected):
        assert (x is None) == (y is None)
        if x is not None:
            np.testing.assert_allclose(x.numpy(), y.detach().numpy(), rtol=1e-9, atol=1e-12)
    assert largest.rows < N


def test_what_needs_the_whole_is_refused_by_name_and_may_be_allowed() -> None:
    x = rg.asarray(da.from_array(SQUARES[0], chunks=2))
    said = r"^inv: needs the whole of a Dask array of shape \[3, 3\] \(72 B, in 4 blocks\)"
    with pytest.raises(rg.UnsupportedError, match=said):
        rg.linalg.inv(x)
    with rg.allow_whole():
        inverse = rg.linalg.inv(x)
    np.testing.assert_allclose(rg.compute(inverse)[0].numpy(), np.linalg.inv(SQUARES[0]))
    np.testing.assert_allclose(rg.linalg.inv(rg.asarray(da.from_array(SQUARES[0], chunks=3))).numpy(), np.linalg.inv(SQUARES[0]))


def test_how_often_an_index_comes_is_counted_over_all_blocks() -> None:
    labels, g = np.array([0, 1, 0, 2, 0, 1]), np.ones((6, 2))
    params = {"shape": (3, 2), "padding": None, "by_frequency": True}
    add = PRIMITIVES["embedding_add"].op
    divided = [da.from_array(g, chunks=(2, 2)), da.from_array(labels, chunks=2)]
    with rg.allow_whole():
        np.testing.assert_allclose(add(*divided, **params).compute(), add(g, labels, **params))
    with pytest.raises(rg.UnsupportedError, match="embedding_add: needs the whole"):
        add(*divided, **params)


def test_a_loss_and_its_gradients_share_one_pass_over_the_data() -> None:
    read = []

    def block(i: Any) -> Any:
        read.append(int(i[0]))
        return ROWS[i[0] * BLOCK : (i[0] + 1) * BLOCK]

    rows = da.map_blocks(block, da.from_array(np.arange(N // BLOCK), chunks=1), dtype=float, new_axis=1,
                         chunks=((BLOCK,) * (N // BLOCK), (5,)), meta=np.empty((0, 0)))  # fmt: skip
    w = rg.asarray(np.linspace(-1, 1, 5), requires_grad=True)
    loss = rg.mean(rg.log(1 + rg.exp(-rg.matmul(rg.asarray(rows), w))))
    (gradient,) = rg.autograd.grad(loss, w)
    assert gradient.shape == (5,)
    found, slope = rg.compute(loss, gradient, scheduler="sync")
    assert sorted(read) == [0, 1, 2, 3]
    assert isinstance(slope.numpy(), np.ndarray)
    z = ROWS @ np.linspace(-1, 1, 5)
    np.testing.assert_allclose(found.numpy(), np.log1p(np.exp(-z)).mean())
    np.testing.assert_allclose(slope.numpy(), -(ROWS / (1 + np.exp(z))[:, None]).mean(0))


def test_persisted_parameters_keep_the_graph_from_growing() -> None:
    x, sizes = rg.asarray(da.from_array(ROWS, chunks=(BLOCK, 5))), []
    w = rg.asarray(da.zeros(5, chunks=5))
    for _ in range(3):
        (g,) = rg.autograd.grad(rg.sum((rg.matmul(x, w := w.detach().requires_grad_()) - 1) ** 2), w)
        (w,) = rg.persist(w.detach() - 0.01 * g, scheduler="sync")
        sizes.append(len(dict(w.__dask_graph__())))
    assert sizes == [1, 1, 1]

"""`rg.random`: numbers as a function of a key, the same for the same one, in blocks of streams of their own."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import retrograde as rg

KEY = rg.random.key(5)


def test_a_key_names_its_numbers() -> None:
    np.testing.assert_array_equal(rg.random.normal(KEY, (100,)), rg.random.normal(rg.random.key(5), (100,)))
    others = [rg.random.key(6), *rg.random.split(KEY, 3), rg.random.fold_in(KEY, 0), rg.random.fold_in(KEY, 1)]
    drawn = [rg.random.uniform(k, (8,)).tolist() for k in (KEY, *others)]
    assert len({tuple(x) for x in drawn}) == len(drawn)
    assert rg.random.split(KEY, 3)[:2] == rg.random.split(KEY)
    with pytest.raises(ValueError):
        rg.random.fold_in(KEY, -1)


def test_distributions() -> None:
    n = 40_000
    u, z = rg.random.uniform(KEY, (n,), low=-1, high=3).numpy(), rg.random.normal(KEY, n, mean=2, std=0.5).numpy()
    assert u.min() >= -1
    assert u.max() < 3
    np.testing.assert_allclose([u.mean(), u.std()], [1, 4 / 12**0.5], atol=0.03)
    np.testing.assert_allclose([z.mean(), z.std()], [2, 0.5], atol=0.02)
    np.testing.assert_allclose(rg.random.bernoulli(KEY, 0.3, (n,)).numpy().mean(), 0.3, atol=0.02)
    assert set(rg.random.integers(KEY, -2, 2, (100,)).tolist()) == {-2, -1, 0, 1}
    assert sorted(rg.random.permutation(KEY, 50).tolist()) == list(range(50))


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "bfloat16"])
def test_dtypes(dtype: str) -> None:
    wanted = np.dtype(getattr(rg, dtype))
    assert rg.random.normal(KEY, (3,), dtype=wanted).dtype == wanted
    assert rg.random.uniform(KEY, like=rg.ones((2, 2), dtype=wanted)).dtype == wanted
    assert rg.random.integers(KEY, 0, 9, (3,), dtype=np.int8).dtype == np.int8


def test_errors() -> None:
    with pytest.raises(TypeError, match=r"wanted a key, as random\.key\(seed\) makes, got int"):
        rg.random.normal(3, (2,))  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="give a shape"):
        rg.random.uniform(KEY)
    with pytest.raises(TypeError, match="real floating dtype, got int64"):
        rg.random.normal(KEY, (2,), dtype=np.int64)
    with pytest.raises(TypeError, match="dtype of integers, got float64"):
        rg.random.integers(KEY, 0, 2, (2,), dtype=np.float64)


def test_transforms_take_draws_as_constants() -> None:
    def f(x: Any) -> Any:
        return rg.sum(x * rg.random.normal(KEY, like=x))

    z = rg.random.normal(KEY, (3,)).numpy()
    np.testing.assert_array_equal(rg.grad(f)(rg.ones(3)), z)
    np.testing.assert_allclose(rg.jit(rg.grad(f))(rg.ones(3)), z)
    np.testing.assert_allclose(rg.vmap(f)(rg.ones((2, 3))), [z.sum()] * 2)


def test_blocks_draw_from_streams_of_their_own() -> None:
    da = pytest.importorskip("dask.array", reason="dask is not installed")
    x = rg.asarray(da.ones((10, 4), chunks=(4, 3)))
    u = rg.random.uniform(KEY, like=x)
    assert u.data.chunks == x.data.chunks
    assert u.data.name == rg.random.uniform(KEY, like=x).data.name
    numbers = u.numpy()
    assert len(np.unique(numbers)) == 40
    np.testing.assert_array_equal(numbers[:4, :3], rg.random.uniform(KEY, (4, 3)))
    assert rg.random.normal(KEY, (), like=x).numpy().shape == ()
    assert rg.random.normal(KEY, (7,), like=x).data.shape == (7,)
    dropped = rg.grad(lambda x: rg.sum(rg.where(rg.random.bernoulli(KEY, 0.5, like=x), 2 * x, 0)))(x)
    np.testing.assert_array_equal(dropped.numpy(), 2.0 * (rg.random.bernoulli(KEY, 0.5, like=x).numpy()))

"""Linear algebra and Fourier transforms of the namespace against the reference implementation."""

from typing import Any

import numpy as np
import pytest

pytest.importorskip("array_api_strict", reason="the reference implementation is not installed")

import hypothesis.extra.numpy as hnp
from hypothesis import assume, given
from hypothesis import strategies as st

import retrograde as rg

from . import comparison as c

BATCH = hnp.array_shapes(min_dims=0, max_dims=2, min_side=0, max_side=2)
SIDES = st.integers(1, 4)


def well_conditioned(data: Any, *, hermitian: bool = False) -> np.ndarray:
    """Square matrices, batched, far from singular."""
    n, batch = data.draw(SIDES), data.draw(BATCH)
    x = data.draw(c.arrays(c.FLOATS, (*batch, n, n), moderate=True)) / 16
    x = x.astype(x.dtype) + 2 * np.eye(n, dtype=x.dtype)
    if hermitian:
        x = x @ np.conj(x.swapaxes(-1, -2))
    return x


def rectangular(data: Any, dtypes: list[str] = c.FLOATS) -> np.ndarray:
    return data.draw(c.arrays(dtypes, (*data.draw(BATCH), data.draw(SIDES), data.draw(SIDES)), moderate=True))


@c.many
@given(data=st.data())
def test_matmul(data: Any) -> None:
    n, m, k = (data.draw(st.integers(0, 3)) for _ in range(3))
    batch = data.draw(hnp.mutually_broadcastable_shapes(num_shapes=2, max_dims=2, max_side=2)).input_shapes
    dtype = data.draw(st.sampled_from(c.NUMERIC))
    near = [d for d in c.NUMERIC if np.dtype(d).kind == np.dtype(dtype).kind]
    x = data.draw(c.arrays([dtype], data.draw(st.sampled_from([(*batch[0], n, k), (k,)])), moderate=True))
    y = data.draw(c.arrays(near, data.draw(st.sampled_from([(*batch[1], k, m), (k,)])), moderate=True))
    c.compare(lambda xp, x, y: (xp.matmul(x, y), x @ y, xp.linalg.matmul(x, y)), x, y)


@c.few
@given(data=st.data())
def test_products(data: Any) -> None:
    dtype = data.draw(st.sampled_from(c.NUMERIC))
    shape = data.draw(hnp.array_shapes(min_dims=1, max_dims=3, min_side=0, max_side=3))
    x, y = (data.draw(c.arrays([dtype], shape, moderate=True)) for _ in range(2))
    c.compare(lambda xp, x, y: (xp.vecdot(x, y), xp.vecdot(x, y, axis=-1)), x, y)
    axis = data.draw(st.integers(-x.ndim, -1))
    c.compare(lambda xp, x, y: xp.linalg.vecdot(x, y, axis=axis), x, y)
    c.compare(lambda xp, x, y: xp.linalg.outer(x[..., 0] if x.ndim > 1 else x, y[0, ...] if y.ndim > 1 else y), x, y)
    count = data.draw(st.integers(0, x.ndim))
    axes = tuple(data.draw(st.permutations(range(x.ndim))))[:count]
    c.compare(lambda xp, x, y: (xp.tensordot(x, y, axes=(axes, axes)), xp.linalg.tensordot(x, y, axes=0)), x, y)
    c.compare(lambda xp, x, y: xp.tensordot(x.mT, y, axes=1) if x.ndim == 2 else x, x, y)


@c.few
@given(data=st.data())
def test_cross(data: Any) -> None:
    dtype = data.draw(st.sampled_from(c.NUMERIC))
    first, second = data.draw(hnp.mutually_broadcastable_shapes(num_shapes=2, max_dims=2, max_side=3)).input_shapes
    x, y = (data.draw(c.arrays([dtype], (*s, 3), moderate=True)) for s in (first, second))
    c.compare(lambda xp, x, y: xp.linalg.cross(x, y), x, y)
    if first == second and x.ndim > 1:
        c.compare(lambda xp, x, y: xp.linalg.cross(x.mT, y.mT, axis=-2), x, y)


@c.few
@given(data=st.data())
def test_square(data: Any) -> None:
    x = well_conditioned(data)
    c.compare(lambda xp, x: (xp.linalg.inv(x), xp.linalg.det(x), xp.linalg.slogdet(x)), x)
    n = data.draw(st.integers(-2, 5))
    c.compare(
        lambda xp, x: xp.linalg.matrix_power(x, n), x, rtol=1e-3 if x.dtype.name in ("float32", "complex64") else None
    )
    y = data.draw(
        c.arrays([x.dtype.name], data.draw(st.sampled_from([x.shape[-1:], (*x.shape[:-1], 2)])), moderate=True)
    )
    c.compare(lambda xp, x, y: xp.linalg.solve(x, y), x, y)


@c.few
@given(data=st.data())
def test_hermitian(data: Any) -> None:
    x = well_conditioned(data, hermitian=True)
    c.compare(lambda xp, x: (xp.linalg.eigvalsh(x), xp.linalg.eigh(x).eigenvalues), x)
    c.compare(lambda xp, x: (xp.linalg.cholesky(x), xp.linalg.cholesky(x, upper=True)), x)
    w, v = rg.linalg.eigh(rg.asarray(x))
    assert v.dtype == x.dtype
    tolerance = 1e-3 if x.dtype.name in ("float32", "complex64") else 1e-9
    np.testing.assert_allclose((v * w[..., None, :] @ v.conj().mT).numpy(), x, atol=tolerance)


@c.few
@given(data=st.data())
def test_decompositions(data: Any) -> None:
    x = rectangular(data)
    tolerance = 1e-3 if x.dtype.name in ("float32", "complex64") else 1e-9
    c.compare(lambda xp, x: (xp.linalg.svdvals(x), xp.linalg.svd(x).S), x)
    for full in (True, False):
        found = rg.linalg.svd(rg.asarray(x), full_matrices=full)
        k = min(x.shape[-2:])
        whole = found.U[..., :k] * found.S[..., None, :].astype(x.dtype) @ found.Vh[..., :k, :]
        np.testing.assert_allclose(whole.numpy(), x, atol=tolerance)
        assert found.U.shape[-1] == (x.shape[-2] if full else k)
    for mode in ("reduced", "complete"):
        q, r = rg.linalg.qr(rg.asarray(x), mode=mode)
        np.testing.assert_allclose((q @ r).numpy(), x, atol=tolerance)
        assert q.dtype == r.dtype == x.dtype
    if np.linalg.svd(x, compute_uv=False).min(initial=9) > 0.05:
        c.compare(lambda xp, x: xp.linalg.pinv(x), x, rtol=1e-2 if tolerance == 1e-3 else 1e-6)
        c.compare(lambda xp, x: xp.linalg.matrix_rank(x), x)


@c.few
@given(data=st.data())
def test_norms(data: Any) -> None:
    x = rectangular(data)
    assume(x.size)
    keepdims = data.draw(st.booleans())
    order = data.draw(st.sampled_from(["fro", "nuc", 1, -1, 2, -2, float("inf"), float("-inf")]))
    c.compare(lambda xp, x: xp.linalg.matrix_norm(x, keepdims=keepdims, ord=order), x)
    axis = data.draw(st.sampled_from([None, -1, 0, (-2, -1)]))
    of_vectors = data.draw(st.sampled_from([0, 1, 2, 3, 0.5, float("inf"), float("-inf")]))
    c.compare(lambda xp, x: xp.linalg.vector_norm(x, axis=axis, keepdims=keepdims, ord=of_vectors), x)


@c.few
@given(data=st.data())
def test_diagonals(data: Any) -> None:
    x = rectangular(data, c.NUMERIC)
    k = data.draw(st.integers(-5, 5))
    c.compare(
        lambda xp, x: (xp.linalg.diagonal(x, offset=k), xp.linalg.trace(x, offset=k), xp.linalg.matrix_transpose(x)), x
    )


@pytest.mark.parametrize("name", ["det", "inv", "cholesky", "eigh", "matrix_rank", "solve", "matmul", "svd"])
def test_shape_errors(name: str) -> None:
    f = getattr(rg.linalg, name)
    x = rg.ones((2, 3)) if name not in ("svd", "matrix_rank") else rg.ones(3)
    with pytest.raises(ValueError, match=rf"{name}.*\(|{name}.*shape"):
        f(x, x) if name in ("solve", "matmul") else f(x)


def test_singular() -> None:
    with pytest.raises(np.linalg.LinAlgError):
        rg.linalg.inv(rg.zeros((2, 2)))
    with pytest.raises(np.linalg.LinAlgError):
        rg.linalg.cholesky(rg.asarray([[1.0, 2.0], [2.0, 1.0]]))


# ------------------------------------------------------------------------------------------ Fourier transforms

NORMS = st.sampled_from(["backward", "ortho", "forward"])


@pytest.mark.parametrize("name", ["fft", "ifft", "rfft", "irfft", "hfft", "ihfft"])
@c.few
@given(data=st.data())
def test_transform(name: str, data: Any) -> None:
    x = data.draw(c.arrays(c.FLOATS, hnp.array_shapes(min_dims=1, max_dims=3, min_side=2, max_side=5), moderate=True))
    axis = data.draw(st.integers(-x.ndim, x.ndim - 1))
    n, norm = data.draw(st.one_of(st.none(), st.integers(1, 7))), data.draw(NORMS)
    c.compare(lambda xp, x: getattr(xp.fft, name)(x, n=n, axis=axis, norm=norm), x)


@pytest.mark.parametrize("name", ["fftn", "ifftn", "rfftn", "irfftn"])
@c.few
@given(data=st.data())
def test_transform_of_several(name: str, data: Any) -> None:
    x = data.draw(c.arrays(c.FLOATS, hnp.array_shapes(min_dims=1, max_dims=3, min_side=2, max_side=4), moderate=True))
    axes = data.draw(st.one_of(st.none(), hnp.valid_tuple_axes(x.ndim, min_size=1)))
    count = x.ndim if axes is None else len(axes)
    s = data.draw(st.one_of(st.none(), st.lists(st.integers(1, 5), min_size=count, max_size=count).map(tuple)))
    norm = data.draw(NORMS)
    if s is not None and axes is None:
        axes = tuple(range(count))
    c.compare(lambda xp, x: getattr(xp.fft, name)(x, s=s, axes=axes, norm=norm), x)


@c.few
@given(n=st.integers(1, 9), d=st.floats(0.1, 4), data=st.data())
def test_frequencies(n: int, d: float, data: Any) -> None:
    c.compare(lambda xp: (xp.fft.fftfreq(n, d=d), xp.fft.rfftfreq(n, d=d)))
    c.compare(lambda xp, f: (xp.fft.fftfreq(n, d=d, dtype=f), xp.fft.rfftfreq(n, d=d, dtype=f)), np.dtype("float32"))
    x = data.draw(c.arrays(c.FLOATS, hnp.array_shapes(min_dims=1, max_dims=3, max_side=4), moderate=True))
    axes = data.draw(st.one_of(st.none(), hnp.valid_tuple_axes(x.ndim, min_size=1)))
    c.compare(lambda xp, x: (xp.fft.fftshift(x, axes=axes), xp.fft.ifftshift(x, axes=axes)), x)

"""NumPy's functions on Tensors: they compute what they compute on arrays, and their gradients are right."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import retrograde as rg

RNG = np.random.default_rng(0)
V = RNG.uniform(0.2, 0.9, 5)
W = RNG.uniform(0.2, 0.9, 5)
M = RNG.uniform(0.2, 0.9, (3, 4))
S = RNG.uniform(-0.3, 0.3, (3, 3)) + 2 * np.eye(3)
T = RNG.uniform(0.2, 0.9, (2, 3, 4))
MASK = np.array([True, False, True, True, False])

UNARY = [
    "negative", "positive", "absolute", "fabs", "square", "reciprocal", "sqrt", "cbrt", "exp", "exp2", "expm1", "log",
    "log2", "log10", "log1p", "sin", "cos", "tan", "arcsin", "arccos", "arctan", "sinh", "cosh", "tanh", "arcsinh",
    "arctanh", "deg2rad", "degrees", "floor", "sign",
]  # fmt: skip
BINARY = [
    "add", "subtract", "multiply", "divide", "true_divide", "power", "float_power", "hypot", "arctan2", "maximum",
    "minimum", "fmax", "fmin", "logaddexp", "logaddexp2", "remainder", "fmod", "floor_divide", "copysign",
]  # fmt: skip

# A name for the test's report, and a function of one array (the first of the arrays after it).
CASES: list[tuple[Callable[..., Any], np.ndarray]] = [
    (lambda x: np.sum(x), M), (lambda x: np.sum(x, axis=0, keepdims=True), M), (lambda x: np.sum(x, where=MASK), V),
    (lambda x: np.sum(x, initial=2.0), V), (lambda x: np.prod(x, axis=1), M), (lambda x: np.mean(x, axis=(0, 2)), T),
    (lambda x: np.mean(x, where=MASK), V), (lambda x: np.var(x, axis=1, ddof=1), M), (lambda x: np.std(x), M),
    (lambda x: np.max(x, axis=0), M), (lambda x: np.min(x), M), (lambda x: np.max(x, initial=0.5, where=MASK), V),
    (lambda x: np.ptp(x, axis=0), M), (lambda x: np.average(x, weights=W), V),
    (lambda x: np.average(x, axis=1, weights=x[0], returned=True), M), (lambda x: np.cumsum(x), M),
    (lambda x: np.cumprod(x, axis=1), M), (lambda x: np.cumulative_sum(x, include_initial=True), V),
    (lambda x: np.nansum(np.where(MASK, x, np.nan)), V), (lambda x: np.nanmean(np.where(MASK, x, np.nan)), V),
    (lambda x: np.nanstd(np.where(MASK, x, np.nan), ddof=1), V), (lambda x: np.nanmax(np.where(MASK, x, np.nan)), V),
    (lambda x: np.nanmin(np.where(MASK, x, np.nan)), V), (lambda x: np.nanprod(np.where(MASK, x, np.nan)), V),
    (lambda x: np.sort(x, axis=0), M), (lambda x: np.sort(x, axis=None), M), (lambda x: np.median(x, axis=1), M),
    (lambda x: np.median(x), V), (lambda x: np.quantile(x, [0.2, 0.7], axis=0), M),
    (lambda x: np.quantile(x, 0.3, axis=1, keepdims=True), M),
    (lambda x: np.percentile(x, 40, method="midpoint"), V), (lambda x: np.quantile(x, 0.4, method="lower"), V),
    (lambda x: np.quantile(x, 0.3, method="nearest"), V), (lambda x: np.where(MASK, x, W), V),
    (lambda x: np.select([x < 0.4, x < 0.7], [x, 2 * x], 3 * x), V), (lambda x: np.clip(x, 0.3, 0.7), V),
    (lambda x: np.clip(x, 0.3, W), V), (lambda x: np.round(x, 1), V),
    (lambda x: np.nan_to_num(np.where(MASK, x, np.inf), posinf=1.0), V), (lambda x: np.sinc(x), V),
    (lambda x: np.i0(x), V), (lambda x: np.real(x * 1j + x), V), (lambda x: np.imag(x * 1j), V),
    (lambda x: np.angle(x + 1j * x**2, deg=True), V),
    (lambda x: np.interp(x, np.array([0.0, 0.5, 1.0]), np.array([1.0, 3.0, 2.0])), V),
    (lambda x: np.interp(np.array([0.1, 0.35, 2.0]), np.array([0.0, 0.2, 0.3, 0.5, 1.0]), x), V),
    (lambda x: np.take(x, [[0, 2], [-1, 1]], axis=1), M), (lambda x: np.take(x, [7, -1], mode="wrap"), V),
    (lambda x: np.take_along_axis(x, np.argsort(x, axis=1), axis=1), M),
    (lambda x: np.compress([1, 0, 1], x, axis=0), M), (lambda x: np.extract(MASK, x), V),
    (lambda x: np.unique(x), V), (lambda x: np.copy(x), V), (lambda x: x[MASK], V),
    (lambda x: np.reshape(x, (4, 3)), M), (lambda x: np.reshape(x, (2, -1), order="F"), M),
    (lambda x: np.ravel(x), M), (lambda x: np.ravel(x, order="F"), M), (lambda x: np.transpose(x, (2, 0, 1)), T),
    (lambda x: np.swapaxes(x, 0, -1), T), (lambda x: np.moveaxis(x, 0, -1), T), (lambda x: np.rollaxis(x, 2), T),
    (lambda x: np.expand_dims(x, (0, -1)), V), (lambda x: np.squeeze(x[None]), V), (lambda x: np.atleast_2d(x), V),
    (lambda x: np.atleast_3d(x), M), (lambda x: np.broadcast_to(x, (2, 5)), V),
    (lambda x: np.concatenate([x, np.ones((1, 4)), x]), M), (lambda x: np.concatenate([x, x[:1]], axis=None), M),
    (lambda x: np.stack([x, W], axis=1), V), (lambda x: np.vstack([x, W]), V), (lambda x: np.hstack([x, W]), V),
    (lambda x: np.dstack([x, W]), V), (lambda x: np.column_stack([x, W, x]), V),
    (lambda x: np.block([[x, x[:, :1]], [x[:1], np.ones((1, 1))]]), M), (lambda x: np.append(x, 1.0), V),
    (lambda x: np.split(x, 2, axis=1)[1], M), (lambda x: np.array_split(x, 3)[1], V),
    (lambda x: np.hsplit(x, [1, 3])[1], M), (lambda x: np.vsplit(x, 3)[2], M), (lambda x: np.unstack(x)[1], M),
    (lambda x: np.flip(x, 1), M), (lambda x: np.flipud(x), M), (lambda x: np.fliplr(x), M),
    (lambda x: np.roll(x, 1), M), (lambda x: np.roll(x, (1, -1), (0, 1)), M), (lambda x: np.rot90(x), M),
    (lambda x: np.tile(x, (2, 1)), M), (lambda x: np.repeat(x, 2, axis=0), M),
    (lambda x: np.repeat(x, [1, 0, 2, 1, 1]), V), (lambda x: np.delete(x, 1, 0), M),
    (lambda x: np.pad(x, ((1, 0), (0, 2))), M), (lambda x: np.pad(x, 2, mode="edge"), V),
    (lambda x: np.pad(x, 2, mode="reflect"), V), (lambda x: np.pad(x, 1, mode="wrap"), V),
    (lambda x: np.pad(x, 1, constant_values=3.0), V), (lambda x: np.diff(x, n=2), V),
    (lambda x: np.diff(x, prepend=0.0), V), (lambda x: np.ediff1d(x, to_end=9.0), V), (lambda x: np.gradient(x), V),
    (lambda x: np.gradient(x, 0.5, axis=1), M), (lambda x: np.gradient(x, np.array([0.0, 1.0, 1.5, 3.0, 4.0])), V),
    (lambda x: np.gradient(x), M), (lambda x: np.trapezoid(x, dx=0.5), M),
    (lambda x: np.trapezoid(x, np.array([0.0, 1.0, 1.5, 3.0]), axis=1), M), (lambda x: np.tril(x), M),
    (lambda x: np.triu(x, 1), M), (lambda x: np.diag(x), M), (lambda x: np.diag(x, 1), V),
    (lambda x: np.diagflat(x), V), (lambda x: np.diagonal(x, 1, 1, 2), T), (lambda x: np.vander(x, 3), V),
    (lambda x: np.meshgrid(x, W)[0], V), (lambda x: np.linspace(x, W, 4), V),
    (lambda x: np.full_like(x, 2.0) * x, V), (lambda x: np.dot(x, W), V), (lambda x: np.dot(x, M.T), M),
    (lambda x: np.dot(T, x), M.T), (lambda x: np.inner(x, M), M), (lambda x: np.outer(x, M), V),
    (lambda x: np.vdot(x, W), V), (lambda x: np.kron(x, M), M), (lambda x: np.matmul(x, T.mT), T),
    (lambda x: np.tensordot(x, T, axes=([1, 2], [1, 2])), T), (lambda x: np.einsum("ijk,ij->k", x, T[..., 0]), T),
    (lambda x: np.cross(x[:, :3], S), M), (lambda x: np.trace(x, 1), M), (lambda x: np.linalg.inv(x), S),
    (lambda x: np.linalg.det(x), S), (lambda x: np.linalg.slogdet(x)[1], S),
    (lambda x: np.linalg.solve(x, W[:3]), S), (lambda x: np.linalg.solve(S, x), M[:, :2]),
    (lambda x: np.linalg.cholesky(x @ x.T), S), (lambda x: np.linalg.eigvalsh(x + x.T), S),
    (lambda x: np.linalg.eigh(x + x.T)[0], S), (lambda x: np.linalg.eigh(x + x.T, UPLO="U").eigenvalues, S),
    (lambda x: np.linalg.svd(x, compute_uv=False), M), (lambda x: np.linalg.svd(x, full_matrices=False)[1], M),
    (lambda x: np.linalg.pinv(x), M), (lambda x: np.linalg.qr(x)[1], S), (lambda x: np.linalg.matrix_power(x, 3), S),
    (lambda x: np.linalg.matrix_power(x, -1), S), (lambda x: np.linalg.norm(x), M),
    (lambda x: np.linalg.norm(x, 3), V), (lambda x: np.linalg.norm(x, 1), M),
    (lambda x: np.linalg.norm(x, "nuc"), M), (lambda x: np.linalg.norm(x, axis=1), M),
    (lambda x: np.linalg.cond(x), S), (lambda x: np.linalg.lstsq(x, np.ones(4), rcond=None)[0], M.T),
    (lambda x: np.linalg.multi_dot([x, M, W[:4]]), S), (lambda x: np.linalg.matrix_norm(x, ord=2), S),
    (lambda x: np.linalg.vector_norm(x, axis=0), M), (lambda x: np.cov(x), M), (lambda x: np.cov(x, W), V),
    (lambda x: np.corrcoef(x), M), (lambda x: np.convolve(x, W[:3]), V),
    (lambda x: np.convolve(x, W[:3], "same"), V), (lambda x: np.convolve(W[:2], x, "same"), V),
    (lambda x: np.correlate(x, W[:3], "full"), V), (lambda x: np.correlate(W[:3], x, "full"), V),
    (lambda x: np.polyval(x, 2.0), V), (lambda x: np.polyval(W, x), V), (lambda x: abs(np.fft.fft(x)), V),
    (lambda x: np.fft.irfft(np.fft.rfft(x, 8), 8), V), (lambda x: abs(np.fft.fft2(x)), M),
    (lambda x: abs(np.fft.fftn(x, norm="ortho")), M), (lambda x: np.real(np.fft.fftshift(np.fft.ifft(x))), V),
    (lambda x: np.fft.hfft(x), V), (lambda x: abs(np.fft.ihfft(x)), V), (lambda x: np.add.reduce(x), M),
    (lambda x: np.multiply.reduce(x, axis=1), M), (lambda x: np.maximum.reduce(x), M),
    (lambda x: np.add.accumulate(x), V), (lambda x: np.multiply.outer(x, W), V), (lambda x: W * x, V),
    (lambda x: W / x, V), (lambda x: np.float64(2.0) ** x, V), (lambda x: np.matvec(M, x), V[:4]),
    (lambda x: np.vecdot(x, M, axis=0), M), (lambda x: np.astype(x, np.complex128).real, V),
    (lambda x: np.fix(x * 3), V), (lambda x: np.modf(x * 3)[0], V), (lambda x: np.frexp(x)[0], V),
    (lambda x: np.ldexp(x, 2), V), (lambda x: np.heaviside(x, 0.5), V),
]  # fmt: skip


def outputs(y: Any) -> list[Any]:
    return list(y) if isinstance(y, (tuple, list)) else [y]


def check(f: Callable[[Any], Any], x: np.ndarray) -> None:
    try:
        expected = outputs(f(x))
    except AttributeError as error:  # of an older NumPy
        pytest.skip(str(error))
    found = outputs(f(rg.asarray(x)))
    assert len(found) == len(expected)
    for y, e in zip(found, expected):
        assert isinstance(y, rg.Tensor), type(y)
        assert y.shape == np.shape(e)
        assert y.dtype == np.asarray(e).dtype
        np.testing.assert_allclose(y.numpy(), e, rtol=1e-10, atol=1e-12)
    weights = [np.cos(np.arange(np.size(e)).reshape(np.shape(e)) + 1.0) for e in expected]

    def scalar(z: Any) -> Any:
        return sum((y * w).sum() for y, w in zip(outputs(f(z)), weights))

    direction = np.cos(np.arange(x.size) * 1.7).reshape(x.shape)
    h = 1e-6
    numeric = (scalar(x + h * direction) - scalar(x - h * direction)) / (2 * h)
    gradient = rg.grad(scalar)(x)
    assert gradient.shape == x.shape
    np.testing.assert_allclose((gradient.numpy() * direction).sum(), numeric, rtol=2e-5, atol=1e-7)
    _, pushed = rg.jvp(scalar, (x,), (direction,))
    np.testing.assert_allclose(pushed.numpy(), numeric, rtol=2e-5, atol=1e-7)


@pytest.mark.parametrize("name", UNARY)
def test_unary_ufunc(name: str) -> None:
    check(getattr(np, name), V)


@pytest.mark.parametrize("name", BINARY)
def test_binary_ufunc(name: str) -> None:
    f = getattr(np, name)
    check(lambda x: f(x, W), V)
    check(lambda x: f(W, x), V)
    check(lambda x: f(x, 0.55), V)


@pytest.mark.parametrize("case", range(len(CASES)), ids=str)
def test_function(case: int) -> None:
    check(*CASES[case])


@pytest.mark.parametrize(
    "name", ["erf", "erfc", "expit", "logit", "gammaln", "psi", "ndtr", "log_ndtr", "erfinv", "i0e", "j1"]
)
def test_special_ufunc(name: str) -> None:
    special = pytest.importorskip("scipy.special")
    check(getattr(special, name), V)


def test_special_ufunc_of_two() -> None:
    special = pytest.importorskip("scipy.special")
    check(lambda x: special.xlogy(x, W), V)
    check(lambda x: special.rel_entr(W, x), V)


@pytest.mark.parametrize(
    "f",
    [
        lambda x: np.histogram(x), lambda x: np.apply_along_axis(np.sum, 0, x),
        lambda x: np.piecewise(x, [x > 0], [1, 2]),
        lambda x: np.spacing(x), lambda x: np.add.at(x, [0], 1.0), lambda x: np.linalg.tensorinv(x),
        lambda x: np.subtract.reduce(x), lambda x: np.add(x, 1, where=np.array([True, False] * 2 + [True])),
        lambda x: np.savetxt("never", x), lambda x: np.pad(x, 1, mode="linear_ramp"), lambda x: np.unique(x, axis=0),
        lambda x: np.lib.stride_tricks.sliding_window_view(x, 2), lambda x: np.unwrap(x),
    ],
)  # fmt: skip
def test_what_is_not_supported_says_so(f: Callable[[Any], Any]) -> None:
    with pytest.raises(TypeError, match="not differentiated by retrograde"):
        f(rg.asarray(V))


def test_nothing_recorded_becomes_an_array() -> None:
    x = rg.asarray(V, requires_grad=True)
    with pytest.raises(rg.GradError, match="detach"):
        np.asarray(x)
    with pytest.raises(TypeError, match="out="):
        np.add(x, 1.0, out=np.zeros(5))
    a = np.zeros(5)
    with pytest.raises(TypeError, match="augmented"):
        a += x
    assert not a.any()


def test_out_is_a_tensor_with_history() -> None:
    x = rg.asarray(V, requires_grad=True)
    out = rg.zeros(5)
    assert np.multiply(x, x, out=out) is out
    out.sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), 2 * V)
    plain = np.zeros(5)
    total = np.zeros(())
    np.sum(rg.asarray(V), None, None, total)
    np.testing.assert_allclose(total, V.sum())
    np.add(rg.asarray(V), 1.0, plain)
    np.testing.assert_allclose(plain, V + 1)
    with pytest.raises(TypeError):
        np.add(x, 1.0, out=rg.zeros(5, dtype=rg.int64))


def test_operators_of_arrays_with_tensors() -> None:
    x = rg.asarray(V)
    for y in (W + x, W - x, W * x, W / x, W**x, W @ x, np.hypot(W, x), np.float64(2) * x):
        assert isinstance(y, rg.Tensor)
    assert isinstance(np.asarray(x), np.ndarray)
    assert np.shape(x) == (5,)
    assert np.ndim(x) == 1
    assert np.size(x) == 5
    assert np.allclose(x, V)
    assert np.array_equal(x, V)
    assert not np.iscomplexobj(x)
    assert np.result_type(x, np.float32) == np.float64


def test_copyto_and_in_place() -> None:
    x = rg.asarray(V, requires_grad=True)
    y = rg.zeros(5)
    np.copyto(y, x, where=MASK)
    y *= W
    y.sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), np.where(MASK, W, 0))


def test_higher_derivatives_through_numpy() -> None:
    def tanh(x: Any) -> Any:
        return (1.0 - np.exp(-2 * x)) / (1.0 + np.exp(-2 * x))

    f: Any = tanh
    for _ in range(3):
        f = rg.grad(f)
    t = np.tanh(0.7)
    expected = -2 * (1 - t * t) * (1 - 3 * t * t)
    np.testing.assert_allclose(f(0.7).item(), expected, rtol=1e-10)
    elementwise = rg.vmap(rg.grad(tanh))(V)
    np.testing.assert_allclose(elementwise.numpy(), 1 - np.tanh(V) ** 2)

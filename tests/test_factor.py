"""Triangular systems as generated code, and what solves with LAPACK's factors: residuals, singular matrices, derivatives."""

import itertools

import numpy as np
import pytest

import retrograde as rg
from retrograde.backend import blas
from retrograde.backend.jit import factor, llvm, threads
from retrograde.ops import decompositions, linalg
from retrograde.ops.linalg_factor import cholesky
from retrograde.ops.linalg_spectral import eigvalsh, svdvals

TRIANGLES = [factor.Triangle(*which) for which in itertools.product((False, True), repeat=3)]
generated = pytest.mark.skipif(not llvm.available(), reason="no code is generated here")
SIZES = (0, 1, 2, 7, 8, 9, 31, 33, 100)
DTYPES = (np.float32, np.float64)


@pytest.fixture(autouse=True)
def one_blas_thread():
    """NumPy's own results would wait for several on a busy machine."""
    with blas.one_thread:
        yield


def random(*shape, dtype=np.float64, seed=0):
    return np.random.default_rng(seed).standard_normal(shape).astype(dtype)


def reference(a, b, t):
    a = np.tril(a) if not t.upper else np.triu(a)
    if t.unit:
        a = a - np.diag(np.diag(a)) + np.eye(len(a))
    return np.linalg.solve((a.T if t.transposed else a).astype(float), b.astype(float))


@generated
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("n", [16, 31, 33, 100, 512])
def test_triangular_systems(n, dtype):
    a = (random(n, n, dtype=dtype) / n + np.eye(n)).astype(dtype)
    for k, t in enumerate(TRIANGLES if n < 500 else TRIANGLES[3:4]):
        for order in "CF":
            b = random(n, (1, 7, 8, 9, 33, 100)[k % 6], dtype=dtype, seed=k)
            matrix = np.array(a, order=order)
            assert factor.suited(matrix, b)
            np.testing.assert_allclose(
                factor.solved(matrix, b.copy(), t), reference(a, b, t), rtol=0, atol=50 * np.finfo(dtype).eps
            )


@generated
def test_views_batches_and_two_systems_in_a_row():
    a = (random(3, 40, 40) / 40 + np.eye(40)).astype(np.float32)
    first, second = factor.Triangle(False, True), factor.Triangle(True)
    b = random(3, 21, 40, dtype=np.float32).swapaxes(-1, -2)
    before = b.copy()
    found = factor.solved(a, b, first, second)
    np.testing.assert_array_equal(b, before)
    for x, y, z in zip(a, b, found):
        np.testing.assert_allclose(z, reference(x, reference(x, y, first), second), atol=1e-5)
        np.testing.assert_array_equal(z, factor.solved(x, y, first, second))
        np.testing.assert_array_equal(z, factor.solved(np.repeat(x, 2, 1)[:, ::2], y, first, second))


@generated
@pytest.mark.parametrize("n", [16, 33, 100])
@pytest.mark.parametrize("reverse", [False, True])
def test_zeros_above_the_diagonal_are_left_out_without_a_change(n, reverse):
    a = random(n, n) / n + np.eye(n)
    systems = factor.Triangle(reverse, True, reverse), factor.Triangle(not reverse, False, reverse)
    b = np.tril(random(n, n, seed=1))
    np.testing.assert_array_equal(
        factor.solved(a, b.copy(), *systems, lower=True), factor.solved(a, b.copy(), *systems)
    )


@generated
def test_any_number_of_threads_gives_the_same():
    a, b = random(2, 130, 130, dtype=np.float32) / 130 + np.eye(130, dtype=np.float32), random(2, 130, 100, dtype=np.float32)
    before = threads.count()
    try:
        found = []
        for count in (1, 2, 5):
            threads.set_count(count)
            found.append(factor.solved(a, b.copy(), factor.Triangle(False), factor.Triangle(True)))
    finally:
        threads.set_count(before)
    for other in found[1:]:
        np.testing.assert_array_equal(found[0], other)


@generated
def test_a_zero_on_the_diagonal_divides():
    a = np.eye(20)
    a[3, 3] = 0
    found = factor.solved(a, np.ones((20, 5)), factor.Triangle(False))
    assert np.isinf(found[3]).all()
    assert (found[:3] == 1).all()


# ------------------------------------------------------------------------------------------ with LAPACK's factors


def matrices(kind, n, dtype):
    a = random(n, n, seed=n)
    if kind == "graded":
        a = a * np.logspace(0, -6, n)[:, None] if n else a
    elif kind == "nearly singular" and n > 1:
        a[-1] = a[0] + 1e-4 * a[-1]
    return a.astype(dtype)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("kind", ["random", "graded", "nearly singular"])
@pytest.mark.parametrize("n", SIZES)
def test_residuals_are_no_larger_than_numpys(n, kind, dtype):
    a, b = matrices(kind, n, dtype), random(n, 5, dtype=dtype)
    wide = a.astype(float)

    def residual(x):
        return np.linalg.norm(wide @ x - b) / max(np.linalg.norm(wide) * np.linalg.norm(x), 1e-30) if n else 0.0

    for given in (a, np.asfortranarray(a), np.repeat(a, 2, 1)[:, ::2]):
        found = linalg.solve(given, b)
        assert (found.dtype, found.shape) == (dtype, b.shape)
        assert residual(found) <= 3 * residual(np.linalg.solve(a, b)) + np.finfo(dtype).eps
        np.testing.assert_allclose(linalg.solve(given, b.T, left=False).T, np.linalg.solve(a.T, b), rtol=1e-2, atol=1e-2)
        inverse = linalg.inv(given)
        np.testing.assert_allclose(inverse, np.linalg.inv(a), rtol=1e-6, atol=1e-7 * max(1, np.abs(inverse).max(initial=0)))


@pytest.mark.parametrize("n", SIZES)
def test_determinants_kept_or_not(n):
    a = random(2, n, n, seed=n)
    for x in (a, a[0], a[0].T):
        for kept, plain in zip(linalg._slogdet_kept(x)[:2], np.linalg.slogdet(x)):
            np.testing.assert_allclose(kept, plain, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("n", [5, 40])
def test_singular_matrices(n):
    a = random(n, n)
    a[:, 2] = 0
    x = rg.asarray(a).requires_grad_()
    for f in (lambda: linalg.solve(x, x), lambda: linalg.inv(x), lambda: linalg.solve(a, a), lambda: linalg.inv(a)):
        with pytest.raises(np.linalg.LinAlgError):
            f()
    sign, size = linalg.slogdet(x)
    assert (float(sign), float(size)) == (0, -np.inf)
    assert not np.isfinite(np.asarray(linalg.solve(x, rg.asarray(a), check=False).detach())).all()
    assert not np.isfinite(linalg.inv(a, check=False)).all()
    nan = np.full((n, n), np.nan)
    assert np.isnan(linalg._slogdet_kept(nan)[:2]).all()


FUNCTIONS = {
    "solve": lambda a, b: linalg.solve(a, b),
    "solve from the right": lambda a, b: linalg.solve(a, linalg.matrix_transpose(b), left=False),
    "solve vector": lambda a, b: linalg.solve(a, b[..., 0], vector=True),
    "solve itself": lambda a, b: linalg.solve(a, a @ a),
    "inv": lambda a, b: linalg.inv(a),
    "slogdet": lambda a, b: linalg.slogdet(a)[1],
    "cholesky": lambda a, b: cholesky(a @ linalg.adjoint(a) + 1 * np.eye(a.shape[-1])),
    "eigvalsh": lambda a, b: eigvalsh(a + linalg.adjoint(a)) ** 2,
    "svdvals": lambda a, b: svdvals(a) ** 2,
}


@pytest.mark.parametrize("lead", [(), (2,)])
@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("n", [3, 50])
def test_derivatives_along_a_direction(n, name, lead):
    """First and second ones, against differences."""
    a = random(*lead, n, n, seed=1) + 3 * n**0.5 * np.eye(n)[np.argsort(random(n, seed=5))]
    b, d, w = random(*lead, n, 4, seed=2), random(*lead, n, n, seed=3), None

    def value(x):
        nonlocal w
        y = FUNCTIONS[name](x, rg.asarray(b))
        w = random(*y.shape, seed=4) if w is None else w
        return (y * rg.asarray(w)).sum()

    x = rg.asarray(a).requires_grad_()
    (g,) = rg.autograd.grad(value(x), [x], create_graph=True)
    (second,) = rg.autograd.grad((g * rg.asarray(d)).sum(), [x])
    (plain,) = rg.autograd.grad(value(x), [x])
    np.testing.assert_allclose(np.asarray(plain), np.asarray(g.detach()), rtol=1e-9, atol=1e-12)

    def slope(at):
        y = rg.asarray(at).requires_grad_()
        return np.asarray(rg.autograd.grad(value(y), [y])[0])

    h = 1e-6
    ends = [float(value(rg.asarray(a + s * h * d))) for s in (1, -1)]
    np.testing.assert_allclose((slope(a) * d).sum(), (ends[0] - ends[1]) / (2 * h), rtol=1e-5, atol=1e-6)
    rough = (slope(a + h * d) - slope(a - h * d)) / (2 * h)
    np.testing.assert_allclose(np.asarray(second), rough, rtol=1e-4, atol=1e-4 * max(1, np.abs(rough).max()))


@pytest.mark.parametrize("n", [5, 40])
def test_values_take_their_vectors_along_when_recorded(n):
    """The backward pass decomposes nothing again."""
    a = random(n, n)
    x = rg.asarray(a).requires_grad_()
    y = eigvalsh(x + x.T).sum() + svdvals(x).sum()
    before = np.linalg.eigh, np.linalg.svd
    np.linalg.eigh = np.linalg.svd = None
    try:
        y.backward()
    finally:
        np.linalg.eigh, np.linalg.svd = before
    u, _, vh = np.linalg.svd(a)
    np.testing.assert_allclose(np.asarray(x.grad), 2 * np.eye(n) + u @ vh, atol=1e-10)


@pytest.mark.parametrize("dtype", "fdFD")
@pytest.mark.parametrize("shape", [(1, 1), (3, 3), (2, 0, 3, 3), (2, 3, 3)])
def test_decompositions_are_numpys(shape, dtype):
    rng = np.random.default_rng(0)
    x = (rng.normal(size=shape) + (1j * rng.normal(size=shape) if dtype in "FD" else 0)).astype(dtype)
    positive = (x @ np.conj(x.swapaxes(-1, -2)) + np.eye(shape[-1])).astype(dtype)
    if not positive.size:
        assert decompositions.cholesky(positive, upper=True) is None
        return
    for upper in (False, True):
        found = decompositions.cholesky(positive, upper=upper), *decompositions.eigh(positive, upper=upper)
        wanted = np.linalg.cholesky(positive, upper=upper), *np.linalg.eigh(positive, UPLO="U" if upper else "L")
        for a, b in zip(found, wanted, strict=True):
            assert a.dtype == b.dtype
            np.testing.assert_array_equal(a, b)
    for full in (False, True):
        for a, b in zip(decompositions.svd(x[..., :2], full=full), np.linalg.svd(x[..., :2], full_matrices=full), strict=True):
            assert a.dtype == b.dtype
            np.testing.assert_array_equal(a, b)


def test_decompositions_leave_to_numpy_what_fails(recwarn):
    x = np.stack([np.eye(2), -np.eye(2)])
    assert decompositions.cholesky(x, upper=False) is None
    assert decompositions.eigh(np.full((2, 2), np.nan), upper=False) is None
    assert decompositions.svd(np.full((2, 2), np.nan), full=True) is None
    assert decompositions.cholesky(np.eye(2, dtype=int), upper=False) is None
    assert not recwarn

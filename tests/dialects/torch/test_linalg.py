"""`torch.linalg` against values, first and second derivatives recorded from PyTorch; errors and edge cases."""

from pathlib import Path

import numpy as np
import pytest
from dialects.torch import linalg_cases

from retrograde.dialects import torch

RECORD = dict(np.load(Path(__file__).parent / "data" / "linalg.npz"))
CASES = {name: (f, xs) for name, f, xs in linalg_cases.cases(torch)}
linalg = torch.linalg


@pytest.mark.parametrize("name", CASES)
def test_against_pytorch(name):
    f, xs = CASES[name]
    results = linalg_cases.run(torch, f, xs, lambda t: t.numpy())
    for part, values in zip(("out", "grad", "second"), results):
        for i, x in enumerate(values):
            expected = RECORD.get(f"{name}/{part}/{i}")
            if x is None or expected is None:  # a derivative that is missing and one that is zero are the same
                present = expected if x is None else x
                assert present is None or not np.any(present), (part, i)
                continue
            assert (x.shape, x.dtype) == (expected.shape, expected.dtype), (part, i)
            scale = max(1.0, float(np.max(np.abs(expected[np.isfinite(expected)]), initial=0)))
            np.testing.assert_allclose(x, expected, rtol=1e-6, atol=1e-8 * scale, err_msg=f"{part} {i}")


NODES = {
    "inv": "LinalgInvExBackward0", "det": "LinalgDetBackward0", "cholesky": "LinalgCholeskyExBackward0",
    "eigvalsh": "LinalgEighBackward0", "svdvals": "LinalgSvdBackward0", "matrix_exp": "LinalgMatrixExpBackward0",
    "pinv": "LinalgPinvBackward0", "eigvals": "LinalgEigBackward0", "vector_norm": "LinalgVectorNormBackward0",
}  # fmt: skip


@pytest.mark.parametrize("name", NODES)
def test_node_names(name):
    out = getattr(linalg, name)(torch.eye(2, requires_grad=True))
    assert out.grad_fn.name() == NODES[name]


def test_old_cholesky_has_a_node_of_its_own():
    assert torch.cholesky(torch.eye(2, requires_grad=True)).grad_fn.name() == "CholeskyBackward0"


def test_named_results_print_as_in_pytorch():
    assert repr(linalg.inv_ex(torch.tensor([[1.0, 2.0], [2.0, 4.0]]))) == (
        "torch.return_types.linalg_inv_ex(\ninverse=tensor([[-inf, inf],\n        [inf, -inf]]),\n"
        "info=tensor(2, dtype=torch.int32))"
    )
    q, r = linalg.qr(torch.eye(2))
    assert q.shape == r.shape == (2, 2)
    assert linalg.eigh(torch.eye(2)).eigenvalues.tolist() == [1.0, 1.0]


SINGULAR = torch.zeros(2, 2)
FAILURES = [
    (lambda: linalg.inv(SINGULAR), linalg.LinAlgError),
    (lambda: torch.inverse(torch.stack([torch.eye(2), SINGULAR])), linalg.LinAlgError),
    (lambda: linalg.solve(SINGULAR, torch.ones(2)), linalg.LinAlgError),
    (lambda: linalg.cholesky(-torch.eye(2)), linalg.LinAlgError),
    (lambda: linalg.cholesky_ex(-torch.eye(2), check_errors=True), linalg.LinAlgError),
    (lambda: linalg.svdvals(torch.full((2, 2), float("nan"))), linalg.LinAlgError),
    (lambda: linalg.lu_factor(SINGULAR), RuntimeError),
    (lambda: linalg.lu(torch.eye(2), pivot=False), RuntimeError),
    (lambda: linalg.eig(torch.full((2, 2), float("nan"))), RuntimeError),
    (lambda: linalg.inv(torch.ones(2, 3)), RuntimeError),
    (lambda: linalg.inv(torch.ones(3)), RuntimeError),
    (lambda: linalg.inv(torch.ones(2, 2, dtype=torch.long)), RuntimeError),
    (lambda: linalg.det(torch.ones(2, 2, dtype=torch.half)), NotImplementedError),
    (lambda: linalg.inv([[1.0]]), TypeError),
    (lambda: linalg.solve(torch.eye(3), torch.ones(2)), RuntimeError),
    (lambda: linalg.solve(torch.eye(3), torch.ones(3, dtype=torch.double)), RuntimeError),
    (lambda: linalg.qr(torch.eye(2), mode="raw"), RuntimeError),
    (lambda: linalg.eigh(torch.eye(2), UPLO="X"), RuntimeError),
    (lambda: linalg.matrix_norm(torch.eye(2), 3), RuntimeError),
    (lambda: linalg.matrix_norm(torch.eye(2), dim=(0, 5)), IndexError),
    (lambda: linalg.vector_norm(torch.eye(2), "fro"), TypeError),
    (lambda: linalg.vector_norm(torch.ones(0), float("inf")), RuntimeError),
    (lambda: linalg.matrix_power(torch.eye(2), 2.0), TypeError),
    (lambda: linalg.multi_dot([torch.eye(2)]), RuntimeError),
    (lambda: torch.geqrf(torch.eye(2, requires_grad=True))[0].sum().backward(), NotImplementedError),
    (lambda: linalg.qr(torch.ones(3, 2, requires_grad=True), mode="complete")[1].sum().backward(), RuntimeError),
    (lambda: linalg.qr(torch.eye(2, requires_grad=True), mode="r")[1].sum().backward(), RuntimeError),
]


@pytest.mark.parametrize("i", range(len(FAILURES)))
def test_errors(i):
    call, kind = FAILURES[i]
    with pytest.raises(kind):
        call()


@pytest.mark.parametrize("f", [linalg.eigh, linalg.eig, lambda a: linalg.svd(a)[::2]])
def test_phase_dependent_functions_are_refused(f):
    a = torch.tensor([[2.0, 1 + 1j], [1 - 1j, 5.0]], dtype=torch.cdouble, requires_grad=True)
    vectors = f(a)[1]
    weights = torch.tensor([[1 + 2j, 3j], [2.0, 1 - 1j]], dtype=torch.cdouble)
    with pytest.raises(RuntimeError, match="phase"):
        torch.autograd.grad((vectors * weights).real.sum(), a)


def test_equal_values_give_nan_as_in_pytorch_unless_only_values_matter():
    e = torch.eye(2, requires_grad=True)
    assert bool(torch.isnan(torch.autograd.grad(linalg.eigh(e)[1].sum(), e)[0]).all())
    assert torch.autograd.grad(linalg.svd(e)[1].sum(), e)[0].tolist() == [[1.0, 0.0], [0.0, 1.0]]


def test_determinant_of_a_singular_matrix_has_both_derivatives():
    a = torch.tensor([[1.0, 2.0], [2.0, 4.0]], dtype=torch.double, requires_grad=True)
    (g,) = torch.autograd.grad(torch.det(a), a, create_graph=True)
    np.testing.assert_allclose(g.detach().numpy(), [[4, -2], [-2, 1]], atol=1e-12)
    (h,) = torch.autograd.grad(g[0, 0], a)
    np.testing.assert_allclose(h.numpy(), [[0, 0], [0, 1]], atol=1e-12)


@pytest.mark.parametrize("shape", [(0, 0), (0, 3), (2, 0, 0), (3, 0)])
def test_empty_matrices(shape):
    a = torch.ones(shape)
    (m, n), lead = shape[-2:], shape[:-2]
    assert linalg.pinv(a).shape == (*lead, n, m)
    assert [x.shape for x in linalg.svd(a)] == [(*lead, m, m), (*lead, 0), (*lead, n, n)]
    assert linalg.matrix_rank(a).tolist() == ([0, 0] if lead else 0)
    assert linalg.cond(a).tolist() == ([0.0, 0.0] if lead else 0.0)
    assert [linalg.matrix_norm(a, p).tolist() for p in (2, 1, "nuc", float("inf"))] == [[0.0, 0.0] if lead else 0.0] * 4
    if m == n:
        assert linalg.det(a).tolist() == ([1.0, 1.0] if lead else 1.0)
        assert linalg.inv(a).shape == shape


def test_views_and_writes_into_out():
    a = torch.zeros(2, 2)
    linalg.diagonal(a).add_(1)
    assert a.tolist() == [[1.0, 0.0], [0.0, 1.0]]
    out = torch.empty(0)
    assert linalg.inv(a, out=out) is out
    assert out.tolist() == a.tolist()


def test_float32_stays_float32():
    a = torch.tensor([[2.0, 1.0], [1.0, 3.0]])
    for f in (linalg.inv, linalg.cholesky, linalg.matrix_exp, linalg.pinv, linalg.svdvals, linalg.det):
        assert f(a).dtype is torch.float32
    assert linalg.eigvals(a).dtype is torch.complex64
    assert linalg.lstsq(a, a, driver="gelsd").singular_values.dtype is torch.float32

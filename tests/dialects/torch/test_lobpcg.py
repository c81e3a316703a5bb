"""`torch.lobpcg`: eigenpairs, their derivatives, generalised problems; behaviour from PyTorch 2.13."""

import pytest

import retrograde.dialects.torch as torch


def matrix(n=9):
    q = torch.arange(float(n * n)).reshape(n, n).sin().double()
    return q @ q.T + torch.eye(n, dtype=torch.float64)


def test_eigenpairs():
    a = matrix()
    known = torch.linalg.eigvalsh(a)
    e, v = torch.lobpcg(a, k=2)
    assert torch.allclose(e, known.flip(0)[:2])
    assert torch.allclose(a @ v, v * e)
    e, v = torch.lobpcg(a, k=3, largest=False)
    assert torch.allclose(e, known[:3])
    assert torch.allclose(v.T @ v, torch.eye(3, dtype=torch.float64))
    assert [tuple(x.shape) for x in torch.lobpcg(a)] == [(1,), (9, 1)]
    assert [tuple(x.shape) for x in torch.lobpcg(a, X=torch.randn(9, 3))] == [(3,), (9, 3)]
    assert [tuple(x.shape) for x in torch.lobpcg(torch.stack([a, a]), 2, niter=9, method="basic")] == [(2, 2), (2, 9, 2)]
    assert torch.allclose(torch.lobpcg(a.to_sparse(), 1)[0], known[-1:])
    assert torch.allclose(torch.lobpcg(a, 9)[0], known.flip(0))  # PyTorch, which iterates, takes 3 at most
    b = torch.diag(torch.arange(1.0, 10.0, dtype=torch.float64))
    e, v = torch.lobpcg(a, 2, B=b)
    assert torch.allclose(a @ v, b @ v * e)
    assert torch.allclose(v.T @ b @ v, torch.eye(2, dtype=torch.float64), atol=1e-10)


def test_derivatives():
    a = matrix().requires_grad_()

    def projector(a):
        e, v = torch.lobpcg(a + a.T, k=2)
        return e, v @ v.T

    assert torch.autograd.gradcheck(projector, a)
    assert torch.autograd.gradgradcheck(lambda a: torch.lobpcg(a + a.T, k=2)[0], a)
    e, v = torch.lobpcg(a, k=2, largest=False)
    e.sum().backward()
    assert torch.allclose(a.grad, (v @ v.T).detach())
    b = torch.eye(9, dtype=torch.float64).mul(2).requires_grad_()
    assert torch.autograd.gradcheck(lambda b: torch.lobpcg(a.detach(), 2, B=(b + b.T) / 2)[0], b)


def test_refusals():
    a = matrix()
    for error, f in (
        (ValueError, lambda: torch.lobpcg(a, k=10)),
        (ValueError, lambda: torch.lobpcg(a, k=0)),
        (AssertionError, lambda: torch.lobpcg(torch.ones(3, 4), k=1)),
        (RuntimeError, lambda: torch.lobpcg(torch.eye(9, dtype=torch.int64), k=1)),
        (NotImplementedError, lambda: torch.lobpcg(a, tracker=print)),
    ):
        with pytest.raises(error):
            f()


def test_one_element_of_a_symmetric_matrix_is_moved_alone():
    a = matrix(4).requires_grad_()
    assert torch.autograd.gradcheck(lambda a: torch.lobpcg(a, k=1)[0], a)

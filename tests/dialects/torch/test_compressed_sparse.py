"""Matrices with compressed rows (CSR) or columns (CSC); figures from PyTorch 2.13."""

import copy
import io
import pickle

import pytest

import retrograde.dialects.torch as torch

DENSE = torch.tensor([[0.0, 2, 0], [3, 0, 4]])


def test_what_they_are():
    s = DENSE.to_sparse_csr()
    assert repr(s) == (
        "tensor(crow_indices=tensor([0, 1, 3]),\n"
        "       col_indices=tensor([1, 0, 2]),\n"
        "       values=tensor([2., 3., 4.]), size=(2, 3), nnz=3,\n"
        "       layout=torch.sparse_csr)"
    )
    assert s.layout is torch.sparse_csr
    assert (s.is_sparse, s.is_sparse_csr, s._nnz(), s.shape) == (False, True, 3, (2, 3))
    assert isinstance(s, torch.Tensor)
    c = s.to_sparse_csc()
    assert c.ccol_indices().tolist() == [0, 1, 2, 3]
    assert c.row_indices().tolist() == [1, 0, 1]
    assert c.values().tolist() == [3, 2, 4]
    for x in (s, c, s.to_sparse(), c.to_sparse_csr(), c.to_sparse(), DENSE.to_sparse(layout=torch.sparse_csr), s.t().t(),
              torch.sparse_csr_tensor([0, 1, 3], [1, 0, 2], [2.0, 3, 4]),
              torch.sparse_csc_tensor([0, 1, 2, 3], [1, 0, 1], [3.0, 2, 4], (2, 3))):  # fmt: skip
        assert x.to_dense().equal(DENSE)
    assert s.t().layout is torch.sparse_csc
    assert s.t().to_dense().equal(DENSE.T)
    assert "ccol_indices=tensor([0, 1, 3])" in repr(s.t())
    assert repr(torch.eye(2).long().to_sparse_csr()).endswith("size=(2, 2), nnz=2, layout=torch.sparse_csr)")
    assert torch.zeros(2, 2).to_sparse_csr().crow_indices().tolist() == [0, 0, 0]
    assert s.double().dtype is torch.float64


def test_what_is_computed_with_them():
    s, x = DENSE.to_sparse_csr(), torch.arange(6.0).reshape(3, 2)
    for f in (
        lambda s: s @ x, lambda s: s @ torch.ones(3), lambda s: torch.sparse.mm(s, x), lambda s: torch.mv(s, torch.ones(3)),
        lambda s: x.T @ s.t(), lambda s: torch.addmm(torch.ones(2, 2), s, x), lambda s: s.sum(), lambda s: DENSE + s,
        lambda s: s + DENSE, lambda s: torch.nn.functional.linear(torch.ones(2, 3), s), lambda s: s[1, 2],
    ):  # fmt: skip
        assert torch.allclose(f(s), f(DENSE))
    for f in (lambda s: s * 2, lambda s: s + s, lambda s: -s, lambda s: s.sin(), lambda s: s * DENSE, lambda s: s @ s.t()):
        out = f(s)
        assert out.is_sparse_csr
        assert torch.allclose(out.to_dense(), f(DENSE))
    s.mul_(3)
    assert s.values().tolist() == [6, 9, 12]


def test_what_pytorch_computes_in_coordinates_only():
    for s, kind in ((DENSE.to_sparse_csr(), "is_sparse_csr"), (DENSE.to_sparse_csc(), "_by_columns")):
        for f in (
            lambda x: x / 2, lambda x: torch.cat([x, x]), lambda x: x.index_select(1, torch.tensor([2, 0])),
            lambda x: torch.sum(x, dim=1, keepdim=True),
        ):  # fmt: skip
            out = f(s)
            assert getattr(out, kind)
            assert torch.equal(out.to_dense(), f(DENSE))
        for f in (
            lambda x: torch.stack([x, x]), lambda x: x.unsqueeze(0), lambda x: x.sum(1), lambda x: torch.sparse.sum(x, 0),
        ):  # fmt: skip
            assert torch.equal(f(s).to_dense(), f(DENSE))
        assert s.norm() == DENSE.norm()
        assert s.sum((0, 1), keepdim=True).tolist() == [[DENSE.sum().item()]]


def test_gradients_are_those_of_the_values():
    w = torch.tensor([2.0, 3, 4], requires_grad=True)
    x = torch.ones(3, 2, requires_grad=True)
    a = torch.sparse_csr_tensor(torch.tensor([0, 1, 3]), torch.tensor([1, 0, 2]), w, (2, 3))
    assert "grad_fn=<SparseCompressedTensorBackward0>" in repr(a)
    (a @ x).sum().backward()
    assert w.grad.tolist() == [2, 2, 2]
    assert x.grad[:, 0].tolist() == [3, 2, 4]
    with pytest.raises(NotImplementedError):
        DENSE.to_sparse_csr().requires_grad_()
    with pytest.raises(NotImplementedError):
        DENSE.clone().requires_grad_().to_sparse_csr()


def test_copies_files_and_refusals():
    s = DENSE.to_sparse_csr()
    stream = io.BytesIO()
    torch.save({"a": s, "b": s.t()}, stream)
    stream.seek(0)
    loaded = torch.load(stream)
    for x in (loaded["a"], loaded["b"].t(), copy.deepcopy(s), pickle.loads(pickle.dumps(s)), s.clone()):
        assert x.is_sparse_csr
        assert x.to_dense().equal(DENSE)
    for error, f in (
        (RuntimeError, lambda: s.indices()), (RuntimeError, lambda: s.coalesce()), (RuntimeError, lambda: s.t().crow_indices()),
        (RuntimeError, lambda: s @ torch.ones(4)), (TypeError, lambda: s.numpy()),
        (IndexError, lambda: torch.ones(3).to_sparse_csr()),
        (RuntimeError, lambda: torch.sparse_csr_tensor([0, 1, 5], [1, 0, 2], [2.0, 3, 4], (2, 3))),
        (RuntimeError, lambda: torch.sparse_csr_tensor([0, 1], [0], [1.0], (3, 3))), (RuntimeError, lambda: DENSE.crow_indices()),
    ):  # fmt: skip
        with pytest.raises(error):
            f()

"""Sparse gradients of embeddings, and the optimisers that take them; figures from PyTorch 2.13."""

import copy
import io
import pickle

import pytest

import retrograde.dialects.torch as torch
import retrograde.dialects.torch.nn.functional as F
from retrograde.dialects.torch import nn


def table():
    return torch.arange(12.0).reshape(4, 3).requires_grad_()


def coordinates(w):
    """The places and the first column of a sparse gradient; takes it away."""
    g, w.grad = w.grad, None
    return g._indices()[0].tolist(), g._values()[:, 0].tolist()


def test_the_gradient_of_an_embedding():
    w = table()
    y = F.embedding(torch.tensor([[1, 2], [1, 0]]), w, sparse=True)
    (y * torch.arange(12.0).reshape(2, 2, 3)).sum().backward()
    g = w.grad
    assert isinstance(g, torch.Tensor)
    assert torch.is_tensor(g)
    assert g.is_sparse
    assert g.layout is torch.sparse_coo
    assert not g.is_coalesced()
    assert g.sparse_dim() == g.dense_dim() == 1
    assert g._nnz() == 4
    assert repr(g) == (
        "tensor(indices=tensor([[1, 2, 1, 0]]),\n"
        "       values=tensor([[ 0.,  1.,  2.],\n"
        "                      [ 3.,  4.,  5.],\n"
        "                      [ 6.,  7.,  8.],\n"
        "                      [ 9., 10., 11.]]),\n"
        "       size=(4, 3), nnz=4, layout=torch.sparse_coo)"
    )
    assert g.to_dense().tolist() == [[9, 10, 11], [6, 8, 10], [3, 4, 5], [0, 0, 0]]
    for f in (lambda: g == 0, lambda: g.mean()):
        with pytest.raises(NotImplementedError):
            f()


def test_gradients_add_up_as_in_pytorch():
    w, c = table(), torch.arange(12.0).reshape(4, 3)

    def weighted(rows, scale=0):
        return (F.embedding(torch.tensor(rows), w, sparse=True) * (c[: len(rows)] + scale)).sum()

    def plain(rows):
        return F.embedding(torch.tensor(rows), w, sparse=True).sum()

    def passes(*losses):
        for loss in losses:
            loss.backward()
        return coordinates(w)

    # Two gradients in contiguous memory are merged, others put one after the other; inside a pass the later comes first.
    assert passes(plain([1, 2]), weighted([1], 1)) == ([1, 2], [2, 1])
    assert passes(weighted([1, 2]), weighted([1], 1)) == ([1, 2], [1, 3])
    assert passes(weighted([1, 2]), plain([1])) == ([1, 2, 1], [0, 3, 1])
    assert passes(weighted([1, 2]) + weighted([2, 0], 1)) == ([1, 2, 0], [0, 4, 4])
    assert passes(plain([3]) + plain([2, 0]) + plain([1])) == ([3, 2, 0, 1], [1, 1, 1, 1])
    (plain([1, 2]) + (w * 2).sum()).backward()
    assert not w.grad.is_sparse
    assert w.grad[:, 0].tolist() == [2, 3, 3, 2]
    plain([1]).backward()
    assert w.grad[:, 0].tolist() == [2, 4, 3, 2]
    w.grad = None
    plain([1, 3]).backward()
    w.sum().backward()
    assert w.grad[:, 0].tolist() == [1, 2, 1, 2]
    w.grad = torch.eye(4, 3).to_sparse()
    assert w.grad.is_sparse
    with pytest.raises(RuntimeError):
        w.grad = torch.eye(3).to_sparse()


def test_padding_scaling_and_bags():
    w = table()
    rows = torch.tensor([[1, 2], [1, 0]])
    F.embedding(rows, w, padding_idx=1, sparse=True).sum().backward()
    assert coordinates(w) == ([2, 0], [1, 1])
    F.embedding(rows, w, scale_grad_by_freq=True, padding_idx=0, sparse=True).sum().backward()
    assert coordinates(w) == ([1, 2, 1], [0.5, 1, 0.5])
    F.embedding_bag(rows, w, mode="mean", sparse=True).sum().backward()
    assert coordinates(w) == ([1, 2, 1, 0], [0.5] * 4)
    F.embedding_bag(torch.tensor([1, 2, 1, 3, 0]), w, torch.tensor([0, 2, 2]), mode="sum", sparse=True).sum().backward()
    assert coordinates(w) == ([1, 2, 1, 3, 0], [1] * 5)
    weights = torch.tensor([[0.5, 2.0], [1.0, 3.0]], requires_grad=True)
    F.embedding_bag(rows, w, mode="sum", per_sample_weights=weights, sparse=True).sum().backward()
    assert coordinates(w) == ([1, 2, 1, 0], [0.5, 2, 1, 3])
    assert weights.grad.tolist() == [[12, 21], [12, 3]]
    F.embedding_bag(rows, w, mode="max", sparse=True).sum().backward()
    assert coordinates(w) == ([1, 2, 1, 0], [0, 1, 1, 0])


def test_clipping():
    dense, sparse = table(), table()
    for w in (dense, sparse):
        F.embedding(torch.tensor([1, 2, 1, 0]), w, sparse=w is sparse).mul(torch.tensor([1.0, 2, 3])).sum().backward()
    norms = [nn.utils.clip_grad_norm_([w], 4.0) for w in (dense, sparse)]
    assert norms[0] == norms[1]
    assert sparse.grad.is_sparse
    assert torch.allclose(sparse.grad.to_dense(), dense.grad)
    for w in (dense, sparse):
        nn.utils.clip_grad_value_([w], 1.0)
    assert sparse.grad.to_dense().equal(dense.grad)


def test_where_the_gradient_is_not_sparse():
    w, rows = table(), torch.tensor([0, 2])
    assert torch.autograd.grad(F.embedding(rows, w, sparse=True).sum(), w)[0].is_sparse
    (twice,) = torch.autograd.grad((F.embedding(rows, w, sparse=True) ** 3).sum(), w, create_graph=True)
    assert torch.autograd.grad(twice.sum(), w)[0][0].tolist() == [0, 6, 12]
    inner = w * 2
    assert torch.autograd.grad(F.embedding(rows, inner, sparse=True).sum(), w)[0][:, 0].tolist() == [2, 0, 2, 0]
    f = torch.func.grad(lambda w: F.embedding(rows, w, sparse=True).sum())
    assert f(w.detach())[:, 0].tolist() == [1, 0, 1, 0]


def test_hooks_see_sparse_gradients():
    w, seen = table(), []
    with w.register_hook(lambda g: (seen.append(g.is_sparse), g * 2)[1]):
        F.embedding(torch.tensor([1, 2]), w, sparse=True).sum().backward()
    assert seen == [True]
    assert coordinates(w) == ([1, 2], [2, 2])
    with w.register_post_accumulate_grad_hook(lambda p: seen.append(p.grad._nnz())):
        F.embedding(torch.tensor([1, 2]), w, sparse=True).sum().backward()
    assert seen == [True, 2]
    with w.register_hook(lambda g: g.to_dense()), pytest.raises(RuntimeError, match="dense"):
        F.embedding(torch.tensor([1, 2]), w, sparse=True).sum().backward()


STEPS = {
    "sgd": ([-0.16, 0.68, 0.34, 1.18], lambda p: torch.optim.SGD(p, 0.1)),
    "momentum": ([-0.4768, 0.8168, 0.4084, 1.432], lambda p: torch.optim.SGD(p, 0.1, momentum=0.9)),
    "nesterov": ([-0.58912, 1.14512, 0.16756, 1.6588], lambda p: torch.optim.SGD(p, 0.1, momentum=0.9, nesterov=True)),
    "dampening": ([-0.3468, 0.6668, 0.5584, 1.166], lambda p: torch.optim.SGD(p, 0.1, momentum=0.9, dampening=0.5)),
    "uphill": ([0.16, -0.08, 0.86, 0.62], lambda p: torch.optim.SGD(p, 0.1, maximize=True)),
    "adagrad": ([-0.14418, 0.49662, 0.60088, 1.0], lambda p: torch.optim.Adagrad(p, 0.1)),
    "adagrad decayed": ([-0.12462, 0.4617, 0.57763, 0.98919], lambda p: torch.optim.Adagrad(
        p, 0.1, lr_decay=0.1, initial_accumulator_value=0.3, eps=1e-3)),
    "sparse adam": ([-0.22632, 0.47654, 0.64428, 0.97441], lambda p: torch.optim.SparseAdam(p, 0.1)),
    "sparse adam uphill": ([0.22632, 0.12346, 0.55572, 0.82559], lambda p: torch.optim.SparseAdam(
        p, torch.tensor(0.1), maximize=True)),
    "sparse adam betas": ([-0.19639, 0.48855, 0.62537, 0.98428], lambda p: torch.optim.SparseAdam(
        p, 0.1, betas=(0.5, 0.6), eps=1e-3)),
}  # fmt: skip


@pytest.mark.parametrize("name", STEPS)
def test_optimisers_step_along_sparse_gradients(name):
    expected, make = STEPS[name]
    w = nn.Parameter(torch.arange(12.0).reshape(4, 3) / 10)
    c, opt = torch.arange(12.0).reshape(4, 3) / 5 - 1, make([w])
    for k, rows in enumerate(([1, 2, 1, 0], [3, 3, 0, 0], [1, 0, 2, 2])):
        opt.zero_grad()
        (F.embedding(torch.tensor(rows), w, sparse=True) * c * (k + 1)).sum().backward()
        opt.step()
    assert torch.allclose(w[:, 0], torch.tensor(expected), atol=1e-5)
    if name == "momentum":
        assert opt.state[w]["momentum_buffer"]._indices().tolist() == [[1, 0, 2, 1, 0, 2, 3, 3, 0, 0]]
    if name == "sparse adam":
        other = torch.optim.SparseAdam([w], 0.1)
        other.load_state_dict(opt.state_dict())
        assert other.state[w]["step"] == 3
        assert type(other.state[w]["step"]) is int


def test_optimisers_refuse():
    w = table()
    for make in (torch.optim.Adam, torch.optim.RMSprop, torch.optim.Adafactor, torch.optim.Muon,
                 lambda p: torch.optim.SGD(p, 0.1, weight_decay=0.1), lambda p: torch.optim.Adagrad(p, weight_decay=0.1)):
        w.grad = None
        F.embedding(torch.tensor([1]), w, sparse=True).sum().backward()
        with pytest.raises(RuntimeError, match="sparse"):
            make([w]).step()
    w.grad = torch.ones(4, 3)
    with pytest.raises(RuntimeError, match="dense"):
        torch.optim.SparseAdam([w]).step()
    for options in ({"lr": 0}, {"eps": 0}, {"betas": (1, 0.2)}):
        with pytest.raises(ValueError):
            torch.optim.SparseAdam([w], **options)
    with pytest.raises(ValueError):
        torch.optim.SparseAdam([torch.eye(2).to_sparse().requires_grad_()])


def test_modules_copies_files_and_scaling():
    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("adjacency", torch.eye(3).to_sparse())
            self.rows = nn.Embedding(5, 2, sparse=True)

        def forward(self, i):
            return self.adjacency @ self.rows(i)

    model = Model()
    model(torch.tensor([1, 2, 1])).sum().backward()
    assert list(model.state_dict()) == ["adjacency", "rows.weight"]
    assert model.rows.weight.grad._nnz() == 3
    twin = copy.deepcopy(model)
    assert twin.rows.weight.grad is None
    assert twin.adjacency._nnz() == 3
    assert model.double().rows.weight.grad.dtype is torch.float64
    stream = io.BytesIO()
    torch.save(model.state_dict(), stream)
    stream.seek(0)
    loaded = torch.load(stream)["adjacency"]
    assert loaded.is_coalesced()
    assert loaded.to_dense().equal(torch.eye(3, dtype=torch.float64))
    assert pickle.loads(pickle.dumps(loaded))._nnz() == 3
    w = nn.Parameter(torch.eye(3))
    scaler, opt = torch.amp.GradScaler("cpu", init_scale=4.0), torch.optim.SGD([w], 0.1)
    scaler.scale(F.embedding(torch.tensor([1]), w, sparse=True).sum()).backward()
    scaler.step(opt)
    assert torch.allclose(w[1], torch.tensor([-0.1, 0.9, -0.1]))


def test_the_gradient_of_a_sparse_leaf():
    s = torch.tensor([[0.0, 2.0], [3.0, 0.0]]).to_sparse().requires_grad_()
    (g,) = torch.autograd.grad(torch.sparse.mm(s, torch.ones(2, 2)).sum(), s)
    assert g.is_sparse
    assert g._values().tolist() == [2, 2]


@pytest.mark.parametrize(
    ("product", "wanted"),
    [
        (lambda s, w: s @ w, [[3.0, 7.0], [3.0, 7.0]]),
        (lambda s, w: torch.mm(s, w), [[3.0, 7.0], [3.0, 7.0]]),
        (lambda s, w: s.t() @ w, [[3.0, 3.0], [7.0, 7.0]]),
        (lambda s, w: w @ s, [[4.0, 4.0], [6.0, 6.0]]),
        (lambda s, w: s @ w[0], [[1.0, 2.0], [1.0, 2.0]]),
        (lambda s, w: torch.addmm(w, s, w), [[3.0, 7.0], [3.0, 7.0]]),
        (lambda s, w: torch.sparse.mm(s, w), [[0.0, 7.0], [3.0, 0.0]]),  # of the elements alone
    ],
)
def test_the_gradient_of_a_dense_matrix_behind_a_product(product, wanted):
    x = torch.tensor([[0.0, 2.0], [3.0, 0.0]], requires_grad=True)
    w = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
    s = x.to_sparse()
    with torch.no_grad():
        x.add_(0.5)  # the sparse matrix keeps its elements
    out = product(s, w)
    assert torch.equal(out.detach(), product(torch.tensor([[0.0, 2.0], [3.0, 0.0]]).to_sparse(), w))
    out.sum().backward()
    assert x.grad.tolist() == wanted


def test_older_names_of_products_and_axes():
    s = torch.sparse_coo_tensor(torch.tensor([[0, 1], [1, 0]]), torch.tensor([2.0, 3.0]), (2, 2))
    assert (s.ndimension(), torch.dsmm(s, torch.ones(2, 2)).tolist()) == (2, [[2.0, 2.0], [3.0, 3.0]])
    assert torch.dsmm(torch.eye(2), torch.ones(2, 1)).tolist() == [[1.0], [1.0]]

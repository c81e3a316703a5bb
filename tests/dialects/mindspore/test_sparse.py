"""COOTensor and CSRTensor: what MindSpore 2.10 computes on a CPU is recorded from it, the rest compared with dense products."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from retrograde.dialects import mindspore as ms
from retrograde.dialects.mindspore import COOTensor, CSRTensor, Tensor, nn, ops

INDICES = Tensor([[0, 1], [1, 2]], ms.int32)
VALUES = Tensor([1.0, 2.0])
DENSE = Tensor(np.arange(12, dtype=np.float32).reshape(3, 4))
MATRIX = np.array([[0, 1, 0, 0], [0, 0, 2, 0], [0, 0, 0, 0]], np.float32)


def coo() -> COOTensor:
    return COOTensor(INDICES, VALUES, (3, 4))


def csr() -> CSRTensor:
    return CSRTensor(Tensor([0, 1, 2, 2], ms.int32), Tensor([1, 2], ms.int32), VALUES, (3, 4))


def dense(x: Any) -> Any:
    return (x.to_dense() if not isinstance(x, Tensor) else x).asnumpy()


def test_what_they_are() -> None:
    x, y = coo(), csr()
    assert repr(x) == (
        "COOTensor(shape=[3, 4], dtype=Float32, indices=Tensor(shape=[2, 2], dtype=Int32, value=\n[[0 1]\n [1 2]]), "
        "values=Tensor(shape=[2], dtype=Float32, value=[ 1.00000000e+00  2.00000000e+00]))"
    )
    assert str(y) == (
        "CSRTensor(shape=[3, 4], dtype=Float32, indptr=Tensor(shape=[4], dtype=Int32, value=[0 1 2 2]), "
        "indices=Tensor(shape=[2], dtype=Int32, value=[1 2]), values=Tensor(shape=[2], dtype=Float32, "
        "value=[ 1.00000000e+00  2.00000000e+00]))"
    )
    for z in (x, y, x.to_csr(), y.to_coo(), COOTensor(coo_tensor=x), CSRTensor(csr_tensor=y)):
        assert (z.shape, z.size, z.ndim, z.itemsize, str(z.dtype)) == ((3, 4), 2, 2, 4, "Float32")
        assert (dense(z) == MATRIX).all()
    assert str(x.astype(ms.float64).dtype) == "Float64"
    assert x.to_tuple()[2] == (3, 4)
    assert len(y.to_tuple()) == 4
    assert (dense(DENSE.to_csr()) == DENSE.asnumpy()).all()
    assert DENSE.to_coo().size == 11


def test_arithmetic() -> None:
    d = DENSE.asnumpy()
    for x in (coo(), csr()):
        assert (dense(x + x) == 2 * MATRIX).all()
        assert (dense(x - x) == 0).all()
        assert type(x - x) is type(x)
        assert (dense(-x) == -MATRIX).all()
        assert (dense((-x).abs()) == MATRIX).all()
        assert isinstance(x + DENSE, Tensor)
        assert (dense(x + DENSE) == MATRIX + d).all()
        assert (dense(DENSE + x) == MATRIX + d).all()
        assert (dense(x - DENSE) == MATRIX - d).all()
        assert (dense(x * DENSE) == MATRIX * d).all()
        assert (dense(DENSE * x) == MATRIX * d).all()
        np.testing.assert_allclose(dense(x / (DENSE + 1)), MATRIX / (d + 1), rtol=1e-6)
        assert (dense(x * 2) == 2 * MATRIX).all()
    twice = COOTensor(Tensor([[0, 1], [0, 1], [0, 0]]), Tensor([1.0, 2.0, 5.0]), (1, 2))
    assert twice.coalesce().indices.tolist() == [[0, 0], [0, 1]]
    assert twice.to_csr().values.tolist() == [5.0, 3.0]
    assert twice.add(twice, Tensor(7.0)).values.tolist() == [10.0]
    assert ops.csr_add(csr(), csr(), Tensor(2.0), Tensor(3.0)).values.tolist() == [5.0, 10.0]
    assert ops.coo_concat((coo(), coo()), 0).indices.tolist() == [[0, 1], [1, 2], [3, 1], [4, 2]]
    assert ops.coo_exp(coo()).values.tolist() == ops.exp(VALUES).tolist()
    assert ops.csr_sin(csr()).values.tolist() == ops.sin(VALUES).tolist()


def test_products_and_sums() -> None:
    w = Tensor(np.arange(8, dtype=np.float32).reshape(4, 2))
    y = csr()
    product = MATRIX @ w.asnumpy()
    assert (y.mm(w).asnumpy() == product).all()
    assert (ops.csr_mv(y, w[:, :1]).asnumpy() == product[:, :1]).all()
    assert (y.sum(1).asnumpy() == MATRIX.sum(1, keepdims=True)).all()
    assert (nn.SparseTensorDenseMatmul()(INDICES, VALUES, (3, 4), w).asnumpy() == product).all()
    turned = ops.SparseTensorDenseMatmul(adjoint_st=True)(INDICES, VALUES, (3, 4), DENSE)
    assert (turned.asnumpy() == MATRIX.T @ DENSE.asnumpy()).all()
    assert (nn.SparseToDense()(coo()).asnumpy() == MATRIX).all()
    assert ops.coo2csr(Tensor([0, 1], ms.int32), 3).tolist() == [0, 1, 2, 2]
    assert ops.csr2coo(y.indptr, 2).tolist() == [0, 1]
    rows = CSRTensor(Tensor([0, 2, 3]), Tensor([0, 1, 1]), Tensor([1.0, 2.0, 5.0]), (2, 2))
    np.testing.assert_allclose(ops.csr_softmax(rows, ms.float32).values.asnumpy(), [0.26894, 0.73106, 1.0], atol=1e-5)


def test_derivatives() -> None:
    w = Tensor(np.arange(8, dtype=np.float32).reshape(4, 2))
    assert ms.grad(lambda v: COOTensor(INDICES, v, (3, 4)).to_dense().sum())(VALUES).tolist() == [1.0, 1.0]
    assert ms.grad(lambda v: csr()._with(v).mm(w).sum())(VALUES).tolist() == [5.0, 9.0]
    assert ms.grad(lambda m: csr().mm(m).sum())(w).tolist() == [[0, 0], [1, 1], [2, 2], [0, 0]]
    assert ms.grad(lambda v: (COOTensor(INDICES, v, (3, 4)) * DENSE).values.sum())(VALUES).tolist() == [1.0, 6.0]


@pytest.mark.parametrize(
    ("kind", "make"),
    [
        (ValueError, lambda: COOTensor(INDICES, VALUES, (3,))),
        (TypeError, lambda: COOTensor(INDICES.astype(ms.float32), VALUES, (3, 4))),
        (ValueError, lambda: COOTensor(INDICES[:1], VALUES, (3, 4))),
        (TypeError, lambda: COOTensor(INDICES, VALUES, [3, 4])),
        (TypeError, lambda: COOTensor(INDICES, VALUES, (3, 4.0))),
        (TypeError, lambda: COOTensor([[0, 1]], [1.0], (3, 4))),
        (TypeError, lambda: CSRTensor()),
        (ValueError, lambda: CSRTensor(INDICES[0], INDICES[1], VALUES, (3, 4))),
        (ValueError, lambda: csr().sum(0)),
        (TypeError, lambda: coo() + 1),
        (TypeError, lambda: coo().add(DENSE, 0.0)),
        (ValueError, lambda: ops.coo_concat((coo(), coo()), 2)),
    ],
)
def test_refused(kind: type[Exception], make: Any) -> None:
    with pytest.raises(kind):
        make()


def test_rows_with_their_numbers() -> None:
    rows = Tensor([[1.0, 2.0], [3.0, 4.0]])
    x = ms.RowTensor(Tensor([0, 2]), rows, (3, 2))
    assert (x.indices.asnumpy().tolist(), x.values.asnumpy().tolist(), x.dense_shape) == ([0, 2], [[1, 2], [3, 4]], (3, 2))
    assert ms.RowTensor(row_tensor=x).values is x.values
    assert repr(x) == (
        "RowTensor(shape=[3, 2], dtype=Float32, indices=Tensor(shape=[2], dtype=Int64, value=[0 2]), "
        "values=Tensor(shape=[2, 2], dtype=Float32, value=\n[[ 1.00000000e+00  2.00000000e+00]\n"
        " [ 3.00000000e+00  4.00000000e+00]]))"
    )
    with pytest.raises(TypeError, match="values must be a Tensor"):
        ms.RowTensor(Tensor([0]), [[1.0, 2.0]], (3, 2))
    with pytest.raises(ValueError, match="a row of shape"):
        ms.RowTensor(Tensor([0, 1]), Tensor([[1.0, 2.0]]), (3, 2))

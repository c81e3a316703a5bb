"""Corners that programs ask about: what is refused and how, dtypes of results, shared memory; recorded from MindSpore 2.10."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from retrograde.dialects import mindspore as ms
from retrograde.dialects.mindspore import Parameter, Tensor, nn, ops
from retrograde.dialects.mindspore import numpy as mnp

X1, X2, X3 = (Tensor(np.ones((1, 2, *(4,) * n), np.float32)) for n in (1, 2, 3))
V = Tensor([1.0, 2.0])
L = Tensor([[0.1, 0.2], [0.3, 0.4]])
I = Tensor([[1, 2], [3, 5]])
J = Tensor([[2, 2], [0, 1]])


def _ones(*shape: int) -> Tensor:
    return Tensor(np.ones(shape, np.float32))


REFUSED: list[tuple[type[Exception], Callable[[], Any]]] = [
    (RuntimeError, lambda: ops.conv2d(X2, _ones(1, 3, 2, 2))),
    (RuntimeError, lambda: ops.conv1d(X1, _ones(1, 3, 2))),
    (ValueError, lambda: ops.conv3d(X3, _ones(1, 3, 2, 2, 2))),
    (ValueError, lambda: ops.conv2d(X2, _ones(4, 2, 2, 2), groups=3)),
    (RuntimeError, lambda: nn.Conv2d(3, 1, 1)(X2)),
    (ValueError, lambda: nn.Conv3d(3, 1, 1)(X3)),
    (TypeError, lambda: nn.Conv2d(2, 3, (1, 2, 3))),
    (TypeError, lambda: nn.Conv2d(2, 3, [1, 1])),
    (ValueError, lambda: nn.Conv3d(2, 3, (1, 1))),
    (TypeError, lambda: nn.Conv2d(2, 3, 1, has_bias=1)),
    (TypeError, lambda: nn.Conv2d(2, 3, 2, pad_mode=3)),
    (ValueError, lambda: nn.MaxPool2d(2, 2, pad_mode="pad", padding=2)(X2)),
    (ValueError, lambda: nn.AvgPool2d(3, 2, pad_mode="pad", padding=2)(X2)),
    (ValueError, lambda: ops.max_pool3d(X3, 2, 2, padding=2)),
    (RuntimeError, lambda: ops.randint(5, 0, (2,))),
    (RuntimeError, lambda: ops.dropout(V, p=1.5)),
    (TypeError, lambda: ops.full((2,), "a")),
    (TypeError, lambda: ops.full((2,), [1])),
    (RuntimeError, lambda: ops.trace(V)),
    (ValueError, lambda: ops.diag(Tensor(1.0))),
    (RuntimeError, lambda: ops.cross_entropy(L, Tensor([0, 1], ms.int32), weight=Tensor([1.0]))),
    (ValueError, lambda: ops.tensor_dot(L, Tensor([1.0, 2.0, 3.0]), 1)),
    (ValueError, lambda: ops.inner(L, Tensor([1.0, 2.0, 3.0]))),
    (ValueError, lambda: mnp.dot(mnp.ones((2, 2)), mnp.ones((3,)))),
    (ValueError, lambda: mnp.expand_dims(mnp.ones((2,)), 5)),
    (TypeError, lambda: mnp.array("x")),
    (TypeError, lambda: ops.xlogy(I, J)),
    (TypeError, lambda: ops.DivNoNan()(I, J)),
    (ValueError, lambda: ops.clip_by_global_norm((V,), -1.0)),
    (TypeError, lambda: ops.clip_by_global_norm((V,), "a")),
    (TypeError, lambda: f"{V[0]:.2f}"),
    (RuntimeError, lambda: ops.argmax(Tensor([]))),
    (RuntimeError, lambda: _ones(0, 3).argmin()),
    (RuntimeError, lambda: nn.SmoothL1Loss(beta=0.0)(L, L)),
    (ValueError, lambda: ops.Conv2D(0, 2)),
    (TypeError, lambda: ops.Conv2D("a", 2)),
    (ValueError, lambda: ops.Conv2D(1, (1, 2, 3))),
    (ValueError, lambda: ops.Conv2D(1, 2, pad_mode="foo")),
    (ValueError, lambda: ops.Conv2D(1, 2, pad=1)),
    (ValueError, lambda: ops.Conv2D(1, 2, mode=2)),
    (ValueError, lambda: ops.MaxPool(0)),
    (TypeError, lambda: ops.MaxPool("a")),
    (ValueError, lambda: ops.AvgPool(2, pad_mode="x")),
    (TypeError, lambda: ops.Softmax(1.5)),
    (TypeError, lambda: ops.TopK(1)),
    (TypeError, lambda: ops.ReverseV2(1)),
    (ValueError, lambda: ops.MirrorPad("x")),
    (ValueError, lambda: ops.KLDivLoss("x")),
    (TypeError, lambda: ops.SmoothL1Loss("a")),
    (ValueError, lambda: ops.StandardNormal(-1)),
    (TypeError, lambda: ops.BroadcastTo(3)),
    (ValueError, lambda: ops.DepthToSpace(0)),
    (TypeError, lambda: ops.L2Normalize("a")),
    # What stands for a dtype in astype() does not do so in functions.
    (TypeError, lambda: ops.cast(V, "float16")),
    (TypeError, lambda: ops.Cast()(V, float)),
    (TypeError, lambda: ops.ones((2,), "int32")),
    (TypeError, lambda: ops.full((2,), 1, dtype=int)),
    (TypeError, lambda: ops.arange(2, dtype="int32")),
    (TypeError, lambda: ops.zeros_like(V, dtype="float16")),
    (TypeError, lambda: ops.sum(V, dtype="float16")),
    (TypeError, lambda: ops.fill("float32", (2,), 1)),
    (ValueError, lambda: V.to("float16")),
    (TypeError, lambda: ops.logspace(0, 2, 3)),
    (TypeError, lambda: ops.linspace(Tensor(0), Tensor(2), 3)),
    # Positions in tensors are judged by what they meet, Python's by the index.
    (RuntimeError, lambda: L[Tensor([5])]),
    (RuntimeError, lambda: L[0, Tensor([5])]),
    (RuntimeError, lambda: L[Tensor(5)]),
    (IndexError, lambda: L[Tensor([0]), 7]),
    (IndexError, lambda: L[[5]]),
    (IndexError, lambda: L[5]),
    (IndexError, lambda: L[Tensor([1.0])]),
    (IndexError, lambda: L[Tensor([0]), Tensor([0]), Tensor([0])]),
    (ValueError, lambda: L[Tensor([True, False, True])]),
    (ValueError, lambda: L[Tensor([[True, False]])]),
    (ValueError, lambda: L.copy().__setitem__(Tensor([5]), 1.0)),
    (ValueError, lambda: ops.outer(V, L)),
    (ValueError, lambda: ms.jvp(lambda x: x * x, V, Tensor([[1.0], [2.0]]))),
    (ValueError, lambda: ms.jvp(lambda x: x * x, Tensor([1.0]), V)),
    # A list or tuple stands beside a tensor in sums and floor divisions only.
    *((TypeError, f) for f in (
        lambda: V * [2.0], lambda: [2.0] * V, lambda: V / [2.0], lambda: V % (2.0,), lambda: V ** [2.0], lambda: V > [1.0],
        lambda: V <= (1.0, 2.0), lambda: V @ [1.0, 2.0],
    )),
]


@pytest.mark.parametrize("number", range(len(REFUSED)))
def test_refused(number: int) -> None:
    kind, f = REFUSED[number]
    with pytest.raises(Exception) as found:
        f()
    assert found.type is kind


RESULTS: list[tuple[Callable[[], Any], str, Any]] = [
    (lambda: Tensor([0.1], ms.float64), "Float64", [0.1]),
    (lambda: Tensor(0.1, ms.float64), "Float64", 0.1),
    (lambda: ops.trace(Tensor([[1, 2], [3, 4]], ms.int8)), "Int8", 5),
    (lambda: ops.hardsigmoid(Tensor([-4, -2, 0, 2, 4])), "Int64", [0, 0, 0, 0, 1]),
    (lambda: ops.hardswish(Tensor([-4, -2, 0, 2, 4], ms.int8)), "Int8", [0, 0, 0, 1, 4]),
    (lambda: ops.l1_loss(I, J), "Int64", 2),
    (lambda: ops.mse_loss(I, J), "Float32", 6.5),
    (lambda: ops.huber_loss(I, J), "Float32", 1.625),
    (lambda: ops.bmm(L, L), "Float32", [[0.07, 0.1], [0.15, 0.22]]),
    (lambda: ops.clip_by_value(V, 2.0, 1.0), "Float32", [1, 1]),
    (lambda: ops.clip_by_global_norm(Tensor([3.0, 4.0]), 1.0), "Float32", [0.6, 0.8]),
    (lambda: nn.Dropout()(Tensor([1, 2])), "Int64", [1, 2]),
    (lambda: ops.xlogy(Tensor([2]), 3.0), "Float32", [2.1972246]),
    (lambda: ops.xdivy(1.5, Tensor([2.5])), "Float32", [0.6]),
    (lambda: ops.xdivy(Tensor([1.5]), 2), "Float32", [0.75]),
    (lambda: V.astype("float"), "Float64", [1, 2]),
    (lambda: V.astype("int"), "Int64", [1, 2]),
    (lambda: V.astype("half"), "Float16", [1, 2]),
    # A tensor without axes does not widen a factor of its kind that has axes.
    (lambda: Tensor([1.0, 2.0], ms.float16) * Tensor(2.0), "Float16", [2, 4]),
    (lambda: Tensor(2.0) / Tensor([1.0, 2.0], ms.float16), "Float16", [2, 1]),
    (lambda: Tensor([1.0, 2.0], ms.float16) + Tensor(2.0), "Float32", [3, 4]),
    (lambda: Tensor([1, 2], ms.int32) * Tensor(2), "Int32", [2, 4]),
    (lambda: Tensor(1.0, ms.float16) * Tensor(2.0), "Float32", 2),
    (lambda: V.to("CPU"), "Float32", [1, 2]),
    (lambda: V + [2.0], "Float32", [3, 4]),
    (lambda: (3.0, 4.0) - V, "Float32", [2, 2]),
    (lambda: V // [2.0, 1.0], "Float32", [0, 2]),
    (lambda: [2.0] ** V, "Float32", [2, 4]),
    (lambda: ops.logspace(0.0, 2.0, 3), "Float32", [1, 10, 100]),
    (lambda: ops.outer(L, V), "Float32", [[0.1, 0.2], [0.2, 0.4], [0.3, 0.6], [0.4, 0.8]]),
    (lambda: ops.outer(V, Tensor(2.0)), "Float32", [[2], [4]]),
    # A tangent broadcasts to its input; one element is one for all.
    *((lambda t=t: ms.jvp(lambda x: x * x, V, t)[1], "Float32", [6, 12]) for t in (
        Tensor(3.0), Tensor([3.0]), Tensor([[3.0]]), Tensor([3.0, 3.0]),
    )),
    (lambda: ms.jvp(lambda x: x * x, L, V)[1], "Float32", [[0.2, 0.8], [0.6, 1.6]]),
    (lambda: ms.grad(lambda t: ops.norm(t, ord=float("inf")))(Tensor([3.0, -3.0, 1.0])), "Float32", [1, 0, 0]),
    (lambda: ms.grad(lambda t: ops.norm(t, ord=-float("inf")))(Tensor([1.0, -1.0, -3.0])), "Float32", [1, 0, 0]),
]  # fmt: skip


@pytest.mark.parametrize("number", range(len(RESULTS)))
def test_result(number: int) -> None:
    f, dtype, values = RESULTS[number]
    out = f()
    assert str(out.dtype) == dtype
    np.testing.assert_allclose(out.asnumpy(), values, rtol=1e-6 if dtype != "Float16" else 1e-3, atol=1e-7)


def test_random_like_dtypes() -> None:
    half = Tensor([1.0], ms.float16)
    assert (str(ops.rand_like(half).dtype), str(ops.randn_like(half).dtype)) == ("Float16", "Float32")


def test_assign_returns_the_value_it_wrote() -> None:
    p, value = Parameter(Tensor([1.0, 2.0]), name="p"), Tensor([3.0, 4.0])
    written = ops.assign(p, value)
    ops.assign_add(p, Tensor([1.0, 1.0]))
    assert written.asnumpy().tolist() == [3.0, 4.0]
    assert p.asnumpy().tolist() == [4.0, 5.0]
    value[0] = 9.0
    assert written.asnumpy().tolist() == [9.0, 4.0]


def test_clipped_lists_become_tuples() -> None:
    assert type(ops.clip_by_value([V], 0.0, 1.0)) is tuple


@pytest.mark.parametrize(("dtype", "high", "low", "lost"), [
    (ms.int8, 127, -128, 0), (ms.int16, 2**15 - 1, -(2**15), 0), (ms.int32, 2**31 - 1, -(2**31), -(2**31)),
    (ms.int64, 2**63 - 1, -(2**63), -(2**63)),
])  # fmt: skip
def test_whole_numbers_over_zero(dtype: Any, high: int, low: int, lost: int) -> None:
    a, b = Tensor([7, -7, 0, 3], dtype), Tensor([0, 0, 0, 2], dtype)
    for quotient in (a // b, ops.div(a, b, rounding_mode="floor"), ops.truncate_div(a, b), ops.RealDiv()(a, b)):
        assert (quotient.dtype, quotient.tolist()) == (dtype, [high, low, 0, 1])
    assert (a // 0).tolist() == [high, low, 0, high]
    assert (a % b).tolist() == [lost, lost, lost, 1]
    assert ops.div(a, b, rounding_mode="trunc").tolist() == [lost, lost, lost, 1]
    assert ops.fmod(a, b).tolist() == ops.remainder(a, b).tolist() == [7, -7, 0, 1]


def test_cell_lists_grow_in_place() -> None:
    cells = before = nn.CellList([nn.ReLU()])
    cells += [nn.Tanh()]
    assert cells is before
    assert len(cells) == 2
    with pytest.raises(TypeError):
        cells += 3


def test_numbers_may_come_first_in_every_comparison() -> None:  # in MindSpore not in equal and less
    assert ops.equal(1, I).tolist() == [[True, False], [False, False]]
    assert ops.less(2, I).tolist() == [[False, False], [True, True]]


def test_strides_of_empty_tensors() -> None:
    shapes = ((0,), (0, 2), (2, 0, 3))
    assert [Tensor(np.zeros(s, np.float32)).strides for s in shapes] == [(4,), (8, 4), (0, 12, 4)]


def test_a_norm_along_an_axis_has_a_least_value_and_no_gradient_at_0() -> None:
    for p in (1, 2, 3):
        value, g = ms.value_and_grad(lambda x, p=p: ops.norm(x, p, 1))(Tensor([[0.0, 0.0], [0.0, 2.0]]))
        assert value.asnumpy().tolist() == pytest.approx([1e-12, 2.0])
        assert np.allclose(g.asnumpy(), [[0, 0], [0, 1]])
    assert ms.grad(lambda x: ops.LpNorm([0], 2)(x))(Tensor([0.0, 0.0])).asnumpy().tolist() == [0, 0]


def test_a_factor_of_0_has_the_other_one_for_its_gradient() -> None:
    x, y = Tensor([1.0, 2.0, np.nan]), Tensor([0.0, 3.0, 0.0])
    value, grads = ms.value_and_grad(lambda a, b: ops.MulNoNan()(a, b), (0, 1))(x, y)
    assert [v.asnumpy().tolist() for v in (value, *grads)] == [[0, 6, 0], [0, 3, 0], [1, 2, 0]]


def test_an_integral_over_distances_is_in_float32() -> None:
    y = Tensor(np.array([1.0, 2.0, 4.0]))
    assert ops.trapz(y).dtype is ms.float32
    assert ops.trapz(y, y).dtype is ms.float64


def test_a_parameter_that_is_not_trained_takes_no_hook() -> None:
    with pytest.raises(RuntimeError, match="requires_grad"):
        Parameter(Tensor([1.0]), name="p", requires_grad=False).register_hook(lambda g: g)


@pytest.mark.parametrize("cut", [{"atol": 2.0}, {"atol": 2.0, "rtol": 0.1}, {"atol": Tensor(2.0, ms.float32)}])
def test_a_pseudo_inverse_counts_small_singular_values_as_zero(cut: dict[str, Any]) -> None:
    found = ops.pinv(Tensor([[3.0, 1.0], [1.0, 2.0], [0.0, 0.5]], ms.float32), **cut)
    np.testing.assert_allclose(found.asnumpy(), [[0.1972, 0.12293, 0.01716], [0.12465, 0.0777, 0.01085]], atol=1e-5)

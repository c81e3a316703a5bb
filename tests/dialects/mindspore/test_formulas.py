"""Functions and methods that MindSpore has no kernels for on a CPU, and so no recorded answers, against formulas."""

from __future__ import annotations

import sys
import types
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from retrograde.dialects import mindspore as ms
from retrograde.dialects.mindspore import Tensor, nn, ops, train

O = ops.operations
X = [[3.0, 1.0, 2.0], [0.5, 4.0, 5.0]]


def _ints(values: Any) -> Tensor:
    return Tensor(np.asarray(values, np.int32))


def test_counts_by_width_and_by_class() -> None:
    found = O.HistogramFixedWidth(3)(Tensor([-1.0, 0.0, 1.5, 9.0, 2.999, 3.0]), Tensor([0.0, 3.0]))
    assert (found.dtype, found.tolist()) == (ms.int32, [2, 1, 3])  # what is outside counts at the ends
    with pytest.raises(ValueError, match="range"):
        O.HistogramFixedWidth(3)(Tensor([1.0]), Tensor([1.0, 1.0]))
    labels, predictions = [0, 2, 1, 2], [0, 1, 1, 1]
    table = O.ConfusionMatrix(3)(_ints(labels), _ints(predictions))
    assert (table.dtype, table.tolist()) == (ms.int32, [[1, 0, 0], [0, 1, 0], [0, 2, 0]])
    weighed = O.ConfusionMatrix(3, "float32")(_ints(labels), _ints(predictions), Tensor([0.5, 2.0, 1.0, 0.25]))
    assert weighed.tolist() == [[0.5, 0, 0], [0, 1, 0], [0, 2.25, 0]]
    for wrong in ([0, 3], [-1, 0]):
        with pytest.raises(ValueError, match="labels"):
            O.ConfusionMatrix(3)(_ints(wrong), _ints([0, 1]))


def test_drawn_candidates_that_are_true_classes() -> None:
    rows, places, weights = O.ComputeAccidentalHits(2)(Tensor([[1, 2], [3, 4], [4, 1]]), Tensor([2, 0, 4, 7, 4]))
    assert list(zip(rows.tolist(), places.tolist())) == [(0, 0), (1, 2), (1, 4), (2, 2), (2, 4)]
    assert (weights.asnumpy() < -1e38).all()


def test_boxes_that_overlap_the_likelier() -> None:
    boxes = Tensor([[0.0, 0.0, 2.0, 2.0], [0.2, 0.0, 2.0, 2.0], [5.0, 5.0, 4.0, 4.0], [0.0, 3.0, 1.0, 4.0]])
    scores, most = Tensor([0.5, 0.9, 0.3, 0.1]), Tensor(9, ms.int32)
    keep = O.NonMaxSuppressionV3()
    assert keep(boxes, scores, most, Tensor(0.5), Tensor(0.2)).tolist() == [1, 2]  # 0 is within 1 to 9 in 10
    assert keep(boxes, scores, most, Tensor(0.95), Tensor(0.2)).tolist() == [1, 0, 2]
    assert keep(boxes, scores, Tensor(2, ms.int32), Tensor(0.5), Tensor(0.0)).tolist() == [1, 2]


def test_whether_something_is_not_finite_and_what_a_function_makes() -> None:
    x = Tensor([1.0, 2.0])
    assert not ops.operations.nn_ops.AllFinite()((x, Tensor(X)))
    assert ops.operations.nn_ops.AllFinite()((x, Tensor([np.nan])))
    call = O.PyFunc(lambda a, b: (a * b, a.sum()), (ms.float32,) * 2, ((2,), (2,)), (ms.float32,) * 2, ((2,), ()))
    assert [y.tolist() for y in call((x, x))] == [[1.0, 4.0], 3.0]


def test_numbers_drawn_with_and_without_replacement() -> None:
    draw = ops.operations.random_ops.MultinomialWithReplacement
    assert draw(4, True)(Tensor([[0.0, 1.0], [1.0, 0.0]]), 1, 2).tolist() == [[1] * 4, [0] * 4]
    assert sorted(draw(2, False)(Tensor([0.0, 1.0, 1.0]), 1, 2).tolist()) == [1, 2]
    assert ops.Gamma(1)((200,), Tensor([1.0, 8.0]), Tensor([2.0, 2.0])).asnumpy().mean(0) == pytest.approx(
        [0.5, 4.0], rel=0.2
    )


def test_the_input_of_a_convolution_in_space() -> None:
    x, w = (
        Tensor(np.sin(np.arange(24)).reshape(1, 1, 2, 4, 3).astype(np.float32)),
        Tensor(np.arange(8, dtype=np.float32).reshape(1, 1, 2, 2, 2)),
    )
    dout = Tensor(np.arange(6, dtype=np.float32).reshape(1, 1, 1, 3, 2))
    found = ops.operations._grad_ops.Conv3DBackpropInput(1, (2, 2, 2))(w, dout, x.shape)
    wanted = ms.grad(lambda x: (ops.Conv3D(1, (2, 2, 2))(x, w) * dout).sum())(x)
    np.testing.assert_allclose(found.asnumpy(), wanted.asnumpy(), rtol=1e-5)


def test_elements_written_in_place() -> None:
    x = Tensor(X)
    assert x.fill_(2.0) is x
    assert x.tolist() == [[2.0] * 3] * 2
    assert x.zero_() is x
    assert not x.any()
    assert x.put_(Tensor([0, 5, 0]), Tensor([9.0, 8.0, 1.0]), accumulate=True) is x
    assert x.tolist() == [[10.0, 0, 0], [0, 0, 8.0]]
    x.put_(Tensor([-1]), Tensor([3.0]))
    assert x[1, 2] == 3.0
    with pytest.raises(TypeError, match="integer"):
        x.put_(Tensor([0.0]), Tensor([1.0]))
    whole = Tensor([1, 2])
    for change in (lambda: whole.add_(Tensor([1.5, 2.5])), lambda: whole.mul_(1.5)):
        with pytest.raises(TypeError, match="cannot hold"):
            change()
    full = x.new_full((2, 2), 3, dtype=ms.int32)
    assert (full.dtype, full.tolist()) == (ms.int32, [[3, 3], [3, 3]])
    assert x.new_full((1,), 2).dtype is ms.float32
    with pytest.raises(ValueError, match="new_full"):
        x.new_full((2, -1), 3.0)


def test_identity_and_memory() -> None:
    x = Tensor(X)
    assert ops.is_(x, x)
    assert not ops.is_(x, x + 0)
    assert ops.is_not(x, None)
    assert not ops.is_not(x, x)
    there = np.from_dlpack(x)
    assert there.ctypes.data == x.data_ptr()
    assert x.__dlpack_device__() == (1, 0)


def test_elements_of_a_rank_and_different_elements() -> None:
    x = Tensor(X)
    values, places = x.kthvalue(2)
    assert (values.tolist(), places.tolist()) == ([2.0, 4.0], [2, 1])
    values, places = x.kthvalue(1, 0, keepdim=True)
    assert (values.tolist(), places.tolist()) == ([[0.5, 1.0, 2.0]], [[1, 0, 0]])
    found, inverse, counts = Tensor([2, 1, 2, 3]).unique(True, True, True)
    assert (found.tolist(), inverse.tolist(), counts.tolist()) == ([1, 2, 3], [1, 0, 1, 2], [1, 2, 1])
    assert ms.mint.bernoulli(Tensor([0.0, 1.0])).tolist() == [0.0, 1.0]


def test_compressed_rows_beside_tensors() -> None:
    sparse = ms.CSRTensor(_ints([0, 1, 2]), _ints([1, 2]), Tensor([1.0, 2.0]), (2, 3))
    x = Tensor(X)
    assert (sparse * x).values.tolist() == [1.0, 10.0]
    assert (sparse / x).values.tolist() == pytest.approx([1.0, 0.4])
    np.testing.assert_array_equal((sparse + x).asnumpy(), np.asarray(X) + sparse.to_dense().asnumpy())
    np.testing.assert_array_equal((sparse - x).asnumpy(), sparse.to_dense().asnumpy() - np.asarray(X))
    for wrong, error in ((lambda: sparse + 1, TypeError), (lambda: sparse - Tensor([1.0]), ValueError)):
        with pytest.raises(error):
            wrong()


def test_a_derivative_at_a_point_and_functions_of_ones_own() -> None:
    x = Tensor([1.0, 2.0, 3.0])
    y, along = ops.functional.linearize(lambda a: a * a, x)
    assert (y.tolist(), along(Tensor([1.0, 0.0, 2.0])).tolist()) == ([1.0, 4.0, 9.0], [2.0, 0.0, 12.0])

    class Times(ms._Function):
        @staticmethod
        def forward(a: Any, n: Any) -> Any:
            return a * n

        @staticmethod
        def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
            ctx.n = inputs[1]

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return g * ctx.n * 2, None

    assert ms.grad(lambda a: Times.apply(a, 3.0).sum())(x).tolist() == [6.0] * 3

    class Changed(ms._Function):
        @staticmethod
        def forward(ctx: Any, a: Any) -> Any:
            ctx.mark_dirty(a)
            return a.add_(1.0)

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return g * 2

    assert ms.grad(lambda a: (Changed.apply(a * 3) * x).sum())(x).tolist() == [6.0, 12.0, 18.0]


def test_what_is_kept_for_the_backward_pass_goes_through_functions() -> None:
    x, seen = Tensor([0.0, 1.0]), []
    cell = nn.Sigmoid()
    cell.register_saved_tensors_hooks(lambda t: seen.append("kept") or t, lambda t: seen.append("back") or t)
    s = 1 / (1 + np.exp(-x.asnumpy()))
    np.testing.assert_allclose(ms.grad(lambda a: cell(a).sum())(x).asnumpy(), s * (1 - s), rtol=1e-5)
    assert set(seen) == {"kept", "back"}
    seen.clear()

    def doubled(a: Any) -> Any:
        with ms.saved_tensors_hooks(lambda t: t.asnumpy() * 2, lambda a: seen.append("back") or Tensor(a)):
            return (a * a).sum()

    assert ms.grad(doubled)(x).tolist() == [0.0, 4.0]
    assert seen
    with pytest.raises(TypeError, match="pack_hook"):
        ms.saved_tensors_hooks(3, lambda t: t)


def test_nothing_is_compiled(capsys: pytest.CaptureFixture[str]) -> None:
    ms.run_check()
    assert "the right result" in capsys.readouterr().out
    with pytest.raises(NotImplementedError, match="MindIR"):
        nn.GraphCell(None)
    network = nn.Dense(2, 1)
    assert network.compile(Tensor([[1.0, 2.0]])) is None
    assert train.Model(network, nn.MSELoss()).build() is None


def test_gradients_are_centred_where_the_second_axis_is_a_multiple_of_16() -> None:
    p = ms.Parameter(Tensor(np.zeros((2, 16), np.float32)), name="p")
    optimiser = nn.SGD([{"params": [p], "grad_centralization": True}], 0.1)
    g = np.arange(32, dtype=np.float32).reshape(2, 16) ** 2
    np.testing.assert_allclose(
        optimiser.gradients_centralization((Tensor(g),))[0].asnumpy(), g - g.mean(1, keepdims=True)
    )


def test_pixels_need_pillow(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "0.png").write_bytes(b"pixels")
    read = ms.dataset.ImageFolderDataset(str(tmp_path), decode=True)
    monkeypatch.setitem(sys.modules, "PIL", None)
    monkeypatch.setitem(sys.modules, "PIL.Image", None)
    with pytest.raises(RuntimeError, match="pip install pillow"):
        next(iter(read))
    image = types.SimpleNamespace(convert=lambda mode: np.ones((2, 3, 3), np.uint8) if mode == "RGB" else None)
    monkeypatch.setitem(
        sys.modules, "PIL.Image", types.SimpleNamespace(open=lambda stream: image if stream.read() else None)
    )
    pixels, label = next(iter(read))
    assert (pixels.shape, int(label)) == ((2, 3, 3), 0)

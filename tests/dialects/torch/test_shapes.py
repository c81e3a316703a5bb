"""Indexing, shapes, products, transforms and layers against what PyTorch gave (data/shapes.json), and what they promise."""

import itertools
import json
import sys

import numpy as np
import pytest
from dialects.torch import shape_cases

from retrograde.dialects import torch
from retrograde.ops import indexing

RECORD = shape_cases.load()
F = torch.nn.functional


@pytest.mark.parametrize("area", sorted(RECORD))
def test_gives_what_pytorch_gives(area):
    with np.errstate(all="ignore"):
        found = json.loads(json.dumps(shape_cases.evaluate(torch, {area: RECORD[area]})))[area]
    different = {e: (found[e], wanted) for e, wanted in RECORD[area].items() if found[e] != wanted}
    assert not different


# ---------------------------------------------------------------------------------------- memory


def test_views_share_memory_and_copies_do_not():
    x = torch.zeros(2, 3)
    for view in (x[0], x[:, 1:], x.T, x.view(6), x.reshape(3, 2), x.unsqueeze(0), x.expand(4, 2, 3)[0], x.diagonal(),
                 x.unfold(1, 2, 1), x.as_strided((2,), (3,)), x.split(1)[1], x.unbind(1)[0], x[0, 0], x.detach()):  # fmt: skip
        assert np.shares_memory(view.numpy(), x.numpy())
    for copy in (x[[0, 1]], x[x == 0], x.T.reshape(6), x.flip(0), x.repeat(1, 1), x.diag(), x.clone(), x.T.contiguous()):
        assert not np.shares_memory(copy.numpy(), x.numpy())


def test_numpy_arrays_and_tensors_share_memory():
    a = np.arange(6.0).reshape(2, 3)
    x = torch.from_numpy(a)
    x[0, 1] = 9
    a[1, 2] = 7
    assert a[0, 1] == 9
    assert x[1, 2].item() == 7
    assert np.shares_memory(np.asarray(x), a)
    assert np.shares_memory(np.from_dlpack(x), a)
    assert torch.from_dlpack(a).data_ptr() == x.data_ptr()
    assert x[1].storage_offset() == 3
    assert x.untyped_storage().nbytes() == 48
    assert 48 < sys.getsizeof(x.untyped_storage()) < 200  # of which packages make tables of memory


def test_writing_through_a_view_reaches_base_and_history():
    w = torch.ones(2, 3, requires_grad=True)
    y = w * 1
    y[1][0:2].mul_(3)
    y.T[2][0] = 5.0
    assert y.tolist() == [[1, 1, 5], [3, 3, 1]]
    y.sum().backward()
    assert w.grad.tolist() == [[1, 1, 0], [3, 3, 1]]


def test_writing_at_indices_keeps_the_gradient_of_both():
    w = torch.arange(4.0).requires_grad_()
    v = torch.tensor([10.0, 20.0], requires_grad=True)
    y = w * 2
    y[torch.tensor([3, 1])] = v
    y[y > 15] *= 2
    y.pow(2).sum().backward()
    assert w.grad.tolist() == [0, 0, 16, 0]
    assert v.grad.tolist() == [20, 160]


def test_parts_of_one_operation_are_not_written_while_recording():
    x = torch.ones(4, requires_grad=True) * 1
    for part in (x.split(2)[0], x.chunk(2)[1], x.unbind()[0], next(iter(x))):
        with pytest.raises(RuntimeError, match="several"):
            part.mul_(2)
    with torch.no_grad():
        x.split(2)[0].mul_(2)
    assert x.tolist() == [2, 2, 1, 1]


def test_reshape_of_what_is_not_contiguous_is_no_view():
    x = torch.arange(6.0).reshape(2, 3)
    y = x.T.reshape(6)
    y.zero_()
    assert x.sum().item() == 15
    with pytest.raises(RuntimeError, match="reshape"):
        x.T.view(6)


def test_results_of_indexing_are_contiguous():
    x = torch.arange(24.0).reshape(2, 3, 4)
    i = torch.tensor([0, 1])
    for y in (x[:, i, i], x[:, i], x[..., i], x[i, :, i], x[:, x[0] > 5], x.T[[0, 1]] if x.ndim == 2 else x.mT[[0, 1]]):
        assert y.is_contiguous()
        assert y.view(-1).numel() == y.numel()


# ---------------------------------------------------------------------------------------- nodes


def chain(tensor):
    names, node = [], tensor.grad_fn
    while node is not None:
        names.append(node.name())
        node = next((n for n, _ in node.next_functions if n is not None), None)
    return names[:-1]


def test_every_basic_index_is_a_node():
    x = torch.ones(2, 3, 4, requires_grad=True)
    assert chain(x[0, 1:, None]) == ["UnsqueezeBackward0", "SliceBackward0", "SelectBackward0"]
    assert chain(x[:, 1]) == ["SelectBackward0"]
    assert chain(x[..., 0, torch.tensor([0])]) == ["IndexBackward0", "SelectBackward0"]
    assert len(x[torch.tensor([0])].grad_fn.next_functions) == 1


# ---------------------------------------------------------------------------------------- values


def test_adding_rows_does_not_depend_on_the_route(monkeypatch):
    rng = np.random.default_rng(0)
    rows, places = rng.standard_normal((50, 4)).astype(np.float32), rng.integers(0, 7, 50)
    few = indexing.add_rows(rows, places, 7)
    monkeypatch.setattr(indexing, "SPARSE_FROM", 1)
    many = indexing.add_rows(rows, places, 7)
    expected = np.zeros((7, 4))
    np.add.at(expected, places, rows)
    np.testing.assert_allclose(few, expected, rtol=1e-5)
    np.testing.assert_allclose(many, expected, rtol=1e-5)


@pytest.mark.parametrize("equation", [
    "ij,jk,kl->il", "ijk,kji->", "aij,ajk->aik", "ij,j,i->ij", "abc,cb->ac", "ii,ij->j", "abi,cbi->acb", "ij,kl->jlik",
    "a,b,c->cab", "...i,...i->...", "i...,i...->...", "ab,ba->", "aab,b->a",
])  # fmt: skip
def test_einsum_is_numpy_s(equation):
    sizes = dict(zip("abcijkl", (2, 3, 4, 3, 4, 2, 3)))
    if "aab" in equation or "ii" in equation or equation == "ab,ba->":
        sizes = dict.fromkeys(sizes, 3)
    rng = np.random.default_rng(0)
    terms = equation.split("->")[0].split(",")
    arrays = [rng.standard_normal([5 if c == "." else sizes[c] for c in t.replace("...", ".")]) for t in terms]
    tensors = [torch.tensor(a, requires_grad=True) for a in arrays]
    out = torch.einsum(equation, *tensors)
    np.testing.assert_allclose(out.detach().numpy(), np.einsum(equation, *arrays), atol=1e-12)
    seed = torch.tensor(rng.standard_normal(out.shape))
    grads = torch.autograd.grad(out, tensors, seed)
    for k, g in enumerate(grads):
        step = [a + 0 for a in arrays]
        direction = rng.standard_normal(arrays[k].shape)
        step[k] = arrays[k] + 1e-6 * direction
        back = [a + 0 for a in arrays]
        back[k] = arrays[k] - 1e-6 * direction
        change = (np.einsum(equation, *step) - np.einsum(equation, *back)) / 2e-6
        assert (g.numpy() * direction).sum() == pytest.approx((seed.numpy() * change).sum(), rel=1e-6, abs=1e-8)


def test_products_of_places_with_zeros_have_second_derivatives():
    x = torch.tensor([2.0, 3.0, 0.0, 4.0, 0.0, 0.0], requires_grad=True)
    b = torch.tensor([1.5, 2.5, 0.0, 3.0], requires_grad=True)
    y = b.scatter_reduce(0, torch.tensor([0, 0, 0, 1, 1, 2]), x, "prod")
    gb, gx = torch.autograd.grad((y * torch.arange(1, 5.0)).sum(), [b, x], create_graph=True)
    assert gx.tolist() == [0, 0, 9, 0, 20, 0]
    again = torch.autograd.grad((gb * torch.arange(1, 5.0)).sum() + (gx * torch.arange(1, 7.0)).sum(), [b, x])
    assert [g.tolist() for g in again] == [[18, 40, 18, 0], [13.5, 9, 16.5, 25, 36, 9]]


def test_embedding_renormalises_and_scales():
    table = torch.tensor([[3.0, 4.0], [0.3, 0.4], [6.0, 8.0]], requires_grad=True)
    rows = F.embedding(torch.tensor([0, 1, 1]), table, max_norm=1.0, scale_grad_by_freq=True)
    assert rows.norm(dim=1).tolist() == pytest.approx([1, 0.5, 0.5])
    assert table[2].tolist() == [6, 8]
    rows.sum().backward()
    assert table.grad.tolist() == [[1, 1], [1, 1], [0, 0]]


@pytest.mark.parametrize("n,s", list(itertools.product((4, 5), ("backward", "ortho", "forward"))))
def test_spectra_come_back(n, s):
    x = torch.randn(3, n, dtype=torch.float64)
    for there, back in ((torch.fft.fft, torch.fft.ifft), (torch.fft.fft2, torch.fft.ifft2)):
        assert torch.allclose(back(there(x, norm=s), norm=s).real, x)
    assert torch.allclose(torch.fft.irfft(torch.fft.rfft(x, norm=s), n=n, norm=s), x)
    assert torch.allclose(torch.fft.hfft(torch.fft.ihfft(x, norm=s), n=n, norm=s), x)
    assert torch.allclose(torch.fft.irfftn(torch.fft.rfftn(x, norm=s), s=(3, n), norm=s), x)


def test_a_signal_comes_back_from_its_short_time_transform():
    x = torch.randn(2, 64, dtype=torch.float64, requires_grad=True)
    window = torch.hann_window(16, dtype=torch.float64)
    spectrum = torch.stft(x, 16, hop_length=4, window=window, return_complex=True)
    assert spectrum.shape == (2, 9, 17)
    back = torch.istft(spectrum, 16, hop_length=4, window=window, length=64)
    assert torch.allclose(back, x)
    assert torch.autograd.gradcheck(
        lambda v: torch.stft(v, 8, window=window[::2], return_complex=True), x.detach()[:, :16].requires_grad_()
    )
    with pytest.raises(RuntimeError, match="weight"):
        torch.istft(spectrum, 16, hop_length=16, window=window)


# ---------------------------------------------------------------------------------------- errors


@pytest.mark.parametrize("call,error,words", [
    (lambda x: x[5], IndexError, "5"), (lambda x: x[0, 0, 0], IndexError, "indices"),
    (lambda x: x[::-1], ValueError, "flip"), (lambda x: x[x > 9, 0, 0], IndexError, "indices"),
    (lambda x: x.view(5), RuntimeError, "view"), (lambda x: x.expand(3, 3), RuntimeError, "expand"),
    (lambda x: torch.cat([x, x[:, :1]]), RuntimeError, "cat.*axis 1"), (lambda x: torch.stack([x, x[0]]), RuntimeError, "stack"),
    (lambda x: x @ x, RuntimeError, "matmul"), (lambda x: x @ x.T.double(), RuntimeError, "dtype"),
    (lambda x: F.linear(x, x.double()), RuntimeError, "dtype"), (lambda x: x.gather(0, x), RuntimeError, "int64"),
    (lambda x: F.embedding(torch.tensor([7]), x), IndexError, "7"), (lambda x: x.as_strided((9,), (9,)), RuntimeError, "reach"),
    (lambda x: torch.einsum("ij,jk->iq", x, x), RuntimeError, "einsum"), (lambda x: torch.fft.fft(x, n=0), RuntimeError, "n"),
    (lambda x: x.item(), RuntimeError, "6"), (lambda x: bool(x), RuntimeError, "any"), (lambda x: float(x), ValueError, "6"),
])  # fmt: skip
def test_errors_say_what_is_wrong(call, error, words):
    with pytest.raises(error, match=words):
        call(torch.ones(2, 3))


def test_an_error_leaves_the_tensor_as_it_was():
    x = torch.arange(4.0)
    for index, value in ((9, 1.0), (slice(0, 2), torch.ones(3)), (torch.tensor([0, 9]), 1.0), (0, 1j), (0, "a")):
        with pytest.raises((IndexError, RuntimeError, TypeError)):
            x[index] = value
    assert x.tolist() == [0, 1, 2, 3]


EXPANDED, TURNED = torch.ones(2, 3).expand(2, 2, 3), torch.ones(3, 2, 2).permute(2, 1, 0)
CONTIGUOUS = {
    "clone": (lambda x: x.clone(), EXPANDED),
    "double": (lambda x: x.double(), EXPANDED),
    "cat": (lambda x: torch.cat([x, x]), TURNED),
    "stack": (lambda x: torch.stack([x, x], -1), TURNED),
    "softmax": (lambda x: x.softmax(-1), TURNED),
    "log_softmax": (lambda x: x.log_softmax(1), TURNED),
    "layer_norm": (lambda x: torch.nn.functional.layer_norm(x, (3,)), TURNED),
    "cumsum": (lambda x: x.cumsum(1), TURNED),
    "sum": (lambda x: x.sum(1), TURNED),
    "mean": (lambda x: x.mean(2, keepdim=True), TURNED),
    "amax": (lambda x: x.amax(1), TURNED),
    "var": (lambda x: x.var(1), TURNED),
    "logsumexp": (lambda x: x.logsumexp(1), TURNED),
}


@pytest.mark.parametrize("name", CONTIGUOUS)
def test_results_that_may_be_viewed(name):
    """They lie in C order, as PyTorch's do, whatever the strides of the operand: programs go on with view()."""
    f, x = CONTIGUOUS[name]
    out = f(x)
    assert out.is_contiguous()
    assert out.view(-1).numel() == out.numel()
    assert not x.sin().is_contiguous() or x is EXPANDED  # element by element the order is kept


@pytest.mark.parametrize(
    ("shape", "widths"), [((0,), (-1, 2)), ((2,), (-3, 5)), ((3,), (2, -4)), ((3,), (-2, -2)), ((2, 3), (0, 0, -3, 4))]
)
def test_padding_takes_away_no_more_than_there_is(shape, widths):
    with pytest.raises(RuntimeError, match="take away more than there is"):
        F.pad(torch.ones(shape), widths)


@pytest.mark.parametrize("index", [[0], [], [[0]]])
def test_a_number_has_no_axis_to_index(index):
    with pytest.raises(IndexError):
        torch.tensor(1.5)[torch.tensor(index, dtype=torch.int64)]


def test_einsum_of_two_matrices_lies_in_c_order():
    x, y = torch.arange(6.0).reshape(2, 3), torch.arange(12.0).reshape(3, 4)
    out = torch.einsum("ij,jk->ki", x, y)
    assert out.is_contiguous()
    assert torch.equal(out, (x @ y).T)


def test_repetitions_of_nothing_have_memory_of_their_own():
    x = torch.ones(0)
    x.tile(2).add_(1)
    assert x._version == 0


ORDERED = {
    "roll": (lambda x: x.roll(1, 0), "C"), "tril": (lambda x: x.tril(), "C"), "triu": (lambda x: x.triu(), "C"),
    "masked_fill": (lambda x: x.masked_fill(x > 2, 0.0), "C"), "repeat": (lambda x: x.repeat(*[1] * x.ndim), "C"),
    "flip": (lambda x: x.flip(0), "K"), "zeros_like": (torch.zeros_like, "K"),
    "full_like": (lambda x: torch.full_like(x, 2), "K"),
    "sort": (lambda x: x.sort(0, descending=True)[0], "K"), "argsort": (lambda x: x.argsort(-1), "K"),
    "renorm": (lambda x: x.renorm(2, 0, 1.0), "C"), "logcumsumexp": (lambda x: x.logcumsumexp(-1), "C"),
    "cummax": (lambda x: x.cummax(0)[1], "C"),
    "masked_scatter": (lambda x: x.masked_scatter(torch.ones(x.shape[-1]) > 0, torch.arange(24.0)), "C"),
    "ones_like in C order": (lambda x: torch.ones_like(x, memory_format=torch.contiguous_format), "C"),
}  # fmt: skip


@pytest.mark.parametrize("name", ORDERED)
def test_results_of_permuted_tensors_lie_as_in_pytorch(name):
    f, order = ORDERED[name]
    for x in (torch.arange(6.0).reshape(2, 3).T, torch.arange(24.0).reshape(2, 3, 4).permute(2, 0, 1)):
        out = f(x)
        assert out.stride() == (x.stride() if order == "K" else x.contiguous().stride())
        assert out.tolist() == f(x.contiguous()).tolist()


def test_a_strided_view_inside_a_transform_is_of_what_lies_without_gaps():
    x = torch.arange(6.0).reshape(2, 3)
    for laid_out in (x, x.T):
        assert torch.func.jvp(lambda x: x.as_strided((2,), (1,), 1), (laid_out,), (laid_out,))[0].tolist() == [1, 2]
    for other in (x[:, ::2], x[0, :1].expand(2, 3)):
        with pytest.raises(RuntimeError, match="no storage"):
            torch.func.jvp(lambda x: x.as_strided((2,), (1,), 1), (other,), (other,))


def test_a_strided_view_under_vmap_is_of_the_memory_of_the_whole_batch():
    x = torch.arange(6.0).reshape(2, 3)
    columns = torch.func.vmap(lambda x: x.as_strided((2,), (1,), 0), in_dims=1)
    assert columns(x).tolist() == [[0, 1], [1, 2], [2, 3]]
    assert torch.func.vmap(lambda x: x.as_strided((2,), (3,)), in_dims=1)(x).tolist() == [[0, 3], [1, 4], [2, 5]]
    with pytest.raises(RuntimeError, match="past the elements"):
        torch.func.vmap(lambda x: x.as_strided((2,), (4,), 0), in_dims=1)(x)


def test_products_of_permuted_tensors_lie_in_c_order():
    x = torch.arange(24.0).reshape(2, 3, 4).permute(2, 0, 1)
    for axis in range(3):
        assert x.prod(axis).is_contiguous()
        assert torch.equal(x.prod(axis), x.contiguous().prod(axis))


def test_positions_in_a_permuted_tensor_belong_to_its_axes():
    x = torch.tensor([[3.0, 1.0, 2.0], [0.0, 5.0, 4.0]]).T
    values, at = x.sort(0)
    assert torch.equal(x.gather(0, at), values)
    assert at.tolist() == [[1, 0], [2, 2], [0, 1]]

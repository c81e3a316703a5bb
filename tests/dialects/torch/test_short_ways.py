"""Short ways past the general case, taken where operands are plain: they give what the general case gives."""

import math

import numpy as np
import pytest

from retrograde.dialects import torch
from retrograde.dialects.torch import nn
from retrograde.ops import sorting


@pytest.mark.parametrize(
    "data, dtype, shape",
    [
        ([], "float32", (0,)), ([[]], "float32", (1, 0)), ([[1, 2], (3, 4.5)], "float32", (2, 2)),
        ([[True], [False]], "bool", (2, 1)), ([True, 2], "int64", (2,)), ([1, 2.5, 3j], "complex64", (3,)),
        ([np.float64(1), 2], "float64", (2,)), ([[[1]] * 3] * 2, "int64", (2, 3, 1)),
    ],
)  # fmt: skip
def test_nested_numbers_have_the_dtype_of_the_widest(data, dtype, shape):
    t = torch.tensor(data)
    assert (t.dtype, t.shape) == (getattr(torch, dtype), shape)
    assert t.tolist() == np.array(data, dtype=dtype).tolist()


@pytest.mark.parametrize("data", [[1, [2]], [[1], [2, 3]], [[1], 2]])
def test_ragged_lists_are_refused(data):
    with pytest.raises((ValueError, TypeError)):
        torch.tensor(data)


@pytest.mark.parametrize("largest", [True, False])
@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("missing", [False, True])
def test_the_few_first_of_many(largest, axis, missing):
    x = np.random.default_rng(0).integers(0, 4000, (3, 3000) if axis else (3000, 3)).astype(np.float32)
    if missing:
        x.reshape(-1)[[5, 700]] = math.nan
    found = sorting.argtopk(x, axis=axis, k=20, largest=largest, ties="stable")
    ordered = np.sort(np.where(np.isnan(x), math.inf, x), axis=axis)
    ordered = (np.flip(ordered, axis) if largest else ordered).take(range(20), axis)
    taken = np.take_along_axis(x, found, axis)
    assert np.array_equal(np.where(np.isnan(taken), math.inf, taken), ordered)
    assert len(np.unique(found.take(0, 1 - axis))) == 20


def test_many_tensors_are_stacked_as_few_are():
    parts = [torch.full((2, 3), float(i), requires_grad=i % 2 == 0) for i in range(12)]
    for dim in (0, 1, 2):
        out = torch.stack(parts, dim)
        assert torch.equal(out.select(dim, 7), parts[7])
        (g,) = torch.autograd.grad(out.sum(), parts[4])
        assert torch.equal(g, torch.ones(2, 3))
    with torch.no_grad():
        assert not torch.stack(parts).requires_grad
    with pytest.raises(RuntimeError):
        torch.stack([*parts, torch.zeros(3, 2)])


@pytest.mark.parametrize("batch_first", [True, False])
def test_attention_without_gradients_is_that_with_them(batch_first):
    attention = nn.MultiheadAttention(8, 2, batch_first=batch_first).eval()
    x = torch.rand(3, 5, 8)
    recorded = attention(x, x, x, need_weights=False)[0]
    with torch.no_grad():
        plain = attention(x, x, x, need_weights=False)[0]
    assert recorded.requires_grad
    assert not plain.requires_grad
    assert torch.equal(recorded, plain)
    with torch.inference_mode():
        assert attention(x, x, x, need_weights=False)[0].is_inference()


def test_causal_attention_without_gradients_looks_at_nothing_that_comes_later():
    attention = nn.MultiheadAttention(8, 2).eval()
    x, later = torch.rand(5, 3, 8), nn.Transformer.generate_square_subsequent_mask(5)
    for hint in (False, True):
        recorded = attention(x, x, x, need_weights=False, attn_mask=later, is_causal=hint)[0]
        with torch.no_grad():
            plain = attention(x, x, x, need_weights=False, attn_mask=later, is_causal=hint)[0]
            first = attention(x[:1], x[:1], x[:1], need_weights=False)[0]
        torch.testing.assert_close(recorded, plain)
        torch.testing.assert_close(plain[:1], first)


@pytest.mark.parametrize("bounds, named", [((), {}), ((-2.0, 3.0), {}), ((), {"to": 2.0}), ((1.0,), {"to": 1.5})])
def test_uniform_numbers_are_the_same_wherever_they_are_drawn(bounds, named):
    dense, wide, graph = torch.empty(40, 30), torch.empty(40, 30, dtype=torch.float64), torch.empty(40, 30)
    graph = graph.requires_grad_() * 1
    for x in (dense, graph):
        torch.manual_seed(3)
        x.uniform_(*bounds, **named)
    assert torch.equal(dense, graph)
    assert graph.grad_fn is not None
    assert dense._version == 1
    low, high = bounds if len(bounds) == 2 else (bounds[0] if bounds else 0.0, named.get("to", 1.0))
    for x in (dense, wide.uniform_(*bounds, **named)):
        assert low <= x.min()
        assert x.max() < high
    with pytest.raises(RuntimeError):
        dense.uniform_(2.0, 1.0)
    with pytest.raises(TypeError):
        dense.uniform_(least=1.0)


def test_a_state_dict_says_once_what_is_strange_below():
    net = nn.Sequential(nn.Linear(2, 2), nn.Sequential(nn.Linear(2, 1)))
    state = net.state_dict()
    state["1.0.other"] = state.pop("1.0.bias")
    state["7.weight"] = torch.ones(1)
    found = net.load_state_dict(state, strict=False)
    assert found.missing_keys == ["1.0.bias"]
    assert sorted(found.unexpected_keys) == ["1.0.other", "7.weight"]


def test_names_that_are_taken_are_refused():
    net = nn.Linear(2, 2)
    for name in ("in_features", "forward", "weight"):
        with pytest.raises(KeyError):
            net.register_buffer(name, torch.ones(1))
    net.weight = nn.Parameter(torch.ones(1, 2))
    assert list(dict(net.named_parameters())) == ["weight", "bias"]
    with pytest.raises(TypeError):
        net.weight = 3


def test_the_norm_of_gradients_of_several_dtypes():
    parameters = [torch.ones(3, dtype=d, requires_grad=True) for d in (torch.float32, torch.float64)]
    for p in parameters:
        p.grad = torch.full((3,), 2.0, dtype=p.dtype)
    total = nn.utils.clip_grad_norm_(parameters, 1.0)
    assert total.dtype == torch.float64
    assert total.item() == pytest.approx(math.sqrt(24))
    assert torch.cat([p.grad.double() for p in parameters]).norm().item() == pytest.approx(1.0, abs=1e-5)


def test_positions_that_do_not_exist_are_named():
    x, values = torch.zeros(3, 2), torch.ones(1, 2)
    for bad in (3, -4):
        with pytest.raises(IndexError, match=str(bad)):
            x.index_put((torch.tensor([bad]),), values)
        with pytest.raises(IndexError, match=str(bad)):
            x.index_fill(0, torch.tensor([bad]), 1.0)
    assert x.index_fill(0, torch.tensor([-1, 0, -1]), 1.0).tolist() == [[1, 1], [0, 0], [1, 1]]


def test_a_number_filled_in_twice_counts_once():
    number = torch.tensor(2.0, requires_grad=True)
    torch.zeros(3).index_fill(0, torch.tensor([1, -2, 0]), number).sum().backward()
    assert number.grad == 2


def test_writing_to_parts_that_record():
    v = torch.tensor([5.0, 7.0], requires_grad=True)
    x = torch.arange(6.0).reshape(3, 2).requires_grad_(True)
    for index, place in ((1, 1), (slice(1, 2), 1), ((slice(None, 1), slice(None)), 0)):
        z = x * 1
        z[index] = v
        z.backward(torch.arange(6.0).reshape(3, 2))
        wanted = torch.arange(6.0).reshape(3, 2)
        assert v.grad.tolist() == wanted[place].tolist()
        wanted[place] = 0
        assert x.grad.tolist() == wanted.tolist()
        x.grad = v.grad = None


def test_sizes_that_change_are_read_anew():
    x, size = torch.zeros(1, 1, 2, 2), torch.tensor(3)
    assert torch.nn.functional.interpolate(x, size=(size, size)).shape == (1, 1, 3, 3)
    size += 1
    assert torch.nn.functional.interpolate(x, size=(size, size)).shape == (1, 1, 4, 4)


def test_tiles_and_shuffles_are_copies():
    x = torch.zeros(2, 4, 1, 1)
    for y in (x.repeat(1, 1, 1, 1), torch.pixel_shuffle(x, 1), x.flip(()), torch.nn.functional.pad(x, (0, 0))):
        y += 1
    assert not x.any()


def test_the_norm_of_gradients_whose_squares_are_too_large():
    p = torch.zeros(1, requires_grad=True)
    p.grad = torch.tensor([1e30])
    assert nn.utils.get_total_norm([p.grad]).item() == pytest.approx(1e30)
    several = [torch.full((3, 4), 2.0), torch.full((4, 3), 1.0).T, torch.zeros(2)]
    assert nn.utils.get_total_norm(several).item() == pytest.approx(math.sqrt(60))
    assert nn.utils.get_total_norm(several).dtype == torch.float32


def test_clipped_gradients_count_as_changed():
    p, q = (torch.ones(3, requires_grad=True) for _ in range(2))
    p.grad, q.grad = torch.full((3,), 3.0), torch.full((2, 3), 4.0)[1]
    nn.utils.clip_grad_norm_([p, q], 1.0)
    assert p.grad._version == q.grad._version == 1
    x = torch.ones(3, requires_grad=True)
    y = x * p.grad
    nn.utils.clip_grad_norm_([p], 0.1)
    with pytest.raises(RuntimeError):
        y.sum().backward()


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "int64", "bool", "complex64"])
def test_tensors_are_filled_and_copied_alike_with_and_without_history(dtype):
    d = getattr(torch, dtype)
    for shape in ((3,), (2, 3), ()):
        source = torch.ones(shape, dtype=d)
        x = torch.zeros(shape, dtype=d)
        assert x.copy_(source) is x
        assert torch.equal(x, source)
        assert x.zero_() is x
        assert not x.any()
        assert torch.equal(x.fill_(1.0), source)
        assert torch.equal(x.copy_(torch.zeros(())), torch.zeros(shape, dtype=d))
        assert x._version == 4
    with pytest.raises(RuntimeError):
        torch.zeros(2).fill_(1e300)
    with pytest.raises(RuntimeError):
        torch.zeros(1).expand(3).copy_(torch.ones(3))


@pytest.mark.parametrize("size", [5, 20_000])
def test_scaled_sums_in_place_are_those_out_of_place(size):
    x, y = torch.linspace(-1, 2, size), torch.linspace(3, -4, size)
    assert torch.equal(x.clone().add_(y, alpha=0.3), torch.add(x, y, alpha=0.3))
    assert torch.equal(x.clone().sub_(y, alpha=0.3), torch.sub(x, y, alpha=0.3))
    assert torch.equal(x.clone().lerp_(y, 0.3), torch.lerp(x, y, 0.3))
    assert torch.equal(x.clone().lerp_(y, 0.7), torch.lerp(x, y, 0.7))
    leaf = x.clone().requires_grad_()
    with torch.no_grad():
        leaf.add_(y, alpha=0.5)
    changed = leaf.clone().add_(y, alpha=0.5)
    assert changed.grad_fn is not None
    with pytest.raises(RuntimeError):
        leaf.add_(y, alpha=0.5)
    with pytest.raises(TypeError):
        x.add_(y, 0.5)


@pytest.mark.parametrize("side", ["left", "right"])
@pytest.mark.parametrize("batch_first", [True, False])
def test_sequences_are_padded_alike_with_and_without_history(side, batch_first):
    for shape in ((), (2,)):
        given = [torch.arange(float(n * math.prod(shape))).reshape(n, *shape) for n in (2, 0, 3)]
        plain = nn.utils.rnn.pad_sequence(given, batch_first, 0.5, side)
        recorded = nn.utils.rnn.pad_sequence([x.requires_grad_() for x in given], batch_first, 0.5, side)
        assert recorded.grad_fn is not None
        assert torch.equal(plain, recorded.detach())
    assert nn.utils.rnn.pad_sequence([torch.tensor([1]), torch.tensor([2, 3])]).dtype == torch.int64


def test_ranges_and_reductions_of_booleans():
    assert torch.arange(3, 3).tolist() == []
    assert torch.arange(2, 9, 3).tolist() == [2, 5, 8]
    assert torch.arange(True, 3).tolist() == [1, 2]
    for n in (2, 3, 8):
        x = torch.linspace(-1, 0.3, n)
        assert (x[0].item(), x[-1].item()) == (-1.0, torch.tensor(0.3).item())
    x = torch.tensor([[0.0, math.nan], [0.0, 0.0]])
    assert (x.any().item(), x.all().item(), x.any(0).tolist(), x.all(1).tolist()) == (True, False, [False, True], [False] * 2)
    empty = torch.zeros(0, 2, dtype=torch.bool)
    assert (empty.all().item(), empty.any().item(), empty.all(0, keepdim=True).tolist()) == (True, False, [[True, True]])
    assert torch.tensor([1, 2], dtype=torch.uint8).all().dtype == torch.uint8
    assert torch.tensor([1.0, 0.0], dtype=torch.bfloat16).any().item()


@pytest.mark.parametrize("dtype", ["float32", "complex128"])
@pytest.mark.parametrize("upper", [True, False])
def test_factors_in_either_order_of_memory_solve_alike(dtype, upper):
    d = getattr(torch, dtype)
    m = torch.tensor([[2.0, 1.0, 0.5], [1.0, 3.0, 0.2], [0.5, 0.2, 4.0]], dtype=d)
    if d.is_complex:
        m = m + 1j * (m.triu(1) - m.tril(-1))
    b = torch.arange(6.0).reshape(3, 2).to(d)
    factor = torch.linalg.cholesky(m, upper=upper)
    other = factor.T.contiguous().T
    assert not other.is_contiguous()
    for f in (factor, other):
        torch.testing.assert_close(m @ torch.cholesky_solve(b, f, upper=upper), b)
        torch.testing.assert_close(f @ torch.linalg.solve_triangular(f, b, upper=upper), b)
        torch.testing.assert_close(torch.linalg.solve_triangular(f, b.mT, upper=upper, left=False) @ f, b.mT)

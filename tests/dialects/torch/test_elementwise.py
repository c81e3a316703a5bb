"""Elementwise functions against what PyTorch gave (data/elementwise.json, written by record_elementwise.py)."""

import json
import math
from pathlib import Path

import numpy as np
import pytest
from dialects.torch import elementwise_cases

from retrograde.dialects import torch
from retrograde.ops import selection as sel

RECORD = json.loads((Path(__file__).parent / "data" / "elementwise.json").read_text())
STAGES = ("value", "node", "gradient", "second derivative")

# What we keep different, by call and stage.
DELIBERATE = {
    ("atan2(x, y)", "second derivative"),  # nan at the origin there, 0 here like the first derivative
}


@pytest.fixture(scope="module")
def edges():
    with np.errstate(all="ignore"):
        return elementwise_cases.edges(torch)


@pytest.fixture(scope="module")
def dtypes():
    with np.errstate(all="ignore"):
        return elementwise_cases.dtypes(torch)


def flat(x):
    if isinstance(x, list):
        return [v for y in x for v in flat(y)]
    return [x]


def same(got, wanted):
    if got == wanted or got is None or wanted is None:
        return got == wanted
    x, y = float(got), float(wanted)
    if math.isnan(x) or math.isnan(y):
        return math.isnan(x) and math.isnan(y)
    return x == y == 0 or math.isclose(x, y, rel_tol=1e-9, abs_tol=1e-12)


@pytest.mark.parametrize("name", RECORD["edges"])
def test_edges(name, edges):
    for stage, got, wanted in zip(STAGES, edges[name], RECORD["edges"][name], strict=False):
        if (name, stage) in DELIBERATE:
            continue
        if stage == "node":
            assert got == wanted
            continue
        pairs = list(zip(flat(got), flat(wanted), strict=True))
        assert all(same(x, y) for x, y in pairs), (stage, [p for p in pairs if not same(*p)])


@pytest.mark.parametrize("call", RECORD["dtypes"])
def test_dtypes(call, dtypes):
    answers = zip(elementwise_cases.DTYPES, dtypes[call].split(), RECORD["dtypes"][call].split(), strict=True)
    for d, got, wanted in answers:
        # NotImplementedError is a RuntimeError: in place, PyTorch refuses the result's dtype before the operand's.
        assert got == wanted or (got, wanted) == ("NotImplementedError", "RuntimeError"), d


def test_in_place_without_history_writes_at_once():
    x = torch.tensor([1.0, 2.0, 3.0])
    view, version = x[1:], x._version
    x += 1
    x.mul_(torch.tensor([2.0, 2.0, 2.0]))
    x -= torch.tensor(1.0)
    assert x.tolist() == [3.0, 5.0, 7.0]
    assert view.tolist() == [5.0, 7.0]
    assert x._version == version + 3


def test_in_place_with_history_is_recorded():
    w = torch.tensor([1.0, 2.0], requires_grad=True)
    y = torch.ones(2)
    y += w
    y *= 3
    y.sum().backward()
    assert w.grad.tolist() == [3.0, 3.0]
    with torch.no_grad():
        w -= 0.5 * w.grad
    assert w.tolist() == [-0.5, 0.5]
    with pytest.raises(RuntimeError):
        w += 1


def test_in_place_refusals_leave_the_tensor_as_it_was():
    whole = torch.tensor([1, 2])
    for change in (lambda: whole.mul_(1.5), lambda: whole.div_(2), lambda: whole.add_(torch.ones(3)), whole.sin_):
        with pytest.raises(RuntimeError):
            change()
    assert whole.tolist() == [1, 2]
    expanded = torch.ones(1).expand(3)
    with pytest.raises(RuntimeError):
        expanded += 1
    assert expanded.tolist() == [1.0, 1.0, 1.0]


def test_saved_values_are_pytorchs_choice():
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = torch.tensor([3.0, 4.0], requires_grad=True)
    quotient = x / y  # keeps its operands, so that the result may change
    quotient += 1
    quotient.sum().backward()
    assert torch.allclose(y.grad, -x.detach() / y.detach() ** 2)
    root = (x * 1).sqrt()  # keeps its result
    root += 1
    with pytest.raises(RuntimeError):
        root.sum().backward()


@pytest.mark.parametrize("name", ["floor_divide", "heaviside"])
def test_operations_without_derivative_refuse_in_the_backward_pass(name):
    x = torch.tensor([1.0, -2.0], requires_grad=True)
    out = getattr(torch, name)(x, torch.tensor([2.0, 2.0]))
    assert out.grad_fn.name() == "torch::autograd::NotImplemented"
    with pytest.raises(RuntimeError):
        out.sum().backward()


def test_whole_numbers_divided_by_zero_are_refused():
    whole = torch.tensor([1, 2])
    for f in (lambda: whole // 0, lambda: whole % 0, lambda: torch.fmod(whole, 0), lambda: whole**-1):
        with pytest.raises(RuntimeError):
            f()
    assert (torch.tensor([2, 1, -1, 0]) ** torch.tensor([-1, -1, -3, -1])).tolist() == [0, 1, -1, 0]


def test_whole_numbers_wrap():
    assert (torch.tensor([200], dtype=torch.uint8) + 100).tolist() == [44]
    assert (torch.tensor([1], dtype=torch.int8) + 300).tolist() == [45]
    assert torch.tensor([-128], dtype=torch.int8).abs().tolist() == [-128]


def test_to_returns_itself_unless_something_changes():
    x = torch.ones(2)
    assert x.to(torch.float32) is x
    assert x.to("cpu") is x
    assert x.float() is x
    assert x.to(torch.float32, copy=True) is not x
    assert x.to("cpu", torch.float64).dtype is torch.float64
    assert x.to(torch.zeros(1, dtype=torch.int16)).dtype is torch.int16
    assert x.type() == "torch.FloatTensor"
    assert x.type("torch.LongTensor").dtype is torch.int64
    with pytest.raises(AssertionError):
        x.to("cuda")
    with pytest.raises(TypeError):
        x.to([1])


def test_parts_of_complex_tensors_are_views():
    z = torch.tensor([1 + 2j, 3 - 1j])
    z.real += 10
    z.imag = torch.tensor([5.0, 6.0])
    assert z.tolist() == [11 + 5j, 13 + 6j]
    assert z.conj().is_conj()
    assert not z.conj().conj().is_conj()
    assert not (z.conj() * 1).is_conj()


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "complex64", "complex128", "int32", "uint8"])
@pytest.mark.parametrize("n", [5, 3000])
def test_masks_select_exactly(dtype, n):
    rng = np.random.default_rng(0)
    x, y = (rng.standard_normal((2, n)) * 50).astype(dtype)
    if x.dtype.kind in "fc":
        x[:4] = [np.nan, np.inf, -np.inf, -0.0]
    mask = rng.random(n) < 0.5
    mask[:4] = False
    for chosen, wanted in (
        (sel.keep(x, mask), np.where(mask, x, x.dtype.type(0))),
        (sel.drop(x, mask), np.where(mask, x.dtype.type(0), x)),
        (sel.where(mask, x, y), np.where(mask, x, y)),
        (sel.where(mask, x[::-1], y[:1]), np.where(mask, x[::-1], y[:1])),
        (sel.keep(x[:1], mask[:, None]), np.where(mask[:, None], x[:1], x.dtype.type(0))),
    ):
        assert chosen.dtype == wanted.dtype
        assert chosen.tobytes() == wanted.tobytes()

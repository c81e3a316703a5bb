"""Reductions, scans, sorting, statistics and losses against what PyTorch printed (data/reductions.json)."""

import numpy as np
import pytest
from dialects.torch import reduction_cases

from retrograde.dialects import torch

RECORD = reduction_cases.load()


@pytest.mark.parametrize("area", sorted(RECORD))
def test_prints_what_pytorch_prints(area):
    with np.errstate(all="ignore"):
        found = reduction_cases.evaluate(torch, {area: RECORD[area]})[area]
    different = {e: (found[e], wanted) for e, wanted in RECORD[area].items() if found[e] != wanted}
    assert not different


def test_float32_sums_are_accurate_along_every_axis():
    x = np.full((100_000, 3), 0.1, np.float32)
    for array, axis in ((x, 0), (x.T.copy(), 1), (x.reshape(10, 10_000, 3), 1), (x, (0, 1))):
        exact = array.astype(np.float64).sum(axis=axis)
        got = torch.from_numpy(array).sum(dim=axis).numpy()
        assert np.max(np.abs(got - exact) / exact) < 1e-6
    assert torch.full((1_000_000,), 0.1).cumsum(0)[-1].item() == 100000.0


def test_half_precision_accumulates_in_single():
    for dtype in (torch.float16, torch.bfloat16):
        ones = torch.ones(4096, 2, dtype=dtype)
        assert ones.sum(0).tolist() == [4096.0, 4096.0]
        assert ones.mean().item() == 1.0
        assert ones.sum().dtype is dtype


def test_zeros_do_not_hurt_products():
    x = torch.tensor([2.0, 0.0, 3.0], dtype=torch.float64, requires_grad=True)
    for f in (lambda v: v.prod(), lambda v: v.prod(0), lambda v: v.cumprod(0)[-1]):
        hessian = torch.autograd.functional.hessian(f, x)
        assert hessian.tolist() == [[0.0, 3.0, 0.0], [3.0, 0.0, 2.0], [0.0, 2.0, 0.0]]


def test_in_place_changes_of_picked_values_do_not_break_the_graph():
    x = torch.tensor([[1.0, 3.0, 2.0], [6.0, 4.0, 5.0]], requires_grad=True)
    values, _ = x.topk(2)
    values /= values.sum(1, keepdim=True)
    values[:, 0].sum().backward()
    assert torch.allclose(x.grad, torch.tensor([[0.0, 0.08, -0.12], [0.0413, 0.0, -0.0496]]), atol=1e-4)


def test_ctc_has_second_derivatives():
    logits = torch.randn(4, 2, 3, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
    targets, frames, lengths = torch.tensor([[1, 2], [2, 2]]), torch.tensor([4, 4]), torch.tensor([2, 1])

    def loss(x):
        return torch.nn.functional.ctc_loss(x.log_softmax(2), targets, frames, lengths)

    assert torch.autograd.gradcheck(loss, logits.requires_grad_())
    assert torch.autograd.gradgradcheck(loss, logits)

"""Losses that are made of rows are functions like those that are written by hand."""

from __future__ import annotations

import inspect
import subprocess
import sys
import traceback

import pytest

from retrograde.dialects import mindspore, paddle, torch

TORCH, PADDLE, MINDSPORE = torch.nn.functional, paddle.nn.functional, mindspore.ops


OLD = "size_average: 'bool | None' = None, reduce: 'bool | None' = None"
RATE = "log_input: 'bool' = True, full: 'bool' = False, epsilon: 'float' = 1e-08"


@pytest.mark.parametrize("functions, name, signature", [
    (TORCH, "hinge_embedding_loss",
     f"(input: 'Any', target: 'Any', margin: 'float' = 1.0, {OLD}, reduction: 'str' = 'mean') -> 'Any'"),
    (PADDLE, "poisson_nll_loss",
     f"(input: 'Any', label: 'Any', {RATE}, reduction: 'str' = 'mean', name: 'str | None' = None) -> 'Any'"),
    (MINDSPORE, "smooth_l1_loss", "(input: 'Any', target: 'Any', beta: 'float' = 1.0, reduction: 'str' = 'none') -> 'Any'"),
    (mindspore.mint.nn.functional, "smooth_l1_loss",
     "(input: 'Any', target: 'Any', reduction: 'str' = 'mean', beta: 'float' = 1.0) -> 'Any'"),
])  # fmt: skip
def test_a_row_is_a_function(functions, name, signature):
    f = getattr(functions, name)
    assert str(inspect.signature(f)) == signature
    assert f.__name__ == name
    assert "{" not in f.__doc__


def test_a_row_is_pickled_by_its_name():
    """In a process of its own: other tests wrap what the dialect offers."""
    program = (
        "import pickle; from retrograde.dialects.torch.nn import functional as F\n"
        "assert pickle.loads(pickle.dumps(F.hinge_embedding_loss)) is F.hinge_embedding_loss"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


def test_what_a_loss_is_speaks_of_the_operands_by_the_names_that_a_dialect_gives_them():
    assert TORCH.hinge_embedding_loss.__doc__.startswith("input where target is 1")
    assert MINDSPORE.hinge_embedding_loss.__doc__.startswith("inputs where targets is 1")


def test_an_operand_that_is_a_constant_for_a_dialect_has_no_gradient():
    """PaddlePaddle's divergence has no derivative by the labels, PyTorch's has one."""
    x, y = torch.tensor([-1.0, -2.0], requires_grad=True), torch.tensor([0.5, 0.5], requires_grad=True)
    TORCH.kl_div(x, y, reduction="sum").backward()
    assert x.grad.tolist() == [-0.5, -0.5]
    assert y.grad is not None
    p, q = paddle.to_tensor([-1.0, -2.0], stop_gradient=False), paddle.to_tensor([0.5, 0.5], stop_gradient=False)
    PADDLE.kl_div(p, q, reduction="sum").backward()
    assert p.grad.tolist() == [-0.5, -0.5]
    assert q.grad is None


@pytest.mark.parametrize("call, error, says", [
    (lambda: TORCH.multi_margin_loss(torch.zeros(2, 3), torch.tensor([0, 1]), p=3), ValueError, "p is 3; wanted 1 or 2"),
    (lambda: PADDLE.poisson_nll_loss(paddle.ones([2]), paddle.ones([2]), epsilon=0), ValueError, "epsilon is 0"),
    (lambda: MINDSPORE.huber_loss(mindspore.ops.ones(2), mindspore.ops.ones(2), delta="a"), TypeError, "delta must be a number"),
    (lambda: MINDSPORE.smooth_l1_loss(mindspore.ops.ones(2), mindspore.ops.ones(2), beta=0), RuntimeError, "beta is 0"),
    (lambda: TORCH.soft_margin_loss(torch.ones(2), torch.ones(2), reduction="all"), ValueError, "reduction must be"),
])  # fmt: skip
def test_what_options_have_to_be_is_checked(call, error, says):
    with pytest.raises(error, match=says) as found:
        call()
    shown = "".join(traceback.format_exception(found.value))
    assert "<retrograde row" in shown


@pytest.mark.parametrize("dialect, kind, integers", [
    (torch, IndexError, torch.tensor), (paddle, ValueError, paddle.to_tensor), (mindspore, RuntimeError, mindspore.Tensor),
])  # fmt: skip
@pytest.mark.parametrize("label", [-1, 3])
def test_a_label_that_is_no_class_is_refused(dialect, kind, integers, label):
    """The frameworks read memory that is not the tensor's; labels behind the last one are padding and may be anything."""
    logs = dialect.ones((4, 1, 3)) if dialect is not mindspore else mindspore.ops.ones((4, 1, 3), mindspore.float32)
    loss = (mindspore.ops if dialect is mindspore else dialect.nn.functional).ctc_loss
    with pytest.raises(kind, match=f"label {label} is none of the 3 classes"):
        loss(logs, integers([[1, label]]), integers([4]), integers([2]))
    loss(logs, integers([[1, label]]), integers([4]), integers([1]))

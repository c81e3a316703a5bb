"""What passes with chosen inputs, and changes in place, do to hooks and retained gradients of values that are no leaves."""

from typing import Any

import pytest

import retrograde.dialects.torch.nn.functional as F


@pytest.fixture
def torch() -> Any:
    return pytest.importorskip("retrograde.dialects.torch")


def test_a_retained_input_is_counted_once(torch: Any) -> None:
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x * 2
    y.retain_grad()
    y.sum().backward(inputs=[y])
    assert y.grad.tolist() == [1.0, 1.0]


def test_an_input_retains_its_gradient_from_then_on(torch: Any) -> None:
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x * 2
    y.sum().backward(inputs=[y], retain_graph=True)
    y.sum().backward()
    assert y.retains_grad
    assert y.grad.tolist() == [2.0, 2.0]
    assert x.grad.tolist() == [2.0, 2.0]


@pytest.mark.parametrize("create_graph", [False, True])
def test_hooks_of_an_input_are_in_its_gradient(torch: Any, create_graph: bool) -> None:
    x = torch.tensor([3.0], requires_grad=True)
    y = x * 1
    y.register_hook(lambda g: -g)
    y.grad_fn.register_prehook(lambda g: (g[0] * 100,))  # comes after what is asked for
    (found,) = torch.autograd.grad(y * y, [y], create_graph=create_graph)
    assert found.tolist() == [-6.0]


def test_what_leads_to_no_input_is_not_visited(torch: Any) -> None:
    x, other = torch.tensor(0.5, requires_grad=True), torch.tensor(2.0, requires_grad=True)
    beside = other * 3
    beside.retain_grad()
    seen: list[Any] = []
    beside.register_hook(seen.append)
    (found,) = torch.autograd.grad(beside * (x * 2), x)
    assert found.item() == 12.0
    assert beside.grad is None
    assert seen == []


def test_where_a_pass_begins_hooks_are_called_anyway(torch: Any) -> None:
    x, other = torch.tensor(0.5, requires_grad=True), torch.tensor(2.0, requires_grad=True)
    y = x * 3
    y.retain_grad()
    torch.autograd.grad(y, other, allow_unused=True, retain_graph=True)
    assert y.grad.item() == 1.0
    z = y * 2
    torch.autograd.grad(z, other, allow_unused=True, retain_graph=True)
    assert y.grad.item() == 1.0


@pytest.mark.parametrize("written", ["base", "view", "other view"])
@pytest.mark.parametrize("kept", ["base", "view"])
def test_a_retained_gradient_is_that_of_the_changed_value(torch: Any, kept: str, written: str) -> None:
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    values = {"base": x * 1}
    values["view"] = values["base"][:1]
    values["other view"] = values["base"][:]
    values[kept].retain_grad()
    values[written].mul_(2)
    (values[kept] * 3).sum().backward()
    assert values[kept].grad.tolist() == [3.0] * len(values[kept])


def test_trace_does_not_spread_nan(torch: Any) -> None:
    x = torch.tensor([[1.0, 2.0]], requires_grad=True)
    torch.trace(x).backward(torch.tensor(float("nan")))
    assert x.grad[0, 1].item() == 0.0


def test_a_retained_gradient_is_a_new_tensor_each_time(torch: Any) -> None:
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x * x
    y.retain_grad()
    (y * y).sum().backward(create_graph=True)
    first = y.grad
    y.sum().backward()
    assert first.requires_grad
    assert first.tolist() == [2.0, 8.0]
    assert y.grad.tolist() == [3.0, 9.0]
    assert not y.grad.requires_grad


@pytest.mark.parametrize("axes", [(), (0,)])
def test_which_element_is_the_largest_has_no_history(torch: Any, axes: tuple[int, ...]) -> None:
    x = torch.tensor([1.0, 3.0], requires_grad=True)
    y = x.amax(0) if axes else x.max()
    y.backward(create_graph=True)
    assert x.grad.tolist() == [0.0, 1.0]
    assert not x.grad.requires_grad
    (found,) = torch.autograd.grad((x.amax(0) ** 2).sum(), x, create_graph=True)
    assert torch.autograd.grad(found.sum(), x)[0].tolist() == [0.0, 2.0]


@pytest.mark.parametrize(("answer", "error"), [(3, TypeError), ("gradient", RuntimeError)])
def test_hooks_after_accumulating_answer_nothing(torch: Any, answer: Any, error: type[Exception]) -> None:
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    x.register_post_accumulate_grad_hook(lambda p: p.grad * 2 if answer == "gradient" else answer)
    with pytest.raises(error, match="wanted None"):
        x.sum().backward()


def test_a_gradient_that_is_handed_on_stays_one_tensor(torch: Any) -> None:
    x, y, g = (torch.ones(2, requires_grad=True) for _ in range(3))
    assert torch.autograd.grad(x + 1, x, g)[0] is g
    (found,) = torch.autograd.grad(x, x, g.detach(), create_graph=True)
    assert not found.requires_grad
    for create_graph in (False, True):
        first, second, third = torch.autograd.grad((x + y) * g, [x, y, g], torch.ones(2), create_graph=create_graph)
        assert first is second
        assert third is not first
        assert first.tolist() == [1.0, 1.0]


def test_batched_cotangents_are_not_retained(torch: Any) -> None:
    x = torch.ones(2, requires_grad=True)
    y = x * 2
    y.retain_grad()
    y.sum().backward(retain_graph=True)
    (found,) = torch.autograd.grad(y, x, torch.ones(3, 2), is_grads_batched=True, retain_graph=True)
    assert found.tolist() == [[2.0, 2.0]] * 3
    y.sum().backward()
    assert y.grad.tolist() == [2.0, 2.0]


@pytest.mark.parametrize("several", [False, True])
def test_a_saved_input_that_is_returned_is_the_input(torch: Any, several: bool) -> None:
    class Through(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.save_for_backward(x)
            return (x, x * 2) if several else x

        @staticmethod
        def backward(ctx: Any, g: Any, *_: Any) -> Any:
            return g * ctx.saved_tensors[0]

    x = torch.tensor(3.0, requires_grad=True)
    y = Through.apply(x * 1)
    (found,) = torch.autograd.grad(y[0] if several else y, x, create_graph=True)
    assert found.item() == 3.0
    assert torch.autograd.grad(found, x)[0].item() == 1.0


INF = float("inf")
HIDDEN = {
    "median": (lambda x: x.median(), [1.0, 2.0, 0.0], [INF, 0.0, 0.0]),
    "max": (lambda x: x.max(), [1.0, 2.0, 0.0], [0.0, INF, 0.0]),
    "to the power of 0": (lambda x: x**0, [1.0, 2.0, 0.0], [0.0, 0.0, 0.0]),
    "sinc": (lambda x: x.sinc(), [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]),
    "max_pool1d": (lambda x: F.max_pool1d(x[None], 3), [1.0, 2.0, 0.0], [0.0, INF, 0.0]),
    "hardswish": (lambda x: F.hardswish(x), [-3.0, -4.0, 3.0], [0.0, 0.0, INF]),
}


@pytest.mark.parametrize("name", HIDDEN)
def test_infinite_cotangents_do_not_reach_what_has_no_part(torch: Any, name: str) -> None:
    f, elements, wanted = HIDDEN[name]
    x = torch.tensor(elements, requires_grad=True)
    y = f(x)
    assert torch.autograd.grad(y, x, torch.full_like(y, INF))[0].tolist() == wanted


def test_what_is_asked_for_at_the_root_is_not_executed(torch: Any) -> None:
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x * x
    seen: list[Any] = []
    y.grad_fn.register_prehook(lambda g: seen.append(g))
    assert torch.autograd.grad(y, y, torch.ones(2), retain_graph=True)[0].tolist() == [1.0, 1.0]
    assert seen == []
    torch.autograd.grad(y, x, torch.ones(2))
    assert len(seen) == 1


def test_hooks_after_accumulation_of_a_leaf_that_was_detached_since(torch: Any) -> None:
    x = torch.ones(2, requires_grad=True)
    called: list[Any] = []
    x.register_post_accumulate_grad_hook(lambda p: called.append(p.grad))
    y = (x * x).sum()
    x.detach_()
    y.backward()
    assert called == [None]

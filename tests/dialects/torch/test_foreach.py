"""`torch._foreach_*`: operations on lists of tensors."""

import pytest

import retrograde.dialects.torch as torch


def lists():
    return (
        [torch.tensor([1.0, 4.0]), torch.tensor([[9.0]])],
        [torch.tensor([2.0, 2.0]), torch.tensor([[3.0]])],
    )


def values(tensors):
    return [x.tolist() for x in tensors]


@pytest.mark.parametrize(
    ("name", "operand", "wanted"),
    [
        ("add", 2.0, [[3.0, 6.0], [[11.0]]]), ("add", [2.0, 3.0], [[3.0, 6.0], [[12.0]]]),
        ("sub", "lists", [[-1.0, 2.0], [[6.0]]]), ("mul", torch.tensor(2.0), [[2.0, 8.0], [[18.0]]]),
        ("div", "lists", [[0.5, 2.0], [[3.0]]]), ("maximum", 2.0, [[2.0, 4.0], [[9.0]]]),
        ("minimum", "lists", [[1.0, 2.0], [[3.0]]]), ("clamp_max", [2.0, 3.0], [[1.0, 2.0], [[3.0]]]),
        ("pow", 2.0, [[1.0, 16.0], [[81.0]]]),
    ],
)  # fmt: skip
def test_operands(name, operand, wanted):
    a, b = lists()
    operand = b if isinstance(operand, str) else operand
    out = getattr(torch, f"_foreach_{name}")(a, operand)
    assert type(out) is tuple
    assert values(out) == wanted
    assert values(a) == values(lists()[0])
    assert getattr(torch, f"_foreach_{name}_")(a, operand) is a
    assert values(a) == wanted


def test_as_optimisers_use_them():
    a, b = lists()
    torch._foreach_mul_(a, 0.5)
    torch._foreach_add_(a, b, alpha=2)
    torch._foreach_addcdiv_(a, b, b, value=-1)
    assert values(a) == [[3.5, 5.0], [[9.5]]]
    torch._foreach_lerp_(a, b, 0.5)
    assert values(torch._foreach_sqrt(torch._foreach_neg(torch._foreach_neg(a)))) == values(x.sqrt() for x in a)
    assert values(torch._foreach_norm(b, 1)) == [4.0, 3.0]
    torch._foreach_copy_(a, b)
    torch._foreach_zero_(b)
    assert (values(a), values(b)) == ([[2.0, 2.0], [[3.0]]], [[0.0, 0.0], [[0.0]]])


def test_gradients_pass():
    x = torch.ones(2, requires_grad=True)
    torch._foreach_mul([x], 3.0)[0].sum().backward()
    assert x.grad.tolist() == [3.0, 3.0]


def test_wrong_lists():
    a, b = lists()
    with pytest.raises(RuntimeError):
        torch._foreach_add(a, b[:1])
    with pytest.raises(RuntimeError):
        torch._foreach_add([], 1)
    with pytest.raises(TypeError):
        torch._foreach_add(3, 1)

"""Dual tensors: what they share with their primals, and tensors from outside of the level; each as PyTorch 2.13 has it."""

import pytest

import retrograde.dialects.torch as torch
from retrograde.dialects.torch.autograd import forward_ad as fwAD
from retrograde.dialects.torch.autograd.forward_ad import dual_level, make_dual, unpack_dual


def test_a_dual_tensor_looks_at_the_memory_of_its_primal():
    x, t = torch.ones(2), torch.full((2,), 3.0)
    with dual_level():
        d = make_dual(x, t)
        assert unpack_dual(d).tangent is t
        assert d.storage().data_ptr() == x.storage().data_ptr()
        x.add_(1)
        assert unpack_dual(d).primal.tolist() == [2, 2]
        assert d._version == x._version
        d.mul_(3)
        assert x.tolist() == [6, 6]
        assert unpack_dual(d).tangent.tolist() == [9, 9]
        d.zero_()
        assert x.tolist() == unpack_dual(d).tangent.tolist() == [0, 0]


def test_a_change_of_a_dual_tensor_is_part_of_the_history_of_its_primal():
    x = torch.ones(2, requires_grad=True)
    with dual_level():
        y = x * 1
        make_dual(y, torch.ones(2)).mul_(5)
        y.sum().backward()
    assert x.grad.tolist() == [5, 5]


def test_a_tensor_from_outside_holds_a_tangent_until_the_level_ends():
    b, c = torch.zeros(3), torch.zeros(3)
    view = c[:2]
    with dual_level():
        b.copy_(make_dual(torch.ones(3), torch.full((3,), 2.0)))
        assert unpack_dual(b).tangent.tolist() == [2, 2, 2]
        view.add_(make_dual(torch.ones(2), torch.full((2,), 2.0)))
        assert unpack_dual(c).tangent.tolist() == [2, 2, 0]
        assert unpack_dual(view).tangent.tolist() == [2, 2]
    assert b.tolist() == [1, 1, 1]
    assert (c.tolist(), view.tolist()) == ([1, 1, 0], [1, 1])
    view.mul_(4)
    assert c.tolist() == [4, 4, 0]
    with dual_level():
        assert unpack_dual(b).tangent is None


def test_a_tangent_lies_in_memory_as_its_primal():
    with dual_level():
        d = make_dual(torch.ones(3, 4).t(), torch.ones(4, 3))
        assert unpack_dual(d).tangent.stride() == (1, 4)


def test_what_no_dual_tensor_is_made_of():
    x = torch.ones(2)
    with dual_level():
        d = make_dual(x, x)
        for bad in ((x, d), (d, x)):
            with pytest.raises(RuntimeError, match="already"):
                make_dual(*bad)
        with pytest.raises(ValueError, match="tangent"):
            make_dual(x, torch.ones(2, dtype=torch.int64))
        with pytest.raises(NotImplementedError, match="out="):
            torch.add(d, d, out=torch.empty(2))


def test_a_dual_tensor_outlives_its_level_as_its_primal():
    x = torch.ones(2, requires_grad=True)
    with dual_level():
        d = make_dual(x, torch.ones(2))
        y = d * 3
    assert d.tolist() == [1, 1]
    assert unpack_dual(d).tangent is None
    (y * 2 + d).sum().backward()
    assert x.grad.tolist() == [7, 7]


def test_tangents_are_not_followed_where_forward_mode_is_off():
    x = torch.tensor([1.0, 2.0])
    with fwAD.dual_level():
        d = fwAD.make_dual(x, x)
        with fwAD._set_fwd_grad_enabled(False):
            assert fwAD.unpack_dual(d * d).tangent is None
            assert fwAD.unpack_dual(d).tangent is None
            assert torch.func.jvp(torch.square, (x,), (x,))[1].tolist() == [2, 8]
        with torch.inference_mode():
            assert fwAD.unpack_dual(d * d).tangent is None
        assert fwAD.unpack_dual(d * d).tangent.tolist() == [2, 8]

    def off(t):
        with fwAD._set_fwd_grad_enabled(False):
            return t * 2

    assert torch.func.jvp(off, (x,), (x,))[1].tolist() == [0, 0]
    assert torch.func.jvp(torch.square, (x,), (x,))[1].tolist() == [2, 8], "a transform leaves it as it was"


def test_backward_of_a_dual_tensor_is_that_of_its_primal():
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    with fwAD.dual_level():
        (fwAD.make_dual(x, torch.ones(2)) ** 3).sum().backward()
    assert x.grad.tolist() == [3, 12]
    level = fwAD.enter_dual_level()
    with pytest.raises(RuntimeError, match="level"):
        fwAD.exit_dual_level(level=level + 1)
    fwAD.exit_dual_level(level=level)


def test_inference_mode_decorates_a_function_without_being_called():
    @torch.inference_mode
    def f():
        return torch.ones(1).is_inference()

    assert f()


@pytest.mark.parametrize(
    ("forward", "jvp", "fits"),
    [(lambda x: x.view_as(x), lambda t: t.view_as(t), True), (lambda x: x.view_as(x), lambda t: t.clone(), False),
     (lambda x: x, lambda t: t.view_as(t), True), (lambda x: x, lambda t: t, False), (lambda x: x * 1, lambda t: 1.0, False),
     (lambda x: x * 1, lambda t: t[:1], False), (lambda x: x * 1, lambda t: t, True)],
)  # fmt: skip
def test_the_tangent_that_a_function_gives_fits_its_result(forward, jvp, fits):
    function = type("F", (torch.autograd.Function,), {
        "forward": staticmethod(lambda ctx, x: forward(x)), "jvp": staticmethod(lambda ctx, t: jvp(t)),
    })  # fmt: skip
    with dual_level():
        d = make_dual(torch.ones(2), torch.full((2,), 3.0))
        if fits:
            assert unpack_dual(function.apply(d)).tangent.tolist() == [3, 3]
        else:
            with pytest.raises(RuntimeError, match="jvp"):
                function.apply(d)


def test_jacobians_name_their_mode():
    functional, x = torch.autograd.functional, torch.ones(2)
    with pytest.raises(AssertionError, match="mode"):
        functional.hessian(torch.sum, x, outer_jacobian_strategy="sideways")
    with pytest.raises(NotImplementedError, match="vectorize"):
        functional.hessian(torch.sum, x, outer_jacobian_strategy="forward-mode")
    with pytest.raises(RuntimeError, match="strict"):
        functional.jacobian(torch.sin, x, strict=True, vectorize=True, strategy="forward-mode")

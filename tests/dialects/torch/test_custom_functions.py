"""`torch.autograd.Function` where its protocol is more than forward and backward; each as PyTorch 2.13 has it."""

import pytest

import retrograde.dialects.torch as torch
from retrograde.dialects.torch.autograd import Function, forward_ad


def ones(n=2):
    return torch.ones(n, requires_grad=True)


class Scaled(Function):
    @staticmethod
    def forward(ctx, x, k=2):
        ctx.k = k
        return x * k

    @staticmethod
    def backward(ctx, g):
        return g * ctx.k, None


class Split(Function):
    @staticmethod
    def forward(x, y=2):
        return x * y

    @staticmethod
    def setup_context(ctx, inputs, output):
        _, ctx.y = inputs

    @staticmethod
    def backward(ctx, g):
        return g * ctx.y, None


def test_arguments_by_keyword_and_left_out():
    x = ones()
    for call, factor in ((lambda: Scaled.apply(x, k=3), 3), (lambda: Scaled.apply(x), 2), (lambda: Split.apply(x), 2),
                         (lambda: Split.apply(x, y=5), 5)):  # fmt: skip
        (g,) = torch.autograd.grad(call().sum(), x)
        assert g.tolist() == [factor] * 2


def test_what_is_returned_twice_is_one_tensor():
    class Twice(Function):
        @staticmethod
        def forward(ctx, x):
            y = x * 2
            return y, y

        @staticmethod
        def backward(ctx, a, b):
            return a * 2 + b * 2

    x = ones()
    a, b = Twice.apply(x)
    assert a is b
    a.sum().backward()
    assert x.grad.tolist() == [2, 2]


def test_a_context_outlives_its_graph():
    kept = []

    class Kept(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * 1

        @staticmethod
        def backward(ctx, g):
            kept.append(ctx)
            return g

    x = ones()
    y = Kept.apply(x)
    y.sum().backward(retain_graph=True)
    del y
    assert kept[0].saved_tensors[0].tolist() == [1, 1]


def test_gradients_of_constant_results_may_be_left_out():
    class Constant(Function):
        @staticmethod
        def forward(ctx, x):
            a, b = x * 1, x * 1
            ctx.mark_non_differentiable(b)
            ctx._materialize_non_diff_grads = False
            return a, b

        @staticmethod
        def backward(ctx, a, b):
            seen.append(b)
            return a

    seen = []
    Constant.apply(ones())[0].sum().backward()
    assert seen == [None]


def test_pre_hooks_see_as_many_gradients_as_there_are_results():
    class Mixed(Function):
        @staticmethod
        def forward(ctx, x, a):
            ctx.a = a
            return a * x, a, x * 3

        @staticmethod
        def backward(ctx, g, _, h):
            return g * ctx.a + h * 3, None

    x = ones()
    first, _, last = Mixed.apply(x, 2)
    seen = []
    first.grad_fn.register_prehook(lambda grads: seen.append(len(grads)) or (grads[0] * 10, None, grads[2]))
    (first + last).sum().backward()
    assert seen == [3]
    assert x.grad.tolist() == [23, 23]


@pytest.mark.parametrize("answer", [2.0, "x"])
def test_a_backward_gives_tensors(answer):
    class Number(Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return answer

    with pytest.raises(RuntimeError, match="wanted a tensor"):
        Number.apply(ones()).sum().backward()


def test_backward_and_vjp_are_one():
    class Both(Function):
        @staticmethod
        def forward(ctx, x):
            return x * 1

        @staticmethod
        def backward(ctx, g):
            return g

        @staticmethod
        def vjp(ctx, g):
            return g

    with pytest.raises(RuntimeError, match="backward and vjp"):
        Both.apply(ones()).sum().backward()


def test_a_backward_pass_inside_a_backward():
    class Inner(Function):
        @staticmethod
        def forward(ctx, x):
            with torch.enable_grad():
                ctx.x = torch.autograd.Variable(x, requires_grad=True)
                ctx.out = ctx.x * 3
            return ctx.out.detach()

        @staticmethod
        def backward(ctx, g):
            with torch.enable_grad():
                ctx.out.sum().backward()
            return ctx.x.grad * g

    x = ones()
    Inner.apply(x).sum().backward()
    assert x.grad.tolist() == [3, 3]


class Doubled(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.mark_dirty(x)
        return x.mul_(2)

    @staticmethod
    def jvp(ctx, t):
        return t.mul_(2)

    @staticmethod
    def backward(ctx, g):
        return g * 2


def test_a_function_that_changes_a_view_in_place():
    class Add(Function):
        @staticmethod
        def forward(ctx, x, y):
            ctx.mark_dirty(x)
            return x.add_(y)

        @staticmethod
        def backward(ctx, g):
            return g, g

    a, b = torch.zeros(4, requires_grad=True), ones()
    x = a.clone()
    Add.apply(x[2:], b)
    (x * torch.arange(4.0)).sum().backward()
    assert (a.grad.tolist(), b.grad.tolist()) == ([0, 1, 2, 3], [2, 3])


def push(function, *given):
    """The tangent of a function along the tangents of (primal, tangent) pairs; plain tensors have none."""
    duals = [forward_ad.make_dual(*map(torch.tensor, x)) if isinstance(x, tuple) else torch.tensor(x) for x in given]
    return duals, function.apply(*duals)


def test_forward_mode_through_a_function():
    class Sum(Function):
        @staticmethod
        def forward(ctx, x, y):
            return x * 2 + y * 3

        @staticmethod
        def jvp(ctx, a, b):
            return a * 2 + b * 3

    class Marked(Function):
        @staticmethod
        def forward(ctx, x):
            y = x * 1
            ctx.mark_non_differentiable(y)
            return x * 1, y

        @staticmethod
        def jvp(ctx, t):
            return t, t

    class Apart(Doubled):
        @staticmethod
        def jvp(ctx, t):
            return t * 2

    with forward_ad.dual_level():
        _, y = push(Sum, (1.0, 1.0), 1.0)  # a missing tangent is zeros
        assert forward_ad.unpack_dual(y).tangent.item() == 2
        (x,), y = push(Doubled, (3.0, 1.0))
        assert y is x
        assert [z.item() for z in forward_ad.unpack_dual(y)] == [6, 2]
        with pytest.raises(NotImplementedError, match="no jvp"):
            push(Scaled, (1.0, 1.0))
        with pytest.raises(RuntimeError, match="not differentiable"):
            push(Marked, (1.0, 1.0))
        with pytest.raises(RuntimeError, match="in place"):
            push(Apart, (1.0, 1.0))


def test_forward_mode_keeps_the_primal_on_the_tape():
    class Square(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            ctx.save_for_forward(x)
            return x * x

        @staticmethod
        def jvp(ctx, t):
            return 2 * ctx.saved_tensors[0] * t

        @staticmethod
        def backward(ctx, g):
            return 2 * ctx.saved_tensors[0] * g

    x = torch.tensor(3.0, requires_grad=True)
    with forward_ad.dual_level():
        y, t = forward_ad.unpack_dual(Square.apply(forward_ad.make_dual(x, torch.tensor(1.0))))
        assert t.item() == 6
        y.backward()
    assert x.grad.item() == 6


def test_a_vmap_rule_sees_the_structure_of_the_arguments():
    seen = []

    class First(Function):
        @staticmethod
        def forward(x, ys):
            return x

        @staticmethod
        def setup_context(ctx, inputs, output):
            pass

        @staticmethod
        def vmap(info, in_dims, x, ys):
            seen.append((info.batch_size, in_dims, [y.shape[0] for y in ys]))
            return (x, 0) if len(seen) == 1 else x

    x = torch.ones(2, 3)
    torch.func.vmap(First.apply)(x, [torch.ones(2), torch.ones(2)])
    assert seen == [(2, (0, [0, 0]), [2, 2])]
    with pytest.raises(RuntimeError, match="pair"):
        torch.func.vmap(First.apply)(x, [torch.ones(2)])
    assert not Scaled.generate_vmap_rule
    with pytest.raises(RuntimeError, match="static methods"):
        Scaled()(x)


@pytest.mark.parametrize("answer", [lambda g: g * 1j, lambda g: [g]], ids=["complex", "a list"])
def test_gradients_that_a_backward_must_not_return(answer):
    class Wrong(Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return answer(g)

    with pytest.raises(RuntimeError):
        Wrong.apply(ones()).sum().backward()


def test_what_was_changed_in_place_is_returned():
    class Lost(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.mark_dirty(x.mul_(2))
            return x * 1

    with pytest.raises(RuntimeError, match="return"):
        Lost.apply(ones() * 1)


def test_backward_passes_inside_of_each_other():
    class Deep(Function):
        @staticmethod
        def forward(ctx, x):
            with torch.enable_grad():
                ctx.x = torch.autograd.Variable(x, requires_grad=True) - 1
            return ctx.x.detach()

        @staticmethod
        def backward(ctx, g):
            if ctx.x < 0:
                if fails:
                    raise KeyError("at the bottom")
                return g
            with torch.enable_grad():
                Deep.apply(ctx.x).sum().backward()
            return g

    fails = False
    x = torch.tensor(500.0, requires_grad=True)
    Deep.apply(x).sum().backward()
    assert x.grad.item() == 1
    fails = True
    with pytest.raises(KeyError, match="bottom"):
        Deep.apply(x).sum().backward()
    assert torch.is_grad_enabled()


class Exponential(torch.autograd.Function):
    """Keeps its output, has all the rules, and is mapped by itself."""

    generate_vmap_rule = True

    @staticmethod
    def forward(x):
        return x.exp()

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(output)
        ctx.save_for_forward(output)

    @staticmethod
    def backward(ctx, g):
        return g * ctx.saved_tensors[0]

    @staticmethod
    def jvp(ctx, t):
        return t * ctx.saved_tensors[0]


def test_a_generated_rule_stands_under_every_order_of_transforms():
    f, x = Exponential.apply, torch.tensor([0.5, 1.0, 2.0])
    func = torch.func
    e = x.exp()
    assert torch.allclose(func.vmap(lambda t: func.jvp(f, (t,), (t,))[1])(x), x * e)
    assert torch.allclose(func.jacfwd(f)(x), torch.diag(e))
    assert torch.allclose(func.hessian(lambda t: f(t).sum())(x), torch.diag(e))
    assert torch.allclose(func.vmap(func.vmap(f))(x.expand(2, 3)), e.expand(2, 3))
    mapped = lambda t: func.vmap(f)(t).sum()  # noqa: E731
    assert torch.allclose(func.grad(mapped)(x), e)
    assert torch.allclose(func.grad(lambda t: func.grad(mapped)(t).sum())(x), e), "what was saved has its history"
    assert torch.allclose(func.jvp(lambda t: func.vmap(f)(t), (x,), (x,))[1], x * e)


def test_a_function_that_no_rule_covers_is_refused_whatever_it_is_applied_to():
    class Bare(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return 2 * x

    class Unmapped(torch.autograd.Function):
        @staticmethod
        def forward(x):
            return 2 * x

        @staticmethod
        def setup_context(ctx, inputs, output):
            pass

        @staticmethod
        def backward(ctx, g):
            return 2 * g

    one = torch.ones(3)
    with pytest.raises(RuntimeError, match="setup_context"):
        torch.func.grad(lambda t: (Bare.apply(one) * t).sum())(one)
    with pytest.raises(RuntimeError, match="generate_vmap_rule"):
        torch.func.vmap(lambda t: Unmapped.apply(one) * t)(one)
    with pytest.raises(RuntimeError, match="generate_vmap_rule"):
        torch.func.vmap(torch.func.grad(Unmapped.apply))(one)


def test_a_function_under_transforms_may_change_its_argument():
    class Doubled(torch.autograd.Function):
        @staticmethod
        def forward(x):
            return x.mul_(2)

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.mark_dirty(*inputs)

        @staticmethod
        def backward(ctx, g):
            return 2 * g

    same = []

    def f(x):
        y = x.clone()
        z = Doubled.apply(y)
        same.append(z is y)
        return (z * y).sum()

    assert torch.func.grad(f)(torch.tensor([1.0, 2.0])).tolist() == [8, 16]
    assert same == [True]


def test_a_vmap_rule_sees_the_dimensions_of_tensors_in_containers():
    class Product(torch.autograd.Function):
        @staticmethod
        def forward(factors, scale):
            return factors[0] * factors[1] * scale

        @staticmethod
        def setup_context(ctx, inputs, output):
            pass

        @staticmethod
        def vmap(info, in_dims, factors, scale):
            seen.append(in_dims)
            return factors[0] * factors[1] * scale, 0

    class TwoDims(Product):
        @staticmethod
        def vmap(info, in_dims, x, scale):
            return x, (0, 0)

    seen = []
    x = torch.tensor([1.0, 2.0])
    assert torch.func.vmap(lambda t: Product.apply([t, t], 3))(x).tolist() == [3, 12]
    assert seen == [([0, 0], None)]
    with pytest.raises(RuntimeError, match="out_dims"):
        torch.func.vmap(lambda t: TwoDims.apply(t, 1))(x)


def test_the_node_of_a_function_under_a_transform_says_that_it_was_made_by_one():
    names = []
    torch.func.grad(lambda x: names.append(type(y := Exponential.apply(x)).__name__ + type(y.grad_fn).__name__) or y.sum())(
        torch.ones(2)
    )
    assert names == ["TensorExponentialGeneratedBackward"]


def test_jvp_sees_what_was_saved_for_it():
    class Scaled(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            ctx.save_for_forward(3 * x)
            return x * x

        @staticmethod
        def jvp(ctx, t):
            return t * ctx.saved_tensors[0]

        @staticmethod
        def backward(ctx, g):
            return g * ctx.saved_tensors[0]

    x = torch.tensor([1.0, 2.0], requires_grad=True)
    with forward_ad.dual_level():
        y = Scaled.apply(forward_ad.make_dual(x, torch.ones(2)))
        assert forward_ad.unpack_dual(y).tangent.tolist() == [3, 6]
        y.sum().backward()
    assert x.grad.tolist() == [1, 2]


def test_an_instance_of_a_function_is_of_no_use():
    with pytest.warns(DeprecationWarning, match="apply"):
        instance = Exponential()
    with pytest.raises(RuntimeError, match="apply"):
        instance(torch.ones(1))

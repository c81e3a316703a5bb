"""`_Function`, `_no_grad`, and what describes inputs of compiled functions; figures recorded from MindSpore 2.10."""

from __future__ import annotations

from typing import Any

import pytest

from retrograde.dialects import mindspore as ms
from retrograde.dialects.mindspore import Parameter, Tensor, nn, ops
from retrograde.dialects.mindspore.common.api import _no_grad

X, Y = Tensor([3.0]), Tensor([5.0])


class Product(ms._Function):
    @staticmethod
    def forward(ctx: Any, x: Any, y: Any, k: float = 2) -> Any:
        ctx.save_for_backward(x, y)
        ctx.k = k
        return x * y * k

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        x, y = ctx.saved_tensors
        assert ctx.k == 2
        return g * y * 10, g * x * 100, None


class Two(ms._Function):
    given: Any = None

    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        m = x > 1
        ctx.mark_non_differentiable(m)
        return x * 2, x * 3, m

    @staticmethod
    def backward(ctx: Any, g: Any, h: Any, m: Any) -> Any:
        Two.given = g.tolist(), h.tolist()
        return g * 10 + h * 100


class Apart(ms._Function):
    returned: Any = None

    @staticmethod
    def forward(x: Any) -> Any:
        return x * 2

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.save_for_backward(*inputs)

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        return g * ctx.saved_tensors[0] * 11 if Apart.returned is None else Apart.returned


def test_gradients() -> None:
    assert Product.apply(X, Y).tolist() == [30.0]
    assert [g.tolist() for g in ms.grad(lambda x, y: Product.apply(x, y), (0, 1))(X, Y)] == [[50.0], [300.0]]
    p = Parameter(Tensor([2.0]), name="p")
    at_x, (at_p,) = ms.grad(lambda x: Product.apply(x, p), 0, [p])(X)
    assert (at_x.tolist(), at_p.tolist()) == ([20.0], [300.0])
    assert ms.grad(lambda x: Two.apply(x)[0])(X).tolist() == [10.0]
    assert Two.given == ([1.0], [0.0])
    assert ms.grad(lambda x: Apart.apply(x))(X).tolist() == [33.0]


@pytest.mark.parametrize(("returned", "error"), [(3.0, RuntimeError), (Tensor([[1.0], [2.0]]), None), (Tensor([1.0, 2.0]), None)])
def test_what_backward_returns(returned: Any, error: Any) -> None:
    Apart.returned = returned
    try:
        if error is None:
            assert ms.grad(lambda x: Apart.apply(x))(X).tolist() == [3.0]
        else:
            with pytest.raises(error, match="backward"):
                ms.grad(lambda x: Apart.apply(x))(X)
    finally:
        Apart.returned = None


def test_what_is_missing() -> None:
    class Forward(ms._Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x * 2

    assert Forward.apply(X).tolist() == [6.0]
    with pytest.raises(NotImplementedError):
        ms.grad(lambda x: Forward.apply(x))(X)
    with pytest.raises(NotImplementedError):
        ms._Function.apply(X)


def test_nothing_is_recorded_inside_no_grad() -> None:
    @_no_grad()
    def double(x: Any) -> Any:
        return x * 2

    def f(x: Any) -> Any:
        with ms._no_grad():
            y = x * 2
        return y * x + double(x)

    assert ms.grad(f)(X).tolist() == [6.0]


def test_open_shapes_describe_inputs() -> None:
    x = Tensor(shape=[None, 2], dtype=ms.float32)
    assert (x.shape, x.ndim, x.dtype, repr(x)) == ((-1, 2), 2, ms.float32, "Tensor(shape=[-1, 2], dtype=Float32, value=\n)")
    for wrong in (str, lambda x: x.asnumpy()):
        with pytest.raises(ValueError, match="open shape"):
            wrong(x)
    net = ms.nn.Dense(2, 1)
    net.set_inputs(x)
    assert net.get_inputs()[0] is x
    net.set_inputs(x=x)
    with pytest.raises(ValueError, match="construct"):
        net.set_inputs(z=x)

    def f(x: Any, y: Any) -> Any:
        return x * y

    assert ms.enable_dynamic(x=x)(f)(X, Y).tolist() == [15.0]
    for shapes, error in (({}, ValueError), ({"z": x}, ValueError), ({"x": 3}, TypeError), ({"x": X}, TypeError)):
        with pytest.raises(error):
            ms.enable_dynamic(**shapes)(f)


@pytest.mark.parametrize(("limit", "error"), [(0, ValueError), ("a", TypeError), (True, TypeError), (None, TypeError)])
def test_recursion_limit(limit: Any, error: type[Exception]) -> None:
    ms.set_recursion_limit(5000)
    with pytest.raises(error):
        ms.set_recursion_limit(limit)


def test_backward_gets_none_for_outputs_that_are_no_tensors() -> None:
    seen = []

    class Between(ms._Function):
        @staticmethod
        def forward(ctx: Any, x: Any, y: Any) -> Any:
            return x * x + y, 4, x * x

        @staticmethod
        def backward(ctx: Any, *gradients: Any) -> Any:
            seen.append(gradients)
            return gradients[0] * 3, gradients[2] * 4

    found = ms.ops.GradOperation(get_all=True)(Between.apply)(X, Y)
    assert [g.item() for g in found] == [3.0, 4.0]
    assert len(seen[0]) == 3
    assert seen[0][1] is None


def test_an_input_that_is_returned_may_be_marked_as_not_differentiable() -> None:
    class Same(ms._Function):
        @staticmethod
        def forward(ctx: Any, x: Any, y: Any) -> Any:
            ctx.mark_non_differentiable(x)
            return x

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return g, g * 2

    assert [g.item() for g in ms.ops.GradOperation(get_all=True)(Same.apply)(X, Y)] == [0.0, 0.0]


def test_gradient_functions_refuse_to_be_called_where_nothing_is_recorded() -> None:
    calls = (
        ms.grad(lambda x: x * x), ms.value_and_grad(lambda x: x * x), ops.GradOperation()(lambda x: x * x),
    )  # fmt: skip
    for call in calls:
        with ms._no_grad(), pytest.raises(RuntimeError, match="_no_grad"):
            call(Tensor([3.0]))
        found = call(Tensor([3.0]))
        assert (found[1] if call is calls[1] else found).tolist() == [6.0]

    def partly(x: Tensor) -> Tensor:
        with ms._no_grad():
            y = x * x
        return y * x

    assert ms.grad(partly)(Tensor([3.0])).tolist() == [9.0]


def test_custom_vjp_replaces_the_derivative() -> None:
    @ops.custom_vjp
    def product(x: Tensor, y: Tensor) -> Tensor:
        return x * y

    with pytest.raises(RuntimeError, match="defbwd"):
        ms.grad(product)(Tensor([1.0]), Tensor([2.0]))
    product.defbwd(lambda x, y, out, dout: (x * 2, y * 3))
    found = ops.GradOperation(get_all=True)(product)(Tensor([1.0]), Tensor([2.0]))
    assert [g.tolist() for g in found] == [[2.0], [6.0]]


def test_a_gradient_for_what_is_no_tensor_is_refused() -> None:
    class Scaled(ms._Function):
        @staticmethod
        def forward(ctx, x, k):
            return x * k

        @staticmethod
        def backward(ctx, g):
            return g, g

    with pytest.raises(RuntimeError, match="argument 1"):
        ms.grad(lambda x: Scaled.apply(x, 2.0))(Tensor([1.0]))


def test_stop_gradient_in_place() -> None:
    def f(x: Tensor) -> Tensor:
        y, z = x * 2, x * 3
        assert ops.stop_gradient_(z) is None
        return y + z

    assert ms.grad(f)(Tensor([1.0])).tolist() == [2.0]


def test_hooks_of_a_tensor_are_listed() -> None:
    def twice(g: Tensor) -> Tensor:
        return g * 2

    x = Tensor([1.0])
    handle = x.register_hook(twice)
    assert x.hooks() == [twice]
    handle.remove()
    assert x.hooks() == []

    def f(x: Tensor) -> Tensor:
        y = x * x
        y.register_hook(twice)
        assert y.hooks() == [twice]
        return y

    assert ms.grad(f)(x).tolist() == [4.0]


def test_backward_hooks_see_the_gradients_of_tensors_only_and_need_not_have_any() -> None:
    class Product(nn.Cell):
        def construct(self, x, n, y):
            return x * y

    counts = []
    cell = Product()
    cell.register_backward_hook(lambda c, gi, go: counts.append(len(gi)))
    ms.grad(cell, (0, 2))(Tensor([1.0]), None, Tensor([2.0]))
    assert counts == [2]
    dense = nn.Dense(2, 1, weight_init="ones")
    dense.register_backward_hook(lambda c, gi, go: (Tensor([[10.0, 10.0]]),))
    found = ms.grad(lambda x: dense(x), None, dense.trainable_params())(Tensor([[1.0, 2.0]]))
    assert [g.tolist() for g in found] == [[[1.0, 2.0]], [1.0]]


def test_a_compiled_function_is_no_hook() -> None:
    @ms.jit
    def hook(cell, inputs, output):
        return output

    with pytest.raises(TypeError, match="compiled"):
        nn.ReLU().register_forward_hook(hook)

"""Custom operations: calls, derivatives, batches and names of a program's own operations, as PyTorch 2.13 has them."""

import pytest

import retrograde.dialects.torch as torch
from retrograde.dialects.torch import Tensor, library


@library.custom_op("ours::scaled_square", mutates_args=())
def scaled_square(x: Tensor, k: float = 2.0) -> Tensor:
    return x * x * k


def backward(ctx, g):
    return g * 2 * ctx.x * ctx.k, None


def setup_context(ctx, inputs, output):
    ctx.x, ctx.k = inputs


@pytest.fixture
def differentiable():
    scaled_square.register_autograd(backward, setup_context=setup_context)
    yield
    library.register_autograd("ours::scaled_square", None)


def leaf():
    return torch.ones(2, requires_grad=True)


def test_it_is_called_by_itself_and_by_its_name():
    x = torch.ones(2)
    for y in (scaled_square(x, 3.0), torch.ops.ours.scaled_square(x, 3.0), scaled_square(x=x, k=3.0),
              torch.ops.ours.scaled_square.default(x, k=3.0)):  # fmt: skip
        assert y.tolist() == [3, 3]
    with pytest.raises(AttributeError, match="ours"):
        torch.ops.ours.nothing  # noqa: B018
    for bad in (lambda: scaled_square("a"), lambda: scaled_square(), lambda: scaled_square(x, 1, 2)):
        with pytest.raises(RuntimeError, match="ours::scaled_square"):
            bad()


def test_without_a_derivative_the_backward_pass_is_refused():
    y = scaled_square(leaf())
    assert y.requires_grad
    with pytest.raises(RuntimeError, match="register_autograd"):
        y.sum().backward()


@pytest.mark.usefixtures("differentiable")
def test_its_derivative_is_what_was_registered():
    x = leaf()
    (g,) = torch.autograd.grad(scaled_square(x).sum(), x, create_graph=True)
    assert g.tolist() == [4, 4]
    assert torch.autograd.grad(g.sum(), x)[0].tolist() == [4, 4]
    assert torch.func.grad(lambda x: scaled_square(x).sum())(torch.ones(2)).tolist() == [4, 4]


@pytest.mark.usefixtures("differentiable")
def test_it_is_mapped_entry_by_entry_or_by_its_own_rule():
    x = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
    assert torch.func.vmap(scaled_square)(x).tolist() == [[2, 8], [18, 32]]
    per_row = torch.func.vmap(torch.func.grad(lambda row: scaled_square(row).sum()))(x)
    assert per_row.tolist() == (4 * x).tolist()

    @scaled_square.register_vmap
    def mapped(info, in_dims, x, k=2.0):
        seen.append((info.batch_size, in_dims[0]))
        return scaled_square(x, k), in_dims[0]

    seen = []
    try:
        assert torch.func.vmap(scaled_square)(x).tolist() == [[2, 8], [18, 32]]
    finally:
        scaled_square._vmap = None
    assert seen == [(2, 0)]


def test_lists_several_results_and_changes_in_place():
    @library.custom_op("ours::both", mutates_args=())
    def both(xs: list[Tensor], y: Tensor) -> tuple[Tensor, Tensor]:
        return xs[0] + xs[1], xs[0] * y

    def pull(ctx, a, b):
        x, y = ctx.kept
        return [a + b * y, a], b * x

    def keep(ctx, inputs, output):
        ctx.kept = inputs[0][0], inputs[1]

    both.register_autograd(pull, setup_context=keep)
    x, y, z = leaf(), leaf(), leaf()
    total, product = both([x, y], z * 3)
    (total + product).sum().backward()
    assert (x.grad.tolist(), y.grad.tolist(), z.grad.tolist()) == ([4, 4], [1, 1], [3, 3])

    @library.custom_op("ours::add_", mutates_args={"x"})
    def add_(x: Tensor, by: float) -> None:
        x.add_(by)

    w = torch.zeros(2)
    assert add_(w, 2.0) is None
    assert w.tolist() == [2, 2]


def test_what_is_refused():
    with pytest.raises(ValueError, match="namespace::name"):
        library.custom_op("noname", mutates_args=())(lambda x: x)
    with pytest.raises(ValueError, match="annotation"):
        library.custom_op("ours::bare", mutates_args=())(lambda x: x)
    with pytest.raises(ValueError, match="no arguments"):
        library.custom_op("ours::other", scaled_square._init_fn, mutates_args=("y",))

    @library.custom_op("ours::same", mutates_args=())
    def same(x: Tensor) -> Tensor:
        return x

    with pytest.raises(RuntimeError, match="clone"):
        same(torch.ones(2))
    with pytest.raises(ValueError, match="nothing"):
        library.register_fake("ours::nothing")


def test_operations_by_their_schemas():
    lib = library.Library("schemas", "DEF")
    lib.define("scale(Tensor x, float k=2.0, *, bool twice=False) -> Tensor")
    with pytest.raises(NotImplementedError, match="kernel"):
        torch.ops.schemas.scale(leaf())
    lib.impl("scale", lambda x, k=2.0, *, twice=False: x * k * (2 if twice else 1), "CompositeImplicitAutograd")
    x = leaf()
    torch.ops.schemas.scale.default(x, 3.0, twice=True).sum().backward()
    assert x.grad.tolist() == [6.0, 6.0]
    with pytest.raises(RuntimeError, match="already"):
        lib.define("scale(Tensor x) -> Tensor")
    with pytest.raises(RuntimeError, match="schema"):
        lib.define("no schema")
    library.define("schemas::plus", "(Tensor x, int[] ks) -> Tensor")
    library.impl("schemas::plus", "cpu", lambda x, ks: x + sum(ks))
    assert torch.ops.schemas.plus(torch.ones(1), [1, 2]).tolist() == [4.0]
    lib.define("thrice(Tensor x) -> Tensor")
    lib.impl(torch.ops.schemas.thrice.default, lambda x: 3 * x, "CPU")
    assert torch.ops.schemas.thrice(torch.ones(1)).tolist() == [3.0]


def test_aten_operators_that_are_no_functions():
    aten, x = torch.ops.aten, torch.arange(6.0).reshape(2, 3)
    assert aten.slice.Tensor(x, 1, 1).tolist() == [[1.0, 2.0], [4.0, 5.0]]
    assert aten.index.Tensor(x, [None, torch.tensor([2])]).tolist() == [[2.0], [5.0]]
    assert aten._to_copy.default(x, dtype=torch.int64).dtype is torch.int64
    assert aten.alias.default(x).data_ptr() == x.data_ptr()
    image, kernel = torch.arange(9.0).reshape(1, 1, 3, 3), torch.ones(1, 1, 2, 2)
    settings = [[1, 1], [0, 0], [1, 1], False, [0, 0], 1]
    found = aten._convolution.default(image, kernel, None, *settings, False, False, True, True)
    assert torch.equal(found, torch.nn.functional.conv2d(image, kernel))
    with pytest.raises(NotImplementedError, match="CPU"):
        aten._pin_memory(x)

"""Views of which the base is changed in place, and hooks on them; names of nodes that say so; as PyTorch 2.13 has it."""

import pytest

import retrograde.dialects.torch as torch


def leaf(*numbers):
    return torch.tensor(numbers, requires_grad=True)


PARTS = {"split": lambda y: y.split(1), "unbind": lambda y: y.unbind(), "chunk": lambda y: y.chunk(2)}


@pytest.mark.parametrize("name", PARTS)
def test_a_part_cannot_be_used_after_the_whole_was_changed(name):
    x = leaf(1.0, 2.0)
    y = x * 2
    a, b = PARTS[name](y)
    y.mul_(2)
    for use in (lambda: a + 1, lambda: torch.stack([a, b]), lambda: a.grad_fn, lambda: b.sum().backward()):
        with pytest.raises(RuntimeError, match="cannot be used any more"):
            use()
    assert a.detach().tolist() == a.tolist()
    assert "Invalid" in repr(b)
    with torch.no_grad():
        assert (a * 1).tolist() == ([4] if name != "unbind" else 4)
    y.mul_(2)
    y.sum().backward()
    assert x.grad.tolist() == [8, 8]
    y.detach_()
    assert not y.requires_grad
    with pytest.raises(RuntimeError, match="cannot be used any more"):
        b + 1


def test_a_slice_goes_on_after_the_whole_was_changed():
    x = leaf(1.0, 2.0)
    y = x * 2
    a = y[:1]
    y.mul_(2)
    a.sum().backward()
    assert x.grad.tolist() == [4, 0]


def test_no_gradient_is_asked_for_of_nothing():
    with pytest.raises(RuntimeError, match="empty"):
        torch.autograd.grad(leaf(1.0, 2.0).sum(), [])


def test_a_leaf_that_wants_no_gradient_any_more_gets_none():
    x = leaf(1.0, 2.0)
    y = (x * x).sum()
    x.requires_grad_(False)
    y.backward(retain_graph=True)
    assert x.grad is None
    x.requires_grad_()
    y.backward()
    assert x.grad.tolist() == [2, 4]


def test_names_of_nodes():
    x = leaf(1.0, -2.0)
    (g,) = torch.autograd.grad((x.relu() ** 2).sum(), x, create_graph=True)
    assert g.grad_fn.name() == "ThresholdBackwardBackward0"
    (x**3).sum().backward(create_graph=True)
    assert x.grad.grad_fn.name() == "torch::autograd::CopyBackwards"
    x.grad.sum().backward()
    assert x.grad.tolist() == [9, 0]
    filled = (x * 1).fill_(leaf(3.0)[0])
    assert filled.grad_fn.name() == "FillBackward3"
    weighted = torch.nn.utils.parametrizations.weight_norm(torch.nn.Linear(2, 2))
    assert weighted.weight.grad_fn.name() == "WeightNormInterfaceBackward0"


def test_numbers_of_what_requires_grad_where_nothing_is_recorded():
    x = leaf(1.0, 2.0)
    with pytest.raises(RuntimeError, match="requires grad"):
        x.numpy()
    with torch.no_grad():
        assert x.numpy().tolist() == [1, 2]


def test_a_tensor_that_looks_at_a_storage():
    x = torch.arange(6.0)
    y = torch.empty(0).set_(x.storage(), 1, (2, 2), (2, 1))
    assert y.tolist() == [[1, 2], [3, 4]]
    y.zero_()
    assert x.tolist() == [0, 0, 0, 0, 0, 5]
    with pytest.raises(RuntimeError, match="reach past"):
        torch.empty(0).set_(x.storage(), 1, (2, 3), (3, 1))


def test_hooks_on_a_view_are_not_called_for_what_a_change_makes_of_it():
    base, calls = leaf(1.0).clone(), []
    view = base[:]
    base.register_hook(lambda g: calls.append("base"))
    view.register_hook(lambda g: calls.append("view"))
    view.mul_(2)
    view.sum().backward()
    assert calls == ["base"]


def test_two_views_keep_their_gradients():
    base = leaf(1.0).clone()
    one, other = base[:], base[:]
    one.retain_grad()
    other.retain_grad()
    one.mul_(2)
    (one + other).sum().backward()
    assert (one.grad.tolist(), other.grad.tolist()) == ([1], [1])


def test_hooks_around_the_gradient_of_a_leaf_see_it_as_it_is():
    x = torch.zeros(3, requires_grad=True)
    accumulate = x.view_as(x).grad_fn.next_functions[0][0]
    x.register_hook(lambda g: g - 2)
    accumulate.register_prehook(lambda g: (g[0] / 5,))

    def more(x):
        x.grad.add_(0.5)

    x.register_post_accumulate_grad_hook(more)

    def after(given, of):
        x.grad = of[0] * 10

    accumulate.register_hook(after)
    x.sum().backward()
    assert torch.allclose(x.grad, torch.full((3,), 3.0))


def test_a_hook_is_told_that_there_is_no_gradient():
    a, b = leaf(1.0, 2.0).clone().unbind()
    seen = []
    a.register_hook(seen.append)
    b.backward()
    assert seen == [None]


def test_a_node_is_a_function_of_gradients():
    x = leaf(1.0)
    y = x**2
    (g,) = [y.grad_fn(x.detach())]
    assert (g.tolist(), g.requires_grad) == ([2], True)
    with torch.no_grad():
        assert not y.grad_fn(x.detach()).requires_grad
    with pytest.raises(TypeError, match="1 gradients"):
        y.grad_fn(x, x)


def test_edges_have_no_zeros():
    x = leaf(1.0)
    edge = torch.autograd.graph.get_gradient_edge(x * 2)
    with pytest.raises(RuntimeError, match="edge"):
        torch.autograd.grad(x.sum(), (x, edge), allow_unused=True, materialize_grads=True)


def test_warnings_about_gradients():
    y = leaf(1.0) * 2
    with pytest.warns(UserWarning, match="retain_grad"):
        assert y.grad is None
    with pytest.warns(UserWarning, match="create_graph"):
        y.backward(create_graph=True)
    with pytest.warns(FutureWarning, match="class"):

        @torch.no_grad()
        class Model:
            pass


def test_generators_under_no_grad():
    class Stop(Exception):
        pass

    modes = []

    @torch.no_grad()
    def counting():
        sign = 1
        try:
            for i in range(1, 4):
                modes.append(torch.is_grad_enabled())
                try:
                    yield sign * i
                except Stop:
                    sign = -1
        finally:
            modes.append(torch.is_grad_enabled())

    found = counting()
    assert next(found) == 1
    assert found.throw(Stop) == -2
    found.close()
    assert modes == [False] * 3
    assert torch.is_grad_enabled()


def test_views_of_other_dtypes():
    x = torch.zeros(9)
    with pytest.raises(RuntimeError, match="multiple of 8"):
        x[1:].view(torch.float64)
    assert not torch.ones(2, dtype=torch.complex64, requires_grad=True).view(torch.float32).requires_grad
    assert torch.arange(3)[torch.tensor(1, dtype=torch.int16)] == 1
    assert torch.zeros(2, 3, 4, 5)[:, :, :, 1][:, 1:1].stride() == (60, 20, 5)
    with pytest.raises(TypeError, match="deleted"):
        del x[0]


LAST = {
    "bilinear": lambda F, x: F.interpolate(x, 8, mode="bilinear"), "area": lambda F, x: F.interpolate(x, 2, mode="area"),
    "conv2d": lambda F, x: F.conv2d(x, torch.ones(2, 4, 1, 1)), "group_norm": lambda F, x: F.group_norm(x, 2),
    "conv_transpose2d": lambda F, x: F.conv_transpose2d(x, torch.ones(4, 2, 2, 2)),
}  # fmt: skip


@pytest.mark.parametrize("name", LAST)
def test_channels_stay_last(name):
    plain = torch.randn(2, 4, 4, 4)
    x = plain.contiguous(memory_format=torch.channels_last).requires_grad_()
    out, wanted = (LAST[name](torch.nn.functional, y) for y in (x, plain))
    assert out.is_contiguous(memory_format=torch.channels_last)
    assert torch.allclose(out, wanted, atol=1e-6)
    out.sum().backward()
    assert x.grad.shape == x.shape


@pytest.mark.parametrize("returned", ["a", torch.ones(2), (1.0, None), (torch.ones(2), None, None)])
@pytest.mark.parametrize("register", ["register_hook", "register_prehook"])
def test_hooks_on_nodes_return_tuples_of_tensors(register, returned):
    y = leaf(1.0, 2.0) * 2
    getattr(y.grad_fn, register)(lambda *_: returned)
    with pytest.raises(RuntimeError if isinstance(returned, tuple) and len(returned) == 3 else TypeError):
        y.sum().backward()


def test_a_resized_tensor_with_its_channels_last():
    x = torch.arange(4.0)
    x.resize_((1, 2, 2, 1), memory_format=torch.channels_last)
    assert x.stride() == (4, 1, 2, 2)
    assert x.flatten().tolist() == [0, 2, 1, 3]
    with pytest.raises(RuntimeError, match="dimensions"):
        x.resize_((4,), memory_format=torch.channels_last)
    with pytest.raises(RuntimeError, match="at least one"):
        torch.ones(3).index_put([], torch.ones(1))
    with pytest.warns(UserWarning, match="uint8"):
        torch.ones(2).index_put_((torch.tensor([1, 0], dtype=torch.uint8),), torch.zeros(1))

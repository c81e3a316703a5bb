"""Hooks of modules: what full backward hooks see and may return, hooks at registration, pickled hooks; as PyTorch 2.13."""

import copy
import pickle

import pytest

import retrograde.dialects.torch as torch
from retrograde.dialects.torch import nn
from retrograde.dialects.torch.nn.modules import module as modules


class Pair(nn.Module):
    def forward(self, number, x):
        return x.clone(), number


def wanted(n=2):
    return torch.ones(n, requires_grad=True)


def test_a_backward_hook_sees_a_place_for_each_argument_and_result():
    seen = []
    m = Pair()
    m.register_full_backward_hook(
        lambda _, given, of: seen.append(([g is None for g in given], [g is None for g in of]))
    )
    m(2, wanted())[0].sum().backward()
    assert seen == [([True, False], [False, True])]


def test_a_backward_hook_may_return_nothing_but_none_where_no_input_wants_a_gradient():
    m = nn.Linear(2, 2)
    handle = m.register_full_backward_hook(lambda _, given, of: given)
    m(torch.ones(1, 2)).sum().backward()
    handle.remove()
    m.register_full_backward_hook(lambda _, given, of: of)
    with pytest.raises(RuntimeError, match="requires grad"):
        m(torch.ones(1, 2)).sum().backward()


def test_what_a_backward_hook_watches_is_not_changed_in_place():
    class Changes(nn.Module):
        def forward(self, x):
            x += 1
            return x.clone()

    m, n = Changes(), nn.Linear(2, 2)
    for module in (m, n):
        module.register_full_backward_hook(lambda *_: None)
    with pytest.raises(RuntimeError, match="in place"):
        m(wanted().clone())
    out = n(wanted())
    with pytest.raises(RuntimeError, match="in place"):
        out += 1


def test_a_result_whose_gradients_no_hook_can_see():
    class Named(nn.Module):
        def forward(self, x):
            return {"y": x * 2}

    m = Named()
    m.register_full_backward_hook(lambda *_: None)
    with pytest.warns(UserWarning, match="dict"):
        m(wanted())["y"].sum().backward()


def test_the_module_s_own_error_is_what_the_caller_sees():
    def fail(text):
        def hook(*_):
            raise RuntimeError(text)

        return hook

    seen, m = [], nn.Linear(2, 2)
    m.register_forward_hook(lambda *_: seen.append(1), always_call=True)
    m.register_forward_hook(fail("second"), prepend=True, always_call=True)
    m.register_forward_pre_hook(fail("first"))
    with pytest.warns(UserWarning, match="second"), pytest.raises(RuntimeError, match="first"):
        m(torch.ones(2))
    assert seen == [1]


def test_a_hook_that_is_always_called_is_called_once_where_it_raises():
    seen, m = [], nn.Linear(2, 2)

    def hook(*_):
        seen.append(1)
        raise KeyError

    m.register_forward_hook(hook, always_call=True)
    with pytest.raises(KeyError):
        m(torch.ones(2))
    assert seen == [1]


def test_hooks_at_registration():
    seen = []

    def note(module, name, member):
        seen.append((name, type(member).__name__))

    handles = [
        modules.register_module_parameter_registration_hook(note),
        modules.register_module_buffer_registration_hook(lambda module, name, x: x + 1),
        modules.register_module_module_registration_hook(note),
    ]
    try:
        m = nn.Sequential(nn.Linear(1, 1, bias=False))
        m.register_buffer("state", torch.zeros(1))
    finally:
        for handle in handles:
            handle.remove()
    assert seen == [("weight", "Parameter"), ("0", "Linear")], "no parameter is no registration"
    assert m.state.item() == 1
    nn.Linear(1, 1)
    assert len(seen) == 2


def loads(module, state, prefix, *rest):
    module.loaded = True


def test_a_module_with_hooks_is_pickled_and_copied():
    m = nn.Linear(1, 1)
    m.register_load_state_dict_pre_hook(loads)
    for other in (pickle.loads(pickle.dumps(m)), copy.deepcopy(m)):
        other.load_state_dict(m.state_dict())
        assert other.loaded
    assert not hasattr(m, "loaded")


def test_a_hook_after_state_dict_returns_nothing():
    m = nn.Linear(1, 1)
    m.register_state_dict_post_hook(lambda *_: {})
    with pytest.raises(RuntimeError, match="None"):
        m.state_dict()


def test_a_full_backward_hook_is_called_once_in_a_double_backward():
    x, calls, m = wanted(1), [], nn.MSELoss()
    m.register_full_backward_hook(lambda *_: calls.append(1))
    (g,) = torch.autograd.grad(m(x, torch.zeros(1)), x, create_graph=True)
    torch.autograd.grad(g, x)
    assert calls == [1]


def test_hooks_of_the_old_kind_are_for_tensors():
    class Listed(nn.Module):
        def forward(self, xs):
            return xs[0] * 2

    m = Listed()
    m.register_backward_hook(lambda *_: None)
    with pytest.warns(FutureWarning, match="full_backward"):
        m([wanted()])


def test_an_extra_state_that_nobody_takes_back():
    class Extra(nn.Module):
        def get_extra_state(self):
            return 1

    m = Extra()
    with pytest.raises(RuntimeError, match="_extra_state"):
        m.load_state_dict(m.state_dict())


def test_hooks_that_saving_leaves_behind():
    from retrograde.dialects.torch.utils.hooks import unserializable_hook, warn_if_has_hooks

    x = wanted()
    handle = x.register_hook(lambda g: None)
    with pytest.warns(UserWarning, match="not saved"):
        warn_if_has_hooks(x)
    handle.remove()
    x.register_hook(unserializable_hook(lambda g: None))
    warn_if_has_hooks(x)


def test_weights_with_their_channels_last():
    m = nn.Sequential(nn.Conv2d(2, 3, 2), nn.ConvTranspose2d(3, 2, 2))
    x = torch.randn(1, 2, 4, 4)
    before = m(x)
    assert nn.utils.convert_conv2d_weight_memory_format(m, torch.channels_last) is m
    assert all(c.weight.is_contiguous(memory_format=torch.channels_last) for c in m)
    assert torch.allclose(m(x), before, atol=1e-6)


def test_a_parameter_s_subclass_takes_arguments_of_its_own():
    class Named(nn.Parameter):
        def __new__(cls, data=None, name=None, requires_grad=True):
            x = nn.Parameter.__new__(cls, data, requires_grad)
            x.label = name
            return x

    p = Named(torch.ones(2), "weight", requires_grad=False)
    assert (p.label, p.requires_grad, isinstance(p, nn.Parameter)) == ("weight", False, True)


def test_a_recurrent_layer_computes_with_the_weights_that_it_is_given():
    layer = nn.GRU(2, 3)
    x = torch.randn(4, 1, 2)
    before = layer(x)[0]
    doubled = [w * 2 for w in layer._flat_weights]
    layer._flat_weights = doubled
    assert layer._flat_weights[0] is doubled[0]
    layer(x)[0].sum().backward()
    assert layer.weight_ih_l0.grad is not None
    with pytest.raises(ValueError, match="4"):
        layer._flat_weights = doubled[:1]
    for name, w in zip(layer._flat_weights_names, doubled):
        setattr(layer, name, nn.Parameter(w.detach() / 2))
    assert torch.allclose(layer(x)[0], before)


def test_classes_of_other_packages_have_divergences():
    from retrograde.dialects.torch.distributions import kl_divergence, register_kl

    class Point:
        pass

    register_kl(Point, Point)(lambda p, q: 7)
    assert kl_divergence(Point(), Point()) == 7
    assert torch.ones(1).type(float).dtype is torch.float64


def test_what_hooks_of_modules_must_not_return():
    for register in ("register_full_backward_hook", "register_full_backward_pre_hook"):
        m = nn.Linear(2, 2)
        getattr(m, register)(lambda _, *grads: grads[0][0] * 2)
        with pytest.raises(RuntimeError, match="tuple"):
            m(wanted().reshape(1, 2)).sum().backward()
    m = nn.Linear(2, 2)
    m.register_load_state_dict_post_hook(lambda m, keys: keys)
    with pytest.raises(AssertionError, match="None"):
        m.load_state_dict(m.state_dict())


def test_backward_hooks_of_both_kinds_do_not_go_along():
    kinds = "register_backward_hook", "register_full_backward_hook"
    for first, second in (kinds, kinds[::-1]):
        m = nn.Linear(2, 2)
        handle = getattr(m, first)(lambda *_: None)
        with pytest.raises(RuntimeError, match="go along"):
            getattr(m, second)(lambda *_: None)
        handle.remove()
        getattr(m, second)(lambda *_: None)


def test_backward_hooks_may_return_lists_and_nothing_but_gradients():
    x = torch.zeros(2, requires_grad=True)
    m = torch.nn.Tanh()
    post, pre = m.register_full_backward_hook, m.register_full_backward_pre_hook
    with post(lambda m, gi, go: [2 * gi[0]]), pre(lambda m, go: [3 * go[0]]):
        m(x).sum().backward()
    assert x.grad.tolist() == [6, 6]
    for register in (post, pre):
        with register(lambda *given: 1), pytest.raises(TypeError, match="int"):
            m(x).sum().backward()


def test_hooks_of_the_old_kind_warn_where_the_module_is_no_single_operation():
    class Both(torch.nn.Module):
        def forward(self, x):
            return x * 2, x.exp()

    for m in (torch.nn.Sequential(torch.nn.Tanh(), torch.nn.Tanh()), Both()):
        m.register_backward_hook(lambda *given: None)
        with pytest.warns(FutureWarning, match="register_full_backward_hook"):
            m(torch.ones(1, requires_grad=True))
    m = torch.nn.Linear(1, 1)
    m.register_full_backward_hook(lambda *given: None)
    with pytest.warns(UserWarning, match="none of whose inputs"):
        m(torch.ones(1, 1)).backward()


def test_every_module_has_backward_hooks_of_one_kind():
    of_every = torch.nn.modules.module
    with of_every.register_module_backward_hook(lambda *given: None), pytest.raises(RuntimeError, match="old kind"):
        of_every.register_module_full_backward_hook(lambda *given: None)
    with of_every.register_module_full_backward_hook(lambda *given: None), pytest.raises(RuntimeError, match="full"):
        of_every.register_module_backward_hook(lambda *given: None)

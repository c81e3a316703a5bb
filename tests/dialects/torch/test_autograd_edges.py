"""Autograd where little is left to differentiate: empty operands, zero cotangents, inference mode, mark_dirty, node hooks,
results without a derivative; each as PyTorch 2.13 has it."""

import math
import warnings

import pytest

import retrograde.dialects.torch as torch

F = torch.nn.functional
NONE = torch.tensor([], dtype=torch.int64)

EMPTY = {
    "cat": (lambda a, b: torch.cat([a, b]), (0,), (2,)),
    "cat of matrices": (lambda a, b: torch.cat([a, b], 1), (0,), (2, 3)),
    "hstack": (lambda a, b: torch.hstack([a, b]), (0,), (2,)),
    "matmul": (lambda a, b: a @ b, (2, 0), (0, 3)),
    "scatter": (lambda a, b: a.scatter(0, NONE, b), (3,), (0,)),
    "scatter_add": (lambda a, b: a.scatter_add(0, NONE, b), (3,), (2,)),
    "index_add": (lambda a, b: a.index_add(0, NONE, b), (3,), (0,)),
    "attention of width 0": (lambda q, v: F.scaled_dot_product_attention(q, q, v), (2, 0), (2, 3)),
}


@pytest.mark.parametrize("name", EMPTY)
def test_operands_without_elements_have_a_gradient(name):
    f, *shapes = EMPTY[name]
    xs = [torch.ones(s, requires_grad=True) for s in shapes]
    f(*xs).sum().backward()
    assert [tuple(x.grad.shape) for x in xs] == shapes


def test_attention_of_width_0_averages():
    q, v = torch.ones(2, 0), torch.tensor([[1.0, 2.0], [3.0, 6.0]])
    assert F.scaled_dot_product_attention(q, q, v).tolist() == [[2, 4], [2, 4]]


@pytest.mark.parametrize("f", [torch.xlogy, torch.special.xlog1py])
def test_a_zero_hides_where_there_is_no_logarithm(f):
    x = torch.tensor([-1.5, 2.0], requires_grad=True)
    (f(x, x) * 0).sum().backward()
    assert x.grad.tolist() == [0, 0]
    y = torch.tensor([0.0, 1.0], requires_grad=True)
    f(y, torch.tensor([-2.0, 1.0])).sum().backward()
    assert y.grad[0].item() == 0
    with torch.autograd.forward_ad.dual_level():
        dual = torch.autograd.forward_ad.make_dual(x.detach(), torch.zeros(2))
        tangent = torch.autograd.forward_ad.unpack_dual(f(dual, torch.tensor([-2.0, 1.0]))).tangent
    assert tangent.tolist() == [0, 0]


def test_the_logarithm_of_a_determinant_may_be_written():
    x = torch.eye(2, requires_grad=True)
    value = torch.linalg.slogdet(x * 1)[1]
    value.mul_(2)
    value.backward()
    assert x.grad.tolist() == [[2, 0], [0, 2]]
    z = torch.tensor([[2 + 1j, 1j], [0.5, 3.0]], dtype=torch.complex128, requires_grad=True)
    assert torch.autograd.gradcheck(lambda z: torch.view_as_real(torch.linalg.slogdet(z)[0]), (z,))


def test_distinct_elements_require_grad():
    x = torch.tensor([2.0, 1.0, 1.0], requires_grad=True)
    for result, name in (
        (torch.unique(x), "Unique2Backward0"), (torch.unique(x, dim=0), "UniqueDimBackward0"),
        (torch.unique_consecutive(x), "UniqueConsecutiveBackward0"),
    ):  # fmt: skip
        assert result.grad_fn.name() == name
        with pytest.raises(NotImplementedError, match="detach"):
            result.sum().backward()
    assert [r.requires_grad for r in torch.unique(x, return_inverse=True, return_counts=True)] == [True, False, False]
    with torch.no_grad():
        assert not torch.unique(x).requires_grad


@pytest.mark.parametrize("view", [lambda x: x.view(3, 1), lambda x: x[:2], lambda x: x.unbind()[0]])
def test_views_in_inference_mode(view):
    """They are what they look at: ordinary tensors have ordinary views, as under no_grad."""
    plain, leaf = torch.ones(3), torch.ones(3, requires_grad=True)
    with torch.inference_mode():
        v, w = view(plain), view(leaf)
        made = torch.ones(3)
        assert (plain * 2).is_inference()
    assert [x.is_inference() for x in (v, w, view(made), view(plain))] == [False, False, True, False]
    assert (v._version, v._is_view()) == (0, True)
    v.mul_(2)
    assert plain[0].item() == 2
    assert (w.requires_grad, (w * 2).requires_grad, w.is_leaf) == (True, True, True)
    with pytest.raises(RuntimeError, match="in place"):
        w.mul_(2)
    with pytest.raises(RuntimeError, match="inference"):
        view(made).mul_(2)


class Times(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.mark_dirty(x)
        x.mul_(3)
        return x

    @staticmethod
    def backward(ctx, g):
        return g * 3


class Both(Times):
    @staticmethod
    def forward(ctx, x):
        ctx.mark_dirty(x)
        x.mul_(3)
        return x.clone(), x

    @staticmethod
    def backward(ctx, g, h):
        return g * 3 + h * 3


def test_what_a_function_writes_reaches_bases_and_views():
    weights = torch.tensor([1.0, 10.0, 100.0])
    x = torch.ones(3, requires_grad=True)
    b = x * 1
    v, u = b[1:], b[:2]
    assert Times.apply(v) is v
    (b * weights).sum().backward()
    assert x.grad.tolist() == [1, 30, 300]
    assert u.tolist() == [1, 3]
    assert b._version == 2  # the write and the mark
    for function in (Times, Both):
        x.grad = None
        b = x * 1
        v = b[1:]
        function.apply(b)
        (v * weights[1:]).sum().backward()
        assert x.grad.tolist() == [0, 30, 300]
    for target, function in ((x, Times), (x[1:], Times), ((x * 1).unbind()[0], Times), ((x * 1)[1:], Both)):
        with pytest.raises(RuntimeError):
            function.apply(target)


def test_what_a_function_writes_unrecorded():
    x = torch.ones(3, requires_grad=True) * 1
    with torch.no_grad():
        y = Times.apply(x)
    assert y is not x
    assert (y.requires_grad, x.requires_grad, y.tolist(), x._version) == (False, True, [3, 3, 3], 2)


I = torch.tensor([0, 1])
HOOKED = {
    "index": (lambda x: x[I], [True]),
    "gather": (lambda x: x.gather(0, I), [True]),
    "take": (lambda x: x.take(I), [True]),
    "where": (lambda x: torch.where(x > 0, x, x * 2), [True, True]),
    "scatter": (lambda x: x.scatter(0, I, torch.ones(2)), [True, False]),
    "index_add": (lambda x: x.index_add(0, I, torch.ones(2)), [True, False]),
    "masked_select": (lambda x: x.masked_select(x > 0), [True]),
    "sort": (lambda x: x.sort()[0], [True]),
}


@pytest.mark.parametrize("name", HOOKED)
def test_node_hooks_are_given_what_has_a_derivative(name):
    f, wanted = HOOKED[name]
    x = torch.tensor([0.5, 0.25, 0.75], requires_grad=True)
    seen = []
    y = f(x)
    y.grad_fn.register_hook(lambda grads, outer: seen.append([g is not None for g in grads]))
    y.grad_fn.register_hook(lambda grads, outer: tuple(None if g is None else g * 2 for g in grads))
    assert len(y.grad_fn.next_functions) == len(wanted)
    (plain,) = torch.autograd.grad(f(x).sum(), x)
    y.sum().backward()
    assert seen == [wanted]
    assert torch.equal(x.grad, 2 * plain)


def test_gradients_that_are_differentiated_stay_so():
    x = torch.ones(2, requires_grad=True)
    (x**2).sum().backward(create_graph=True)
    first = x.grad
    (x * 3).sum().backward()
    assert x.grad.requires_grad
    assert x.grad.tolist() == [5, 5]
    assert first is not None


def test_what_is_detached_inside_two_vmaps_meets_a_recorded_tensor():
    w = torch.tensor(2.0, requires_grad=True)
    y = torch.func.vmap(torch.func.vmap(lambda x: x.detach() * w))(torch.tensor([[3.0, 4.0]]))
    assert y.tolist() == [[6, 8]]
    y.sum().backward()
    assert w.grad == 7


def test_a_hessian_of_what_is_linear_inside_a_transform_is_zero():
    w, x = torch.tensor(2.0, requires_grad=True), torch.tensor(3.0)

    def second(x):
        return torch.autograd.functional.hessian(lambda y: y * w, x, create_graph=True)

    assert torch.func.vjp(second, x)[0] == 0
    assert torch.func.jvp(second, (x,), (x,))[1] == 0


FUNCTIONAL = {
    "jacobian": (lambda J, f, x: J.jacobian(f, x, create_graph=True), 6.0),
    "jacobian, vectorized": (lambda J, f, x: J.jacobian(f, x, create_graph=True, vectorize=True), 6.0),
    "hessian": (lambda J, f, x: J.hessian(f, x, create_graph=True), 4.0),
    "vjp": (lambda J, f, x: J.vjp(f, x, create_graph=True)[1], 6.0),
    "jvp": (lambda J, f, x: J.jvp(f, x, x.detach(), create_graph=True)[1], 10.0),
    "hvp": (lambda J, f, x: J.hvp(f, x, x.detach(), create_graph=True)[1], 6.0),
    "vhp": (lambda J, f, x: J.vhp(f, x, x.detach(), create_graph=True)[1], 6.0),
}


@pytest.mark.parametrize("name", FUNCTIONAL)
def test_functional_derivatives_by_an_outer_tensor_of_what_a_transform_follows(name):
    """Of the sum of w^2 z, at w = [1, 2]: what is left has z as a factor."""
    call, wanted = FUNCTIONAL[name]
    w = torch.tensor([1.0, 2.0], requires_grad=True)
    found = torch.func.grad(lambda z: call(torch.autograd.functional, lambda w: (w * w).sum() * z, w).sum())(torch.tensor(3.0))
    assert found == wanted
    if name == "jacobian":  # what is left of that goes on to w on the tape outside
        assert torch.autograd.grad(found, w)[0].tolist() == [2.0, 2.0]


@pytest.mark.parametrize("derivative", [torch.func.jacfwd, torch.func.jacrev, None])
def test_jacobians_of_complex_results_are_refused(derivative):
    x = torch.tensor([1.0, 2.0])

    def f(x):
        return torch.exp(1j * x)

    with pytest.raises(RuntimeError, match="complex64"):
        derivative(f)(x) if derivative else torch.autograd.functional.jacobian(f, x)


def test_derivatives_of_log_ndtr_far_above_zero():
    """By -x phi(x), since the distribution function is 1 there."""
    f = torch.special.log_ndtr
    for x in (9.5, 30.0, 38.3, 60.0):
        density = math.exp(-x * x / 2) / math.sqrt(2 * math.pi)
        t = torch.tensor(x, dtype=torch.float64)
        assert torch.func.grad(f)(t).item() == pytest.approx(density, rel=1e-12, abs=1e-322)
        assert torch.func.grad(torch.func.grad(f))(t).item() == pytest.approx(-x * density, rel=1e-9, abs=1e-320)


def test_what_a_pass_tells_while_it_runs():
    x, y, told = torch.ones(2, requires_grad=True), torch.ones(2, requires_grad=True), []
    a, b = x * 2, y * 3
    c = a * b
    leaf_of = lambda t: t.grad_fn.next_functions[0][0]  # noqa: E731
    nodes = (a.grad_fn, b.grad_fn, leaf_of(a), leaf_of(b))

    def hook(g):
        told.append((torch._C._current_graph_task_id(), [torch._C._will_engine_execute_node(n) for n in nodes]))
        orders.append([n.name().split(":")[-1] for n in torch._C._current_graph_task_execution_order()])
        torch.autograd.Variable._execution_engine.queue_callback(lambda: told.append("end"))

    orders = []
    c.register_hook(hook)
    c.sum().backward(retain_graph=True)
    c.sum().backward(retain_graph=True, inputs=[x])
    (first, all_of), end, (second, some), _ = told
    assert (end, second - first) == ("end", 1)
    assert (all_of, some) == ([True] * 4, [True, False, True, False])
    assert orders[0][:2] == ["SumBackward0", "MulBackward0"]
    assert sorted(orders[0]) == sorted(["SumBackward0", "MulBackward0", "MulBackward0", "MulBackward0", *["AccumulateGrad"] * 2])
    assert orders[1] == ["SumBackward0", "MulBackward0", "MulBackward0", "AccumulateGrad"]
    assert torch._C._current_graph_task_id() == -1
    for call in (torch._C._current_graph_task_execution_order, lambda: torch._C._will_engine_execute_node(a.grad_fn)):
        with pytest.raises(RuntimeError, match="no backward pass"):
            call()
    looks = x.split(1)[1].grad_fn._input_metadata
    assert [(m.shape, m.dtype, m.device) for m in looks] == [(torch.Size([1]), torch.float32, torch.device("cpu"))] * 2


def test_the_versions_of_a_tensor_go_on_when_it_gets_other_data():
    x = torch.zeros(3)
    x.add_(1)
    x.data = torch.ones(2)
    assert x._version == 1
    x.add_(1)
    assert x._version == 2
    other = torch.ones(2)
    y = torch.zeros(2)
    y.data = other.add_(1).add_(1)
    assert (y._version, other._version) == (0, 2)
    y.add_(1)
    assert (y._version, other._version, other.tolist()) == (1, 2, [4, 4])


def test_anomaly_mode_warns_where_it_raises_and_names_the_node_that_another_is_the_derivative_of():
    with torch.autograd.detect_anomaly():
        x = torch.zeros(1, requires_grad=True)
        (g,) = torch.autograd.grad(x * x * 1, x, create_graph=True)
        assert type(g.grad_fn.metadata["parent_"]).__name__ == "MulBackward0"
        with pytest.raises(RuntimeError, match="nan"), pytest.warns(UserWarning, match="recorded here"):
            (x.sqrt() * 0).backward()


def test_inference_tensors_stay_out_of_the_graph():
    with torch.inference_mode():
        x = torch.ones(2, requires_grad=True)
    assert x.data.is_inference()
    for change in (lambda: x.requires_grad_(), lambda: x.resize_(3), lambda: torch.nn.Parameter(x.detach())):
        with pytest.raises(RuntimeError, match="inference"):
            change()
    with pytest.raises(RuntimeError, match="True or False"):
        torch.ones(1).requires_grad = 1


def test_gradcheck_looks_at_what_has_no_cotangent():
    class Tenfold(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.set_materialize_grads(False)
            return x * 10

        @staticmethod
        def backward(ctx, g):
            return g * 10

    check, x = torch.autograd.gradcheck, torch.ones(2, dtype=torch.double, requires_grad=True)
    with pytest.raises(TypeError):
        check(Tenfold.apply, x)
    assert check(Tenfold.apply, x, check_undefined_grad=False)

    def hooked(x):
        y = x.clone()
        y.register_hook(refuse)
        return y

    def refuse(g):
        if g is None:
            raise RuntimeError("nothing")

    with pytest.raises(RuntimeError, match="no gradient"):
        check(hooked, x)
    assert check(lambda t: t.long(), x), "what has no derivative has the right one"
    assert torch.autograd.gradgradcheck(torch.sin, x, check_fwd_over_rev=True)
    for wrong in ({"check_batched_grad": True, "check_backward_ad": False, "check_forward_ad": True},
                  {"check_batched_forward_grad": True}):  # fmt: skip
        with pytest.raises(AssertionError, match="batched"):
            check(torch.sin, x, **wrong)


def test_zeros_are_made_for_edges_that_are_used():
    x = torch.ones(2, requires_grad=True)
    y = x * 2
    edge = torch.autograd.graph.get_gradient_edge(y)
    unused = torch.autograd.graph.get_gradient_edge(x.split(1)[0])
    other = torch.zeros(3, requires_grad=True)
    found = torch.autograd.grad(y.sum(), [edge, other], materialize_grads=True, retain_graph=True)
    assert [g.tolist() for g in found] == [[1, 1], [0, 0, 0]]
    with pytest.raises(RuntimeError, match="edge"):
        torch.autograd.grad(y.sum(), [unused], materialize_grads=True)


def test_a_gradient_from_behind_a_hook_is_added_in_place():
    x, w = (torch.tensor([1.0, 2.0], requires_grad=True) for _ in range(2))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the circle that create_graph makes
        (x**2).sum().backward(create_graph=True)
    before = x.grad
    w.register_hook(lambda g: g * 0)
    ((x * x).sum() * w.sum()).backward()
    assert x.grad is before
    assert before.requires_grad
    assert before.tolist() == [8.0, 16.0]
    assert w.grad.tolist() == [0.0, 0.0]

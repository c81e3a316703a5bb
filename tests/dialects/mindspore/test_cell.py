"""`nn.Cell`: members and their names, flags, hooks, custom bprop; figures recorded from MindSpore 2.10."""

from __future__ import annotations

import copy
import threading
from collections import OrderedDict
from typing import Any

import numpy as np
import pytest

from retrograde.dialects import mindspore as ms
from retrograde.dialects.mindspore import Parameter, ParameterTuple, Tensor, nn, ops
from retrograde.dialects.mindspore._context import _settings

X, Y = Tensor([1.0, 2.0]), Tensor([3.0, 4.0])


class Sub(nn.Cell):
    def __init__(self) -> None:
        super().__init__()
        self.w = Parameter(Tensor([1.0, 1.0]), name="weight")
        self.n = Parameter(Tensor([1.0, 1.0]))

    def construct(self, x: Any) -> Any:
        return x * self.w

    def extend_repr(self) -> str:
        return "a=1, b=2"


class Net(nn.Cell):
    def __init__(self) -> None:
        super().__init__()
        self.sub = Sub()
        self.bias = Parameter(Tensor([0.0]), name="b", requires_grad=False)
        self.t, self.items = Tensor([1.0]), [Sub()]
        self.cl = nn.CellList([Sub()])
        self.pt = ParameterTuple([Parameter(Tensor([1.0]), name="pp")])
        self.un = Parameter(Tensor([1.0]))

    def construct(self, x: Any) -> Any:
        return self.sub(x) + self.bias


def names(parameters: Any) -> list[str]:
    return [p.name for p in parameters]


def test_names_follow_attributes() -> None:
    net = Net()
    paths = ["bias", "pp", "un", "sub.w", "sub.n", "cl.0.w", "cl.0.n"]
    assert [path for path, _ in net.parameters_and_names()] == paths
    assert names(net.get_parameters()) == ["b", *paths[1:]]
    assert names(net.trainable_params()) == paths[1:]
    assert names(net.trainable_params(recurse=False)) == ["pp", "un"]
    assert names(net.untrainable_params()) == ["b"]
    assert [path for path, _ in net.cells_and_names()] == ["", "sub", "cl", "cl.0"]
    assert list(net.name_cells()) == ["sub", "cl"]
    net.update_parameters_name("x.")
    assert names(net.get_parameters())[:4] == ["x.bias", "x.pp", "x.un", "x.sub.w"]
    net.insert_child_to_cell("late", Sub())
    assert net.late.w.name == "weight"
    assert names(nn.SequentialCell(Sub(), Sub()).get_parameters()) == ["0.w", "0.n", "1.w", "1.n"]


def test_text() -> None:
    assert repr(Net()) == (
        "Net(\n  (sub): Sub(a=1, b=2)\n  (cl): CellList(\n    (0): Sub(a=1, b=2)\n  )\n)"
    )
    assert repr(nn.SequentialCell(OrderedDict([("r", Sub())]))) == "SequentialCell(\n  (r): Sub(a=1, b=2)\n)"


@pytest.mark.parametrize(("make", "error"), [
    (lambda net: net.insert_param_to_cell("a.b", Parameter(Tensor([1.0]))), KeyError),
    (lambda net: net.insert_param_to_cell("sub", Parameter(Tensor([1.0]))), KeyError),
    (lambda net: net.insert_param_to_cell("q", Tensor([1.0])), TypeError),
    (lambda net: net.insert_param_to_cell(3, Parameter(Tensor([1.0]))), TypeError),
    (lambda net: net.insert_child_to_cell("q", 3), TypeError),
    (lambda net: net.insert_child_to_cell("", Sub()), KeyError),
    (lambda net: setattr(net, "sub", 3), TypeError),
    (lambda net: setattr(net, "bias", 3), TypeError),
    (lambda net: net.nothing, AttributeError),
    (lambda net: net.update_parameters_name(3), TypeError),
    (lambda net: net.to_float(ms.int32), ValueError),
    (lambda net: net.register_forward_hook(3), TypeError),
    (lambda net: nn.Cell()(X), AttributeError),
    (lambda net: nn.SequentialCell(3), TypeError),
    (lambda net: nn.SequentialCell(Sub())[5], IndexError),
    (lambda net: nn.SequentialCell(Sub())["a"], TypeError),
    (lambda net: nn.CellList([3]), TypeError),
    (lambda net: nn.CellList([Sub()])(X), NotImplementedError),
    (lambda net: nn.CellDict({"a": 3}), TypeError),
    (lambda net: nn.CellDict({"a": Sub()})["b"], KeyError),
])  # fmt: skip
def test_errors(make: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        make(Net())


def test_tensor_set_on_a_parameter_gives_it_values() -> None:
    net = Sub()
    p = net.w
    net.w = Tensor([5.0, 6.0])
    assert net.w is p
    assert p.asnumpy().tolist() == [5.0, 6.0]
    net.w += 1
    assert net.w is p
    assert p.asnumpy().tolist() == [6.0, 7.0]


def test_flags_and_precision() -> None:
    net = Net()
    assert (net.training, net.requires_grad, net.set_train() is net, net.sub.training) == (False, False, True, True)
    assert net.set_train(False).training is False
    assert net.add_flags_recursive(b=2).sub.b == 2
    net.to_float(ms.float16)
    assert net.sub(X).dtype is ms.float16
    assert net.sub.w.dtype is ms.float32
    by_w = ms.grad(net.sub, None, [net.sub.w])(X)[0]
    assert (by_w.dtype, by_w.tolist()) == (ms.float32, [1.0, 2.0])


def test_forward_hooks() -> None:
    class Scale(nn.Cell):
        def construct(self, x: Any, y: Any = None, k: int = 1) -> Any:
            return x * 2 if y is None else x * y * k

    cell, seen = Scale(), []
    first = cell.register_forward_pre_hook(lambda c, args: args[0] * 10)
    assert cell(X).tolist() == [20.0, 40.0]
    first.remove()
    named = cell.register_forward_pre_hook(lambda c, args, kwargs: (args, {"k": 5}), with_kwargs=True)
    assert cell(X, Y).tolist() == [15.0, 40.0]
    named.remove()
    cell.register_forward_hook(lambda c, args, out: seen.append("late"))
    cell.register_forward_hook(lambda c, args, out: seen.append(len(args)), prepend=True)
    cell.register_forward_hook(lambda c, args, out: out + 1)
    assert cell(X, y=Y).tolist() == [4.0, 9.0]
    assert seen == [1, "late"]


def test_backward_hooks() -> None:
    class Two(nn.Cell):
        def construct(self, x: Any) -> Any:
            return x * 2, x * 3

    cell, seen = Two(), []
    pre = cell.register_backward_pre_hook(lambda c, go: seen.append(go))
    assert ms.grad(lambda x: cell(x)[0])(X).tolist() == [2.0, 2.0]
    assert seen[0][1] is None
    assert seen[0][0].tolist() == [1.0, 1.0]
    pre.remove()
    post = cell.register_backward_hook(lambda c, gi, go: (gi[0] * 10,))
    assert ms.grad(cell)(X).tolist() == [50.0, 50.0]
    post.remove()
    net = Sub()
    net.register_backward_hook(lambda c, gi, go: seen.append(gi))
    ms.grad(net, None, [net.w])(X)
    assert seen[-1] == (None,)


def test_tensor_hooks() -> None:
    def f(x: Any) -> Any:
        y = x * x
        y.register_hook(lambda g: g * 10)
        return y * 3

    assert ms.grad(f)(X).tolist() == [60.0, 120.0]
    x, p = Tensor([1.0, 2.0]), Parameter(Tensor([3.0]), name="p")
    handles = [x.register_hook(lambda g: g * 10), p.register_hook(lambda g: g * 10)]
    assert ms.grad(lambda x: x * x)(x).tolist() == [20.0, 40.0]
    assert ms.grad(lambda x: x * p, None, [p])(X)[0].tolist() == [30.0]
    for handle in handles:
        handle.remove()
    assert ms.grad(lambda x: x * x)(x).tolist() == [2.0, 4.0]
    assert ms.grad(lambda x: ops.HookBackward(lambda g: g[0] * 3)(x * x))(X).tolist() == [6.0, 12.0]
    assert ms.grad(lambda x: ops.InsertGradientOf(lambda g: g * 2)(x * x))(X).tolist() == [4.0, 8.0]


def test_hooks_on_inputs_are_hooks_on_the_arguments() -> None:
    x, handles = Tensor([2.0, 3.0]), []

    def f(t: Any) -> Any:
        handles.append(t.register_hook(lambda g: g * 5))
        return t * 3

    assert ms.grad(f)(x).tolist() == [15.0, 15.0]
    assert ops.GradOperation()(f)(x).tolist() == [75.0, 75.0]
    handles[0].remove()
    assert ms.grad(lambda t: t * 1)(x).tolist() == [5.0, 5.0]
    assert ms.grad(f)(Tensor([1.0])).tolist() == [15.0]


@pytest.mark.parametrize("found", [Tensor([1.0, 2.0], ms.float64), Tensor([1, 2]), 3, [X], "a", np.ones(2)])
def test_what_tensor_hooks_return(found: Any) -> None:
    def f(t: Any) -> Any:
        y = t * 2
        y.register_hook(lambda g: found)
        return y * 1

    if isinstance(found, Tensor):
        g = ms.grad(f)(X)
        assert (g.dtype, g.tolist()) == (ms.float32, [2.0, 4.0])
    else:
        with pytest.raises(RuntimeError, match="hook"):
            ms.grad(f)(X)


def test_bprop() -> None:
    class Wrong(nn.Cell):
        def construct(self, x: Any, y: Any) -> Any:
            return x * y

        def bprop(self, x: Any, y: Any, out: Any, dout: Any) -> Any:
            return dout * y * 10, dout * x * 100

    class Pair(nn.Cell):
        def construct(self, x: Any, k: float = 2.0) -> Any:
            return x * k, x * 3

        def bprop(self, x: Any, k: float, out: Any, dout: Any) -> Any:
            assert isinstance(out, tuple)
            return dout[0] * x * k + dout[1] * 0, 0

    class Short(Wrong):
        def bprop(self, x: Any, y: Any, out: Any, dout: Any) -> Any:
            return dout

    assert [g.tolist() for g in ms.grad(Wrong(), (0, 1))(X, Y)] == [[30.0, 40.0], [100.0, 200.0]]
    assert ms.grad(lambda x: (Wrong()(x, x) * Wrong()(x, Y)).sum())(X).tolist() == [360.0, 1920.0]
    assert ms.grad(lambda x: Pair()(x, k=5.0)[0])(X).tolist() == [5.0, 10.0]
    assert ms.grad(lambda x: Pair()(x)[1])(X).tolist() == [0.0, 0.0]
    with pytest.raises(RuntimeError, match="wanted 2: one for each of the inputs"):
        ms.grad(Short())(X, Y)


def test_custom_operation() -> None:
    square = ops.Custom(lambda a: a * a, lambda a: a, lambda a: a, "pyfunc", lambda a, out, dout: (dout * a * 2,))
    assert ms.grad(lambda x: square(x) * 3)(X).tolist() == [6.0, 12.0]
    with pytest.raises(NotImplementedError):
        ops.Custom("kernel.so", func_type="aot")


def test_copies_and_state() -> None:
    net = Net()
    other = copy.deepcopy(net)
    other.sub.w.set_data(Y)
    assert net.sub.w.tolist() == [1.0, 1.0]
    assert names(other.get_parameters()) == names(net.get_parameters())
    net.load_state_dict(other.state_dict())
    assert net.sub.w.tolist() == Y.tolist()
    with pytest.raises(RuntimeError, match="missing"):
        net.load_state_dict({})


def test_state_of_a_cell_is_a_constant_to_the_next_call() -> None:
    class Recurrent(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.h, self.w = Tensor([1.0]), Parameter(Tensor([2.0]), name="w")

        def construct(self, x: Any) -> Any:
            self.h = self.h * self.w + x
            return self.h * self.h

    net = Recurrent()
    for h in (1.0, 3.0, 7.0):
        value, gradients = ms.value_and_grad(net, None, [net.w])(Tensor([1.0]))
        new = 2 * h + 1
        assert (value.tolist(), gradients[0].tolist(), net.h.tolist()) == ([new * new], [2 * new * h], [new])
        assert net.h._node is None


def test_threads_share_parameters() -> None:
    """A gradient function that ends while another runs on the same parameters leaves them what they are to that one."""
    p, inside, done = Parameter(Tensor([3.0]), name="p"), threading.Event(), threading.Event()

    def slow(x: Any) -> Any:
        inside.set()
        done.wait(10)
        return x * p

    found: list[Any] = []
    thread = threading.Thread(target=lambda: found.append(ms.grad(slow, None, [p])(X)))
    thread.start()
    inside.wait(10)
    ms.grad(lambda x: x * p, None, [p])(X)
    done.set()
    thread.join()
    np.testing.assert_array_equal(found[0][0].asnumpy(), [3.0])
    assert p._node is None


def test_names_of_parameters() -> None:
    first = int(Parameter(Tensor([1.0])).name.removeprefix("Parameter#"))
    Parameter(Tensor([1.0]), name="x")
    assert first >= 2
    assert Parameter(Tensor([1.0])).name == f"Parameter#{first + 1}"
    with pytest.raises(ValueError, match="1024"):
        Parameter(Tensor([1.0]), name="a" * 1025)
    w, other = Parameter(Tensor([1.0]), name="w"), Parameter(Tensor([1.0]), name="w")
    assert len(ParameterTuple([w, w])) == 2
    with pytest.raises(ValueError, match="'w'"):
        ParameterTuple([w, other])


@pytest.mark.parametrize(
    "cell", [nn.Dense(2, 2), nn.Conv2d(1, 1, 1), nn.BatchNorm1d(2), nn.Flatten(), nn.ReLU()],
    ids=lambda cell: type(cell).__name__,
)  # fmt: skip
@pytest.mark.parametrize("given", ["a", 3, None, [1.0, 2.0]])
def test_layers_want_tensors(cell: nn.Cell, given: Any) -> None:
    with pytest.raises(TypeError, match="Tensor"):
        cell(given)


def test_bprop_may_return_more_than_the_inputs_have() -> None:
    class Twice(nn.Cell):
        found: Any = None

        def construct(self, x: Any) -> Any:
            return x * 2

        def bprop(self, x: Any, out: Any, dout: Any) -> Any:
            return self.found if self.found is not None else (dout * 5, dout)

    net = Twice()
    assert ms.grad(net)(Tensor([1.0])).asnumpy().tolist() == [5.0]
    Twice.found = ((Tensor([1.0]),), (Tensor([1.0]),))
    with pytest.raises(ValueError, match="bprop"):
        ms.grad(net)(Tensor([1.0]))
    Twice.bprop = lambda self, x, out, dout: None  # type: ignore[method-assign, assignment]
    with pytest.raises(TypeError, match="bprop"):
        ms.grad(net)(Tensor([1.0]))


@pytest.mark.parametrize(("have", "wanted"), [
    ((2, 3), (3,)), ((2, 3), (1, 3)), ((2, 3), (2, 1)), ((4, 2, 3), (2, 3)), ((2, 3), ()), ((3,), (2, 3)), ((2, 3), (6,)),
])  # fmt: skip
def test_bprop_gradients_are_summed_to_the_shape_of_the_input(have: Any, wanted: Any) -> None:
    class Stretched(nn.Cell):
        def construct(self, x: Any) -> Any:
            return x * 2

        def bprop(self, x: Any, out: Any, dout: Any) -> Any:
            return (ms.ops.ones(have),)

    if have in ((3,), (2, 3)) and wanted in ((2, 3), (6,)):
        with pytest.raises(RuntimeError, match="shape"):
            ms.grad(Stretched())(ms.ops.ones(wanted))
    else:
        g = ms.grad(Stretched())(ms.ops.ones(wanted))
        assert (g.shape, float(g.sum())) == (wanted, float(np.prod(have)))


def test_bprop_of_containers() -> None:
    class Pair(nn.Cell):
        found: Any = None

        def construct(self, xs: Any, y: Any) -> Any:
            return xs[0] * xs[1] + y

        def bprop(self, xs: Any, y: Any, out: Any, dout: Any) -> Any:
            return self.found(dout)

    class Nested(nn.Cell):
        def construct(self, none: Any, x: Any) -> Any:
            return x * 2, [x * 3], 5

        def bprop(self, none: Any, x: Any, out: Any, dout: Any) -> Any:
            assert out[1][0].tolist() == [3.0, 6.0]
            assert out[2] == dout[2] == 5
            return None, dout[0] * 10 + dout[1][0] * 100

    def f(x: Any, y: Any, z: Any) -> Any:
        return Pair()([x, y], z)

    for found in (lambda g: ((g, g * 2), g * 3), lambda g: ([g, g * 2], g * 3), lambda g: (g, g * 2, g * 3)):
        Pair.found = staticmethod(found)
        assert [g.tolist() for g in ms.grad(f, (0, 1, 2))(X, Y, X)] == [[1.0, 1.0], [2.0, 2.0], [3.0, 3.0]]
    for found in (lambda g: (g, g), lambda g: ((g,), g), lambda g: (None, g), lambda g: g):
        Pair.found = staticmethod(found)
        with pytest.raises(RuntimeError, match="bprop"):
            ms.grad(f)(X, Y, X)
    assert ms.grad(lambda x: Nested()(None, x)[1][0])(X).tolist() == [100.0, 100.0]


def test_what_lists_of_cells_take() -> None:
    for wrong in (nn.ReLU(), [1], (nn.ReLU(),), nn.CellList([nn.ReLU()]), "a"):
        with pytest.raises(TypeError):
            nn.CellList([nn.ReLU()]).extend(wrong)
    for make, error in ((nn.CellList, AttributeError), (nn.SequentialCell, TypeError)):
        cells = make([nn.ReLU()])
        for wrong in (3, None):
            with pytest.raises(error):
                cells[0] = wrong
        with pytest.raises(TypeError):
            make((nn.ReLU(),))


def test_slices_of_chains_keep_names() -> None:
    chain = nn.SequentialCell(nn.ReLU(), nn.Dense(1, 1), nn.Dense(1, 1))
    assert names(chain[1:].get_parameters()) == ["1.weight", "1.bias", "2.weight", "2.bias"]
    assert list(chain[::-1]._cells) == ["2", "1", "0"]
    named = nn.SequentialCell(OrderedDict(a=nn.Dense(1, 1), b=nn.Dense(1, 1)))
    assert names(named[1:].get_parameters()) == ["b.weight", "b.bias"]
    del named[0], chain[0]
    assert (list(named._cells), list(chain._cells)) == (["b"], ["0", "1"])
    assert names(chain.get_parameters()) == ["0.weight", "0.bias", "1.weight", "1.bias"]


def test_what_loading_a_state_dict_returns() -> None:
    net = nn.Dense(1, 1)
    assert str(net.load_state_dict(net.state_dict())) == "<All keys matched successfully>"
    found = net.load_state_dict({"x": X}, strict=False)
    assert str(found) == "_IncompatibleKeys(missing_keys=['weight', 'bias'], unexpected_keys=['x'])"
    assert found.unexpected_keys == ["x"]


def test_hooks_of_state_dicts() -> None:
    net, seen = nn.SequentialCell(nn.Dense(1, 1)), []
    handles = [
        net.register_state_dict_pre_hook(lambda cell, prefix, keep: seen.append((prefix, keep))),
        net.register_state_dict_post_hook(lambda cell, found, prefix, note: seen.append((list(found), prefix, note))),
        net.register_load_state_dict_pre_hook(lambda cell, state, *rest: [state.pop("gone", None)]),
        net.register_load_state_dict_post_hook(lambda cell, keys: seen.append(str(keys))),
    ]
    state = net.state_dict(prefix="p.")
    assert seen == [("p.", False), (["p.0.weight", "p.0.bias"], "p.", {})]
    assert list(state._metadata) == ["p", "p.0"]
    assert list(net.state_dict(prefix="p")) == ["p0.weight", "p0.bias"]
    assert not net.load_state_dict({**net.state_dict(), "gone": X}).unexpected_keys
    assert seen[-1] == "<All keys matched successfully>"
    for handle in handles:
        handle.remove()
    count = len(seen)
    net.load_state_dict(net.state_dict())
    assert len(seen) == count


def test_loading_keeps_dtypes_and_refuses_what_is_no_tensor() -> None:
    class Extra(nn.Dense):
        k: Any = 5

        def get_extra_state(self) -> Any:
            return {"k": self.k}

        def set_extra_state(self, state: Any) -> None:
            self.k = state["k"]

    net = Extra(1, 1)
    state = net.state_dict()
    assert list(state) == ["weight", "bias", "_extra_state"]
    net.k = 9
    net.load_state_dict({**state, "weight": Tensor([[3]], ms.int32)})
    assert (net.k, net.weight.dtype, net.weight.tolist()) == (5, ms.float32, [[3.0]])
    for wrong, error in ((None, TypeError), ([1], TypeError), ({**state, "weight": 1.0}, RuntimeError)):
        with pytest.raises(error):
            net.load_state_dict(wrong)
    with pytest.raises(RuntimeError, match="get_extra_state"):
        nn.ReLU().get_extra_state()


def test_flags_of_parameters() -> None:
    p = Parameter(Tensor([1.0]), name="p", layerwise_parallel=True)
    assert (p.layerwise_parallel, p.clone().layerwise_parallel, p.is_init, p.unique) == (True, True, False, False)
    p.data = Tensor([7.0])
    assert p.set_data(True).asnumpy().tolist() == 1.0
    for name in ("layerwise_parallel", "parallel_optimizer", "requires_grad"):
        with pytest.raises(TypeError, match=name):
            setattr(p, name, 3)


@pytest.mark.parametrize(("option", "value", "kept"), [
    ("mode", True, 1), ("mode", None, ValueError), ("save_graphs", True, 2), ("save_graphs", 5, ValueError),
    ("memory_optimize_level", "O1", 1), ("memory_optimize_level", "O5", ValueError), ("device_id", 99999, ValueError),
    ("jit_config", {"jit_level": "O7"}, ValueError), ("jit_config", {"jit_level": "O1"}, {"jit_level": "O1"}),
    ("jit_syntax_level", ms.STRICT, 0), ("max_call_depth", True, 1),
])  # fmt: skip
def test_settings(option: str, value: Any, kept: Any) -> None:
    before = ms.get_context(option)
    try:
        if isinstance(kept, type):
            with pytest.raises(kept):
                ms.set_context(**{option: value})
        else:
            ms.set_context(**{option: value})
            assert repr(ms.get_context(option)) == repr(kept)
    finally:
        _settings[option] = before
    with pytest.raises(TypeError, match="string"):
        ms.get_context(3)  # type: ignore[arg-type]


@pytest.mark.parametrize(("error", "call"), [
    (ValueError, lambda n: n.recompute(mode=True)), (TypeError, lambda n: n.recompute(mp_comm_recompute=1)),
    (TypeError, lambda n: n.recompute(output_recompute="x")), (ValueError, lambda n: n.recompute(context_fn=print)),
    (TypeError, lambda n: n.set_comm_fusion("a")), (TypeError, lambda n: list(n.parameters_and_names(1))),
    (AttributeError, lambda n: n.get_sub_cell(None)), (TypeError, lambda n: ParameterTuple(n.get_parameters()).clone(1)),
    (TypeError, lambda n: ops.HookBackward(3)), (TypeError, lambda n: ms.grad(ops.InsertGradientOf(3))(X)),
    (TypeError, lambda n: ms.set_device(1)), (ValueError, lambda n: ms.set_device(None)),
    (TypeError, lambda n: ms.set_device("CPU", "a")), (TypeError, lambda n: ms.set_auto_parallel_context(parallel_mode=3)),
    (ValueError, lambda n: ms.set_auto_parallel_context(parallel_mode="x")),
    (TypeError, lambda n: ms.set_auto_parallel_context(gradients_mean=3)),
    (ValueError, lambda n: ms.set_auto_parallel_context(device_num=0)),
    (RuntimeError, lambda n: ms.set_auto_parallel_context(device_num=2)),
])  # fmt: skip
def test_what_is_refused(error: type[Exception], call: Any) -> None:
    with pytest.raises(error):
        call(nn.Dense(1, 1))


def test_parallel_settings_of_one_device() -> None:
    for mode in ms.ParallelMode.MODE_LIST:
        ms.set_auto_parallel_context(parallel_mode=mode, gradients_mean=True)
        assert ms.get_auto_parallel_context("parallel_mode") == mode
    ms.reset_auto_parallel_context()
    assert ms.get_auto_parallel_context("parallel_mode") == "stand_alone"
    assert ops.InsertGradientOf(3)(X).tolist() == [1.0, 2.0]
    nn.Dense(1, 1).recompute(use_reentrant=False, mp_comm_recompute=True)


@pytest.mark.parametrize(("options", "error"), [
    ({"jit_level": "O2"}, ValueError), ({"dynamic": 2}, ValueError), ({"dynamic": True}, TypeError),
    ({"dynamic": "a"}, TypeError), ({"fullgraph": 1}, TypeError),
    ({"infer_boost": "x"}, ValueError), ({"exc_mode": "sync"}, ValueError),
    ({"capture_mode": "x"}, ValueError), ({"backend": "x"}, RuntimeError),
])  # fmt: skip
def test_options_of_compilation(options: dict[str, Any], error: type[Exception]) -> None:
    with pytest.raises(error, match="jit"):
        ms.jit(lambda x: x, **options)(X)
    with pytest.raises(error, match="jit"):
        ms.jit(**options)(lambda x: x)(X)


def test_config_of_compilation() -> None:
    net = nn.ReLU()
    assert net.jit_config_dict == {}
    net.set_jit_config(ms.JitConfig(jit_level="O1"))
    assert (net.jit_config_dict["jit_level"], net.jit_config_dict["backend"]) == ("O1", "ms_backend")
    for wrong in ({"exc_mode": "sync"}, {"jit_syntax_level": "x"}, {"debug_level": "x"}, {"jit_level": "O3"}):
        with pytest.raises(ValueError, match="JitConfig"):
            ms.JitConfig(**wrong)


def test_marks_that_change_nothing_want_the_right_things() -> None:
    for wrong in (lambda: ms.mutable("a"), lambda: ms.mutable(None), lambda: ms.mutable(3, True), lambda: ms.mutable((1,), 3)):
        with pytest.raises(TypeError, match="mutable"):
            wrong()
    with pytest.raises(TypeError, match="jit_class"):
        ms.jit_class(nn.ReLU)
    with pytest.raises(ValueError, match="__init__"):
        ms.lazy_inline(lambda x: x)
    assert ms.lazy_inline(Net.__init__) is Net.__init__
    assert ms.mutable((1, 2), True) == (1, 2)


def test_cells_of_a_list_are_named_after_their_places() -> None:
    class Net(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.layers = nn.CellList([nn.Dense(1, 1, has_bias=False) for _ in range(3)])

    net = Net()

    def names() -> list[str]:
        return [p.name for p in net.get_parameters()]

    del net.layers[0]
    assert names() == ["layers.0.weight", "layers.1.weight"]
    net.layers.insert(0, nn.Dense(1, 1, has_bias=False))
    assert names() == ["layers.0.weight", "layers.1.weight", "layers.2.weight"]
    net.layers[1] = nn.Dense(1, 1, has_bias=False)
    assert names() == ["layers.0.weight", "layers.1.weight", "layers.2.weight"]


@pytest.mark.parametrize("found", ["a", (), (Tensor([1.0]), Tensor([1.0])), 3.0])
def test_backward_hooks_return_gradients(found: Any) -> None:
    net = nn.ReLU()
    net.register_backward_hook(lambda cell, before, after: found)
    with pytest.raises(TypeError, match="backward hook"):
        ms.grad(net)(Tensor([1.0]))

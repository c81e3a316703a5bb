"""torch.fx: graphs, their code and what is done with them, as PyTorch 2.13 gives them (but for the paths of its internals)."""

import copy
import math
import operator
import pickle
import subprocess
import sys

import pytest

from retrograde.dialects import torch
from retrograde.dialects.torch import fx, nn
from retrograde.dialects.torch.fx import Graph, GraphModule, Interpreter, Proxy, Tracer, Transformer, symbolic_trace
from retrograde.dialects.torch.fx.passes.shape_prop import ShapeProp
from retrograde.dialects.torch.fx.passes.split_module import split_module
from retrograde.dialects.torch.nn import functional as F
from retrograde.dialects.torch.nn.functional import gelu

fx.wrap("len")

@fx.wrap
def untraced(x, n):
    return x * n if bool(x.sum() > 0) else x


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 5)
        self.p = nn.Parameter(torch.ones(3, 4))
        self.register_buffer("b", torch.full((5,), 2.0))
        self.act = F.relu
        self.seq = nn.Sequential(nn.Linear(5, 5), nn.ReLU(), nn.Sequential(nn.Tanh()))

    def forward(self, x, scale: float = 2.0):
        y = self.linear(x + self.p).clamp(min=0.0, max=1.0)
        y = self.act(y) * scale - self.b
        y = torch.cat([y, y.neg()], dim=0)
        y = self.seq(y)
        a, b = y.chunk(2)
        z = a @ b.t() + math.sqrt(2)
        z = z[:, None, ..., 0:2] + torch.ones(1)
        return F.softmax(z, dim=-1).sum(0)


CODE = """


def forward(self, x, scale : float = 2.0):
    p = self.p
    add = x + p;  x = p = None
    linear = self.linear(add);  add = None
    clamp = linear.clamp(min = 0.0, max = 1.0);  linear = None
    relu = torch.nn.functional.relu(clamp, inplace = False);  clamp = None
    mul = relu * scale;  relu = scale = None
    b = self.b
    sub = mul - b;  mul = b = None
    neg = sub.neg()
    cat = torch.cat([sub, neg], dim = 0);  sub = neg = None
    seq_0 = getattr(self.seq, "0")(cat);  cat = None
    seq_1 = getattr(self.seq, "1")(seq_0);  seq_0 = None
    seq_2_0 = getattr(getattr(self.seq, "2"), "0")(seq_1);  seq_1 = None
    chunk = seq_2_0.chunk(2);  seq_2_0 = None
    getitem = chunk[0]
    getitem_1 = chunk[1];  chunk = None
    t = getitem_1.t();  getitem_1 = None
    matmul = getitem @ t;  getitem = t = None
    add_1 = matmul + 1.4142135623730951;  matmul = None
    getitem_2 = add_1[(slice(None, None, None), None, Ellipsis, slice(0, 2, None))];  add_1 = None
    _tensor_constant0 = self._tensor_constant0
    add_2 = getitem_2 + _tensor_constant0;  getitem_2 = _tensor_constant0 = None
    softmax = torch.nn.functional.softmax(add_2, dim = -1, _stacklevel = 3, dtype = None);  add_2 = None
    sum_1 = softmax.sum(0);  softmax = None
    return sum_1
    """


def net_and_graph():
    torch.manual_seed(0)
    net = Net()
    return net, symbolic_trace(net), torch.randn(3, 4)


def code_of(f, **options):
    return symbolic_trace(f, **options).code.strip().split("\n")


def test_a_module_s_code_values_and_gradients():
    net, traced, x = net_and_graph()
    assert traced.code == CODE
    assert torch.equal(traced(x), net(x))
    net(x).square().sum().backward()
    wanted = net.linear.weight.grad.clone()
    net.zero_grad()
    traced(x, scale=2.0).square().sum().backward()
    assert traced.linear is net.linear
    assert torch.equal(net.linear.weight.grad, wanted)
    assert {n for n, _ in traced.named_parameters()} == {n for n, _ in net.named_parameters()}


def test_nodes_as_text():
    def f(x):
        return torch.add(x, 1, alpha=2).sum(dim=0), x.shape

    assert str(symbolic_trace(f).graph).split("\n") == [
        "graph():",
        "    %x : [num_users=2] = placeholder[target=x]",
        "    %add : [num_users=1] = call_function[target=torch.add](args = (%x, 1), kwargs = {alpha: 2})",
        "    %sum_1 : [num_users=1] = call_method[target=sum](args = (%add,), kwargs = {dim: 0})",
        "    %getattr_1 : [num_users=1] = call_function[target=builtins.getattr](args = (%x, shape), kwargs = {})",
        "    return (sum_1, getattr_1)",
    ]


def test_functions_are_as_before_after_a_trace():
    before = torch.relu, torch.Tensor.__mul__, F.softmax, gelu
    traced = symbolic_trace(lambda x: torch.relu(gelu(x)) * F.softmax(x, 0))
    assert before == (torch.relu, torch.Tensor.__mul__, F.softmax, gelu)
    assert [n.target for n in traced.graph.nodes if n.op == "call_function"] == [gelu, torch.relu, F.softmax, operator.mul]


def test_functions_kept_where_a_trace_does_not_look():
    program = """
from retrograde.dialects.torch import fx, relu
by_name = {"relu": relu}
fx.symbolic_trace(lambda x: by_name["relu"](x))
"""
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert ran.returncode == 1
    assert "TypeError: relu" in ran.stderr
    assert "torch.overrides" in ran.stderr


def test_what_cannot_be_traced():
    for f in (lambda x: x if x.sum() > 0 else -x, lambda x: list(x), lambda x: torch.relu(*x)):
        with pytest.raises(fx.proxy.TraceError):
            symbolic_trace(f)
    with pytest.raises(RuntimeError, match="len"):
        symbolic_trace(lambda x: x.__len__())
    with pytest.raises(TypeError):
        symbolic_trace(lambda x: range(x.size(0)))


def test_wrapped_functions_stay_calls():
    def f(x):
        return untraced(x, len(x))

    traced = symbolic_trace(f)
    assert [n.name for n in traced.graph.nodes] == ["x", "len_1", "untraced", "output"]
    assert traced(torch.ones(3)).tolist() == [3.0, 3.0, 3.0]
    assert untraced(torch.ones(1), 2).item() == 2.0
    with pytest.raises(NotImplementedError, match="top"):
        fx.wrap("sum")


def test_arguments_of_all_kinds():
    def f(x, *rest, k=3, **named):
        return x * k + rest[0]

    assert code_of(f)[0] == "def forward(self, x, k = 3, *rest, **named):"

    def g(x, y=None):
        return x.view(x.shape[0], -1) if y is None else x + y

    assert code_of(g, concrete_args={"y": None}) == [
        "def forward(self, x, y_1 = None):",
        ("    _assert_is_none = torch.fx._symbolic_trace._assert_is_none(y_1, 'y has been specialized to have value None but got "
         "another value');  y_1 = _assert_is_none = None"),
        "    getattr_1 = x.shape",
        "    getitem = getattr_1[0];  getattr_1 = None",
        "    view = x.view(getitem, -1);  x = getitem = None",
        "    return view",
    ]

    def h(d):
        return d["a"] + d["b"][0]

    nested = symbolic_trace(h, concrete_args={"d": {"a": fx.PH, "b": [fx.PH, fx.PH]}})
    assert nested({"a": torch.ones(1), "b": [torch.ones(1), None]}).tolist() == [2.0]
    with pytest.raises(ValueError, match="structure"):
        nested({"a": torch.ones(1), "b": [torch.ones(1)]})


def test_copies():
    _, traced, x = net_and_graph()
    for other in (copy.deepcopy(traced), pickle.loads(pickle.dumps(traced)), copy.copy(traced)):
        assert other.code == traced.code
        assert torch.equal(other(x), traced(x))
        assert other.graph.owning_module is other
        assert type(other).__name__ == "Net"
    assert copy.deepcopy(traced).linear.weight is not traced.linear.weight
    graph = pickle.loads(pickle.dumps(traced.graph))
    assert str(graph) == str(traced.graph)


def test_functions_behind_the_check_of_a_second_dialect_are_traced_and_pickled():
    program = """
import pickle
from retrograde.dialects import torch
from retrograde.dialects.torch.fx import symbolic_trace
from retrograde.dialects.torch.nn.functional import gelu
import retrograde.dialects.paddle
traced = symbolic_trace(lambda x: torch.relu(gelu(x)))
again = pickle.loads(pickle.dumps(traced))
assert "gelu" in traced.code and again.code == traced.code
assert torch.equal(again(torch.ones(2)), traced(torch.ones(2)))
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert not done.returncode, done.stderr


def test_a_graph_by_hand():
    g = Graph()
    x, y = g.placeholder("x"), g.placeholder("y", torch.Tensor, default_value=3)
    z = g.call_function(torch.add, (x, y))
    w = g.call_function(torch.mul, (z, 2))
    u = g.call_method("sum", (w,), {"dim": 0})
    g.call_function(torch.neg, (x,))
    with g.inserting_before(w):
        q = g.call_function(torch.relu, (z,))
    with g.inserting_after(z):
        sine = g.call_function(torch.sin, (z,))
    w.replace_input_with(z, q)
    g.output((u, sine))
    g.lint()
    assert [n.name for n in g.nodes] == ["x", "y", "add", "sin", "relu", "mul", "sum_1", "neg", "output"]
    assert [n.name for n in reversed(g.nodes)][:2] == ["output", "neg"]
    assert list(z.users) == [q, sine]
    assert g.eliminate_dead_code()
    assert len(g.nodes) == 8
    with pytest.raises(RuntimeError, match="users"):
        g.erase_node(z)
    module = GraphModule(nn.Module(), g, "Sum")
    assert type(module).__name__ == "Sum"
    assert module(torch.ones(2), 1)[0].item() == 8.0
    with g.inserting_before(g.output_node()):
        found = (Proxy(x) + 1).relu()  # a proxy outside a trace
    g.output_node().args = (found.node,)
    assert module(torch.ones(2))[0].item() == 16.0, "code is as it was before recompile()"
    module.recompile()
    assert module(torch.ones(2)).tolist() == [2.0, 2.0]
    assert str(g.output_node().format_node()) == "return relu_1"
    with pytest.raises(TypeError, match="update_arg"):
        g.call_function(torch.cat, ([x],)).args[0].append(y)


def test_disorder_is_found():
    g = Graph()
    x = g.placeholder("x")
    y = g.call_function(torch.neg, (x,))
    with g.inserting_before(y):
        g.call_function(torch.abs, (y,))
    with pytest.raises(RuntimeError, match="comes after"):
        g.lint()
    other = Graph().placeholder("z")
    with pytest.raises(AssertionError, match="another graph"):
        g.inserting_before(other)
    owned = Graph(nn.Module())
    with pytest.warns(UserWarning, match="nothing"):
        owned.get_attr("missing")
    with pytest.raises(RuntimeError, match="missing"):
        owned.lint()


WANTED_NAMES = [
    ("relu", "relu"), ("relu_1", "relu"), ("relu_2", "relu_1"), ("_1x", "1x"), ("a_b", "a b"), ("class_1", "class"),
    ("len_1", "len"), ("x_1", "x"), ("relu_3", "relu_1"), ("relu_4", "relu_3"), ("relu_03", "relu_03"), ("sum_1", "sum"),
]  # fmt: skip


def test_names():
    graph = Graph()
    graph.placeholder("x")
    for wanted, name in WANTED_NAMES:
        assert graph.create_node("call_function", torch.relu, (), name=name).name == wanted


def test_names_from_targets():
    g = Graph()
    names = [g.create_node("call_method", t).name for t in ("ConvBN2dRelu", "HTTPServer", "abcDef", "__add__", "Linear1", "a.b")]
    assert names == ["conv_bn2d_relu", "httpserver", "abc_def", "add", "linear1", "a_b"]


def test_running_and_transforming():
    net = nn.Sequential(nn.Linear(2, 2), nn.ReLU())
    traced = symbolic_trace(net)
    x = torch.randn(3, 2)
    seen = []

    class Watched(Interpreter):
        def run_node(self, n):
            seen.append(n.name)
            return super().run_node(n)

    assert torch.equal(Watched(traced).run(x), net(x))
    assert seen == ["input_1", "_0", "_1", "output"]

    class Swapped(Transformer):
        def call_module(self, target, args, kwargs):
            if isinstance(self.fetch_attr(target), nn.ReLU):
                return torch.sigmoid(*args)
            return super().call_module(target, args, kwargs)

    swapped = Swapped(traced).transform()
    assert torch.equal(swapped(x), torch.sigmoid(net[0](x)))
    ShapeProp(traced).propagate(x)
    known = [n.meta["tensor_meta"] for n in traced.graph.nodes]
    assert {(tuple(m.shape), m.dtype) for m in known} == {((3, 2), torch.float32)}
    assert '_0: "f32[3, 2]" = getattr(self, "0")(input_1)' in traced.print_readable(print_output=False)

    class Deep(Tracer):
        def is_leaf_module(self, m, qualified_name):
            return False

    deep = GraphModule(net, Deep().trace(net))
    assert "torch.nn.functional.linear(input_1, _0_weight, _0_bias)" in deep.code
    assert torch.equal(deep(x), net(x))


def test_patterns_are_replaced():
    def f(a, b, c):
        t = torch.relu(a + b)
        u = torch.relu(t + c)
        return u - torch.relu(u + 1)

    traced = symbolic_trace(f)
    found = fx.replace_pattern(traced, lambda x, y: torch.relu(x + y), lambda x, y: torch.sigmoid(x) * y)
    assert [m.anchor.name for m in found] == ["relu", "relu", "relu"]
    shown = [{k.name: getattr(v, "name", v) for k, v in m.nodes_map.items()} for m in found]
    assert shown == [
        {"relu": "relu", "add": "add", "x": "a", "y": "b"}, {"relu": "relu_1", "add": "add_1", "x": "mul", "y": "c"},
        {"relu": "relu_2", "add": "add_2", "x": "mul_1", "y": 1},
    ]  # fmt: skip
    a, b, c = torch.randn(3, 2).unbind()
    u = torch.sigmoid(torch.sigmoid(a) * b) * c
    assert torch.equal(traced(a, b, c), u - torch.sigmoid(u) * 1)

    def kept(x):
        y = x + 1
        return torch.relu(y), y

    found = fx.replace_pattern(symbolic_trace(kept), lambda x: torch.relu(x + 1), lambda x: torch.sigmoid(x))
    assert not found, "the sum is used elsewhere"


def test_a_graph_in_parts():
    net, traced, x = net_and_graph()
    place = {n: int(i > 9) for i, n in enumerate(traced.graph.nodes)}
    parts = split_module(traced, net, place.__getitem__)
    assert [n.target for n in parts.graph.nodes if n.op == "call_module"] == ["submod_0", "submod_1"]
    assert torch.equal(parts(x), net(x))


def test_submodules_come_and_go():
    _, traced, _ = net_and_graph()
    assert traced.add_submodule("head.inner", nn.Linear(1, 1))
    assert traced.head.inner.in_features == 1
    traced.delete_all_unused_submodules()
    assert not hasattr(traced, "head")
    assert traced.delete_submodule("linear")
    assert not traced.delete_submodule("linear")


def test_errors_name_the_line():
    traced = symbolic_trace(lambda x, y: torch.relu(x) @ y)
    with pytest.raises(RuntimeError) as error:
        traced(torch.ones(2, 3), torch.ones(2, 3))
    with pytest.raises(RuntimeError) as other:
        Interpreter(traced).run(torch.ones(2, 3), torch.ones(2, 3))
    assert any("call_function[target=operator.matmul]" in note for note in other.value.__notes__)
    assert error.value is not other.value

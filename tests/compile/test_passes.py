"""Each pass gives a graph that computes the same, bit for bit, and shares no more memory; and what each leaves out."""

import pathlib

import numpy as np
import pytest
import test_trace as programs
from graphs import Builder, names
from hypothesis import given, settings
from hypothesis import strategies as st
from test_trace import numbers, tensor

import retrograde as rg
import retrograde.dialects.torch as torch
from retrograde.compile import jit
from retrograde.compile.graph import Equation, Graph, Variable, uniform
from retrograde.compile.passes.common import common
from retrograde.compile.passes.dead import dead
from retrograde.compile.passes.fold import MOST, fold
from retrograde.compile.passes.memory import VIEWS
from retrograde.compile.passes.simplify import RULES, simplify
from retrograde.compile.pipeline import PASSES, optimised
from retrograde.compile.verify import InvalidGraph, verify
from retrograde.core.primitive import PRIMITIVES

GOLDEN = pathlib.Path(__file__).parent / "golden"


def same_bits(got, want):
    assert got.dtype == want.dtype
    np.testing.assert_array_equal(got, want)  # nan is nan
    if want.dtype.kind == "f":
        number = ~np.isnan(want)
        np.testing.assert_array_equal(np.signbit(got)[number], np.signbit(want)[number])


def sharing(graph, arrays, outs):
    """Which outputs share memory with which inputs, constants and other outputs."""
    others = [*arrays, *outs]
    found = {(i, j) for i, y in enumerate(outs) for j, x in enumerate(others) if y is not x and np.shares_memory(x, y)}
    constant = {i for i, y in enumerate(outs) if any(np.shares_memory(y, a) for a in graph.constants.values())}
    return found | {(i, "constant") for i in constant}


def computes_the_same(graph, steps, arrays):
    with np.errstate(all="ignore"):
        want = graph.run(*arrays)
        shared = sharing(graph, arrays, want)
        for step in steps:
            after = verify(step(graph), step.__name__)
            got = after.run(*arrays)
            for a, b in zip(got, want, strict=True):
                same_bits(a, b)
            assert sharing(after, arrays, got) <= shared
    return after


# ------------------------------------------------------------------------------------------ any graph

FLOATS = [0.0, -0.0, 1.0, -1.0, 2.0, 0.5, -3.25, 1e30, 3e38, 1e-40, np.inf, -np.inf, np.nan]
INTEGERS = [0, 1, -1, 2, 7, 100, 127, -128]
DTYPES = [np.float32, np.float64, np.int8, np.int32, np.bool_, np.complex64]
SHAPES = [(), (3,), (1,), (2, 3), (2, 1), (1, 3), (0, 3)]
ELEMENTWISE = sorted(
    n for n, p in PRIMITIVES.items()
    if p.kind == "elementwise" and p.operands and not p.params and not p.multi
    and p.module != "retrograde.ops.polynomial"  # as many steps as the largest degree says
)  # fmt: skip
TWICE = sorted(set(RULES) & set(ELEMENTWISE)) * 6  # what there are rules for comes more often


@st.composite
def arrays_of(draw, shape, dtype):
    dtype = np.dtype(dtype)
    some = st.sampled_from(INTEGERS if dtype.kind in "iub" else FLOATS)
    one = draw(st.booleans())
    with np.errstate(all="ignore"):
        if one:
            return np.broadcast_to(np.asarray(draw(some), dtype), shape)
        size = int(np.prod(shape))
        real = np.array(draw(st.lists(some, min_size=size, max_size=size)), object).reshape(shape)
        made = real.astype(dtype)
        if dtype.kind == "c" and size:
            made.imag = draw(some)
        return made


def _params(draw, name, x):
    if name == "cast":
        return {"dtype": np.dtype(draw(st.sampled_from(DTYPES)))}
    if name == "reshape":
        return {"shape": draw(st.sampled_from([(x.size,), (1, *x.shape), x.shape, x.shape[::-1]]))}
    if name == "transpose":
        return {"axes": tuple(draw(st.permutations(range(x.ndim))))}
    if name == "broadcast_to":
        return {"shape": draw(st.sampled_from([x.shape, (2, *x.shape), (2, 1, *x.shape)]))}
    if name == "getitem":
        return {"index": draw(st.sampled_from([(Ellipsis,), (slice(None),) * min(x.ndim, 1), (slice(0, 1),) * x.ndim]))}
    if name == "power_by":
        return {"exponent": draw(st.sampled_from([1, 1.0, 2, 3]))}
    if name in ("amax", "amin"):
        return {"axis": (), "keepdims": True}
    return {}


@st.composite
def graphs(draw):
    """A graph, and arrays that it runs on."""
    b, arrays, at = Builder(), [], {}
    for _ in range(draw(st.integers(1, 3))):
        shape, dtype = draw(st.sampled_from(SHAPES)), draw(st.sampled_from(DTYPES))
        array = np.array(draw(arrays_of(shape, dtype)))
        at[b.input(*shape, dtype=dtype)] = array
        arrays.append(array)
    for _ in range(draw(st.integers(0, 4))):
        shape, dtype = draw(st.sampled_from(SHAPES)), draw(st.sampled_from(DTYPES))
        array = draw(arrays_of(shape, dtype))
        v = b.constant(array, dtype=dtype)
        b.constants[v] = at[v] = array
    moving = ["cast", "reshape", "transpose", "broadcast_to", "getitem", "power_by", "copy"] * 5
    for _ in range(draw(st.integers(1, 14))):
        name = draw(st.sampled_from([*ELEMENTWISE, *TWICE, *moving]))
        prim, known = PRIMITIVES[name], list(at)
        xs = [draw(st.sampled_from(known[-8:] + b.inputs)) for _ in prim.operands]
        try:
            params = _params(draw, name, xs[0])
            with np.errstate(all="ignore"):
                out = prim.op(*(at[x] for x in xs), **params)
                made = b(name, *xs, **params)
        except (TypeError, ValueError, OverflowError, ZeroDivisionError, rg.UnsupportedError, NotImplementedError):
            continue
        if made.size > 64 or (made.shape, made.dtype) != (out.shape, out.dtype):
            b.equations.pop()
            continue
        at[made] = out
    outputs = draw(st.lists(st.sampled_from(list(at)), min_size=1, max_size=4, unique=True))
    return b.graph(*outputs), arrays


def test_two_conjugates_that_both_leave_stay_two_arrays():
    b = Builder()
    x = b.input(3, dtype="complex64")
    graph, arrays = b.graph(b("real", b("conj", x)), b("conj", x)), [np.array([1 + 2j, 3j, 4], np.complex64)]
    computes_the_same(graph, [*PASSES, optimised], arrays)


@settings(max_examples=150, deadline=None)
@given(graphs())
def test_every_pass_leaves_every_bit(drawn):
    graph, arrays = drawn
    computes_the_same(graph, [*PASSES, optimised], arrays)


# ------------------------------------------------------------------------------------------ fold


def test_what_depends_on_constants_only_is_computed():
    b = Builder()
    x, two = b.input(3), b.constant([1, 2, 3])
    y = b("multiply", x, b("add", b("exp", two), b.constant(1.0)))
    after = computes_the_same(b.graph(y), [fold], [numbers(3)])
    assert names(after) == ["multiply"]


def test_a_number_takes_no_memory_however_often_it_is_repeated():
    b = Builder()
    x, one = b.input(), b.constant(1.0, (1 << 40,))
    y = b("multiply", b("getitem", b("negative", b("add", one, one)), index=(slice(0, 2),)), x)
    after = verify(fold(b.graph(y)))
    assert names(after) == ["multiply"]
    (array,) = after.constants.values()
    assert array.shape == (2,)
    assert uniform(array)
    assert array.tolist() == [-2, -2]


def test_what_would_take_much_memory_is_left_to_the_code():
    b = Builder()
    table = b.constant(np.arange(3.0))
    y = b("broadcast_to", table, shape=(MOST, 3))
    graph = b.graph(b("amax", y, **{**_sample("amax"), "axis": (0, 1), "keepdims": False}))
    assert names(fold(graph)) == ["broadcast_to", "amax"]


def _sample(name):
    return next(iter(PRIMITIVES[name].samples()))[1]


def test_an_output_that_is_a_constant_is_one_of_the_callers_own():
    b = Builder()
    b.input(3)
    c = b.constant([1, 2, 3])
    compiled = jit(lambda x: (rg.asarray([1.0, 2.0]), x))
    compiled(rg.asarray([1.0]))[0]._a[0] = 5
    assert compiled(rg.asarray([1.0]))[0].tolist() == [1, 2]
    for y in (c, b("reshape", c, shape=(3, 1)), b("add", c, c)):
        after = computes_the_same(b.graph(y), [fold, optimised], [numbers(3)])
        assert names(after) == ["copy"]


def test_what_fails_on_constants_fails_where_it_runs():
    b = Builder()
    b.input()
    y = b("cholesky", b.constant([[-1.0]]), **_sample("cholesky"))
    assert names(fold(b.graph(y))) == ["cholesky"]


# ------------------------------------------------------------------------------------------ simplify

LEFT_OUT = {
    "x * 1": lambda b, x: b("multiply", x, b.constant(1)),
    "1 * x": lambda b, x: b("multiply", b.constant(1, (2, 3)), x),
    "x / 1": lambda b, x: b("divide", x, b.constant(1)),
    "x + -0": lambda b, x: b("add", x, b.constant(-0.0)),
    "x - 0": lambda b, x: b("subtract", x, b.constant(0.0)),
    "-(-x)": lambda b, x: b("negative", b("negative", x)),
    "x ** 1": lambda b, x: b("power_by", x, exponent=1),
    "where(True)": lambda b, x: b("where", b.constant(True, dtype=bool), x, b("exp", x)),
    "where(False)": lambda b, x: b("where", b.constant(False, (2, 3), dtype=bool), b("exp", x), x),
    "cast to the same": lambda b, x: b("cast", x, dtype=np.dtype(np.float32)),
    "cast and back": lambda b, x: b("cast", b("cast", x, dtype=np.dtype(np.float64)), dtype=np.dtype(np.float32)),
    "conj": lambda b, x: b("conj", x),
    "copy": lambda b, x: b("copy", x),
    "reshape to the same": lambda b, x: b("reshape", x, shape=(2, 3)),
    "reshape and back": lambda b, x: b("reshape", b("reshape", x, shape=(6,)), shape=(2, 3)),
    "transpose and back": lambda b, x: b("transpose", b("transpose", x, axes=(1, 0)), axes=(1, 0)),
    "broadcast to the same": lambda b, x: b("broadcast_to", x, shape=(2, 3)),
}


@pytest.mark.parametrize("name", LEFT_OUT)
def test_what_changes_nothing_is_left_out(name):
    b = Builder()
    x = b.input(2, 3)
    graph = b.graph(b("sin", LEFT_OUT[name](b, x)))
    after = computes_the_same(graph, [optimised], [np.array([[0, -0.0, np.nan], [np.inf, 1e-40, -2]], np.float32)])
    assert names(after) == ["sin"]
    alone = b.graph(LEFT_OUT[name](b, x))  # its memory is the caller's, and no argument's
    computes_the_same(alone, [simplify, optimised], [numbers((2, 3))])


KEPT = {
    "x + 0": lambda b, x: b("add", x, b.constant(0.0)),
    "x - -0": lambda b, x: b("subtract", x, b.constant(-0.0)),
    "0 - x": lambda b, x: b("subtract", b.constant(0.0), x),
    "x * 0": lambda b, x: b("multiply", x, b.constant(0.0)),
    "1 / x": lambda b, x: b("divide", b.constant(1.0), x),
    "cast to fewer bits and back": lambda b, x: b("cast", b("cast", x, dtype=np.dtype("f2")), dtype=np.dtype("f4")),
    "x * 1, stretched": lambda b, x: b("multiply", x, b.constant(1.0, (4, 2, 3))),
}


@pytest.mark.parametrize("name", KEPT)
def test_what_looks_as_if_it_changed_nothing_is_kept(name):
    b = Builder()
    x = b.input(2, 3)
    graph = b.graph(b("sin", KEPT[name](b, x)))
    assert len(simplify(graph).equations) == len(graph.equations)


def test_complex_numbers_are_not_taken_for_their_parts():
    b = Builder()
    x = b.input(1, dtype=np.complex64)
    graph = b.graph(b("multiply", x, b.constant(1, dtype=np.complex64)))
    assert computes_the_same(graph, [simplify], [np.array([complex(np.inf, 1)], np.complex64)]) is graph


def test_what_is_repeated_is_not_written_out():
    b = Builder()
    x, row = b.input(2, 3), b.input(3)
    y = b("multiply", b("broadcast_to", row, shape=(2, 3)), b("add", x, b.constant(2.0, (2, 3))))
    after = computes_the_same(b.graph(y), [optimised], [numbers((2, 3)), numbers(3)])
    assert names(after) == ["add", "multiply"]
    assert [a.shape for a in after.constants.values()] == [()]


def test_the_sum_of_a_repeated_array_is_a_product():
    b = Builder()
    x = b.input(3)
    y = b("sum", b("broadcast_to", x, shape=(5, 3)), **{**_sample("sum"), "axis": (0,), "keepdims": False})
    after = optimised(b.graph(y))
    assert names(after) == ["multiply"]
    np.testing.assert_array_equal(after.run(np.array([1, 2, np.inf], np.float32))[0], [5, 10, np.inf])


# ------------------------------------------------------------------------------------------ common


def test_what_is_computed_twice_is_computed_once():
    b = Builder()
    x, y = b.input(3), b.input(3)
    u, v = b("multiply", x, y), b("multiply", y, x)
    after = computes_the_same(b.graph(b("subtract", b("exp", u), b("exp", v))), [optimised], [numbers(3), numbers(3, 1)])
    assert names(after) == ["multiply", "exp", "subtract"]


def test_parameters_tell_equations_apart():
    b = Builder()
    x = b.input(3)
    y = b("add", b("power_by", x, exponent=2), b("power_by", x, exponent=2.0))
    assert len(common(b.graph(y)).equations) == 3


def test_results_of_several_outputs_are_told_apart():
    b = Builder()
    x = b.input(2)
    first, second = b("unstack", x, **_sample("unstack"))
    other, last = b("unstack", b("exp", x), **_sample("unstack"))
    y = b("subtract", b("subtract", first, second), b("subtract", other, last))
    computes_the_same(b.graph(y), [optimised], [numbers(2)])


def test_two_outputs_are_two_arrays():
    b = Builder()
    x = b.input(3)
    graph = b.graph(b("exp", x), b("exp", x))
    first, second = computes_the_same(graph, [common, optimised], [numbers(3)]).run(numbers(3))
    assert not np.shares_memory(first, second)


def test_two_draws_are_two():
    first, second = jit(lambda x: (torch.rand(3) + x, torch.rand(3) + x))(torch.zeros(3))
    assert first.tolist() != second.tolist()


# ------------------------------------------------------------------------------------------ dead, and all


def test_what_nothing_depends_on_is_left_out():
    b = Builder()
    x = b.input(3)
    used = b("exp", x)
    b("log", b("sin", x))
    assert names(dead(b.graph(used))) == ["exp"]


def test_a_pass_that_changes_nothing_gives_the_graph_itself():
    b = Builder()
    x = b.input(3)
    graph = b.graph(b("exp", x))
    for step in [*PASSES, optimised]:
        assert step(graph) is graph


def test_views_are_known():
    """Every primitive whose result lies in an operand's memory is known to `Memory`, and lies in that of the first."""
    for name, prim in PRIMITIVES.items():
        for operands, params in prim.samples():
            out = prim.op(*operands, **params)
            for y in out if prim.multi else (out,):
                shared = [i for i, x in enumerate(operands) if x is not None and np.shares_memory(x, y)]
                assert not shared or (name in VIEWS and shared == [0]), name


def test_the_verifier_says_what_is_wrong():
    b = Builder()
    x = b.input(3)
    y = b("exp", x)
    (e,) = b.equations
    with pytest.raises(InvalidGraph, match="after fold: an output .* nothing gives"):
        verify(Graph([x], {}, [], [y]), "fold")
    with pytest.raises(InvalidGraph, match="exp takes a variable .* nothing before it gives"):
        verify(Graph([], {}, [e], [y]))
    with pytest.raises(InvalidGraph, match="exp gives a variable .* given already"):
        verify(Graph([x], {}, [e, e], [y]))
    with pytest.raises(InvalidGraph, match=r"exp gives float32\[3\] for a variable of float64\[3\]"):
        verify(Graph([x], {}, [Equation(e.prim, [x], {}, [Variable((3,), np.dtype(np.float64))])], []))


# ------------------------------------------------------------------------------------------ whole programs


def training_step():
    net = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1))
    optimiser = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)

    def step(x, y):
        optimiser.zero_grad()
        loss = ((net(x) - y) ** 2).mean()
        loss.backward()
        optimiser.step()
        return loss.detach()

    return step


WRITTEN = {
    "elementwise": lambda: jit(rg.value_and_grad(lambda x: rg.sum(rg.tanh(2 * x + 1) * rg.exp(-(x**2)) + rg.sin(x)))).lower(
        numbers(10_000)
    ),
    "hessian": lambda: jit(programs.NATIVE["hessian"]).lower(numbers(3)),
    "softmax": lambda: jit(rg.grad(lambda x: rg.sum(torch.softmax(x, -1)[:, 0]))).lower(tensor((4, 3))),
    "training step": lambda: jit(training_step()).lower(tensor((5, 4)), tensor((5, 1))),
    "dropout": lambda: jit(lambda x: torch.nn.functional.dropout(x, 0.5) * 1).lower(tensor(6)),
}


@pytest.mark.parametrize("name", WRITTEN)
def test_graphs_are_what_they_were(name, request):
    """The text of a program's graph after all passes; `--golden` writes it anew."""
    file = GOLDEN / f"{name.replace(' ', '_')}.txt"
    found = str(optimised(WRITTEN[name]().graph)) + "\n"
    if request.config.getoption("--golden"):
        file.write_text(found)
    assert found == file.read_text()

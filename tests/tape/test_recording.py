"""All ways in which an operation is recorded save alike, over the table of primitives."""

from __future__ import annotations

import functools
import importlib
import itertools
import pkgutil
from typing import Any

import numpy as np
import pytest

import retrograde as rg
import retrograde.dialects.mindspore as mindspore
import retrograde.dialects.paddle as paddle
import retrograde.dialects.torch as torch
import retrograde.ops
from retrograde._state import OPENED
from retrograde.core import value as values
from retrograde.core.bind import bind_general
from retrograde.core.level import Level
from retrograde.core.node import Node, Slot
from retrograde.core.primitive import PRIMITIVES, primitive
from retrograde.core.value import make
from retrograde.ops import structural as st
from retrograde.tape import autograd, inplace

for module in pkgutil.walk_packages(retrograde.ops.__path__, "retrograde.ops."):
    importlib.import_module(module.name)


def recorded(call: Any, operands: Any, wanted: Any, level: int = 0) -> list[str] | None:
    """Which operands and outputs the node of an operation keeps, when the operands `wanted` want a gradient."""
    given = []
    for i, x in enumerate(operands):
        if x is None:
            given.append(None)
            continue
        value = make(values.core_class, x, None, level)
        if i in wanted:
            autograd.leaf(value)
        given.append(value)
    out = call(*given)
    first = next((y for y in (out if isinstance(out, tuple) else (out,)) if y._node is not None), None)
    if first is None:
        return None
    node = first._node.node if type(first._node) is Slot else first._node
    assert type(node) is Node
    arrays = [None if x is None else id(x) for x in operands]
    outs = [id(y._a) for y in (out if isinstance(out, tuple) else (out,))]

    def told(x: Any, place: int) -> str:
        if x is None:
            return "-"
        if type(x) is tuple:
            return f"outputs {[part is not None for part in x]}"
        if place < len(arrays) and id(x) == arrays[place]:
            return "operand"
        return "output" if id(x) in outs else "other"

    return [told(x, i) for i, x in enumerate(node.saved)]


def generally(prim: Any, params: Any, *operands: Any) -> Any:
    return bind_general(prim, operands, params)


def floating(x: Any) -> bool:
    return isinstance(x, np.ndarray) and x.dtype.kind in "fc"


NAMES = [name for name, prim in PRIMITIVES.items() if prim.differentiable]


@pytest.mark.parametrize("name", NAMES)
def test_all_ways_of_recording_save_alike(name):
    prim = PRIMITIVES[name]
    for operands, params in itertools.islice(prim.samples(), 3):
        operands = tuple(None if x is None else np.asarray(x) for x in operands)
        able = [i for i, x in enumerate(operands) if floating(x)]
        for wanted in {(i,) for i in able[:4]} | {tuple(able)}:
            bind = functools.partial(prim.bind, **params)
            everyday = recorded(bind, operands, wanted)
            general = recorded(functools.partial(generally, prim, params), operands, wanted)
            with Level("a test", tape=True).open() as level:
                within = recorded(bind, operands, wanted, level.id)
            assert everyday == general == within, (wanted, params)


@pytest.mark.parametrize("name", ["add", "subtract", "multiply", "divide"])
@pytest.mark.parametrize("wanted", [(0,), (1,), (0, 1)])
def test_the_operators_of_all_dialects_save_as_bind_does(name, wanted):
    prim = PRIMITIVES[name]
    symbol = {"add": "__add__", "subtract": "__sub__", "multiply": "__mul__", "divide": "__truediv__"}[name]
    arrays = (np.ones(3, np.float32), np.ones(3, np.float32))
    expected = recorded(prim.bind, arrays, wanted)
    for cls in (values.core_class, torch.Tensor, paddle.Tensor, mindspore.Tensor):
        method = getattr(cls, symbol)

        def call(x, y, cls=cls, method=method):
            return method(make(cls, x._a, x._node), make(cls, y._a, y._node))

        assert recorded(call, arrays, wanted) == expected, cls


@pytest.mark.parametrize("name", NAMES)
def test_nothing_kept_is_kept_as_nothing(name):
    """A node that saved nothing can be pulled again; an entry per operand, all of them None, would say that it was freed."""
    prim = PRIMITIVES[name]
    for operands, params in itertools.islice(prim.samples(), 1):
        operands = tuple(None if x is None else np.asarray(x) for x in operands)
        for i in (i for i, x in enumerate(operands[:4]) if floating(x)):
            found = recorded(functools.partial(prim.bind, **params), operands, (i,))
            assert not found or set(found) != {"-"}


class _Watched(tuple):
    """Outputs that note which of them a rule takes."""

    taken: set[int]

    def __getitem__(self, key):
        self.taken.update([key % len(self)] if isinstance(key, int) else range(len(self))[key])
        return tuple.__getitem__(self, key)

    def __iter__(self):
        self.taken.update(range(len(self)))
        return tuple.__iter__(self)


# Of a loop it is the results that its derivative has asked for, which are others for each loop.
SEVERAL = [n for n in NAMES if PRIMITIVES[n].multi and PRIMITIVES[n].saves_out and PRIMITIVES[n].kind != "control"]


@pytest.mark.parametrize("name", SEVERAL)
def test_of_several_outputs_those_are_kept_that_a_rule_takes(name):
    prim = PRIMITIVES[name]
    taken: set[int] = set()
    for operands, params in prim.samples():
        if any(np.iscomplexobj(x) for x in operands if x is not None):
            continue
        out = prim.op(*operands, **params)
        gradients = tuple(np.zeros_like(x) if floating(x) else None for x in out)
        watched = _Watched(out)
        watched.taken = taken
        if prim.vjp is not None:
            prim.vjp(tuple(None if x is None else True for x in operands), gradients, watched, *operands, **params)
        else:
            for rule in filter(None, prim.vjps):
                rule(gradients, watched, *operands, **params)
    assert [i in taken for i in range(len(out))] == list(prim.used_outs or (True,) * len(out))


@pytest.mark.parametrize("f, i", [
    (lambda x: torch.std_mean(x, 0), 1), (torch.frexp, 0), (lambda x: torch.linalg.slogdet(torch.outer(x, x) + torch.eye(2)), 1),
])  # fmt: skip
@pytest.mark.parametrize("create_graph", [False, True])
def test_an_output_that_no_rule_takes_may_be_written(f, i, create_graph):
    x = torch.tensor([1.0, 2.5], requires_grad=True)
    outs = f(x)
    expected = torch.autograd.grad([y.sum() for y in f(x) if y.requires_grad], x)[0]
    outs[i].add_(1)
    found = torch.autograd.grad([y.sum() for y in outs if y.requires_grad], x, create_graph=create_graph)[0]
    assert found.tolist() == expected.tolist()
    if create_graph and found.requires_grad:
        found.sum().backward()
        assert x.grad is not None


# ------------------------------------------------------------------------------------------ joint rules


@pytest.mark.parametrize("multiply", [
    lambda a, k: torch.einsum("j,jb->b", a, k),
    lambda a, k: torch.tensordot(a, k, 1),
    lambda a, k: torch.einsum("j,jb,->b", a, k, torch.ones(())),
], ids=["einsum", "tensordot", "three operands"])  # fmt: skip
def test_a_factor_that_alone_wants_a_gradient_may_change(multiply):
    """The stages of a Runge-Kutta method are written into one array after the other, and summed with fixed weights."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    a = torch.tensor([0.5, 0.25])
    k = torch.zeros(2, 2)
    k[0] = 2 * x
    y = multiply(a, k)
    k[1] = y
    k.sum().backward()
    assert x.grad.tolist() == [3.0, 3.0]


def test_a_factor_that_the_others_gradient_takes_may_not():
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    a = torch.tensor([0.5, 0.25], requires_grad=True)
    k = torch.zeros(2, 2)
    k[0] = 2 * x
    y = torch.einsum("j,jb->b", a, k)
    k[1] = y
    with pytest.raises(RuntimeError, match="changed in place"):
        k.sum().backward()


@pytest.mark.parametrize("name,first", [
    ("solve", {"left": True, "vector": False, "check": True}), ("solve_triangular", {"upper": True, "left": True, "unit": False}),
])  # fmt: skip
def test_a_solution_may_change_where_the_matrix_is_a_constant(name, first):
    a, b = np.array([[2.0, 1.0], [0.0, 4.0]]), np.array([[2.0], [4.0]])
    assert recorded(lambda *xs: PRIMITIVES[name].bind(*xs, **first), (a, b), (1,)) == ["operand", "-", "-"]
    assert recorded(lambda *xs: PRIMITIVES[name].bind(*xs, **first), (a, b), (0,)) == ["operand", "-", "output"]


def test_a_name_that_is_no_operands_is_refused():
    prim = PRIMITIVES["solve"]
    with pytest.raises(TypeError, match="saves names 'matrix'"):
        primitive("odd", kernel=prim.kernel, vjp=prim.vjp, jvp=prim.jvp, batch=prim.batch, infer=prim.infer,
                  samples=prim.samples, saves={"out": ["matrix"]})  # fmt: skip


# ------------------------------------------------------------------------------------------ views


def _silently(f):
    with rg.no_grad():
        return f()


def _inside_grad(f):
    made = []

    def inner(z):
        with rg.no_grad():
            made.append(f())
        return (z * z).sum()

    rg.grad(inner)(rg.asarray([1.0, 2.0]))
    return made[0]


def _alike(op, given, x, when):
    """A viewer gives what `bind` and `attach` give one after the other."""

    def apart():
        out = op.prim.bind(x, **given)
        inplace.attach(out, x, ((op, tuple(given.items())),))
        return out

    want, got = when(apart), when(lambda: inplace.viewer(op)(x, *given.values()))
    np.testing.assert_array_equal(got._a, want._a)
    for field in ("_level", "_view_steps", "_view_restriction"):
        assert getattr(got, field) == getattr(want, field)
    assert got._base is want._base
    assert type(got) is type(want)
    assert type(got._node) is type(want._node)
    if type(got._node) is Node:
        assert (got._node.prim, got._node.params) == (op.prim, given)
    if got._base is not None:
        assert {id(got), id(want)} <= {id(v) for v in inplace.live_views(got._base)}


@pytest.mark.parametrize("when", [lambda f: f(), _silently, _inside_grad], ids=["recorded", "no_grad", "no_grad in grad"])
@pytest.mark.parametrize("of", [
    lambda x: x, lambda x: x[:, ::-1], lambda x: x[::-1].T, lambda x: _silently(lambda: x[:]),
], ids=["itself", "a view", "a view of a view", "a silent view"])  # fmt: skip
def test_a_viewer_remembers_what_bind_and_attach_do(when, of):
    leaf = rg.asarray([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]).requires_grad_()
    for base in (leaf, leaf * 2.0, rg.asarray([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])):
        x = of(base)
        _alike(st.reshape, {"shape": (6,)}, x, when)
        _alike(st.transpose, {"axes": (1, 0)}, x, when)
        _alike(st.broadcast_to, {"shape": (4, *x.shape)}, x, when)
        _alike(st.getitem, {"index": (1, Ellipsis)}, x, when)
        _alike(st.getitem, {"index": (slice(0, 1),)}, x, when)


def test_a_viewer_names_what_is_no_tensor():
    with pytest.raises(TypeError, match="only a tensor"):
        inplace.viewer(st.reshape)(np.ones(2), (2, 1))


def test_no_level_counts_as_open_after_an_error():
    def fails(x):
        raise KeyError("ours")

    with pytest.raises(KeyError):
        rg.grad(rg.grad(fails))(rg.asarray(1.0))
    assert not OPENED

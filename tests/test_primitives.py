"""The table of primitives, walked: every record's value, derivatives of both modes and orders, batching, shape rule.

Numerical derivatives are central differences in float64. A record's `tolerances` may hold `rtol` (default 1e-5),
`second=False` with a reason where a second derivative is not defined, `direction(d, j)` where operand j may only move
in some directions (Hermitian ones, for kernels that read one triangle), or `gauge=True` for results that are unique
only up to a choice (their samples check the shapes, and a test of its own the invariants).
"""

from __future__ import annotations

import importlib
import pkgutil

import ml_dtypes
import numpy as np
import pytest

import retrograde.compile
import retrograde.learn
import retrograde.ops
from retrograde import Tensor, UnsupportedError, vmap
from retrograde.core.aval import aval_of
from retrograde.core.batched import BatchedArray
from retrograde.core.dual import DualArray
from retrograde.core.level import Level
from retrograde.core.primitive import PRIMITIVES
from retrograde.core.specialise import _FIRST, _binding
from retrograde.core.value import Value, make
from retrograde.ops.rules import unbatch
from retrograde.tape import autograd

for package in (retrograde.ops, retrograde.learn, retrograde.compile):
    for module in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
        importlib.import_module(module.name)

CASES = [(name, i) for name in sorted(PRIMITIVES) for i, _ in enumerate(PRIMITIVES[name].samples())]
STEP = 1e-6


def case(name, i):
    prim = PRIMITIVES[name]
    operands, params = list(prim.samples())[i]
    return prim, list(operands), params


def outputs(prim, out):
    """The differentiable outputs as a list of (index, output)."""
    outs = out if prim.multi else (out,)
    return [
        (k, y)
        for k, y in enumerate(outs)
        if np.dtype(aval_of(y).dtype).kind in "fc" and (prim.diff_outs is None or prim.diff_outs[k])
    ]


def pattern(aval, phase):
    k = np.arange(int(np.prod(aval.shape)), dtype=float)
    a = np.sin(phase + 0.7 * k)
    if aval.dtype.kind == "c":
        a = a + 1j * np.cos(phase + 0.3 * k)
    return a.reshape(aval.shape)


def differentiable(prim, operands):
    if prim.vjp is not None:
        return [j for j, x in enumerate(operands) if x is not None and x.dtype.kind in "fc"]
    return [j for j, x in enumerate(operands) if x is not None and x.dtype.kind in "fc" and prim.vjps[j] is not None]


def direction_in(prim, operands, j, phase):
    """A fixed direction in which operand j may be moved."""
    d = pattern(aval_of(operands[j]), phase + j)
    allowed = prim.tolerances.get("direction")
    return d if allowed is None else allowed(d, j)


def real_inner(a, b):
    return float(np.sum((np.conj(a) * b).real))


def directional(f, operands, j, direction):
    """The derivative of real-valued f along `direction` in operand j, by central differences."""
    scale = STEP * max(1.0, float(np.max(np.abs(operands[j]), initial=0.0)))
    plus, minus = list(operands), list(operands)
    plus[j] = operands[j] + scale * direction
    minus[j] = operands[j] - scale * direction
    return (f(*plus) - f(*minus)) / (2 * scale)


def pulled(prim, operands, params, wanted, create_graph=False):
    """Operand tensors, and the cotangents of the wanted operands for fixed cotangents of the outputs."""
    tensors = [None if x is None else Tensor.__new__(Tensor) for x in operands]
    for j, x in enumerate(operands):
        if x is not None:
            tensors[j]._a, tensors[j]._node, tensors[j]._level = x, None, 0
            if j in wanted:
                tensors[j].requires_grad_()
    out = prim.op(*tensors, **params)
    ys = [y for _, y in outputs(prim, out) if y._node is not None]
    seeds = [make(Tensor, pattern(aval_of(y), 1.0 + k)) for k, y in enumerate(ys)]
    if create_graph:
        for s in seeds:
            s.requires_grad_()
    if not ys:
        return tensors, seeds, [None] * len(wanted)
    grads = autograd.grad(
        ys, [tensors[j] for j in wanted], seeds, allow_unused=True, create_graph=create_graph, materialize_grads=False
    )
    return tensors, seeds, list(grads)


@pytest.mark.parametrize("name,i", CASES)
def test_value_and_shape_rule(name, i):
    prim, operands, params = case(name, i)
    out = prim.op(*operands, **params)
    outs = out if prim.multi else (out,)
    assert all(type(y) is np.ndarray for y in outs)
    if prim.kind == "data_dependent":
        with pytest.raises(UnsupportedError, match="depends on values"):
            prim.infer([None if x is None else aval_of(x) for x in operands], params)
        return
    inferred = prim.infer([None if x is None else aval_of(x) for x in operands], params)
    inferred = inferred if prim.multi else (inferred,)
    assert [(tuple(a.shape), np.dtype(a.dtype)) for a in inferred] == [(y.shape, y.dtype) for y in outs]


@pytest.mark.parametrize("half", [np.float16, ml_dtypes.bfloat16], ids=["float16", "bfloat16"])
@pytest.mark.parametrize("name,i", CASES)
def test_shape_rule_in_half_precision(name, i, half):
    """What a shape rule accepts, a kernel computes, and in the dtype that the rule says."""
    prim, operands, params = case(name, i)
    if any(x is not None and x.dtype.kind == "c" for x in operands):
        return  # no complex dtype is as short
    operands = [x.astype(half) if x is not None and x.dtype.kind == "f" else x for x in operands]
    if not any(x is not None and x.dtype == half for x in operands):
        return
    try:
        inferred = prim.infer([None if x is None else aval_of(x) for x in operands], params)
    except (TypeError, ValueError, UnsupportedError):
        return
    with np.errstate(all="ignore"):
        out = prim.op(*operands, **params)
    inferred, outs = (inferred, out) if prim.multi else ((inferred,), (out,))
    assert [(tuple(a.shape), np.dtype(a.dtype)) for a in inferred] == [(y.shape, y.dtype) for y in outs]


@pytest.mark.parametrize("name,i", CASES)
def test_first_and_second_derivatives(name, i):
    prim, operands, params = case(name, i)
    if not prim.differentiable:
        return
    wanted = differentiable(prim, operands)
    if not wanted or prim.tolerances.get("gauge"):
        return
    rtol = prim.tolerances.get("rtol", 1e-5)
    _, seeds, grads = pulled(prim, operands, params, wanted)

    def f(*xs):
        out = prim.op(*xs, **params)
        return sum(real_inner(s._a, y) for s, (_, y) in zip(seeds, outputs(prim, out)))

    for j, g in zip(wanted, grads):
        d = direction_in(prim, operands, j, 0.3)
        expected = directional(f, operands, j, d)
        actual = 0.0 if g is None else real_inner(g._a, d)
        assert actual == pytest.approx(expected, rel=rtol, abs=rtol), f"first derivative, operand {j}"
    if prim.tolerances.get("second") is False:
        return
    # Reverse over reverse: the gradient of <grads, r>, against differences of the first derivatives.
    tensors, seeds, grads = pulled(prim, operands, params, wanted, create_graph=True)
    active = [(g, make(Tensor, pattern(aval_of(g), 2.0 + k))) for k, g in enumerate(grads)
              if g is not None and g._node is not None]  # fmt: skip
    again = [None] * len(wanted)
    if active:
        again = autograd.grad(
            [g for g, _ in active], [tensors[j] for j in wanted], [r for _, r in active], allow_unused=True
        )

    def h(*xs):
        _, _, first = pulled(prim, list(xs), params, wanted)
        return sum(real_inner(pattern(aval_of(g), 2.0 + k), g._a) for k, g in enumerate(first) if g is not None)

    for j, gg in zip(wanted, again):
        d = direction_in(prim, operands, j, 0.6)
        expected = directional(h, operands, j, d)
        actual = 0.0 if gg is None else real_inner(gg._a, d)
        assert actual == pytest.approx(expected, rel=10 * rtol, abs=10 * rtol), f"second derivative, operand {j}"


@pytest.mark.parametrize("name,i", CASES)
def test_forward_mode(name, i):
    prim, operands, params = case(name, i)
    if not prim.differentiable or prim.tolerances.get("gauge"):
        return
    wanted = differentiable(prim, operands)
    rtol = prim.tolerances.get("rtol", 1e-5)
    for j in wanted:
        d = direction_in(prim, operands, j, 0.3)
        with Level("jvp").open() as level:
            duals = list(operands)
            duals[j] = make(Tensor, DualArray(operands[j], d, level.id), None, level.id)
            out = prim.op(*duals, **params)
        total = 0.0
        seeds = []
        for k, y in outputs(prim, out):
            s = pattern(aval_of(y), 1.0 + k)
            seeds.append((k, s))
            if isinstance(y._a, DualArray) and y._a.tangent is not None:
                t = y._a.tangent
                while isinstance(t, Value):
                    t = t._a
                assert tuple(np.shape(t)) == tuple(y.shape), "the tangent has the output's shape"
                total += real_inner(s, t)

        def f(*xs, seeds=seeds):
            ys = prim.op(*xs, **params)
            return sum(real_inner(s, (ys if prim.multi else (ys,))[k]) for k, s in seeds)

        expected = directional(f, operands, j, d)
        assert total == pytest.approx(expected, rel=rtol, abs=rtol), f"tangent, operand {j}"


@pytest.mark.parametrize("name,i", CASES)
def test_batching_equals_a_loop(name, i):
    prim, operands, params = case(name, i)
    if prim.tolerances.get("gauge"):
        return
    arrays = [j for j, x in enumerate(operands) if x is not None]
    if not arrays:
        return
    for chosen in [arrays] + ([[j] for j in arrays] if len(arrays) > 1 else []):
        size = 2
        stacked = list(operands)
        for j in chosen:
            x = operands[j]
            second = x * 1.01 if x.dtype.kind in "fc" else x
            stacked[j] = np.stack([x, second], axis=x.ndim)  # batch axis last, so that rules have to move it
        with Level("vmap").open() as level:
            batched = [
                make(Tensor, BatchedArray(stacked[j], operands[j].ndim, level.id), None, level.id) if j in chosen else x
                for j, x in enumerate(operands)
            ]
            out = prim.op(*batched, **params)
            outs = [unbatch(y._a, level.id, size) for y in (out if prim.multi else (out,))]
        for row in range(size):
            one = prim.op(*(x if j not in chosen else stacked[j][..., row] for j, x in enumerate(operands)), **params)
            for got, expected in zip(outs, one if prim.multi else (one,)):
                got = got._a if isinstance(got, Value) else got
                np.testing.assert_allclose(got[row], expected, rtol=1e-9, atol=1e-11)
                assert got.dtype == expected.dtype


def stacked(x, size, axis):
    """`x` and numbers near it along a batch axis; labels and flags are repeated."""
    rows = [x * (1 + 0.01 * k) if x.dtype.kind in "fc" else x for k in range(size)]
    return np.stack(rows, axis=axis)


def batched(prim, operands, params, axes):
    """`prim` under vmap, with the operands whose axis in `axes` is not None mapped."""
    chosen = [j for j, axis in enumerate(axes) if axis is not None]

    def call(*entries):
        given = list(operands)
        for j, entry in zip(chosen, entries):
            given[j] = entry
        out = prim.op(*given, **params)
        return out if prim.multi else (out,)

    return vmap(call, in_axes=tuple(axes[j] for j in chosen))(*(operands[j] for j in chosen))


@pytest.mark.parametrize("name", sorted(PRIMITIVES))
def test_batches_at_the_edges(name):
    """No element in the batch; one; two levels, each at other operands and axes, negative ones too."""
    prim = PRIMITIVES[name]
    for operands, params in prim.samples():
        shapes = [None if x is None else x.ndim for x in operands]
        if prim.tolerances.get("gauge") or prim.kind == "data_dependent" or not any(n is not None for n in shapes):
            continue
        one = prim.op(*operands, **params)
        one = one if prim.multi else (one,)
        front = [None if n is None else 0 for n in shapes]
        empty = [x if x is None else np.zeros((0, *x.shape), x.dtype) for x in operands]
        for got, expected in zip(batched(prim, empty, params, front), one):
            assert (got.shape, got.dtype) == ((0, *expected.shape), expected.dtype)
        single = [x if x is None else x[None] for x in operands]
        for got, expected in zip(batched(prim, single, params, front), one):
            np.testing.assert_allclose(np.asarray(got)[0], expected, rtol=1e-9, atol=1e-11)
        count = iter(range(len(operands)))
        outer = [None if n is None else (next(count) % 2 == 0) for n in shapes]  # every other operand at each level
        inner = [None if n is None else not at_outer for n, at_outer in zip(shapes, outer)]
        both = [
            x if x is None else stacked(x, 2, 0) if at_outer else stacked(x, 3, -1 - (j % (x.ndim + 1)))
            for j, (x, at_outer) in enumerate(zip(operands, outer))
        ]
        places = [-1 - (j % (x.ndim + 1)) if at else None for j, (x, at) in enumerate(zip(operands, inner))]
        first = [j for j, at in enumerate(outer) if at]

        def level(*entries, places=places, both=both, first=first, params=params):
            given = list(both)
            for j, entry in zip(first, entries):
                given[j] = entry
            if any(place is not None for place in places):
                return batched(prim, given, params, places)
            out = prim.op(*given, **params)
            return out if prim.multi else (out,)

        found = vmap(level)(*(both[j] for j in first))
        last = [
            x if x is None else stacked(x, 2, 0)[1] if at_outer else stacked(x, 3, 0)[2]
            for x, at_outer in zip(operands, outer)
        ]
        place = (1, 2) if any(inner) else (1,)
        wanted = prim.op(*last, **params)
        for got, expected in zip(found, wanted if prim.multi else (wanted,)):
            np.testing.assert_allclose(np.asarray(got)[place], expected, rtol=1e-9, atol=1e-11)
            assert got.dtype == expected.dtype


def test_each_function_of_a_primitive_is_written_when_it_is_called_for_what_it_is_written_for():
    functions = _binding(PRIMITIVES["sinh"])
    x = retrograde.asarray([0.5, 1.0])

    def written():
        return [name for name, function in functions.items() if function.__code__ is not _FIRST[name]]

    np.testing.assert_allclose(np.asarray(functions["bind_level"](x)), np.sinh([0.5, 1.0]))
    assert written() == []  # nothing is to be done for a level here
    np.testing.assert_allclose(np.asarray(functions["bind"](x)), np.sinh([0.5, 1.0]))
    assert written() == ["bind"]
    slope = retrograde.grad(lambda v: retrograde.sum(functions["bind_level"](v)))(x)
    np.testing.assert_allclose(np.asarray(slope), np.cosh([0.5, 1.0]))
    assert written() == ["bind", "bind_level"]

"""The table of primitives, compiled: the value of every record's samples, gradients, batches and tangents equal eager's."""

from __future__ import annotations

import importlib
import pkgutil

import numpy as np
import pytest

import retrograde as rg
import retrograde.compile
import retrograde.learn
import retrograde.ops
from retrograde import UnsupportedError
from retrograde.compile import jit
from retrograde.core.primitive import PRIMITIVES
from retrograde.core.value import Value, make

for package in (retrograde.ops, retrograde.learn, retrograde.compile):
    for module in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
        importlib.import_module(module.name)

CASES = [(name, i) for name in sorted(PRIMITIVES) for i, _ in enumerate(PRIMITIVES[name].samples())]


@pytest.fixture(autouse=True)
def verified(monkeypatch):
    monkeypatch.setenv("RETROGRADE_VERIFY", "1")


def case(name, i):
    prim = PRIMITIVES[name]
    operands, params = list(prim.samples())[i]
    return prim, [x for x in operands if x is not None], [x is not None for x in operands], params


def weighted(y, phase):
    """A real number that depends on every element of an output."""
    k = np.arange(y.size, dtype=float).reshape(y.shape)
    weights = np.sin(phase + 0.7 * k)
    if y.dtype.kind == "c":
        weights = weights + 1j * np.cos(phase + 0.3 * k)
    total = rg.sum(y * rg.asarray(weights.astype(y.dtype)))
    return rg.real(total) if y.dtype.kind == "c" else total


def whole(prim, given, there, params):
    """The function of all operands: every output, with gradients and tangents of what has some, in one compiled piece."""

    def apply(xs):
        rest = iter(xs)
        out = prim.op(*(next(rest) if is_there else None for is_there in there), **params)
        return out if prim.multi else (out,)

    smooth = [j for j, x in enumerate(given) if x.dtype.kind in "fc" and _has_rule(prim, there, j)]

    def loss(*chosen):
        xs = list(given_now[0])
        for j, x in zip(smooth, chosen, strict=True):
            xs[j] = x
        outs = [
            y for k, y in enumerate(apply(xs))
            if isinstance(y, Value) and y.dtype.kind in "fc" and (prim.diff_outs is None or prim.diff_outs[k])
        ]  # fmt: skip
        return sum((weighted(y, 1.0 + k) for k, y in enumerate(outs)), rg.asarray(0.0))

    given_now = [None]

    def f(*xs):
        results = {"value": apply(xs)}
        if prim.differentiable and smooth and not prim.tolerances.get("gauge"):
            given_now[0] = xs
            chosen = tuple(xs[j] for j in smooth)
            results["gradient"] = rg.grad(loss, argnums=tuple(range(len(smooth))))(*chosen)
            results["tangent"] = rg.jvp(lambda *cs: loss(*cs), chosen, chosen)[1]
        return results

    return f


def _has_rule(prim, there, j):
    at = [i for i, is_there in enumerate(there) if is_there][j]
    return prim.differentiable and prim.has_rule(at)


def same(got, want, name):
    got, want = (rg_leaves(x) for x in (got, want))
    assert len(got) == len(want)
    for a, b in zip(got, want, strict=True):
        assert a.dtype == b.dtype
        assert a.shape == b.shape
        np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-12, err_msg=name)


def rg_leaves(tree):
    if isinstance(tree, dict):
        return [x for v in tree.values() for x in rg_leaves(v)]
    if isinstance(tree, (tuple, list)):
        return [x for v in tree for x in rg_leaves(v)]
    return [np.asarray(tree._a if isinstance(tree, Value) else tree)]


@pytest.mark.parametrize("name,i", CASES)
def test_compiled_equals_eager(name, i):
    prim, given, there, params = case(name, i)
    if not given:
        return
    f = whole(prim, given, there, params)
    xs = [make(rg.Tensor, x) for x in given]
    if prim.kind == "data_dependent":
        with pytest.raises(UnsupportedError, match=r"test_table\.py:\d+"):
            jit(f)(*xs)
        return
    same(jit(f)(*xs), f(*xs), name)


@pytest.mark.parametrize("name,i", CASES)
def test_compiled_equals_eager_in_batches(name, i):
    prim, given, there, params = case(name, i)
    if not given or prim.tolerances.get("gauge") or prim.kind == "data_dependent":
        return

    def one(*xs):
        rest = iter(xs)
        return prim.op(*(next(rest) if is_there else None for is_there in there), **params)

    xs = [make(rg.Tensor, np.stack([x, x], axis=-1)) for x in given]
    f = rg.vmap(one, in_axes=-1)
    same(jit(f)(*xs), f(*xs), name)


@pytest.mark.parametrize("name", sorted({name for name, _ in CASES}))
def test_a_compiled_primitive_is_transformed_as_the_primitive_is(name):
    """Gradients of first and second order, tangents and batches, taken of the compiled function."""
    prim, given, there, params = case(name, 0)
    if not given or prim.tolerances.get("gauge") or prim.kind == "data_dependent":
        return
    xs = [make(rg.Tensor, x) for x in given]
    smooth = [j for j, x in enumerate(given) if x.dtype.kind in "fc" and _has_rule(prim, there, j)]

    def one(*xs):
        rest = iter(xs)
        out = prim.op(*(next(rest) if is_there else None for is_there in there), **params)
        return out if prim.multi else (out,)

    def results(f):
        def loss(*chosen):
            rest = iter(chosen)
            outs = f(*(next(rest) if j in smooth else x for j, x in enumerate(xs)))
            smoothly = prim.diff_outs or [y.dtype.kind in "fc" for y in outs]
            return sum((weighted(y, 1.0 + k) for k, y in enumerate(outs) if smoothly[k]), rg.asarray(0.0))

        def of_gradient(*chosen):
            gs = gradient(*chosen)
            return sum((rg.real(rg.sum(g * rg.conj(g))) if g.dtype.kind == "c" else rg.sum(g * g) for g in gs), rg.asarray(0.0))

        found = [rg.vmap(f, in_axes=-1)(*(make(rg.Tensor, np.stack([x, x], axis=-1)) for x in given))]
        if smooth:
            gradient = rg.grad(loss, argnums=tuple(range(len(smooth))))
            chosen = [xs[j] for j in smooth]
            found += [gradient(*chosen), rg.jvp(loss, chosen, chosen)[1]]
            if prim.tolerances.get("second") is not False:
                found.append(rg.grad(of_gradient, argnums=tuple(range(len(smooth))))(*chosen))
        return found

    same(results(jit(one)), results(one), name)

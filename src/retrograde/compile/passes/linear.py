"""`spared`: products of matrices that others give already, for a product is linear in its operands.

A derivative of a derivative multiplies by a layer's matrix again and again: forwards by W what is, up to a number for each row,
what was multiplied before, and backwards by W's transpose what is only added up in the end. Four rules leave out such products.
x, y, a and b are matrices of many rows, c is a number for each row, and t is of the result's shape.

1. (c x) W is c (x W), where x W is there.
2. (c x)ᵀ a + xᵀ b is xᵀ (c a + b).
3. The sum along a row of (a Wᵀ) t is that of a (t W), where t W is there.
4. c (a Wᵀ) + b Wᵀ is (c a + b) Wᵀ.

For the third and the fourth a product a Wᵀ is followed through all that is linear in it. It goes where each sum of it along rows
is one of the third rule, and all else of it is always beside b Wᵀ. What takes its part is left out with it.

Results are rounded in another way, with errors no larger: of the same products and sums in another order.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Hashable, Iterable
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from ...core.record import PRIMITIVES
from ..graph import Equation, Graph, Variable, uniform
from .common import common
from .dead import dead

_LEAST = 8
"""Rows and columns of the matrix from which on a product is worth some elementwise operations more."""

_LARGE = Fraction(1 << 60)
"""The numbers that matrices are multiplied with are below, and their inverses, too: they are far from the ends of any dtype."""

_DEEP = 50
"""Equations behind one another at most that are looked through for factors."""

Factors = frozenset[tuple[Hashable, int]]


class Form(NamedTuple):
    """A matrix as a product: a number, numbers for each row (variables of one column), and all other factors, with powers."""

    number: Fraction
    rows: Factors
    others: Factors

    def __mul__(self, other: Form) -> Form:  # type: ignore[override]
        number = other.number if self.number == 1 else self.number if other.number == 1 else self.number * other.number
        return Form(number, _together(self.rows, other.rows), _together(self.others, other.others))

    def over(self, other: Form) -> Form | None:
        """What is to be multiplied with the other, if numbers and rows are: nothing else is left, and nothing below."""
        if self.others != other.others or not other.number:
            return None
        rows = dict(self.rows)
        number = self.number / other.number
        if any(rows.get(v, 0) < n for v, n in other.rows) or not 1 / _LARGE < abs(number) < _LARGE:
            return None
        for v, n in other.rows:
            rows[v] -= n
        return Form(number, frozenset((v, n) for v, n in rows.items() if n), frozenset())


def _together(a: Factors, b: Factors) -> Factors:
    """The factors of both."""
    if not a or not b:
        return a or b
    found = dict(a)
    for v, n in b:
        found[v] = found.get(v, 0) + n
    return frozenset(found.items())


ONE = Form(Fraction(1), frozenset(), frozenset())


class _Rewriting:
    """A graph whose equations are being replaced: how its matrices are products, and new equations."""

    def __init__(self, graph: Graph) -> None:
        self.graph, self.constants, self.made = graph, dict(graph.constants), graph.producers()
        given = (*graph.inputs, *graph.constants, *(v for e in graph.equations for v in e.outputs))
        self.order: dict[Hashable, int] = {v: i for i, v in enumerate(given)}
        self._forms: dict[Variable, Form] = {}
        self._takers: dict[Variable, list[int]] = {}
        self.followed: dict[Equation, tuple[dict[Variable, Terms], bool]] = {}

    def takers(self, v: Variable) -> list[int]:
        """Where in the graph a variable is taken."""
        if not self._takers:
            for i, e in enumerate(self.graph.equations):
                for x in dict.fromkeys(e.inputs):
                    if x is not None:
                        self._takers.setdefault(x, []).append(i)
        return list(self._takers.get(v, ()))

    def form(self, v: Variable, deep: int = 0) -> Form:
        """A matrix, or what is stretched to one, as a product."""
        found = self._forms.get(v)
        if found is None and deep > _DEEP:
            return _other(v)
        if found is None:
            found = self._forms[v] = self._form(v, deep + 1)
        return found

    def _form(self, v: Variable, deep: int) -> Form:
        array = self.constants.get(v)
        if array is not None and uniform(array) and np.isfinite(array.flat[0]):
            return Form(Fraction(float(array.flat[0])), frozenset(), frozenset())
        e = self.made.get(v)
        name = e.prim.name if e is not None else ""
        if e is not None and all(x is not None and x.dtype == v.dtype for x in e.inputs):
            x, *rest = [x for x in e.inputs if x is not None]
            if name == "multiply":
                return self.form(x, deep) * self.form(rest[0], deep)
            if name == "scaled_product":
                scale = Form(Fraction(e.params["scale"]), frozenset(), frozenset())
                return self.form(x, deep) * self.form(rest[0], deep) * self.form(rest[1], deep) * scale
            if name == "tanh_slope":
                return self.form(x, deep) * _other(("slope", rest[0]))
            if name == "divide":
                return self.form(x, deep) * _other(("over", rest[0]))
            if name == "negative":
                return self.form(x, deep) * Form(Fraction(-1), frozenset(), frozenset())
            if name == "broadcast_to":
                return self.form(x, deep)
        if v.ndim == 2 and v.shape[1] == 1 < v.shape[0]:
            return Form(Fraction(1), frozenset({(v, 1)}), frozenset())
        root = v
        while (e := self.made.get(root)) is not None and e.prim.name == "reshape" and v.size in v.shape[-1:]:
            assert e.inputs[0] is not None
            root = e.inputs[0]
        return _other(("along rows", root) if v.size in v.shape[-1:] else v)

    def emit(self, equations: list[Equation], name: str, *inputs: Variable, like: Equation, shape: tuple[int, ...]) -> Variable:
        """A new equation's result. like: what has its dtype and its place in the program."""
        out = Variable(shape, like.outputs[0].dtype)
        params = {"axis": (1,), "keepdims": len(shape) == 2} if name == "sum" else {}
        equations.append(Equation(PRIMITIVES[name], inputs, params, [out], like.at))
        return out

    def scaled(self, equations: list[Equation], x: Variable, by: Form, like: Equation) -> Variable:
        """x with each row multiplied: by numbers first, which are few."""
        rows = sorted(by.rows, key=lambda pair: self.order[pair[0]])
        factors = [v for v, n in rows for _ in range(n) if isinstance(v, Variable)]
        if by.number != 1:
            number = Variable((), x.dtype)
            self.constants[number] = np.asarray(float(by.number), x.dtype)
            factors.insert(0, number)
        while factors:
            first = factors.pop(0)
            if factors:
                factors[0] = self.emit(equations, "multiply", first, factors[0], like=like, shape=factors[0].shape)
            else:
                x = self.emit(equations, "multiply", first, x, like=like, shape=x.shape)
        return x

    def with_equations(self, equations: Iterable[Equation]) -> Graph:
        graph = self.graph
        return dead(common(Graph(graph.inputs, self.constants, [], graph.outputs).replaced(list(equations))))


def _other(key: Hashable) -> Form:
    return Form(Fraction(1), frozenset(), frozenset({(key, 1)}))


def spared(graph: Graph) -> Graph:
    """The graph without products of matrices that others give."""
    taken = Counter(e.inputs[1] for e in graph.equations if _by_matrix(e))
    if max(taken.values(), default=0) < 2:
        return graph
    graph = _gradients_together(_rows_outside(graph))
    work = Work()
    while (fewer := _without_one(graph, work)) is not None:
        graph = fewer
    return graph


def _by_matrix(e: Equation) -> bool:
    """Whether an equation multiplies many rows by a matrix, or by its transpose."""
    if e.prim.name not in ("matmul", "project"):
        return False
    x, w = e.inputs
    return (
        x is not None and w is not None and x.ndim == w.ndim == 2 and x.dtype == w.dtype and x.dtype.char in "fd"
        and min(w.shape) >= _LEAST and x.shape[0] > 1
    )  # fmt: skip


def _rows_outside(graph: Graph) -> Graph:
    """The first rule."""
    work, equations, changed = _Rewriting(graph), list[Equation](), False
    there: dict[tuple[str, Variable | None, Factors], list[tuple[Form, Variable]]] = {}
    for e in graph.equations:
        if _by_matrix(e) and e.inputs[0] is not None:
            form, (out,) = work.form(e.inputs[0]), e.outputs
            before = there.setdefault((e.prim.name, e.inputs[1], form.others), [])
            by, first = next(((f, v) for other, v in before if (f := form.over(other)) is not None and f.number), (ONE, out))
            if first is not out and by != ONE:
                changed = True
                scaled = work.scaled(equations, first, by, e)
                last = equations.pop()
                assert last.outputs == (scaled,)
                e = Equation(last.prim, last.inputs, last.params, [out], e.at)
            else:
                before.append((form, out))
        equations.append(e)
    return work.with_equations(equations) if changed else graph


def _gradients_together(graph: Graph) -> Graph:
    """The second rule, for all summands of a sum."""
    work, uses = _Rewriting(graph), graph.uses()
    sums: dict[Variable, list[Variable]] = {}
    within: set[Variable] = set()
    for e in graph.equations:  # the summands of each sum that is no summand itself
        a, b = e.inputs if e.prim.name == "add" else (None, None)
        (out,) = e.outputs if len(e.outputs) == 1 else (None,)
        if a is None or b is None or out is None or a.shape != b.shape or a.ndim != 2 or a.dtype != b.dtype:
            continue
        sums[out] = [x for v in (a, b) for x in (sums[v] if v in sums and uses[v] == 1 else [v])]
        within.update(v for v in (a, b) if v in sums and uses[v] == 1)
    equations, changed = list[Equation](), False
    for e in graph.equations:
        found = _merged(work, sums[e.outputs[0]], uses, e) if e.outputs and e.outputs[0] in sums.keys() - within else None
        changed = changed or found is not None
        equations += [e] if found is None else found
    return work.with_equations(equations) if changed else graph


def _merged(work: _Rewriting, summands: list[Variable], uses: dict[Variable, int], e: Equation) -> list[Equation] | None:
    """A sum whose summands that are products of what has the same factors are one product."""
    left: list[Variable | tuple[Variable, Variable]] = []  # a product: its operands
    equations: list[Equation] = []
    for v in summands:
        product = work.made.get(v)
        if product is None or product.prim.name != "transposed_matmul" or uses[v] != 1 or min(v.shape) < _LEAST:
            left.append(v)
            continue
        x, a = product.inputs
        assert x is not None
        assert a is not None
        for i, other in enumerate(left):
            if not isinstance(other, tuple):
                continue
            y, b = other
            for inner, outer, first, second in ((y, x, b, a), (x, y, a, b)):
                by = work.form(outer).over(work.form(inner))
                if by is not None and by.number and first.dtype == second.dtype:
                    more = work.scaled(equations, second, by, e)
                    left[i] = inner, work.emit(equations, "add", more, first, like=e, shape=first.shape)
                    break
            else:
                continue
            break
        else:
            left.append((x, a))
    if not equations:
        return None
    shape = e.outputs[0].shape
    total: Variable | None = None
    for each in left:
        v = work.emit(equations, "transposed_matmul", *each, like=e, shape=shape) if isinstance(each, tuple) else each
        total = v if total is None else work.emit(equations, "add", total, v, like=e, shape=shape)
    last = equations.pop()
    equations.append(Equation(last.prim, last.inputs, last.params, e.outputs, e.at))
    return equations


# ------------------------------------------------------------------------------------------ a product that goes

Terms = dict[tuple[str, Form], Fraction]
"""What of a variable is made of the product: for each way ("" of its shape, "columns" a sum over the rows) and each product with
a form of number 1, how often."""


def _plus(a: Terms, b: Terms, sign: int = 1) -> Terms:
    total = dict(a)
    for key, n in b.items():
        total[key] = total.get(key, Fraction(0)) + sign * n
    return {key: n for key, n in total.items() if n}


def _times(a: Terms, form: Form) -> Terms:
    found: Terms = {}
    for (way, factors), n in a.items():
        both = factors * form
        found = _plus(found, {(way, both._replace(number=Fraction(1))): n * both.number})
    return {key: n for key, n in found.items() if n}


_TRIES = 16
"""Products that may be beside one in the fourth rule, at most, the next ones first."""

_FAR = 100
"""Variables at most that are followed from a product on."""

_MANY = 16
"""Terms of a variable at most that are followed."""


def _linear(work: _Rewriting, e: Equation, terms: dict[Variable, Terms]) -> Terms | None:
    """What the result of an equation has of the product, of which some operands have a part; None where it is not linear in it,
    or not known to be. Sums along rows are another matter."""
    (out,) = e.outputs if len(e.outputs) == 1 else (None,)
    if out is None or any(v is None or v.dtype != out.dtype for v in e.inputs):
        return None
    inputs = [v for v in e.inputs if v is not None]
    parts = [terms.get(v, {}) for v in inputs]
    having = [i for i, part in enumerate(parts) if part]
    name, (i, *more) = e.prim.name, having
    v, part = inputs[i], parts[i]
    if name in ("add", "subtract"):
        if any(inputs[j].shape != out.shape for j in having):
            return None
        found = _plus(parts[0], parts[1], -1 if name == "subtract" else 1)
        return found if len(found) <= _MANY else None
    if more:
        return None
    if name == "broadcast_to" and v.shape == out.shape:  # a product with ones
        return part
    if name == "negative":
        return _times(part, Form(Fraction(-1), frozenset(), frozenset()))
    if name == "reshape":
        return part if all(way == "columns" for way, _ in part) else None
    if name == "sum" and v.ndim == 2 and e.params["axis"] == (0,) and not any(way for way, _ in part):
        return {("columns", form): n for (_, form), n in part.items()}
    if v.ndim != 2 or v.shape != out.shape or any(way for way, _ in part):
        return None
    if name in ("tanh_slope", "divide") and i == 0:
        return _times(part, _other(("slope" if name == "tanh_slope" else "over", inputs[1])))
    if name in ("multiply", "scaled_product"):
        for j, other in enumerate(inputs):
            part = part if j == i else _times(part, work.form(other))
        return _times(part, Form(Fraction(e.params.get("scale", 1)), frozenset(), frozenset()))
    return None


class Work:
    """How many equations may still be looked at: as many as take some tenths of a second, in the largest graphs."""

    def __init__(self) -> None:
        self.left = 20000

    def done(self, equations: int) -> bool:
        """Note so many; whether that was too much."""
        self.left -= equations
        return self.left < 0


_LINEAR = frozenset({
    "add", "broadcast_to", "divide", "multiply", "negative", "reshape", "scaled_product", "subtract", "sum", "tanh_slope",
})  # fmt: skip
"""What `_linear` follows."""


def _towards_sums(graph: Graph) -> set[Variable]:
    """The variables that may be summed up along rows with nothing but what is linear in between."""
    found: set[Variable] = set()
    for e in reversed(graph.equations):
        if _along(e) or (e.prim.name in _LINEAR and not found.isdisjoint(e.outputs)):
            found.update(v for v in e.inputs if v is not None)
    return found


def _without_one(graph: Graph, left: Work) -> Graph | None:
    """The graph by the third and the fourth rule, without one product; None where no product goes."""
    near = _towards_sums(graph)
    if not near:
        return None
    work = _Rewriting(graph)
    products = [e for e in graph.equations if _by_matrix(e)]
    for i, e in enumerate(products):
        if e.outputs[0] not in near or e.outputs[0] in graph.outputs:
            continue
        turned = [q for q in products if q.inputs[1] is e.inputs[1] and q.prim is not e.prim]
        if not turned:
            continue
        terms, summed = _followed(work, e)
        if left.done(len(terms)):
            return None
        if not summed:
            continue
        alike = [p for p in products[i + 1 :] if p.inputs[1] is e.inputs[1] and p.prim is e.prim]
        for beside in (None, *alike[:_TRIES]):
            if left.done(len(graph.equations) // 8):
                return None
            found = _Leaving(work, e, turned, beside).graph()
            if found is not None:
                return found
    return None


def _followed(work: _Rewriting, product: Equation) -> tuple[dict[Variable, Terms], bool]:
    """What is linear in a product, and how; and whether any of it is summed up along the rows."""
    if product not in work.followed:
        terms: dict[Variable, Terms] = {product.outputs[0]: {("", ONE): Fraction(1)}}
        waiting, done, summed = work.takers(product.outputs[0]), -1, False
        heapq.heapify(waiting)
        while waiting and len(terms) < _FAR:
            if (i := heapq.heappop(waiting)) == done:
                continue
            done, e = i, work.graph.equations[i]
            summed = summed or _along(e)
            part = _linear(work, e, terms)
            if part:
                terms[e.outputs[0]] = part
                for j in work.takers(e.outputs[0]):
                    heapq.heappush(waiting, j)
        work.followed[product] = terms, summed
    return work.followed[product]


def _along(e: Equation) -> bool:
    """Whether an equation sums up along rows."""
    return e.prim.name == "sum" and e.params["axis"] == (1,)


class _Leaving:
    """A product that is to go: what else there is of each variable that it has a part in.

    turned: products by the transposed matrix, for the third rule. beside: the product of the fourth.
    """

    def __init__(self, work: _Rewriting, product: Equation, turned: list[Equation], beside: Equation | None) -> None:
        self.work, self.product, self.beside = work, product, beside
        self.turned = turned
        self.terms: dict[Variable, Terms] = {}
        self.rest: dict[Variable, Variable | None] = {}
        """What is left of variables: None for nothing. Of those that have no part in the product, what is in their place."""
        self.equations: list[Equation] = []

    def graph(self) -> Graph | None:
        """The graph without it; None if it cannot go."""
        work, outputs = self.work, set(self.work.graph.outputs)
        by = ONE if self.beside is None else self._factor()
        if by is None:
            return None
        summed = False
        for e in work.graph.equations:
            if e is self.product:
                self.terms[e.outputs[0]], self.rest[e.outputs[0]] = {("", ONE): Fraction(1)}, None
                continue
            having = any(self.terms.get(v) for v in e.inputs if v is not None)
            if e is self.beside:
                if having or not self._join(e, by):
                    return None
                continue
            if not having:
                self.equations.append(e.on(self._rests(e)) if any(v in self.rest for v in e.inputs) else e)
                continue
            along = _along(e)
            part = {} if along else _linear(work, e, self.terms)
            if part is None or (part and not outputs.isdisjoint(e.outputs)):
                return None
            if along:
                summed = True
                if not self._sum(e):
                    return None
            elif not self._left(e, part):
                return None
        return work.with_equations(self.equations) if summed else None

    def _factor(self) -> Form | None:
        """The numbers c of the fourth rule: what is beside the other product has them where that one has none."""
        assert self.beside is not None
        ours, theirs = (_followed(self.work, e)[0] for e in (self.product, self.beside))
        for v in sorted(ours.keys() & theirs.keys(), key=self.work.order.__getitem__)[:1]:
            (way, one), n = next(iter(theirs[v].items()))
            for (other, form), k in ours[v].items():
                by = form._replace(number=k).over(one._replace(number=n))
                if other == way and by is not None:
                    return by
        return None

    def _join(self, e: Equation, by: Form) -> bool:
        """The product beside it, of both operands' sum, if the numbers for it are there by then."""
        a, (b, w) = self.product.inputs[0], self._rests(e)
        assert a is not None
        assert b is not None
        if any(self.work.order[v] > self.work.order[e.outputs[0]] for v, _ in by.rows):
            return False
        scaled = self.work.scaled(self.equations, a, by, e)
        both = self.work.emit(self.equations, "add", scaled, b, like=e, shape=b.shape)
        (out,) = e.outputs
        now = Variable(out.shape, out.dtype)
        self.equations.append(Equation(e.prim, [both, w], e.params, [now], e.at))
        self.terms[out], self.rest[out] = _times({("", ONE): Fraction(-1)}, by), now
        return True

    def _left(self, e: Equation, part: Terms) -> bool:
        """Note what is left of an equation's result: the same of what is left of its operands."""
        (out,) = e.outputs
        inputs = self._rests(e)
        if part:
            self.terms[out] = part
        if None not in inputs:
            now = Variable(out.shape, out.dtype) if part else out
            self.equations.append(Equation(e.prim, inputs, e.params, [now], e.at))
        elif e.prim.name not in ("add", "subtract") or inputs == [None, None]:
            now = None
        else:
            now = inputs[0] if inputs[0] is not None else inputs[1]
            if e.prim.name == "subtract" and inputs[0] is None:
                assert now is not None
                now = self.work.emit(self.equations, "negative", now, like=e, shape=out.shape)
            if now is not None and now.shape != out.shape:
                return False
        if part or now is not out:
            self.rest[out] = now
        if part or now is None or out not in self.work.graph.outputs:
            return bool(part) or now is not None
        if now is not out:
            self.equations.append(Equation(PRIMITIVES["copy"], [now], {}, [out], e.at))
            del self.rest[out]
        return True

    def _rests(self, e: Equation) -> list[Variable | None]:
        """What is left of an equation's operands."""
        return [None if v is None else self.rest.get(v, v) for v in e.inputs]

    def _sum(self, e: Equation) -> bool:
        """The third rule: a sum along the rows."""
        (v,), (out,) = e.inputs, e.outputs
        assert v is not None
        a = self.product.inputs[0]
        assert a is not None
        total: Variable | None = None
        if (rest := self.rest[v]) is not None:
            total = self.work.emit(self.equations, "sum", rest, like=e, shape=out.shape)
        for (way, form), n in self.terms[v].items():
            wanted = form._replace(number=n)
            for q in self.turned:
                y = q.inputs[0]
                if way or y is None or self.terms.get(y) or self.work.order[q.outputs[0]] > self.work.order[out]:
                    continue
                by = wanted.over(self.work.form(y))
                if by is None or (by.rows and out.ndim == 1):
                    continue
                both = self.work.emit(self.equations, "multiply", a, q.outputs[0], like=e, shape=a.shape)
                found = self.work.emit(self.equations, "sum", both, like=e, shape=out.shape)
                found = self.work.scaled(self.equations, found, by, e)
                total = found if total is None else self.work.emit(self.equations, "add", total, found, like=e, shape=out.shape)
                break
            else:
                return False
        last = self.equations.pop()
        self.equations.append(Equation(last.prim, last.inputs, last.params, e.outputs, e.at))
        return True

"""What operations are whose results are made of pieces: concatenations, paddings, masks, gathers and what adds up by labels.

Which piece an element lies in is a case of algebra.py. Labels are whole numbers; of those that an operation refuses nothing has
to be said, since the programs have no results for them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from .meaning import Meaning, Tensor, Unknown, broadcast_shape
from .rules import END
from .terms import Index, index, plus


def _inside(m: Meaning, place: Index, n: int) -> int:
    return m.algebra.case(place, 0, n)


def _all(m: Meaning, conditions: Sequence[int]) -> int:
    found = m.algebra.number(1.0)
    for p in conditions:
        found = m.algebra.mul(found, p)
    return found


def _not(m: Meaning, p: int) -> int:
    return m.algebra.subtract(m.algebra.number(1.0), p)


def _is(m: Meaning, place: Index, other: Index) -> int:
    """1 where two indices are the same."""
    return m.algebra.case(plus((place, 1), (other, -1)), 0, 1)


def _number(n: int) -> Index:
    return (n, ())


# ------------------------------------------------------------------------------------------ pieces side by side


def _concatenate(m: Meaning, *xs: Tensor, axis: int, **_: Any) -> Tensor:
    axis %= len(xs[0].shape)
    shape = (*xs[0].shape[:axis], sum(x.shape[axis] for x in xs), *xs[0].shape[axis + 1 :])
    own, found, start = m.axes(shape), m.algebra.ZERO, 0
    for x in xs:
        place = plus((own[axis], 1), (_number(start), -1))
        part = m.at(x, [*own[:axis], place, *own[axis + 1 :]])
        found = m.algebra.add(found, m.algebra.mul(_inside(m, place, x.shape[axis]), part))
        start += x.shape[axis]
    return Tensor(shape, found)


def _stack(m: Meaning, *xs: Tensor, axis: int) -> Tensor:
    axis %= len(xs[0].shape) + 1
    shape = (*xs[0].shape[:axis], len(xs), *xs[0].shape[axis:])
    own, found = m.axes(shape), m.algebra.ZERO
    for k, x in enumerate(xs):
        part = m.at(x, [*own[:axis], *own[axis + 1 :]])
        found = m.algebra.add(found, m.algebra.mul(_is(m, own[axis], _number(k)), part))
    return Tensor(shape, found)


def _unstack(m: Meaning, x: Tensor, *, axis: int, output: int, out_shape: Any) -> Tensor:
    own = m.axes(out_shape)
    axis %= len(x.shape)
    return Tensor(tuple(out_shape), m.at(x, [*own[:axis], _number(output), *own[axis:]]))


def _pad_constant(m: Meaning, x: Tensor, *, widths: Any, value: Any) -> Tensor:
    shape = tuple(n + low + high for n, (low, high) in zip(x.shape, widths))
    places = [plus((i, 1), (_number(low), -1)) for i, (low, _) in zip(m.axes(shape), widths)]
    inside = _all(m, [_inside(m, i, n) for i, n in zip(places, x.shape)])
    around = m.algebra.mul(m.algebra.number(float(value)), _not(m, inside)) if value else m.algebra.ZERO
    return Tensor(shape, m.algebra.add(m.algebra.mul(inside, m.at(x, places)), around))


def _embed(m: Meaning, x: Tensor, *, shape: Any, index: Any) -> Tensor:
    """Zeros with x where the index says."""
    own, axis = m.axes(shape), 0
    places: list[Index] = []
    part: list[int] = []
    conditions = []
    missing = len(shape) - sum(i is not None and i is not Ellipsis for i in index)
    entries = [e for i in index for e in ([slice(None)] * missing if i is Ellipsis else [i])]
    if Ellipsis not in index:
        entries += [slice(None)] * missing
    for i in entries:
        if i is None:
            places.append(_number(0))
            part.append(1)
            continue
        n = shape[axis]
        if isinstance(i, int):
            conditions.append(_is(m, own[axis], _number(i % n)))
        else:
            start, stop, step = i.indices(n)
            if step != 1:
                raise Unknown
            place = plus((own[axis], 1), (_number(start), -1))
            part.append(max(0, stop - start))
            places.append(place)
            conditions.append(_inside(m, place, part[-1]))
        axis += 1
    places = [_number(0) if n == 1 else i for n, i in zip(x.shape, places[len(places) - len(x.shape) :])]
    return Tensor(tuple(shape), m.algebra.mul(_all(m, conditions), m.at(x, places)))


def _roll(m: Meaning, x: Tensor, *, shifts: Any, axes: Any) -> Tensor:
    for shift, axis in zip(shifts, axes):
        n = x.shape[axis]
        k = shift % n if n else 0
        if k:
            own = m.axes(x.shape)
            found = m.algebra.ZERO
            for place, start, stop in ((plus((own[axis], 1), (_number(n - k), 1)), 0, k),
                                       (plus((own[axis], 1), (_number(k), -1)), k, n)):  # fmt: skip
                part = m.at(x, [*own[:axis], place, *own[axis + 1 :]])
                found = m.algebra.add(found, m.algebra.mul(m.algebra.case(own[axis], start, stop), part))
            x = Tensor(x.shape, found)
    return x


def _flip(m: Meaning, x: Tensor, *, axes: Any) -> Tensor:
    flipped = [a % len(x.shape) for a in axes]
    places = [plus((_number(n - 1), 1), (i, -1)) if a in flipped and n > 1 else i
              for a, (n, i) in enumerate(zip(x.shape, m.axes(x.shape)))]  # fmt: skip
    return Tensor(x.shape, m.at(x, places))


def _repeat_elements(m: Meaning, x: Tensor, *, repeats: int, axis: int) -> Tensor:
    axis %= len(x.shape)
    shape = (*x.shape[:axis], x.shape[axis] * repeats, *x.shape[axis + 1 :])
    own = m.axes(shape)
    own[axis] = m.algebra.divided(own[axis], repeats)[0]
    return Tensor(shape, m.at(x, own))


def _tile(m: Meaning, x: Tensor, *, reps: Any) -> Tensor:
    inner = (*(1,) * (len(reps) - len(x.shape)), *x.shape)
    reps = (*(1,) * (len(inner) - len(reps)), *reps)
    shape = tuple(n * k for n, k in zip(inner, reps))
    places = [m.algebra.divided(i, n)[1] for i, n in zip(m.axes(shape), inner)]
    return Tensor(shape, m.at(x, places[len(inner) - len(x.shape) :]))


# ------------------------------------------------------------------------------------------ triangles


def _triangle(lower: bool) -> Callable[..., Tensor]:
    def define(m: Meaning, x: Tensor, *, k: int) -> Tensor:
        own = m.axes(x.shape)
        across = plus((own[-1], 1), (own[-2], -1))
        kept = m.algebra.case(across, -math.inf, k + 1) if lower else m.algebra.case(across, k, math.inf)
        return Tensor(x.shape, m.algebra.mul(kept, x.term))

    return define


def _diagonal(m: Meaning, x: Tensor, *, offset: int, axis1: int, axis2: int) -> Tensor:
    axis1, axis2 = axis1 % len(x.shape), axis2 % len(x.shape)
    n, k = x.shape[axis1], x.shape[axis2]
    length = max(0, min(n, k - offset) if offset >= 0 else min(n + offset, k))
    shape = (*(s for a, s in enumerate(x.shape) if a not in (axis1, axis2)), length)
    *rest, along = m.axes(shape)
    left = iter(rest)
    places = [plus((along, 1), (_number(max(0, -offset)), 1)) if a == axis1 else
              plus((along, 1), (_number(max(0, offset)), 1)) if a == axis2 else next(left)
              for a in range(len(x.shape))]  # fmt: skip
    return Tensor(shape, m.at(x, places))


def _diagonal_embed(m: Meaning, x: Tensor, *, shape: Any, offset: int, axis1: int, axis2: int) -> Tensor:
    own = m.axes(shape)
    axis1, axis2 = axis1 % len(shape), axis2 % len(shape)
    along = plus((own[axis1], 1), (_number(max(0, -offset)), -1))
    places = [i for a, i in enumerate(own) if a not in (axis1, axis2)]
    on = _is(m, plus((own[axis2], 1), (own[axis1], -1)), _number(offset))
    return Tensor(tuple(shape), m.algebra.mul(on, m.at(x, [*places, along])))


def _trace(m: Meaning, x: Tensor) -> Tensor:
    return m.reduced(_diagonal(m, x, offset=0, axis1=-2, axis2=-1), -1, False, m.algebra.sum)


def _cumsum(m: Meaning, x: Tensor, *, axis: int, reverse: bool) -> Tensor:
    own = m.axes(x.shape)
    axis %= len(x.shape)
    other = ("v", "k", x.shape[axis])
    before = plus((own[axis], 1), (index(other), -1))
    kept = m.algebra.case(before, -math.inf, 1) if reverse else m.algebra.case(before, 0, math.inf)
    part = m.at(x, [*own[:axis], index(other), *own[axis + 1 :]])
    return Tensor(x.shape, m.algebra.sum(m.algebra.mul(kept, part), other) if x.shape[axis] > 1 else x.term)


# ------------------------------------------------------------------------------------------ conditions


def _difference(m: Meaning, p: int, q: int) -> Index | None:
    """p - q where that is a whole number made of indices and labels; None for anything else."""
    found = []
    for monomial, c in m.algebra.terms[m.algebra.subtract(p, q)].items():
        if c != int(c):
            return None
        if monomial == ():
            found.append((_number(1), int(c)))
            continue
        tensor, *_ = m.algebra.factors[monomial[0][0]][1:2] or (None,)
        if len(monomial) > 1 or monomial[0][1] != 1.0 or m.algebra.factors[monomial[0][0]][0] != "at" or (
            tensor != "count" and tensor not in m.algebra.whole
        ):  # fmt: skip
            return None
        found.append((m.whole(m.algebra.term({monomial: 1.0})), int(c)))
    return plus(*found)


def compared(name: str) -> Callable[..., Tensor]:
    """A comparison: 1 where it holds. Of whole numbers it is a case; of others it is the sign of a difference."""

    def define(m: Meaning, p: int, q: int) -> int:
        apart = _difference(m, p, q)
        if apart is not None:
            found = m.algebra.case(apart, *_HOLDS[name])
        elif name == "not_equal":
            found = m.algebra.function("equal", p, q)
        elif name == "equal":
            return m.algebra.function("equal", p, q)
        else:
            off = m.algebra.subtract(p, q) if name in ("greater", "less_equal") else m.algebra.subtract(q, p)
            found = m.algebra.function("positive", off)
            return found if name in ("greater", "less") else _not(m, found)
        return _not(m, found) if name == "not_equal" else found

    return lambda m, x, y, **_: m.elementwise(lambda p, q: define(m, p, q), x, y)


_HOLDS = {"greater": (1, math.inf), "less": (-math.inf, 0), "greater_equal": (0, math.inf), "less_equal": (-math.inf, 1),
          "equal": (0, 1), "not_equal": (0, 1)}  # fmt: skip
"""Where the difference lies of two whole numbers for which a comparison holds; for the last, for which it does not."""


def _where(m: Meaning, condition: Tensor, x: Tensor, y: Tensor, **_: Any) -> Tensor:
    return m.elementwise(lambda c, p, q: chosen(m, c, p, q), condition, x, y)


def _kept(m: Meaning, x: Tensor, mask: Tensor) -> Tensor:
    return m.elementwise(lambda p, c: chosen(m, c, p, m.algebra.ZERO), x, mask)


def _dropped(m: Meaning, x: Tensor, mask: Tensor) -> Tensor:
    return m.elementwise(lambda p, c: chosen(m, c, m.algebra.ZERO, p), x, mask)


def chosen(m: Meaning, c: int, p: int, q: int) -> int:
    """p where a condition holds, q elsewhere."""
    algebra = m.algebra
    kinds = {algebra.factors[f][:2] for monomial in algebra.terms[c] for f, _ in monomial}
    if all(kind[0] == "case" for kind in kinds):
        return algebra.add(algebra.mul(c, p), algebra.mul(_not(m, c), q))
    if not any(map(algebra.infinite, (p, q))):
        signs = [c, _not(m, c)]
        for sign, yes, no in zip(signs, (p, q), (q, p)):
            terms = algebra.terms[sign]
            if len(terms) == 1 and kinds == {("function", "positive")}:
                ((monomial, k),) = terms.items()
                if k == 1.0 and len(monomial) == 1:
                    return algebra.add(no, algebra.gate(algebra.factors[monomial[0][0]][2], algebra.subtract(yes, no)))
        if all(kind[0] == "case" or kind[1] in ("positive", "equal") for kind in kinds):
            return algebra.add(q, algebra.mul(c, algebra.subtract(p, q)))
    return algebra.function("where", c, p, q)


def _logical(f: Callable[..., int]) -> Callable[..., Tensor]:
    def define(m: Meaning, *xs: Tensor, **_: Any) -> Tensor:
        if any(kind != "b" for kind in m.kinds):
            raise Unknown
        return m.elementwise(lambda *ps: f(m, *ps), *xs)

    return define


def _or(m: Meaning, p: int, q: int) -> int:
    return m.algebra.subtract(m.algebra.add(p, q), m.algebra.mul(p, q))


# ------------------------------------------------------------------------------------------ labels


def _label(m: Meaning, labels: Tensor, n: int, refused: bool) -> Index:
    """What labels name among n elements. Refused: whether the operation does not take others; else negative ones count from
    the end."""
    m.algebra.limit(labels.term, 0 if refused else -n, n)
    found = m.whole(labels.term)
    low, high = m.algebra.bounds(found)
    if low >= 0:
        return found
    if high < 0:
        return plus((found, 1), (_number(n), 1))
    return index(("value", m.algebra.function(f"{END}{n}", labels.term)))


def _one_hot(m: Meaning, labels: Tensor, *, classes: int, **_: Any) -> Tensor:
    shape = (*labels.shape, classes)
    own = m.axes(shape)
    return Tensor(shape, _is(m, own[-1], _label(m, labels, classes, True)))


def _embedding(
    m: Meaning, table: Tensor, labels: Tensor, *, padding: int | None, by_frequency: bool, weighted: bool, **_: Any
) -> Tensor:
    if by_frequency or weighted:
        raise Unknown
    label = _label(m, labels, table.shape[0], True)
    shape = (*labels.shape, *table.shape[1:])
    found = m.at(table, [label, *m.axes(shape)[len(labels.shape) :]])
    if padding is not None:  # that row gets no gradient
        here = _is(m, label, _number(padding % table.shape[0]))
        apart = m.algebra.subtract(m.algebra.stop(found), found)
        found = m.algebra.add(found, m.algebra.mul(here, apart))
    return Tensor(shape, found)


def _take(m: Meaning, x: Tensor, labels: Tensor, *, axis: int) -> Tensor:
    shape = (*x.shape[:axis], *labels.shape, *x.shape[axis + 1 :])
    own = m.axes(shape)
    places = own[axis : axis + len(labels.shape)]
    label = _label(m, Tensor(shape, m.at(labels, places)), x.shape[axis], False)
    return Tensor(shape, m.at(x, [*own[:axis], label, *own[axis + len(labels.shape) :]]))


def _take_along_axis(m: Meaning, x: Tensor, places: Tensor, *, axis: int, **_: Any) -> Tensor:
    if not places.shape or len(places.shape) != len(x.shape):
        raise Unknown
    own = m.axes(places.shape)
    own[axis] = _label(m, places, x.shape[axis], True)
    return Tensor(places.shape, m.at(x, own))


def _advanced(
    m: Meaning, shape: Sequence[int], axes: Sequence[int], labels: Sequence[Tensor]
) -> tuple[tuple[int, ...], int]:
    """The shape that index arrays have together, and where its axes come in the result."""
    if list(axes) != sorted(axes) or len(axes) != len(labels):
        raise Unknown
    together = axes[-1] - axes[0] == len(axes) - 1
    return broadcast_shape([x.shape for x in labels]), axes[0] if together else 0


def _advanced_index(m: Meaning, x: Tensor, *labels: Tensor, axes: Any, out_shape: Any, **_: Any) -> Tensor:
    lead, at = _advanced(m, x.shape, axes, labels)
    own = m.axes(out_shape)
    named = own[at : at + len(lead)]
    rest = iter([*own[:at], *own[at + len(lead) :]])
    places = {a: _label(m, Tensor(tuple(out_shape), _put(m, x, lead, named)), n, False)
              for a, x, n in zip(axes, labels, [x.shape[a] for a in axes])}  # fmt: skip
    return Tensor(tuple(out_shape), m.at(x, [places[a] if a in places else next(rest) for a in range(len(x.shape))]))


def _put(m: Meaning, x: Tensor, shape: Sequence[int], named: Sequence[Index]) -> int:
    """An element of what broadcasts to a shape, at the indices that are given for the axes of that."""
    places = [(0, ()) if n == 1 else i for n, i in zip(x.shape, named[len(shape) - len(x.shape) :])]
    return m.at(x, places)


def _added_at(
    m: Meaning, shape: Sequence[int], axes: Sequence[int], labels: Sequence[Tensor], values: Tensor
) -> tuple[int, int]:
    """What is added to each element by values at labels, and to how many of the values each element belongs."""
    lead, at = _advanced(m, shape, axes, labels)
    own = m.axes(shape)
    names = [("v", f"at {k}", n) for k, n in enumerate(lead)]
    named = [index(a) for a in names]
    rest = [own[a] for a in range(len(shape)) if a not in axes]
    part = (*[shape[a] for a in range(len(shape)) if a not in axes],)
    whole = (*part[:at], *lead, *part[at:])
    hits = _all(m, [_is(m, own[a], _label(m, Tensor(tuple(lead), _put(m, x, lead, named)), shape[a], False))
                    for a, x in zip(axes, labels)])  # fmt: skip
    value = _put(m, values, whole, [*rest[:at], *named, *rest[at:]])
    found = [m.algebra.mul(hits, value), hits]
    for atom in names:
        if atom[2] > 1:
            found = [m.algebra.sum(p, atom) for p in found]
    return found[0], found[1]


def _index_put(m: Meaning, x: Tensor, values: Tensor, *labels: Tensor, axes: Any, accumulate: bool, **_: Any) -> Tensor:
    if not accumulate:  # which of several values for one place it is depends on the labels
        raise Unknown
    added, _hits = _added_at(m, x.shape, axes, labels, values)
    return Tensor(x.shape, m.algebra.add(x.term, added))


def _advanced_add(m: Meaning, values: Tensor, *labels: Tensor, shape: Any, axes: Any, **_: Any) -> Tensor:
    return Tensor(tuple(shape), _added_at(m, shape, axes, labels, values)[0])


def _take_add(m: Meaning, values: Tensor, labels: Tensor, *, shape: Any, axis: int) -> Tensor:
    return Tensor(tuple(shape), _added_at(m, shape, (axis,), (labels,), values)[0])


def _along_add(m: Meaning, values: Tensor, labels: Tensor, *, shape: Any, axis: int) -> Tensor:
    own = m.axes(shape)
    if len(labels.shape) != len(shape) or not shape or values.shape != labels.shape:
        raise Unknown
    k = ("v", "at", labels.shape[axis])
    places = [*own[:axis], index(k), *own[axis + 1 :]]
    within = [_inside(m, i, n) for a, (i, n) in enumerate(zip(own, labels.shape)) if a != axis]
    hit = _is(m, own[axis], _label(m, Tensor(labels.shape, m.at(labels, places)), shape[axis], True))
    found = m.algebra.mul(_all(m, [hit, *within]), m.at(values, places))
    return Tensor(tuple(shape), m.algebra.sum(found, k) if k[2] > 1 else found)


def _scatter_add(m: Meaning, x: Tensor, labels: Tensor, values: Tensor, *, axis: int) -> Tensor:
    return m.plus(x, _along_add(m, values, labels, shape=x.shape, axis=axis))


# ------------------------------------------------------------------------------------------ windows


def _windows(m: Meaning, x: Tensor, places: Sequence[Index], padded: bool) -> int:
    """The elements of the last axes at places that may lie outside, where zeros are."""
    first = len(x.shape) - len(places)
    found = m.at(x, [*m.axes(x.shape[:first]), *places])
    if padded:
        found = m.algebra.mul(_all(m, [_inside(m, i, n) for i, n in zip(places, x.shape[first:])]), found)
    return found


def _reach(own: Sequence[Index], taps: Sequence[Index], stride: Any, dilation: Any, padding: Any) -> list[Index]:
    return [
        plus((i, s), (t, d), (_number(low), -1)) for i, t, s, d, (low, _) in zip(own, taps, stride, dilation, padding)
    ]


def _pairs(padding: Any) -> list[tuple[int, int]]:
    return [p if isinstance(p, tuple) else (p, p) for p in padding]


def convolve(
    m: Meaning, x: Tensor, w: Tensor, b: Tensor | None = None, *, stride: Any, padding: Any, dilation: Any, groups: int,
    out_shape: Any, output: int,
) -> Tensor:  # fmt: skip
    """A convolution: the sum over taps and channels."""
    own = m.axes(out_shape)
    taps = [("v", f"tap {k}", n) for k, n in enumerate(w.shape[2:])]
    channel = ("v", "channel", w.shape[1])
    group = m.algebra.divided(own[1], w.shape[0] // groups)[0] if groups > 1 else _number(0)
    places = _reach(own[2:], [index(t) for t in taps], stride, dilation, padding)
    inner = m.at(x, [own[0], plus((group, w.shape[1]), (index(channel), 1)), *places])
    if any(low or high for low, high in padding):
        inner = m.algebra.mul(_all(m, [_inside(m, i, n) for i, n in zip(places, x.shape[2:])]), inner)
    found = m.algebra.mul(inner, m.at(w, [own[1], index(channel), *map(index, taps)]))
    for atom in (channel, *taps):
        if atom[2] > 1:
            found = m.algebra.sum(found, atom)
    result = Tensor(tuple(out_shape), found)
    if b is None:
        return result
    return Tensor(result.shape, m.algebra.add(found, m.at(b, [own[1]])))


def _im2col(
    m: Meaning, x: Tensor, *, kernel: Any, dilation: Any, padding: Any, stride: Any, out_shape: Any, output: int
) -> Tensor:
    own = m.axes(out_shape)
    row, taps = own[1], list[Index]()
    for n in reversed(kernel):
        row, tap = m.algebra.divided(row, n)
        taps.insert(0, tap)
    pads = _pairs(padding)
    out = [(n + low + high - d * (k - 1) - 1) // s + 1
           for n, k, d, s, (low, high) in zip(x.shape[2:], kernel, dilation, stride, pads)]  # fmt: skip
    place, at = own[2], list[Index]()
    for n in reversed(out):
        place, here = m.algebra.divided(place, n)
        at.insert(0, here)
    places = _reach(at, taps, stride, dilation, pads)
    found = m.at(x, [own[0], row, *places])
    if any(low or high for low, high in pads):
        found = m.algebra.mul(_all(m, [_inside(m, i, n) for i, n in zip(places, x.shape[2:])]), found)
    return Tensor(tuple(out_shape), found)


def _sliding_windows(
    m: Meaning, x: Tensor, *, axis: int, size: int, step: int, dilation: int, out_shape: Any, output: int
) -> Tensor:
    own = m.axes(out_shape)
    axis %= len(x.shape)
    place = plus((own[axis], step), (own[-1], dilation))
    return Tensor(tuple(out_shape), m.at(x, [*own[:axis], place, *own[axis + 1 : -1]]))


def _pool(
    m: Meaning,
    x: Tensor,
    reduce: Callable[[int, Any], int],
    *,
    kernel: Any,
    stride: Any,
    padding: Any,
    out_shape: Any,
    **_: Any,
) -> int:
    places, taps = _places(m, kernel, stride, padding, out_shape)
    found = m.at(x, [*m.axes(out_shape)[: -len(kernel)], *places])
    if any(low or high for low, high in padding):
        found = m.algebra.mul(_all(m, [_inside(m, i, n) for i, n in zip(places, x.shape[-len(kernel) :])]), found)
    for atom in taps:
        if atom[2] > 1:
            found = reduce(found, atom)
    return found


def _places(m: Meaning, kernel: Any, stride: Any, padding: Any, out_shape: Any) -> tuple[list[Index], list[Any]]:
    """Where the elements of windows are, and the indices within these."""
    taps = [("v", f"tap {i}", n) for i, n in enumerate(kernel)]
    own = m.axes(out_shape)[-len(kernel) :]
    return _reach(own, [index(t) for t in taps], stride, (1,) * len(taps), padding), taps


def _avg_pool(
    m: Meaning,
    x: Tensor,
    *,
    kernel: Any,
    stride: Any,
    padding: Any,
    counted: Any,
    divisor: Any,
    out_shape: Any,
    output: int,
) -> Tensor:
    total = _pool(m, x, m.algebra.sum, kernel=kernel, stride=stride, padding=padding, out_shape=out_shape)
    count = m.algebra.number(float(divisor or 1))
    if divisor is None:
        for place, tap, n, (low, high) in zip(
            *_places(m, kernel, stride, padding, out_shape), x.shape[-len(kernel) :], counted
        ):
            inside = m.algebra.case(place, -low, n + high)
            count = m.algebra.mul(count, m.algebra.sum(inside, tap) if tap[2] > 1 else inside)
    return Tensor(tuple(out_shape), m.algebra.divide(total, count))


def _max_pool(m: Meaning, x: Tensor, *, padding: Any, dilation: Any, **options: Any) -> Tensor:
    if any(low or high for low, high in padding) or set(dilation) != {1}:
        raise Unknown
    return Tensor(tuple(options["out_shape"]), _pool(m, x, m.algebra.top, padding=padding, **options))


def _convolve_transpose(
    m: Meaning, y: Tensor, w: Tensor, b: Tensor | None = None, *, size: Any, stride: Any, padding: Any, dilation: Any,
    groups: int, out_shape: Any, output: int,
) -> Tensor:  # fmt: skip
    """Each element times the kernel, put where a convolution would have read."""
    own = m.axes(out_shape)
    taps = [("v", f"tap {k}", n) for k, n in enumerate(w.shape[2:])]
    at = [("v", f"from {k}", n) for k, n in enumerate(y.shape[2:])]
    channel = ("v", "channel", w.shape[0] // groups)
    group, column = m.algebra.divided(own[1], w.shape[1])
    reached = _reach([index(a) for a in at], [index(t) for t in taps], stride, dilation, padding)
    source = plus((group, w.shape[0] // groups), (index(channel), 1))
    found = m.algebra.mul(m.at(y, [own[0], source, *map(index, at)]), m.at(w, [source, column, *map(index, taps)]))
    found = m.algebra.mul(_all(m, [_is(m, there, here) for there, here in zip(reached, own[2:])]), found)
    for atom in (channel, *taps, *at):
        if atom[2] > 1:
            found = m.algebra.sum(found, atom)
    result = Tensor(tuple(out_shape), found)
    return result if b is None else Tensor(result.shape, m.algebra.add(found, m.at(b, [own[1]])))


def _einsum(m: Meaning, *xs: Tensor, inputs: Any, output: Any, **_: Any) -> Tensor:
    sizes: dict[Any, int] = {label: n for x, labels in zip(xs, inputs) for label, n in zip(labels, x.shape) if n != 1}
    shape = tuple(sizes.get(label, 1) for label in output)
    names: dict[Any, Any] = {label: ("v", f"label {label}", n) for label, n in sizes.items()}
    names.update((label, ("v", k, sizes[label])) for k, label in enumerate(output) if label in sizes)
    found = m.algebra.number(1.0)
    for x, labels in zip(xs, inputs):
        found = m.algebra.mul(
            found, m.at(x, [_number(0) if n == 1 else index(names[label]) for label, n in zip(labels, x.shape)])
        )
    for label, atom in names.items():
        if label not in output:
            found = m.algebra.sum(found, atom)
    return Tensor(shape, found)


PIECES: dict[str, Callable[..., Any]] = {
    "concatenate": _concatenate, "stack": _stack, "unstack": _unstack, "pad_constant": _pad_constant, "embed": _embed,
    "roll": _roll, "flip": _flip, "repeat_elements": _repeat_elements, "tile": _tile, "tril": _triangle(True),
    "triu": _triangle(False), "diagonal": _diagonal, "diagonal_embed": _diagonal_embed, "trace": _trace, "cumsum": _cumsum,
    **{name: compared(name) for name in ("greater", "less", "greater_equal", "less_equal", "equal", "not_equal")},
    "where": _where, "keep": _kept, "drop": _dropped, "logical_and": _logical(lambda m, p, q: m.algebra.mul(p, q)),
    "logical_or": _logical(_or),
    "logical_not": _logical(_not), "bitwise_and": _logical(lambda m, p, q: m.algebra.mul(p, q)), "bitwise_or": _logical(_or),
    "bitwise_not": _logical(_not), "one_hot": _one_hot, "embedding": _embedding, "take": _take,
    "take_along_axis": _take_along_axis, "advanced_index": _advanced_index, "index_put": _index_put,
    "advanced_add": _advanced_add, "take_add": _take_add, "along_add": _along_add, "scatter_add": _scatter_add,
    "convolve": convolve, "convolve_transpose": _convolve_transpose, "im2col": _im2col,
    "sliding_windows": _sliding_windows, "avg_pool": _avg_pool, "max_pool": _max_pool,
    "einsum": _einsum,
}  # fmt: skip
"""Operations by name: `f(meaning, *operands, **params)`."""

"""Einstein summation on plain arrays: reading subscripts, and contracting operands in pairs as matrix products.

Called by the kernels of the primitive `einsum` (contraction.py). Axes carry integer labels here. What is done is planned
once per shapes; how, is said by a `Standard` for any library, or by `ByNumpy`.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..backend.jit.products import batched, product

Labels = tuple[int, ...]


def parse(subscripts: str, shapes: Sequence[tuple[int, ...]]) -> tuple[tuple[Labels, ...], Labels]:
    """`labels_of` for operands of these shapes."""
    return labels_of(subscripts, tuple([len(shape) for shape in shapes]))


@functools.lru_cache(maxsize=512)
def labels_of(subscripts: str, ranks: tuple[int, ...]) -> tuple[tuple[Labels, ...], Labels]:
    """The labels of each operand's axes and of the result's, from "ij,jk->ik" notation.

    "..." stands for axes that broadcast from the right. Without "->" the result has those axes, then the letters that
    occur once in alphabetical order. Raises ValueError where the notation is wrong or does not fit the ranks.
    """
    text = subscripts.replace(" ", "")
    left, arrow, right = text.partition("->")
    terms = left.split(",")
    if len(terms) != len(ranks):
        raise ValueError(f"einsum: {subscripts!r} describes {len(terms)} operands, but {len(ranks)} were given")
    expanded = [_split(term, subscripts) for term in terms]
    hidden = [rank - len(before) - len(after) for (before, dots, after), rank in zip(expanded, ranks)]
    for (_, dots, _), n, term, rank in zip(expanded, hidden, terms, ranks):
        if n < 0 or (n > 0 and not dots):
            raise ValueError(
                f"einsum: the subscripts {term!r} do not fit an operand with {rank} axes; write one letter for each axis, or "
                '"..." for those that are left'
            )
    most = max(hidden, default=0)
    # Letters are labelled by their code points; the axes behind "..." by negative numbers, counted from the right.
    inputs = tuple(
        (*map(ord, before), *range(-n, 0), *map(ord, after)) for (before, _, after), n in zip(expanded, hidden)
    )
    if arrow:
        before, dots, after = _split(right, subscripts)
        output = (*map(ord, before), *(range(-most, 0) if dots else ()), *map(ord, after))
        known = {label for labels in inputs for label in labels}
        for label in output:
            if label not in known:
                raise ValueError(f"einsum: the result's subscript {chr(label)!r} in {subscripts!r} is no operand's")
            if output.count(label) > 1:
                raise ValueError(f"einsum: the result of {subscripts!r} has the subscript {chr(label)!r} twice")
        return inputs, output
    everything = "".join(term.replace(".", "") for term in terms)
    return inputs, (*range(-most, 0), *(ord(c) for c in sorted(set(everything)) if everything.count(c) == 1))


def _split(term: str, subscripts: str) -> tuple[str, bool, str]:
    before, dots, after = term.partition("...")
    if "." in before + after or not all(c.isascii() and c.isalpha() for c in before + after):
        raise ValueError(
            f"einsum: {subscripts!r} has something other than letters, commas, '->' and one '...' per operand"
        )
    return before, bool(dots), after


class Standard:
    """The steps of a contraction by functions of the array-API standard."""

    def __init__(self, xp: Any) -> None:
        self.xp = xp

    def diagonal(self, x: Any, a: int, b: int) -> Any:
        """The elements with equal places along two axes, along the last axis."""
        order = (*(i for i in range(x.ndim) if i not in (a, b)), a, b)
        return self.xp.linalg.diagonal(self.xp.permute_dims(x, order))

    def sum(self, x: Any, axes: tuple[int, ...]) -> Any:
        """The sum over axes, in the same dtype."""
        return self.xp.sum(x, axis=axes, dtype=x.dtype)

    def arrange(self, x: Any, order: tuple[int, ...] | None, shape: tuple[int, ...]) -> Any:
        """The axes in an order, then in a shape."""
        if order is not None:
            x = self.xp.permute_dims(x, order)
        return x if tuple(x.shape) == shape else self.xp.reshape(x, shape)

    def dots(self, x: Any, y: Any) -> Any:
        """The inner products of corresponding rows."""
        return self.xp.sum(x * y, axis=1, dtype=x.dtype)

    def product(self, x: Any, y: Any) -> Any:
        """Of matrices, or of corresponding ones of two batches."""
        return self.xp.matmul(x, y)


class ByNumpy(Standard):
    """The steps as NumPy, or generated code, does them best."""

    def diagonal(self, x: Any, a: int, b: int) -> Any:
        return np.diagonal(x, 0, a, b)

    def arrange(self, x: Any, order: tuple[int, ...] | None, shape: tuple[int, ...]) -> Any:
        if order is not None:
            x = x.transpose(order)
        return x if x.shape == shape else x.reshape(shape)

    def dots(self, x: Any, y: Any) -> Any:
        return np.einsum("nk,nk->n", x, y)  # a BLAS call per number would be slower

    def product(self, x: Any, y: Any) -> Any:
        return product(x, y) if x.ndim == 2 else batched(x, y)


NUMPY = ByNumpy(np)


def contract(ways: Standard, arrays: list[Any], inputs: Sequence[Labels], output: Labels) -> Any:
    """The einsum of arrays, which may share memory with an only one. Raises ValueError where they do not fit."""
    steps, order, shape = _plan(tuple(inputs), output, tuple([x.shape for x in arrays]))
    terms = list(arrays)
    for step in steps:
        step(ways, terms)
    out = terms[0]
    if shape is not None:
        out = ways.arrange(out, None, shape)
    return out if order is None else ways.xp.permute_dims(out, order)


Step = Callable[[Standard, list[Any]], None]


@functools.lru_cache(maxsize=512)
def _plan(inputs: tuple[Labels, ...], output: Labels, shapes: tuple[Any, ...]) -> tuple[list[Step], Any, Any]:
    """What to do with the operands in turn, then the order of the axes and the shape before it (None: as it is)."""
    sizes = label_sizes(shapes, inputs)
    steps: list[Step] = []
    terms = [_plain(steps, i, labels, shape, sizes) for i, (labels, shape) in enumerate(zip(inputs, shapes))]
    for i, labels in enumerate(terms):
        needed = set(output).union(*(other for j, other in enumerate(terms) if j != i))
        alone = tuple(axis for axis, label in enumerate(labels) if label not in needed)
        if alone:
            steps.append(functools.partial(_sum_alone, i, alone))
            terms[i] = tuple(k for k in labels if k in needed)
    while len(terms) > 1:
        i, j = _next_pair(terms, output, sizes) if len(terms) > 2 else (0, 1)
        b, a = terms.pop(j), terms.pop(i)
        needed = set(output).union(*terms)
        multiply, labels = _pair(a, b, needed, sizes)
        pair = (i, j)
        if not terms and labels != output:  # the other way round the result may come out as it is wanted, in C order
            other = _pair(b, a, needed, sizes)
            if other[1] == output:
                (multiply, labels), pair = other, (j, i)
        steps.append(functools.partial(_multiply, *pair, multiply))
        terms.append(labels)
    (labels,) = terms
    shape = None
    if set(labels) != set(output):  # axes of size 1 that broadcasting had dropped from every operand
        missing = tuple(label for label in output if label not in labels)
        shape = tuple(sizes[label] for label in (*labels, *missing))
        labels = (*labels, *missing)
    order = tuple(labels.index(label) for label in output)
    return steps, None if order == tuple(range(len(order))) else order, shape


def label_sizes(shapes: Sequence[tuple[int, ...]], inputs: Sequence[Labels]) -> dict[int, int]:
    """The size that each label stands for; an axis of size 1 broadcasts. Raises ValueError where sizes differ."""
    sizes: dict[int, int] = {}
    for shape, labels in zip(shapes, inputs):
        if len(shape) != len(labels):
            raise ValueError(f"einsum: {len(labels)} subscripts for an operand of shape {tuple(shape)}")
        for n, label in zip(shape, labels):
            have = sizes.get(label, 1)
            if n != have and n != 1 and have != 1:
                name = f"the subscript {chr(label)!r}" if label > 0 else 'an axis of "..."'
                raise ValueError(
                    f"einsum: {name} stands for axes of sizes {have} and {n}; give one of them another letter, or transpose or "
                    "reshape an operand so that they are equal"
                )
            sizes[label] = n if have == 1 else have
    return sizes


def _sum_alone(i: int, axes: tuple[int, ...], ways: Standard, terms: list[Any]) -> None:
    terms[i] = ways.sum(terms[i], axes)


def _take_diagonal(i: int, a: int, b: int, ways: Standard, terms: list[Any]) -> None:
    terms[i] = ways.diagonal(terms[i], a, b)


def _take_first(i: int, index: tuple[Any, ...], _ways: Standard, terms: list[Any]) -> None:
    terms[i] = terms[i][index]


def _multiply(i: int, j: int, multiply: Any, ways: Standard, terms: list[Any]) -> None:
    x, y = terms[i], terms[j]
    for at in sorted((i, j), reverse=True):
        del terms[at]
    terms.append(multiply(ways, x, y))


def _plain(steps: list[Step], i: int, labels: Labels, shape: tuple[int, ...], sizes: dict[int, int]) -> Labels:
    """Steps that leave operand i without repeated labels and without axes that broadcast; its labels then."""
    while len(set(labels)) < len(labels):
        label = next(k for k in labels if labels.count(k) > 1)
        a = labels.index(label)
        b = labels.index(label, a + 1)
        steps.append(functools.partial(_take_diagonal, i, a, b))
        shape = (*(n for k, n in enumerate(shape) if k not in (a, b)), min(shape[a], shape[b]))
        labels = (*(k for n, k in enumerate(labels) if n not in (a, b)), label)
    index: tuple[Any, ...] = tuple(0 if n == 1 and sizes[k] != 1 else slice(None) for n, k in zip(shape, labels))
    if 0 in index:
        steps.append(functools.partial(_take_first, i, index))
        labels = tuple(k for k, at in zip(labels, index) if at != 0)
    return labels


def _next_pair(terms: list[Labels], output: Labels, sizes: dict[int, int]) -> tuple[int, int]:
    """The pair whose product leaves the smallest array beside what it consumes; the first of equals."""
    best, cost = (0, 1), math.inf
    for i in range(len(terms)):
        for j in range(i + 1, len(terms)):
            rest = set(output).union(*(labels for k, labels in enumerate(terms) if k not in (i, j)))
            both = set(terms[i]) | set(terms[j])
            result = math.prod(sizes[k] for k in both if k in rest)
            work = math.prod(sizes[k] for k in both)
            this = result - math.prod(sizes[k] for k in terms[i]) - math.prod(sizes[k] for k in terms[j]) + work * 1e-9
            if this < cost:
                best, cost = (i, j), this
    return best


def _pair(a: Labels, b: Labels, needed: set[int], sizes: dict[int, int]) -> tuple[Any, Labels]:
    """The product of two operands, summed over what they share and nobody else needs, and its labels."""
    shared = [k for k in a if k in b]
    batch = [k for k in shared if k in needed]
    summed = [k for k in shared if k not in needed]
    left, right = [k for k in a if k not in b], [k for k in b if k not in a]
    labels = (*batch, *left, *right)
    shape = tuple(sizes[k] for k in labels)
    if not summed:
        lead = tuple(sizes[k] for k in batch)
        x = _arrangement(a, (*batch, *left), (*lead, *(sizes[k] for k in left), *(1,) * len(right)))
        y = _arrangement(b, (*batch, *right), (*lead, *(1,) * len(left), *(sizes[k] for k in right)))
        return functools.partial(_outer, x, y), labels
    n, m, k, r = (math.prod(sizes[label] for label in group) for group in (batch, left, summed, right))
    if batch and m == r == 1:
        x, y = _arrangement(a, (*batch, *left, *summed), (n, k)), _arrangement(b, (*batch, *right, *summed), (n, k))
        return functools.partial(_dots, x, y, shape), labels
    lead = (n,) if batch else ()
    # Contracted axes stay where they are when they come first (last): a transposed view is as good to the BLAS.
    first = not batch and a[: len(summed)] == tuple(summed) and bool(left)
    last = not batch and b[len(b) - len(summed) :] == tuple(summed) and bool(right)
    x = _arrangement(a, (*batch, *summed, *left) if first else (*batch, *left, *summed),
                     (*lead, k, m) if first else (*lead, m, k))  # fmt: skip
    y = _arrangement(b, (*batch, *right, *summed) if last else (*batch, *summed, *right),
                     (*lead, r, k) if last else (*lead, k, r))  # fmt: skip
    return functools.partial(_product, x, y, first, last, shape), labels


Arrangement = tuple[Any, tuple[int, ...]]


def _arrangement(labels: Labels, wanted: Labels, shape: tuple[int, ...]) -> Arrangement:
    """The order of axes (None: as they are) and the shape that an operand is brought into."""
    return None if labels == wanted else tuple(labels.index(k) for k in wanted), shape


def _outer(left: Arrangement, right: Arrangement, ways: Standard, x: Any, y: Any) -> Any:
    return ways.arrange(x, *left) * ways.arrange(y, *right)


def _dots(left: Arrangement, right: Arrangement, shape: tuple[int, ...], ways: Standard, x: Any, y: Any) -> Any:
    return ways.arrange(ways.dots(ways.arrange(x, *left), ways.arrange(y, *right)), None, shape)


def _product(
    left: Arrangement, right: Arrangement, first: bool, last: bool, shape: tuple[int, ...], ways: Standard, x: Any, y: Any
) -> Any:
    if left[0] is not None or x.shape != left[1]:  # each call takes 0.1 µs
        x = ways.arrange(x, *left)
    if right[0] is not None or y.shape != right[1]:
        y = ways.arrange(y, *right)
    if first:
        x = x.T
    if last:
        y = y.T
    out = ways.product(x, y)
    return out if out.shape == shape else ways.arrange(out, None, shape)

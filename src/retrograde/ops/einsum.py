"""Einstein summation on plain arrays: reading subscripts, and contracting operands in pairs through the BLAS.

Called by the kernel of the primitive `einsum` (contraction.py). Axes carry integer labels here.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

Labels = tuple[int, ...]


def parse(subscripts: str, shapes: Sequence[tuple[int, ...]]) -> tuple[tuple[Labels, ...], Labels]:
    """The labels of each operand's axes and of the result's, from "ij,jk->ik" notation.

    "..." stands for axes that broadcast from the right. Without "->" the result has those axes, then the letters that
    occur once in alphabetical order. Raises ValueError where the notation is wrong or does not fit the shapes.
    """
    text = subscripts.replace(" ", "")
    left, arrow, right = text.partition("->")
    terms = left.split(",")
    if len(terms) != len(shapes):
        raise ValueError(f"einsum: {subscripts!r} describes {len(terms)} operands, but {len(shapes)} were given")
    expanded = [_split(term, subscripts) for term in terms]
    hidden = [len(shape) - len(before) - len(after) for (before, dots, after), shape in zip(expanded, shapes)]
    for (_, dots, _), n, term, shape in zip(expanded, hidden, terms, shapes):
        if n < 0 or (n > 0 and not dots):
            raise ValueError(f"einsum: the subscripts {term!r} do not fit an operand of shape {shape}")
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


def contract(xp: Any, arrays: list[Any], inputs: Sequence[Labels], output: Labels, sizes: dict[int, int]) -> Any:
    """The einsum of arrays; the result is a new array."""
    original = arrays[0]
    terms = [_plain(xp, x, labels, sizes) for x, labels in zip(arrays, inputs)]
    for i, (x, labels) in enumerate(terms):
        needed = set(output).union(*(other for j, (_, other) in enumerate(terms) if j != i))
        alone = tuple(axis for axis, label in enumerate(labels) if label not in needed)
        if alone:
            terms[i] = xp.sum(x, axis=alone, dtype=x.dtype), tuple(k for k in labels if k in needed)
    while len(terms) > 1:
        i, j = _next_pair([labels for _, labels in terms], output, sizes) if len(terms) > 2 else (0, 1)
        second, first = terms.pop(j), terms.pop(i)
        needed = set(output).union(*(labels for _, labels in terms))
        terms.append(_pair(xp, *first, *second, needed, sizes))
    x, labels = terms[0]
    if set(labels) != set(output):  # axes of size 1 that broadcasting had dropped from every operand
        missing = tuple(label for label in output if label not in labels)
        x = xp.reshape(x, (*x.shape, *(sizes[label] for label in missing)))
        labels = (*labels, *missing)
    order = tuple(labels.index(label) for label in output)
    if order != tuple(range(len(order))):
        x = xp.permute_dims(x, order)
    if xp is np and len(arrays) == 1 and (x is original or np.may_share_memory(x, original)):
        x = x.copy()
    return x


def _plain(xp: Any, x: Any, labels: Labels, sizes: dict[int, int]) -> tuple[Any, Labels]:
    """An operand without repeated labels and without axes that broadcast."""
    while len(set(labels)) < len(labels):
        label = next(k for k in labels if labels.count(k) > 1)
        a = labels.index(label)
        b = labels.index(label, a + 1)
        x = xp.diagonal(x, 0, a, b)
        labels = (*(k for i, k in enumerate(labels) if i not in (a, b)), label)
    index: tuple[Any, ...] = tuple(0 if n == 1 and sizes[k] != 1 else slice(None) for n, k in zip(x.shape, labels))
    if 0 in index:
        x = x[index]
        labels = tuple(k for k, i in zip(labels, index) if i != 0)
    return x, labels


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


def _pair(
    xp: Any, x: Any, a: Labels, y: Any, b: Labels, needed: set[int], sizes: dict[int, int]
) -> tuple[Any, Labels]:
    """The product of two operands, summed over what they share and nobody else needs."""
    shared = [k for k in a if k in b]
    batch = [k for k in shared if k in needed]
    summed = [k for k in shared if k not in needed]
    left, right = [k for k in a if k not in b], [k for k in b if k not in a]
    if not summed:
        x = _arranged(xp, x, a, (*batch, *left))
        y = _arranged(xp, y, b, (*batch, *right))
        shape = tuple(sizes[k] for k in batch)
        x = xp.reshape(x, (*shape, *(sizes[k] for k in left), *(1,) * len(right)))
        y = xp.reshape(y, (*shape, *(1,) * len(left), *(sizes[k] for k in right)))
        return x * y, (*batch, *left, *right)
    n, m, k, r = (math.prod(sizes[k] for k in group) for group in (batch, left, summed, right))
    # Contracted axes stay where they are when they come first: a transposed view is as good to the BLAS.
    first = not batch and a[: len(summed)] == tuple(summed) and bool(left)
    x = _arranged(xp, x, a, (*batch, *summed, *left) if first else (*batch, *left, *summed))
    last = not batch and b[len(b) - len(summed) :] == tuple(summed) and bool(right)
    y = _arranged(xp, y, b, (*batch, *right, *summed) if last else (*batch, *summed, *right))
    if not batch:
        x = xp.reshape(x, (k, m)).T if first else xp.reshape(x, (m, k))
        y = xp.reshape(y, (r, k)).T if last else xp.reshape(y, (k, r))
        out = x.dot(y) if xp is np else xp.matmul(x, y)
    elif xp is np and m == r == 1:
        out = np.einsum("nk,nk->n", x.reshape(n, k), y.reshape(n, k))  # a BLAS call per number is slower
    else:
        out = xp.matmul(xp.reshape(x, (n, m, k)), xp.reshape(y, (n, k, r)))
    labels = (*batch, *left, *right)
    return xp.reshape(out, tuple(sizes[k] for k in labels)), labels


def _arranged(xp: Any, x: Any, labels: Labels, wanted: Labels) -> Any:
    if labels == wanted:
        return x
    return xp.permute_dims(x, tuple(labels.index(k) for k in wanted))

"""Reverse mode as a transform: vjp, grad, value_and_grad."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .._errors import GradError, ShapeError
from .._tree import flatten, unflatten
from ..backend.canonical import canonical
from ..core import value as values
from ..core.arrays import zeros_for
from ..core.level import Level
from ..core.value import Value, dtype_of, error_type, make, shape_of
from ..tape import autograd as tape
from ..tape import engine
from ._values import (
    Function,
    argument_positions,
    flatten_arguments,
    is_array,
    leave,
    leave_tree,
    output_tensor,
    replaced,
    scalar_output,
    split_aux,
)  # fmt: skip


class _Record:
    """A function recorded at a level of its own: inputs, outputs, and the pullback between them."""

    def __init__(self, name: str, f: Function, primals: Sequence[Any], has_aux: bool) -> None:
        leaves, self.in_tree = flatten_arguments(name, primals)
        self.name = name
        self.level = Level(name, tape=True)
        with self.level.open() as level:
            self.inputs: list[Any] = [make(type(x)._result, values.content(x), None, level.id) for x in leaves]
            for x in self.inputs:
                tape.leaf(x)
            out, aux = split_aux(name, f(*unflatten(self.in_tree, self.inputs)), has_aux)
            outputs, self.out_tree = flatten(out)
            self.outputs = [output_tensor(name, y) for y in outputs]
            self.aux = leave_tree(aux, level.id)
        self.raw_out = out

    def result(self) -> Any:
        """The function's result outside the level."""
        return unflatten(self.out_tree, [leave(y, self.level.id) for y in self.outputs])

    def pull(self, cotangents: Sequence[Any], retain: bool) -> list[Any]:
        """The cotangents of the inputs, zeros where an input was not used."""
        roots, seeds = [], []
        for y, g in zip(self.outputs, cotangents):
            if isinstance(y, Value) and y._level == self.level.id and y._node is not None and g is not None:
                roots.append(y._node)
                seeds.append(values.content(g) if isinstance(g, Value) else g)
        with self.level.open():
            cls = values.result_class(self.inputs)
            edges = [x._node for x in self.inputs]
            found = engine.run(
                roots, seeds, cls=cls, level=self.level.id, inputs=edges, retain_graph=retain, accumulate=False
            )
        return [zeros_for(x) if g is None else values.as_value(type(x)._result, g) for x, g in zip(self.inputs, found)]


def vjp(f: Function, *primals: Any, has_aux: bool = False) -> Any:
    """The value of `f` and its pullback: `out, pullback = vjp(f, x, y)`; `pullback(g)` gives a tuple like `(x, y)`.

    With `has_aux`, `f` returns `(out, aux)` and so three things come back. The pullback takes a cotangent with the
    structure and shapes of `out`; it can be called again, and transformed. Raises ShapeError for other shapes.

    Examples
    --------
    >>> import retrograde as rg
    >>> out, pullback = rg.vjp(lambda x: x * x, rg.asarray([1.0, 3.0]))
    >>> pullback(rg.asarray([1.0, 1.0]))[0]
    Tensor([2., 6.])
    """
    record = _Record("vjp", f, primals, has_aux)

    def pullback(*cotangents: Any, retain_graph: bool = True) -> Any:
        tree = cotangents[0] if len(cotangents) == 1 else cotangents
        given, treedef = flatten(tree)
        if treedef != record.out_tree:
            raise ValueError(f"vjp: the cotangent has structure {treedef}, the output {record.out_tree}")
        for i, (y, g) in enumerate(zip(record.outputs, given)):
            if isinstance(g, (int, float, complex, np.generic)):
                g = np.asarray(g, dtype_of(y))
            if not is_array(g):
                raise TypeError(f"vjp: a cotangent must be an array of its output's shape, got {type(g).__name__}")
            if tuple(shape_of(g)) != tuple(shape_of(y)):
                raise error_type(type(y)._result, ShapeError)(
                    f"vjp: a cotangent of shape {tuple(shape_of(g))} for an output of shape {tuple(shape_of(y))}; "
                    "they must be the same"
                )
            given[i] = canonical(g) if isinstance(g, np.ndarray) else g
        return unflatten(record.in_tree, record.pull(given, retain_graph))

    if has_aux:
        return record.result(), pullback, record.aux
    return record.result(), pullback


def value_and_grad(f: Function, argnums: int | Sequence[int] = 0, has_aux: bool = False) -> Callable[..., Any]:
    """A function that gives the value of `f` and its gradient with respect to the arguments `argnums`.

    `f` returns one real number (and an auxiliary result with `has_aux`: then the value is a pair).

    Raises GradError for another value, TypeError for arguments of integers.

    Examples
    --------
    >>> import retrograde as rg
    >>> rg.value_and_grad(lambda x: x * x)(3.0)
    (Tensor(9.), Tensor(6.))
    """
    return _differentiate("value_and_grad", f, argnums, has_aux, with_value=True)


def grad(f: Function, argnums: int | Sequence[int] = 0, has_aux: bool = False) -> Callable[..., Any]:
    """A function that gives the gradient of `f` with respect to the arguments `argnums` (and aux with `has_aux`).

    Arguments may be nested containers of arrays; the gradient has their structure and shapes. Raises GradError unless `f`
    returns one real number, TypeError for arguments of integers, which have no derivative.

    Examples
    --------
    >>> import retrograde as rg
    >>> rg.grad(rg.grad(lambda x: x * x * x))(2.0)
    Tensor(12.)
    """
    return _differentiate("grad", f, argnums, has_aux, with_value=False)


def _differentiate(
    name: str, f: Function, argnums: int | Sequence[int], has_aux: bool, *, with_value: bool
) -> Callable[..., Any]:
    @functools.wraps(f)
    def derivative(*args: Any, **kwargs: Any) -> Any:
        positions, single = argument_positions(name, argnums, len(args))
        record = _Record(
            name, lambda *chosen: f(*replaced(args, positions, chosen), **kwargs), [args[i] for i in positions], has_aux
        )
        y = scalar_output(name, record.raw_out, values.result_class(record.inputs))
        cls = type(y)._result
        if dtype_of(y).kind not in "f" and dtype_of(y).name != "bfloat16":
            raise error_type(cls, GradError)(
                f"{name}: the function returned dtype {dtype_of(y)}; a gradient is of one real number"
            )
        found = unflatten(record.in_tree, record.pull([tape.ones_like(y)], False))
        gradient = found[0] if single else found
        if with_value:
            value = record.result()
            return ((value, record.aux) if has_aux else value), gradient
        return (gradient, record.aux) if has_aux else gradient

    return derivative

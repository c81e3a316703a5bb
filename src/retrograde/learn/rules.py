"""Update rules as primitives: what an optimiser's step does to a parameter and its state, as one operation of the table.

A rule is one function over parallel columns (parameters, gradients, kinds of state) that changes NumPy's arrays in place;
`rule` and `rule_of_one` register with it, as `step`, the operation that leaves its operands as they are and gives what
they become. Its kernel is the rule itself, over a library's functions; its derivatives are those of the rule over the
operations on values. Called by the rules of this folder and, for `step`, by `bridge`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np

from ..backend import backend_of
from ..backend.dtypes import astype, dtype_in
from ..core import value as values
from ..core.arrays import zeros_for
from ..core.aval import Aval
from ..core.number import Number
from ..core.primitive import NOT_DIFFERENTIABLE, primitive
from ..core.value import Value, make
from ..ops.kernels import constant, widened
from ..ops.random import OPERAND
from ..ops.rules import batch_leading, batch_loop
from ..ops.samples import normal, sample, uniform
from ..ops.structural import cast, reshape
from ..transform.forward import jvp
from ..transform.reverse import vjp

R = TypeVar("R", bound=Callable[..., Any])
Shape = tuple[int, ...]
_DOUBLE = np.dtype(np.float64)


def rule(columns: int, **options: Any) -> Callable[[R], R]:
    """Register, by decoration, a rule on elements: `columns` in all, `options` for its samples.

    The decorated function is called with columns of one array each and gives back what they become.
    """

    def register(f: R) -> R:
        def computed(arrays: Sequence[Any], count: int, given: Any, number: Callable[[Any], Any]) -> Any:
            ((p, *states),) = f(*_columns(arrays, count), **_filled(given, arrays[count:], number))
            return tuple([x for x in (p, *states) if x is not None])

        lowered = _in_place(f)

        def kernel(xp: Any, *arrays: Any, count: int, options: tuple[tuple[str, Any], ...]) -> Any:
            if isinstance(arrays[0], np.ndarray):  # which the rule would change
                return lowered(*arrays, count=count, options=options)
            return computed(arrays, count, options, lambda x: astype(xp, x, dtype_in(xp, _DOUBLE)))

        def on_values(operands: Sequence[Any], count: int, options: Any, places: Sequence[int]) -> Callable[..., Any]:
            def call(*given: Any) -> Any:
                every = [x if x is None or isinstance(x, Value) else make(values.core_class, x) for x in operands]
                for i, x in zip(places, given):
                    every[i] = values.as_core(x)
                return computed(every, count, options, lambda x: cast(x, dtype=_DOUBLE))

            return call

        def pulled(needs: Any, g: Any, _out: Any, *operands: Any, count: int, options: Any) -> Any:
            places = [i for i, need in enumerate(needs) if need]
            outs, pull = vjp(on_values(operands, count, options, places), *(operands[i] for i in places))
            found = pull(tuple(zeros_for(y) if x is None else x for x, y in zip(g, outs)))
            cotangents: list[Any] = [None] * len(operands)
            for i, x in zip(places, found):
                cotangents[i] = x if any(isinstance(y, Value) for y in (*operands, *g)) else x._a
            return tuple(cotangents)

        def pushed(tangents: Any, _out: Any, *operands: Any, count: int, options: Any) -> Any:
            places = [i for i, t in enumerate(tangents) if t is not None]
            f_of = on_values(operands, count, options, places)
            found = jvp(f_of, [operands[i] for i in places], [tangents[i] for i in places])[1]
            raw = not any(isinstance(x, Value) for x in (*operands, *tangents))
            return tuple(x._a if raw else x for x in found)

        f.step = primitive(  # type: ignore[attr-defined]
            f"{f.__name__}_step", kernel=widened(kernel), numpy=lowered, vjp=pulled, jvp=pushed, batch=_batch,
            infer=_infer_by(f, None), samples=lambda: _samples(columns, options), multi=True, kind="composite",
        )  # fmt: skip
        return f

    return register


def rule_of_one(
    samples: Callable[[], Any], states: Callable[[Shape], Sequence[Shape]] | None = None
) -> Callable[[R], R]:
    """Register, by decoration, a rule on one parameter at a time that NumPy computes for any library; no derivative.

    states: the shapes of the kinds of state for that of a parameter (-1: any size); the parameter's, if not given.
    """

    def register(f: R) -> R:
        computed = _in_place(lambda *columns, **options: f(*(x and x[0] for x in columns), **options))

        def kernel(xp: Any, *arrays: Any, count: int, options: tuple[tuple[str, Any], ...]) -> Any:
            library = backend_of(arrays[0])
            host = [None if x is None else np.asarray(library.to_host(library.wrap(x))) for x in arrays]
            return tuple(constant(xp, x, arrays[0]) for x in computed(*host, count=count, options=options))

        f.of_one = True  # type: ignore[attr-defined]
        f.step = primitive(  # type: ignore[attr-defined]
            f"{f.__name__}_step", kernel=kernel, numpy=computed, vjps=NOT_DIFFERENTIABLE, batch=batch_loop,
            infer=_infer_by(f, states), samples=samples, multi=True,
        )  # fmt: skip
        return f

    return register


def stepped(f: Any, columns: Sequence[Any], options: dict[str, Any]) -> tuple[Any, ...]:
    """What a rule makes of a parameter, its gradient and its state (values; None where there is none): an operation.

    Options may be values, numbers of a trace, and tuples of these. What becomes of the parameter and of each state that is there
    comes back.
    """
    numbers = list[Any]()

    def wrapped(x: Any) -> Any:
        return make(values.core_class, x) if isinstance(x, np.ndarray) else x

    def fixed(x: Any) -> Any:
        if type(x) is tuple:
            return tuple(map(fixed, x))
        if not isinstance(x, Value) and type(x) is not Number:
            return x
        numbers.append(make(values.core_class, x.entered(_DOUBLE)) if type(x) is Number else reshape(x, shape=()))
        return OPERAND

    array = columns[0]._a
    if type(array) is not np.ndarray:
        rate = backend_of(array).rate
        options = {name: wrapped(rate(x, array)) if name in _RATES else x for name, x in options.items()}
    kept = tuple([(name, fixed(x)) for name, x in options.items()])
    made: tuple[Any, ...] = f.step(*columns, *numbers, count=len(columns), options=kept)
    return made


_RATES = frozenset({"lr", "step", "mu", "mu_next", "mu_product", "eta"})
"""Options that are others at every step, or may be."""


def _columns(arrays: Sequence[Any], count: int) -> list[Any]:
    return [None if x is None else [x] for x in arrays[:count]]


def _filled(options: Any, numbers: Sequence[Any], number: Callable[[Any], Any]) -> dict[str, Any]:
    given = iter(numbers)

    def filled(x: Any) -> Any:
        if type(x) is tuple:
            return tuple(map(filled, x))
        return number(next(given)) if x is OPERAND else x

    return {name: filled(x) for name, x in options}


def _in_place(f: Callable[..., Any]) -> Callable[..., Any]:
    def lowered(*arrays: Any, count: int, options: tuple[tuple[str, Any], ...]) -> Any:
        copies = [x if i == 1 or x is None else np.array(x) for i, x in enumerate(arrays[:count])]
        f(*_columns(copies, count), **_filled(options, arrays[count:], lambda x: x.item()))
        return tuple([x for i, x in enumerate(copies) if i != 1 and x is not None])

    return lowered


def _infer_by(f: Any, states: Callable[[Shape], Sequence[Shape]] | None) -> Callable[..., tuple[Aval, ...]]:
    def infer(avals: Sequence[Any], params: dict[str, Any]) -> tuple[Aval, ...]:
        count, shape = params["count"], avals[0].shape
        kept = states(shape) if states is not None else (shape,) * (count - 2)
        wanted = (shape, shape, *kept, *((),) * (len(avals) - count))
        for a, w in zip(avals, wanted):
            if a is not None and (len(a.shape) != len(w) or any(n not in (-1, m) for n, m in zip(w, a.shape))):
                raise ValueError(f"{f.__name__}: an operand of the shape {a.shape} for a parameter of {shape}, wanted {w}")
        return tuple(a for i, a in enumerate(avals[:count]) if i != 1 and a is not None)

    return infer


def _batch(op: Any, arrays: Any, dims: Any, params: dict[str, Any]) -> Any:
    alone = all(d is None for d in dims[params["count"] :])
    if not alone:
        return batch_loop(op, arrays, dims, params)
    count = params["count"]
    outs, out_dims = batch_leading(
        lambda *columns, **given: op(*columns, *arrays[count:], **given), arrays[:count], dims[:count], params
    )
    return outs, out_dims


def _samples(columns: int, options: dict[str, Any]) -> Any:
    states = [uniform(0.2, 0.9, 3, seed=i) / (1 + i) for i in range(columns - 2)]
    yield sample(normal(3), normal(3, seed=1), *states, count=columns, options=tuple(options.items()))
    if "lr" in options:
        fixed = tuple((name, OPERAND if name == "lr" else x) for name, x in options.items())
        yield sample(normal(3), normal(3, seed=1), *states, np.array(options["lr"]), count=columns, options=fixed)

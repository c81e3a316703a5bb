"""What decides over what is computed: dependencies, variants by type, functions mapped over sequences, loops."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...core.value import Value
from .._shared.control import counted, repeated, stacked
from ._api import api, row

depend = row("depend", lambda value, expr: value,
    "`value`; that `expr` has been computed before goes without saying here.", method=False)  # fmt: skip


@api("print_", method=False)
def print_(*input_x: Any) -> None:
    """Print tensors, with shape and dtype, and texts, one per line."""
    for x in input_x:
        print(repr(x) if isinstance(x, Value) else x)


tail = row("tail", lambda sequence: sequence[1:], "A tuple or list without its first element.", method=False)
switch_layer = row("switch_layer", lambda index, layers: layers[int(index)],
    "One of several cells or functions, by its place; IndexError where there is none.", method=False)  # fmt: skip


@api(method=False)
def mixed_precision_cast(dtype: Any, value: Any) -> Any:
    """The floating tensors in a value in a dtype."""
    if isinstance(value, (tuple, list)):
        return type(value)(mixed_precision_cast(dtype, part) for part in value)
    return value.astype(dtype) if isinstance(value, Value) and value.dtype.category == 2 else value


# ------------------------------------------------------------------------------------------ mapping


@api(method=False)
class MultitypeFuncGraph:
    """A function with variants by the types of its arguments: `@f.register("Tensor", "Number")`."""

    def __init__(self, name: str, read_value: bool = False) -> None:
        self.name = name
        self._variants: list[tuple[tuple[Any, ...], Callable[..., Any]]] = []

    def register(self, *type_names: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        """Decorator: the variant for arguments of these types ("Tensor", "Number", "Tuple", "List", ... )."""

        def deco(f: Callable[..., Any]) -> Callable[..., Any]:
            self._variants.append((type_names, f))
            return f

        return deco

    def __call__(self, *args: Any) -> Any:
        for types, f in reversed(self._variants):
            if len(types) == len(args) and all(_is_of(a, t) for a, t in zip(args, types)):
                return f(*args)
        raise ValueError(
            f"{self.name}: no variant for ({', '.join(type(a).__name__ for a in args)}); there are "
            f"{'; '.join(str(types) for types, _ in self._variants)}"
        )


def _is_of(x: Any, name: Any) -> bool:
    """Whether an argument is of a type as MindSpore names it."""
    text = str(name)
    known = {
        "Tensor": isinstance(x, Value), "Parameter": isinstance(x, Value), "Bool": isinstance(x, bool),
        "Number": isinstance(x, (int, float, np.number)), "Scalar": isinstance(x, (int, float, np.number)),
        "Int": isinstance(x, int) and not isinstance(x, bool), "Float": isinstance(x, float),
        "Float32": isinstance(x, float), "Int64": isinstance(x, int), "Int32": isinstance(x, int),
        "Tuple": isinstance(x, tuple), "List": isinstance(x, list), "String": isinstance(x, str),
        "None": x is None, "Function": callable(x), "Dictionary": isinstance(x, dict),
    }  # fmt: skip
    return known.get(text, False)


@api(method=False)
class HyperMap:
    """A function applied to corresponding leaves of nested tuples and lists, as tuples: `HyperMap()(f, xs, ys)`."""

    _deep = True

    def __init__(self, ops: Any = None, reverse: bool = False) -> None:
        self.ops, self.reverse = ops, reverse

    def __call__(self, *args: Any) -> Any:
        f, sequences = (args[0], args[1:]) if self.ops is None else (self.ops, args)
        if not sequences:
            raise TypeError(f"{type(self).__name__}: wanted a function and at least one sequence")
        return self._map(f, sequences, True)

    def _map(self, f: Callable[..., Any], parts: tuple[Any, ...], outermost: bool) -> Any:
        first = parts[0]
        if not isinstance(first, (tuple, list)) or not (self._deep or outermost):
            return f(*parts)
        if any(not isinstance(p, (tuple, list)) or len(p) != len(first) for p in parts):
            raise ValueError(f"{type(self).__name__}: the sequences must have one structure")
        rows = list(zip(*parts))
        out = [self._map(f, row, False) for row in (reversed(rows) if self.reverse else rows)]
        if self.reverse:
            out.reverse()
        return tuple(out)


@api(method=False)
class Map(HyperMap):
    """A function applied to corresponding elements of sequences."""

    _deep = False


@api(method=False)
class Partial:
    """`Partial()(f, *args)`: the function with its first arguments given."""

    def __call__(self, f: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        import functools

        return functools.partial(f, *args, **kwargs)


def _functions(op: str, **functions: Any) -> None:
    for name, f in functions.items():
        if not callable(f):
            raise TypeError(f"{op}: {name} must be a function, got {type(f).__name__}")


@api(method=False)
class ForiLoop:
    """`ForiLoop()(lower, upper, f, init)`: x = f(i, x) for i from lower to upper - 1, beginning with init.

    Raises TypeError for bounds that are no integers, or for what is no function.
    """

    def __call__(self, lower: Any, upper: Any, loop_func: Any, init_val: Any, unroll: bool = True) -> Any:
        _functions("ForiLoop", loop_func=loop_func)
        for bound in (lower, upper):
            if not isinstance(bound, (int, Value)) or isinstance(bound, bool):
                raise TypeError(f"ForiLoop: lower and upper must be integers, got {type(bound).__name__}")
        if isinstance(lower, int) and isinstance(upper, int):
            found = counted(loop_func, init_val, lower, upper)
            if found is not NotImplemented:
                return found
        for i in range(int(lower), int(upper)):
            init_val = loop_func(i, init_val)
        return init_val


@api(method=False)
class WhileLoop:
    """`WhileLoop()(condition, f, init)`: x = f(x) while condition(x), beginning with init."""

    def __call__(self, cond_func: Any, loop_func: Any, init_val: Any) -> Any:
        _functions("WhileLoop", cond_func=cond_func, loop_func=loop_func)
        found = repeated("WhileLoop", cond_func, loop_func, init_val)
        if found is not NotImplemented:
            return found
        while cond_func(init_val):
            init_val = loop_func(init_val)
        return init_val


@api(method=False)
class Scan:
    """`Scan()(f, init, xs)`: carry, y = f(carry, x) for each x of a list; gives the last carry and the list of the y.

    Raises TypeError for what is no function or list, ValueError where f returns no pair.
    """

    def __call__(self, loop_func: Any, init: Any, xs: Any, length: Any = None, unroll: bool = True) -> tuple[Any, list[Any]]:
        _functions("Scan", loop_func=loop_func)
        if not isinstance(xs, (list, tuple)):
            raise TypeError(f"Scan: xs must be a list or tuple, got {type(xs).__name__}")

        def turn(carry: Any, x: Any) -> Any:
            pair = loop_func(carry, x)
            if not isinstance(pair, tuple) or len(pair) != 2:
                raise ValueError("Scan: loop_func must return a pair of the carry and a result")
            return pair

        traced = stacked(turn, init, xs)
        if traced is not NotImplemented:
            return traced[0], traced[1]
        found = []
        for x in xs:
            init, y = turn(init, x)
            found.append(y)
        return init, found

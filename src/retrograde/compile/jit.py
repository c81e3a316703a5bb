"""`jit`: a function traced once for each signature of its arguments, and run as compiled code after that."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from .._state import SWITCHED, state
from .._tree import flatten, unflatten
from ..backend.canonical import canonical
from ..core import value as values
from ..core.value import Value, make
from . import log, pipeline
from .emit.shortcut import MISSED
from .guards.signature import Signature
from .trace.sizes import Axes
from .trace.trace import ACTIVE, tracing
from .versions.version import Version
from .versions.versions import SHORTCUTS, Versions, by_value, replaced, scalars_in

if TYPE_CHECKING:
    from .cost import Cost

_ARRAYS = (Value, np.ndarray, np.generic)

VERSIONS = 64
"""Versions that a function keeps; the oldest goes first."""


@overload
def jit(
    f: Callable[..., Any], *, static_argnums: int | Sequence[int] = (), static_argnames: str | Sequence[str] = (),
    dynamic: bool | None = None,
) -> Jit: ...  # fmt: skip


@overload
def jit(
    f: None = None, *, static_argnums: int | Sequence[int] = (), static_argnames: str | Sequence[str] = (),
    dynamic: bool | None = None,
) -> Callable[[Callable[..., Any]], Jit]: ...  # fmt: skip


def jit(
    f: Callable[..., Any] | None = None, *, static_argnums: int | Sequence[int] = (),
    static_argnames: str | Sequence[str] = (), dynamic: bool | None = None,
) -> Any:  # fmt: skip
    """The function compiled: at the first call with arguments of some shapes and dtypes it runs on arrays without elements, and
    what it computes, its gradients included, becomes a graph; later calls run that as generated code.

    Arguments are nested containers of arrays, tensors and Python's numbers; whatever else they hold, and what `static_argnums`
    and `static_argnames` say, is part of the signature. Numbers that vary from call to call, arguments or what the function
    finds outside, are inputs; their value is part of the signature only where it is asked for. Tensors that the function reads
    from outside are read at each call, and what it writes into them, and numbers that it stores, are written when the call has
    succeeded. NumPy's arrays from outside are constants: their elements are those that they had when the function was traced.
    While something observes each operation (`retrograde diff`, `run --nan`, `rg.watch`), the function runs as it is.

    Where calls differ in sizes, the function is traced once more, with sizes that vary, and runs for further ones without being
    traced; what asks for the value of a size, as `range` does, makes a version of each. dynamic: True for such a trace at the
    first call, False for none.

    Raises UnsupportedError where the function asks for elements, as a branch on a value does.

    Examples
    --------
    >>> import retrograde as rg
    >>> step = rg.jit(rg.value_and_grad(lambda x: rg.sum(x * x)))
    >>> step(rg.asarray([1.0, 2.0]))
    (Tensor(5.), Tensor([2., 4.]))
    """
    if f is None:
        return lambda g: jit(g, static_argnums=static_argnums, static_argnames=static_argnames, dynamic=dynamic)
    return Jit(f, static_argnums, static_argnames, dynamic)


class Jit:
    """A compiled function; see `jit`."""

    def __init__(
        self, f: Callable[..., Any], static_argnums: Any, static_argnames: Any, dynamic: bool | None = None
    ) -> None:  # fmt: skip
        functools.update_wrapper(self, f)
        self._f = f
        self._name = f"jit of {getattr(f, '__name__', type(f).__name__)}"
        self._numbers = {static_argnums} if isinstance(static_argnums, int) else set(static_argnums)
        self._names = {static_argnames} if isinstance(static_argnames, str) else set(static_argnames)
        if self._names:  # by position, too
            parameters = list(inspect.signature(f).parameters)
            self._numbers.update(parameters.index(n) for n in self._names if n in parameters)
        self._versions = Versions(dynamic)
        self._shortcuts: list[tuple[Callable[..., Any], Version]] = []

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if not (kwargs or SWITCHED or ACTIVE):
            for short, of in self._shortcuts:
                try:
                    out = short(*args)
                except Exception as problem:
                    raise of.as_eager(problem, args) from problem.__cause__
                if out is not MISSED:
                    return out
        elif tracing() or state.observed:  # part of another graph; or each operation is looked at
            return self._f(*args, **kwargs)
        found, tree = self._flattened(args, kwargs)
        leaves = _arrays(found)
        key = self._key(found, leaves, tree)
        scalars = scalars_in(found) if len(found) != len(leaves) else ()
        version = self._versions.holding(key, scalars)
        if version is None:
            self._tell(key, scalars)
            arrays = [x._a for x in leaves]
            version, reason = self._versions.of_sizes(
                key, arrays, scalars, functools.partial(self._traced, found, leaves, tree, scalars)
            )
            if version is None:
                if reason is not None:
                    with log.about(self._name):
                        log.tell("recompiles", reason)
                version = self._traced(found, leaves, tree, scalars)
            self._versions.add(key, version, VERSIONS)
        elif not (version.short or version.opaque or self._numbers or kwargs or SWITCHED) and _plain(args):
            version.short = True
            call = version.shortcut(args)
            if call is not None:
                self._shortcuts = [(call, version), *self._shortcuts[: SHORTCUTS - 1]]
        if version.opaque or (state.levels and not version.clean):  # its derivatives are what the function makes them
            return self._f(*args, **kwargs)
        return version.run(leaves, scalars, bool(state.levels))

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        return self if instance is None else functools.partial(self, instance)

    def lower(self, *args: Any, **kwargs: Any) -> Version:
        """What a call with such arguments runs: `graph`, and as `text()` the graph, what the passes make of it, and the code."""
        found, tree = self._flattened(args, kwargs)
        return self._traced(found, _arrays(found), tree, scalars_in(found))

    def cost(self, *args: Any, **kwargs: Any) -> Cost:
        """What a call with such arguments costs: floating-point operations, bytes moved, kernels and peak memory, as a table when
        it is printed.

        Examples
        --------
        >>> import retrograde as rg
        >>> found = rg.jit(lambda x, w: rg.sum(x @ w)).cost(rg.ones((2, 3)), rg.ones((3, 4)))
        >>> found.operations
        56
        """
        return pipeline.cost(self.lower(*args, **kwargs).graph)

    def _flattened(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[list[Any], Any]:
        if self._numbers or self._names:
            args = tuple([Static(x) if i in self._numbers else x for i, x in enumerate(args)])
            kwargs = {k: Static(x) if k in self._names else x for k, x in kwargs.items()}
        return flatten((args, kwargs))

    def _tell(self, key: Signature, scalars: Sequence[Any]) -> None:
        """Say why the function is traced again."""
        if self._versions and log.wanted("recompiles"):
            with log.about(self._name):
                log.tell("recompiles", f"traced again, since {'; '.join(self._versions.differences(key, scalars))}")

    def _key(self, found: list[Any], leaves: list[Any], tree: Any) -> Signature:
        """What tells calls apart that need other code, but for the values of numbers, which versions look at themselves."""
        kinds = [(type(x), x._a.shape, x._a.dtype, x._node is None, x._grad is None) for x in leaves]
        rest = [(type(x), by_value(x)) for x in found if not isinstance(x, _ARRAYS)]
        ids = [id(x) for x in leaves]
        alike = tuple(map(ids.index, ids)) if len(set(ids)) < len(ids) else None
        return Signature(tree, tuple(kinds), tuple(rest), state.mode, alike)

    def _traced(
        self, found: list[Any], leaves: list[Any], tree: Any, scalars: Sequence[Any], axes: Axes = ()
    ) -> Version:  # fmt: skip
        def given(numbers: Sequence[Any]) -> tuple[list[Any], dict[str, Any]]:
            rest = iter(leaves)
            args, kwargs = unflatten(tree, [next(rest) if isinstance(x, _ARRAYS) else x for x in replaced(found, numbers)])
            return [x.x if type(x) is Static else x for x in args], {
                k: x.x if type(x) is Static else x for k, x in kwargs.items()
            }

        roots = [self._f, *(x for x in found if not isinstance(x, _ARRAYS))]
        return Version(self._name, self._f, roots, leaves, given, scalars=scalars, varying=self._versions.varying, axes=axes)


def _arrays(found: list[Any]) -> list[Value]:
    """The tensors among the leaves of the arguments, NumPy's arrays as tensors, and after them the gradients that they have."""
    leaves = [
        x if isinstance(x, Value) else make(values.core_class, canonical(np.asarray(x))) for x in found if isinstance(x, _ARRAYS)
    ]
    return leaves + [x._grad for x in leaves if x._grad is not None]


def _plain(args: tuple[Any, ...]) -> bool:
    """Whether arguments are nothing but tensors over NumPy's memory, each another one and without a gradient."""
    if any(not isinstance(x, Value) or type(x._a) is not np.ndarray or x._level or x._grad is not None for x in args):
        return False
    return len(set(map(id, args))) == len(args)


class Static:
    """An argument that is part of the signature."""

    def __init__(self, x: Any) -> None:
        self.x = x

    def __eq__(self, other: object) -> bool:
        return type(other) is Static and type(self.x) is type(other.x) and bool(self.x == other.x)

    def __hash__(self) -> int:
        return hash(self.x)

"""Operations of the user's own, with a name, a derivative and a batching rule.

Each is recorded as a Function whose forward is the user's function: what that computes with is its own affair.
"""

from __future__ import annotations

import ast
import contextlib
import inspect
import re
from collections.abc import Callable, Sequence
from typing import Any

from ..._tree import flatten, unflatten
from ._api import attributes
from ._autocast import entered
from ._joining import stack
from ._tensor import Tensor
from .amp import autocast
from .autograd.function import Function

OPERATIONS: dict[str, dict[str, CustomOpDef]] = {}
"""The operations that programs have defined, by namespace and name; `torch.ops` offers them."""


class CustomOpDef:
    """An operation that a program has defined with `custom_op`."""

    def __init__(self, name: str, function: Callable[..., Any], mutates_args: Sequence[str]) -> None:
        self._qualname, self._init_fn = name, function
        self._mutated = frozenset(mutates_args)
        self._signature = inspect.signature(function)
        self._kernel = function
        self._backward: Callable[..., Any] | None = None
        self._setup_context: Callable[..., Any] | None = None
        self._vmap: Callable[..., Any] | None = None
        self._fake: Callable[..., Any] | None = None

    def __repr__(self) -> str:
        return f"<CustomOpDef({self._qualname})>"

    # -------------------------------------------------------------------- what belongs to it

    def register_autograd(self, backward: Callable[..., Any], /, *, setup_context: Callable[..., Any] | None = None) -> None:
        """Differentiate it by `backward(ctx, *grads)`, which returns one gradient per argument; `setup_context(ctx, inputs,
        output)` saves what that needs."""
        self._backward, self._setup_context = backward, setup_context

    def register_vmap(self, func: Callable[..., Any] | None = None) -> Any:
        """Map it over a dimension by `func(info, in_dims, *args)`, which returns the output and its mapped dimension."""
        return self._registered("_vmap", func)

    def register_fake(self, fn: Callable[..., Any] | None = None, /) -> Any:
        """Say what its output looks like; here outputs are always computed."""
        return self._registered("_fake", fn)

    def register_kernel(self, device_types: Any, func: Callable[..., Any] | None = None, /) -> Any:
        """Compute it by another function on a device; here that counts for the CPU."""
        devices = (device_types,) if isinstance(device_types, str) or device_types is None else tuple(device_types)
        return self._registered("_kernel" if {"cpu", None} & set(devices) else "_elsewhere", func)

    def _registered(self, what: str, function: Callable[..., Any] | None) -> Any:
        if function is None:
            return lambda f: self._registered(what, f)
        setattr(self, what, function)
        return function

    # -------------------------------------------------------------------- its call

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        try:
            bound = self._signature.bind(*args, **kwargs)
        except TypeError as error:
            raise RuntimeError(f"{self._qualname}: {error}") from error
        bound.apply_defaults()
        for name, parameter in self._signature.parameters.items():
            given = bound.arguments[name]
            if parameter.annotation in (Tensor, "Tensor", "torch.Tensor") and not isinstance(given, Tensor):
                raise RuntimeError(f"{self._qualname}: {name} must be a tensor, got {type(given).__name__}")
        leaves, tree = flatten((bound.args, bound.kwargs))
        return _recorded(self, tree).apply(*leaves)

    def _compute(self, leaves: Sequence[Any], tree: Any) -> Any:
        args, kwargs = unflatten(tree, list(leaves))
        out = self._kernel(*args, **kwargs)
        for y in flatten(out)[0]:
            if isinstance(y, Tensor) and any(isinstance(x, Tensor) and (y is x or y._base is x) for x in leaves):
                raise RuntimeError(
                    f"{self._qualname}: the operation returned an argument, or a view of one; return a clone() of it"
                )
        return out


def _recorded(op: CustomOpDef, tree: Any) -> type[Function]:
    """The Function of one call: its arguments are the leaves of the operation's."""

    class Call(Function):
        @staticmethod
        def forward(*leaves: Any) -> Any:
            return op._compute(leaves, tree)

        @staticmethod
        def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
            args, kwargs = unflatten(tree, list(inputs))
            if op._setup_context is None:
                return
            if kwargs:
                op._setup_context(ctx, inputs=args, keyword_only_inputs=kwargs, output=output)
            else:
                op._setup_context(ctx, inputs=args, output=output)

        @staticmethod
        def backward(ctx: Any, *grads: Any) -> Any:
            if op._backward is None:
                raise RuntimeError(
                    f"{op._qualname}: no derivative was registered; register_autograd() says how to differentiate it"
                )
            answer = op._backward(ctx, *grads)
            given = answer if isinstance(answer, tuple) else (answer,)
            places = unflatten(tree, list(range(tree.leaves)))[0]
            if len(given) != len(places):
                raise RuntimeError(f"{op._qualname}: the backward returned {len(given)} gradients for {len(places)} arguments")
            full: list[Any] = [None] * tree.leaves
            for g, place in zip(given, places):
                if isinstance(place, int):
                    full[place] = g
                elif g is not None and place is not None:
                    if not isinstance(g, (list, tuple)) or len(g) != len(place):
                        raise RuntimeError(f"{op._qualname}: the gradient of a list must be a list of the same length")
                    for i, part in zip(place, g):
                        full[i] = part
            return tuple(full)

        @staticmethod
        def vmap(info: Any, in_dims: tuple[Any, ...], *leaves: Any) -> Any:
            if op._vmap is not None:
                args, kwargs = unflatten(tree, list(leaves))
                return op._vmap(info, unflatten(tree, list(in_dims))[0], *args, **kwargs)
            rows = [
                op(*args, **kwargs)
                for i in range(info.batch_size)
                for args, kwargs in [unflatten(tree, [x if d is None else x.select(d, i) for x, d in zip(leaves, in_dims)])]
            ]
            if isinstance(rows[0], tuple):
                return tuple(stack(column) for column in zip(*rows)), (0,) * len(rows[0])
            return stack(rows), 0

    Call.__name__ = Call.__qualname__ = f"GeneratedBackwardFor_{op._qualname.replace('::', '_')}_default"
    return Call


class ReadyOp(CustomOpDef):
    """An operation that the dialect has itself, with its derivatives."""

    def __init__(self, name: str, function: Callable[..., Any]) -> None:
        super().__init__(name, function, ())

    _autocast: Callable[..., Any] | None = None

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if self._autocast is not None and (kind := entered(args)):
            with autocast(kind, enabled=False):
                return self._autocast(*args, **kwargs)
        return self._kernel(*args, **kwargs)

    def register_autograd(self, backward: Callable[..., Any], /, *, setup_context: Callable[..., Any] | None = None) -> None:
        """Nothing: it has derivatives already."""


def custom_op(
    name: str, fn: Callable[..., Any] | None = None, /, *, mutates_args: Any, device_types: Any = None,
    schema: str | None = None, tags: Any = None,
) -> Any:  # fmt: skip
    """An operation that calls `fn`, under the name "namespace::name"; a decorator without `fn`.

    mutates_args: the names of the arguments that it changes in place. Raises ValueError for a name without namespace, and
    where an argument has no annotation and there is no schema.
    """
    if fn is None:
        return lambda f: custom_op(name, f, mutates_args=mutates_args, device_types=device_types, schema=schema)
    namespace, colons, own = name.partition("::")
    if not (namespace and colons and own):
        raise ValueError(f"custom_op: the name must be 'namespace::name', got {name!r}")
    parameters = inspect.signature(fn).parameters
    if schema is None:
        bare = [p for p in parameters.values() if p.annotation is p.empty]
        if bare:
            raise ValueError(f"custom_op: {name}: argument {bare[0].name!r} has no annotation, which says what may be given")
    mutated = list(parameters) if mutates_args == "unknown" else list(mutates_args)
    unknown = [x for x in mutated if x not in parameters]
    if unknown:
        raise ValueError(f"custom_op: {name}: mutates_args names {unknown}, which are no arguments")
    op = CustomOpDef(name, fn, mutated)
    OPERATIONS.setdefault(namespace, {})[own] = op
    return op


def operations(namespace: str) -> dict[str, CustomOpDef]:
    """The operations of a namespace: what programs have defined in it, and what the dialect has for it."""
    if namespace == "torchvision" and namespace not in OPERATIONS:
        from ._vision import OPERATORS

        OPERATIONS[namespace] = {name: ReadyOp(f"{namespace}::{name}", f) for name, f in OPERATORS.items()}
    return OPERATIONS.get(namespace, {})


def _found(op: Any) -> CustomOpDef:
    if isinstance(op, CustomOpDef):
        return op
    namespace, _, own = str(op).partition("::")
    try:
        return operations(namespace)[own.partition(".")[0]]
    except KeyError:
        raise ValueError(f"there is no operation {op!r}; define it with custom_op") from None


# ------------------------------------------------------------------------------------------ by schema


def _parsed(schema: str) -> tuple[str, inspect.Signature, list[str]]:
    """The name, parameters and changed arguments of `name(Tensor x, Tensor(a!) y, *, int k=3) -> Tensor`."""
    match = re.fullmatch(r"\s*([\w.]+)\s*\((.*)\)\s*->.*", schema, re.DOTALL)
    if match is None:
        raise RuntimeError(f"{schema!r} is no schema of an operation; wanted 'name(Tensor x, int k=3) -> Tensor'")
    parameters, mutated, kind = [], [], inspect.Parameter.POSITIONAL_OR_KEYWORD
    for part in filter(None, (p.strip() for p in re.split(r",(?![^\[(]*[\])])", match[2]))):
        if part == "*":
            kind = inspect.Parameter.KEYWORD_ONLY
            continue
        declared, _, default = part.partition("=")
        typename, _, name = declared.strip().rpartition(" ")
        if "!" in typename:
            mutated.append(name)
        value: Any = inspect.Parameter.empty
        if default:
            value = {"None": None, "True": True, "False": False}.get(default.strip(), default.strip())
            with contextlib.suppress(ValueError, SyntaxError, TypeError):
                value = ast.literal_eval(value)
        plain = re.sub(r"\(.*?\)", "", typename)
        parameters.append(inspect.Parameter(name, kind, default=value, annotation=Tensor if plain == "Tensor" else Any))
    return match[1].partition(".")[0], inspect.Signature(parameters), mutated


class Library:
    """The operations of a namespace, defined by their schemas ("DEF", "FRAGMENT") or given kernels ("IMPL")."""

    def __init__(self, ns: str, kind: str, dispatch_key: str = "") -> None:
        if kind not in ("DEF", "FRAGMENT", "IMPL"):
            raise ValueError(f"Library: kind must be DEF, FRAGMENT or IMPL, got {kind!r}")
        self.ns, self.kind, self.dispatch_key = ns, kind, dispatch_key

    def define(self, schema: str, alias_analysis: str = "", *, tags: Any = ()) -> str:
        """Make an operation known; `impl` says what computes it. Returns its name."""
        name, signature, mutated = _parsed(schema)
        if name in operations(self.ns):
            raise RuntimeError(f"Library.define: there is an operation {self.ns}::{name} already")

        def unset(*args: Any, **kwargs: Any) -> Any:
            raise NotImplementedError(f"{self.ns}::{name}: no kernel for the CPU was registered; Library.impl() registers one")

        unset.__signature__ = signature  # type: ignore[attr-defined]
        OPERATIONS.setdefault(self.ns, {})[name] = CustomOpDef(f"{self.ns}::{name}", unset, mutated)
        return name

    def impl(self, op_name: Any, fn: Callable[..., Any], dispatch_key: str = "", *, with_keyset: bool = False) -> None:
        """Compute an operation by a function: on the CPU, or of other functions whose derivatives it takes
        ("CompositeImplicitAutograd", "Autograd"); what is for other devices is kept and not used."""
        given = op_name if isinstance(op_name, str) else op_name.name()
        op = _found(f"{self.ns}::{given.rpartition('::')[2].partition('.')[0]}")
        key = dispatch_key or self.dispatch_key or "CompositeImplicitAutograd"
        if key == "Meta":
            op.register_fake(fn)
        elif key == "AutocastCPU" and isinstance(op, ReadyOp):
            op._autocast = fn
        elif key in ("CPU", "CompositeExplicitAutograd"):
            op.register_kernel("cpu", fn)
        elif key in ("CompositeImplicitAutograd", "Autograd", "AutogradCPU"):
            own = ReadyOp(op._qualname, fn)
            own._signature = op._signature
            OPERATIONS[self.ns][op._qualname.partition("::")[2]] = own


def define(qualname: str, schema: str, *, lib: Library | None = None, tags: Any = ()) -> None:
    """Make an operation known: `define("namespace::name", "(Tensor x) -> Tensor")`."""
    namespace, _, name = qualname.partition("::")
    (lib or Library(namespace, "FRAGMENT")).define(name + schema)


def impl(qualname: str, types: Any, func: Callable[..., Any] | None = None, *, lib: Library | None = None) -> Any:
    """Compute an operation by a function on a device ("cpu", "default"); a decorator without the function."""
    if func is None:
        return lambda f: impl(qualname, types, f, lib=lib)
    _found(qualname).register_kernel("cpu" if types == "default" else types, func)
    return func


def register_autograd(
    op: Any, backward: Callable[..., Any], /, *, setup_context: Callable[..., Any] | None = None, lib: Any = None
) -> None:
    """`CustomOpDef.register_autograd` of an operation, or of the one with a name."""
    _found(op).register_autograd(backward, setup_context=setup_context)


def register_fake(op: Any, func: Callable[..., Any] | None = None, /, *, lib: Any = None) -> Any:
    """`CustomOpDef.register_fake` of an operation, or of the one with a name."""
    return _found(op).register_fake(func)


def register_kernel(op: Any, device_types: Any, func: Callable[..., Any] | None = None, /, *, lib: Any = None) -> Any:
    """`CustomOpDef.register_kernel` of an operation, or of the one with a name."""
    return _found(op).register_kernel(device_types, func)


def register_vmap(op: Any, func: Callable[..., Any] | None = None, /, *, lib: Any = None) -> Any:
    """`CustomOpDef.register_vmap` of an operation, or of the one with a name."""
    return _found(op).register_vmap(func)


__all__ = [
    "CustomOpDef", "Library", "custom_op", "define", "impl", "register_autograd", "register_fake", "register_kernel",
    "register_vmap",
]  # fmt: skip

__getattr__ = attributes(globals())

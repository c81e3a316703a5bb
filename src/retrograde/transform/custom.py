"""`custom_vjp` and `custom_jvp`: functions whose derivative rule the user gives.

A call takes place at the highest level among its arguments: a tape level records the rule, a forward-mode level applies
it, and what is below sees what the rule computes: a rule whose value is a call of the same function holds at every level
of nesting. Under vmap the function and its rule are mapped.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .._errors import GradError
from .._state import grad_mode
from .._traceback import returned_at
from .._tree import flatten, unflatten
from ..core import level as levels
from ..core import value as values
from ..core.batched import BatchedArray
from ..core.dual import DualArray
from ..core.value import Value, dtype_of, make
from ..ops.reduction import sum as reduce_sum
from ..ops.structural import transpose
from ..tape import function as custom
from . import forward as forward_mode
from ._values import argument_positions, leave
from .reverse import vjp
from .vmap import batch, vmap


class _Custom:
    """What both kinds share: argument handling and the walk down the levels."""

    def __init__(self, f: Callable[..., Any], nondiff_argnums: tuple[int, ...] = ()) -> None:
        functools.update_wrapper(self, f)
        self.f, self._nondiff_argnums = f, nondiff_argnums
        self._name = getattr(f, "__name__", "custom function")

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if kwargs:
            raise TypeError(f"{self._name}: pass the arguments by position")
        leaves, tree = flatten(args)
        return self._at_level(leaves, tree)

    def _constants(self, tree: Any) -> list[bool]:
        """For each argument whether it has no derivative, by `nondiff_argnums`."""
        count = len(tree.children)
        found, _ = argument_positions(self._name, self._nondiff_argnums, count)
        return [i in found for i in range(count)]

    def _split(self, leaves: Sequence[Any], tree: Any) -> tuple[list[Any], tuple[Any, ...]]:
        """The arguments that have no derivative, and the others."""
        args, flags = unflatten(tree, list(leaves)), self._constants(tree)
        return [a for a, flag in zip(args, flags) if flag], tuple(a for a, flag in zip(args, flags) if not flag)

    def _at_level(self, leaves: list[Any], tree: Any) -> Any:
        top = max((x._level for x in leaves if isinstance(x, Value)), default=0)
        if top:
            levels.check_open(top)
            arrays = [x._a for x in leaves if isinstance(x, Value) and x._level == top]
            if any(type(a) is BatchedArray for a in arrays):
                return self._mapped(leaves, tree, top)
            if any(type(a) is DualArray for a in arrays):
                return self._pushed(leaves, tree, top)
        return self._taped(leaves, tree, top)

    def _mapped(self, leaves: list[Any], tree: Any, top: int) -> Any:
        """One vmap level off: the same function, mapped over the content."""
        contents, axes = [], []
        for x in leaves:
            batched = isinstance(x, Value) and x._level == top and type(x._a) is BatchedArray
            contents.append(values.as_value(type(x)._result, x._a.content) if batched else x)
            axes.append(x._a.dim if batched else None)
        outputs, out_tree = flatten(self._mapped_version(tuple(axes), tree)(*contents))
        return unflatten(out_tree, [batch(y, 0, top) for y in outputs])

    def _taped(self, leaves: list[Any], tree: Any, top: int) -> Any:
        """Off a tape: the rule is recorded where an operand wants a gradient."""
        lower = [leave(x, top) for x in leaves]
        operands = [x for x in leaves if isinstance(x, Value)]
        if levels.mode_at(top) and any(x._node is not None for x in operands if x._level == top):
            return self._recorded(leaves, lower, operands, tree, top)
        return self._at_level(lower, tree) if top else self.f(*unflatten(tree, lower))

    def _attached(self, operands: list[Value], outputs: list[Any], backward: Callable[..., Any], top: int,
                  saved: tuple[Any, ...] = ()) -> list[Any]:  # fmt: skip
        """The outputs as values of a new node with this backward function."""
        fresh = [make(type(y)._result, values.content(y), None, top) for y in outputs]
        custom.attach(
            self._name, operands, fresh, backward, differentiable=[dtype_of(y).kind not in "iub" for y in fresh],
            level=top, cls=values.result_class(operands), saved=saved,
        )  # fmt: skip
        return fresh

    def _ruleless(self, remedy: str) -> GradError:
        return GradError(f"{self._name}: no rule was given; call {remedy} first")

    # Each kind has its own:

    _pushed: Callable[[list[Any], Any, int], Any]
    """One forward-mode level off."""
    _recorded: Callable[[list[Any], list[Any], list[Value], Any, int], Any]
    """The call as a node of the tape at a level."""
    _mapped_version: Callable[[tuple[Any, ...], Any], _Custom]
    """The function of the leaves of the arguments, mapped over axes of them."""


class custom_vjp(_Custom):
    """A function with a reverse rule of its own: `@custom_vjp def f(...)`, then `f.defvjp(fwd, bwd)`.

    fwd(*args) -> (out, residuals); bwd(*nondiff_args, residuals, cotangent) -> tuple of cotangents, one per argument
    that is not in `nondiff_argnums` (None for zero). Raises GradError when differentiated without a rule, or in forward
    mode.

    Examples
    --------
    >>> import retrograde as rg
    >>> @rg.custom_vjp
    ... def clipped(x):
    ...     return x * x
    >>> clipped.defvjp(lambda x: (x * x, x), lambda x, g: (g * x,))
    >>> rg.grad(clipped)(3.0)
    Tensor(3.)
    """

    fwd: Callable[..., Any] | None = None
    bwd: Callable[..., Any] | None = None

    def defvjp(self, fwd: Callable[..., Any], bwd: Callable[..., Any]) -> None:
        """Give the rule."""
        self.fwd, self.bwd = fwd, bwd

    def _pushed(self, leaves: list[Any], tree: Any, top: int) -> Any:
        raise GradError(f"{self._name}: a custom_vjp function has no forward-mode rule; use custom_jvp instead")

    def _cotangents(self, found: Any, tree: Any) -> list[Any]:
        """What the backward rule returned, as one cotangent (or None) per leaf of the arguments."""
        flags = self._constants(tree)
        if not isinstance(found, tuple):
            raise GradError(
                f"{self._name}: the backward rule returned {type(found).__name__}; it returns a tuple of the gradients, as "
                f"(g,){returned_at(self.bwd)}"
            )
        if len(found) != flags.count(False):
            raise GradError(
                custom.count_text(f"{self._name}: the backward rule", self.bwd, len(found), flags.count(False), "the arguments")
            )
        given = iter(found)
        cotangents: list[Any] = []
        for i, (constant, part) in enumerate(zip(flags, tree.children)):
            cotangent = None if constant else next(given)
            pieces = [None] * part.leaves if cotangent is None else flatten(cotangent, lambda x: x is None)[0]
            if len(pieces) != part.leaves:
                raise GradError(
                    f"{self._name}: the backward rule returned {len(pieces)} cotangents for argument {i}, which holds "
                    f"{part.leaves} values"
                )
            cotangents += pieces
        return cotangents

    def _mapped_version(self, axes: tuple[Any, ...], tree: Any) -> _Custom:
        constant = [flag for flag, part in zip(self._constants(tree), tree.children) for _ in range(part.leaves)]
        mapped = custom_vjp(
            vmap(lambda *xs: self.f(*unflatten(tree, xs)), in_axes=axes),
            tuple(i for i, flag in enumerate(constant) if flag),
        )
        mapped._name = self._name
        if self.fwd is None or self.bwd is None:
            return mapped
        fwd, bwd = self.fwd, self.bwd
        kept = tuple(axis for axis, flag in zip(axes, constant) if flag)
        others = [axis for axis, flag in zip(axes, constant) if not flag]

        def backward(*given: Any) -> Any:
            *constants, residuals, g = given
            present: list[bool] = []

            def one(cs: Any, r: Any, h: Any) -> Any:
                known = iter(cs)
                args, _ = self._split([next(known) if flag else None for flag in constant], tree)
                cotangents = self._cotangents(bwd(*args, r, h), tree)
                chosen = [c for c, flag in zip(cotangents, constant) if not flag]
                present[:] = [c is not None for c in chosen]
                return tuple(c for c in chosen if c is not None)

            pulled = iter(vmap(one, in_axes=(kept, 0, 0))(tuple(constants), residuals, g))
            return tuple(_of_mapped(next(pulled), axis) if there else None for there, axis in zip(present, others))

        mapped.defvjp(vmap(lambda *xs: fwd(*unflatten(tree, xs)), in_axes=axes), backward)
        return mapped

    def _recorded(self, leaves: list[Any], lower: list[Any], operands: list[Value], tree: Any, top: int) -> Any:
        if self.fwd is None or self.bwd is None:
            raise self._ruleless("defvjp(fwd, bwd)")
        with contextlib.nullcontext() if top else grad_mode(False):
            out, residuals = self.fwd(*unflatten(tree, lower if top else [_plain(x) for x in lower]))
        outputs, out_tree = flatten(out)
        bwd = self.bwd
        constants, _ = self._split(leaves, tree)

        def backward(node: Any, cotangents: list[Any]) -> list[Any]:
            found = self._cotangents(bwd(*constants, residuals, unflatten(out_tree, _given(cotangents, outputs))), tree)
            given = [c for c, x in zip(found, leaves) if isinstance(x, Value)]
            for i, (c, edge) in enumerate(zip(given, node.edges)):
                if isinstance(c, Value) and edge is not None:
                    custom.check_shape(f"{self._name}: the backward rule", bwd, i, c, edge, type(c)._result)
            return given

        saved = tuple(x._a for x in flatten(residuals)[0] if isinstance(x, Value) and type(x._a) is np.ndarray)
        return unflatten(out_tree, self._attached(operands, outputs, backward, top, saved))


class custom_jvp(_Custom):
    """A function with a forward rule of its own: `@custom_jvp def f(...)`, then `@f.defjvp def rule(primals, tangents)`.

    The rule returns (out, out_tangent) and is linear in the tangents; reverse mode transposes it. With `nondiff_argnums`
    it is called as rule(*nondiff_args, primals, tangents), and those two leave these arguments out.

    Examples
    --------
    >>> import retrograde as rg
    >>> @rg.custom_jvp
    ... def cube(x):
    ...     return x * x * x
    >>> @cube.defjvp
    ... def cube_jvp(primals, tangents):
    ...     (x,), (t,) = primals, tangents
    ...     return cube(x), 3 * x * x * t
    >>> rg.grad(cube)(2.0)
    Tensor(12.)
    """

    rule: Callable[..., Any] | None = None

    def defjvp(self, rule: Callable[..., Any]) -> Callable[..., Any]:
        """Give the rule; usable as a decorator."""
        self.rule = rule
        return rule

    def _applied(self, primals: Sequence[Any], tangents: Sequence[Any], tree: Any) -> Any:
        """What the rule gives for the leaves of the arguments and their tangents."""
        assert self.rule is not None
        constants, at = self._split(primals, tree)
        return self.rule(*constants, at, self._split(tangents, tree)[1])

    def _pushed(self, leaves: list[Any], tree: Any, top: int) -> Any:
        if self.rule is None:
            raise self._ruleless("defjvp(rule)")
        pairs = [forward_mode.parts(x, top) for x in leaves]
        tangents = [forward_mode.zero_like(p) if t is None else t for p, t in pairs]
        out, tangent = self._applied([p for p, _ in pairs], tangents, tree)
        outputs, out_tree = flatten(out)
        pushed = flatten(tangent)[0]
        return unflatten(out_tree, [forward_mode.dual(y, t, top) for y, t in zip(outputs, pushed)])

    def _mapped_version(self, axes: tuple[Any, ...], tree: Any) -> _Custom:
        mapped = custom_jvp(vmap(lambda *xs: self.f(*unflatten(tree, xs)), in_axes=axes))
        mapped._name = self._name
        if self.rule is not None:
            push = vmap(lambda xs, ts: self._applied(xs, ts, tree), in_axes=(axes, axes))
            mapped.defjvp(lambda primals, tangents: push(tuple(primals), tuple(tangents)))
        return mapped

    def _recorded(self, leaves: list[Any], lower: list[Any], operands: list[Value], tree: Any, top: int) -> Any:
        if self.rule is None:
            raise self._ruleless("defjvp(rule)")
        primals = lower if top else [_plain(x) for x in lower]
        # The rule's own value, as in forward mode: what is below differentiates it, and may find another derivative in it.
        outputs, out_tree = flatten(self._applied(primals, [forward_mode.zero_like(x) for x in primals], tree)[0])
        positions = [i for i, x in enumerate(leaves) if isinstance(x, Value)]

        def backward(node: Any, cotangents: list[Any]) -> list[Any]:
            at = leaves if levels.mode_at(top) else primals

            def push(*ts: Any) -> Any:
                tangents = [forward_mode.zero_like(x) for x in at]
                for i, t in zip(positions, ts):
                    tangents[i] = t
                return self._applied(at, tangents, tree)[1]

            _, pullback = vjp(push, *(forward_mode.zero_like(at[i]) for i in positions))
            return list(pullback(unflatten(out_tree, _given(cotangents, outputs))))

        return unflatten(out_tree, self._attached(operands, outputs, backward, top))


def _given(cotangents: list[Any], outputs: list[Any]) -> list[Any]:
    """The cotangents, zeros where there is none."""
    return [forward_mode.zero_like(y) if g is None else g for g, y in zip(cotangents, outputs)]


def _of_mapped(x: Any, axis: int | None) -> Any:
    """The cotangent of a mapped argument from those of its entries, stacked in front."""
    if axis is None:  # all entries got the same value
        return reduce_sum(x, axis=(0,), keepdims=False)
    if not axis:
        return x
    return transpose(x, axes=(*range(1, axis + 1), 0, *range(axis + 1, values.ndim_of(x))))


def _plain(x: Any) -> Any:
    return values.detached(x) if isinstance(x, Value) else x

"""`Function.apply` on values inside functional transforms: the rule holds at every level.

A tape level records the node and calls the function again on what is below; a forward-mode level applies `jvp`; a vmap
level calls the function's `vmap`, or maps forward and backward when `generate_vmap_rule` is set.
"""

from __future__ import annotations

from typing import Any

from ...._state import state
from ...._tree import flatten, unflatten
from ....core import level as levels
from ....core import value as values
from ....core.arrays import zeros_for
from ....core.batched import BatchedArray
from ....core.dual import DualArray
from ....core.level import Level
from ....core.value import dtype_of, make
from ....transform.forward import dual
from ....transform.vmap import batch, unbatched
from .._tensor import Tensor
from . import function as functions


def apply(cls: type[functions.Function], args: tuple[Any, ...], top: int) -> Any:
    """Apply a Function whose highest operand computes at level `top`."""
    levels.check_open(top)
    arrays = [x._a for x in args if isinstance(x, Tensor) and x._level == top]
    split = cls.setup_context is not functions.Function.setup_context
    if any(type(a) is DualArray for a in arrays):
        return _pushed(cls, args, top, split)
    if not split:
        raise RuntimeError(
            f"{cls.__name__}: under functional transforms a Function needs a separate setup_context(ctx, inputs, "
            "output), "
            "and a forward without ctx"
        )
    if any(type(a) is BatchedArray for a in arrays):
        return _mapped(cls, args, top)
    return _taped(cls, args, top)


def _lower(x: Any, top: int) -> Any:
    return values.as_value(type(x)._result, x._a) if isinstance(x, Tensor) and x._level == top else x


def _taped(cls: type[functions.Function], args: tuple[Any, ...], top: int) -> Any:
    """One tape level: forward runs on the values of this level, below which the operations record as they are."""

    def forward() -> tuple[functions.FunctionCtx, Any]:
        # The output comes from the rule one level down.
        below = cls.apply(*(_lower(x, top) for x in args))
        leaves, tree = flatten(below)
        output = unflatten(tree, [
            make(type(y)._result, values.content(y), None, top) if isinstance(y, Tensor) else y for y in leaves
        ])  # fmt: skip
        ctx = functions.new_context(cls, args)
        cls.setup_context(ctx, args, output)
        return ctx, output

    return functions.run(cls, args, forward, top)


def _pushed(cls: type[functions.Function], args: tuple[Any, ...], top: int, split: bool) -> Any:
    if cls.jvp is functions.Function.jvp:
        raise NotImplementedError(f"{cls.__name__} defines no jvp, so forward mode cannot pass through it")
    primals: list[Any] = []
    tangents: list[Any] = []
    for x in args:
        if isinstance(x, Tensor) and x._level == top and type(x._a) is DualArray:
            primals.append(values.as_value(type(x)._result, x._a.primal))
            tangents.append(values.as_value(type(x)._result, x._a.tangent))
        else:
            primals.append(_lower(x, top))
            tangents.append(None)
    ctx, (dirty, constant), output = _computed(cls, tuple(primals), split)
    if ctx._materialize:
        tangents = [
            zeros_for(x) if t is None and isinstance(x, Tensor) and dtype_of(x).kind not in "iub" else t
            for x, t in zip(primals, tangents)
        ]
    pushed = cls.jvp(ctx, *tangents)
    several = isinstance(output, tuple)
    outputs = output if several else (output,)
    along = pushed if isinstance(pushed, tuple) else (pushed,)
    if len(along) != len(outputs):
        raise RuntimeError(f"{cls.__name__}.jvp returned {len(along)} tangents for {len(outputs)} results")
    results = []
    for y, t in zip(outputs, along):
        if t is not None and any(y is x for x in constant):
            raise RuntimeError(f"{cls.__name__}.jvp returned a tangent for a result marked as not differentiable")
        changed = next((i for i, x in enumerate(primals) if x is y and any(x is d for d in dirty)), None)
        if changed is None:
            results.append(y if t is None else dual(y, t, top))
            continue
        if t is not tangents[changed]:
            raise RuntimeError(
                f"{cls.__name__}.forward changes argument {changed} in place, so jvp has to change its tangent in place, too, "
                "and return it"
            )
        args[changed]._a = dual(y, t, top)._a
        results.append(args[changed])
    return tuple(results) if several else results[0]


def _computed(cls: type[functions.Function], primals: tuple[Any, ...], split: bool) -> Any:
    """The context of a call, what it has marked as changed and as not differentiable, and the output, recorded on the everyday
    tape where it is computed there."""
    kept: list[Any] = []

    def forward() -> tuple[functions.FunctionCtx, Any]:
        ctx, output = functions.call_forward(cls, primals, split)
        kept.extend((ctx, (ctx._dirty, ctx._non_differentiable)))  # what a recorded call does not keep
        return ctx, output

    if any(isinstance(x, Tensor) and x._level for x in primals):
        output = forward()[1]
    else:
        output = functions.run(cls, primals, forward, 0)
    return *kept, output


def _mapped(cls: type[functions.Function], args: tuple[Any, ...], top: int) -> Any:
    contents, dims = [], []
    for x in args:  # which may be containers of tensors
        leaves, tree = flatten(x)
        batched = [isinstance(y, Tensor) and y._level == top and type(y._a) is BatchedArray for y in leaves]
        contents.append(unflatten(tree, [
            values.as_value(type(y)._result, y._a.content) if is_one else y for y, is_one in zip(leaves, batched)
        ]))  # fmt: skip
        dims.append(unflatten(tree, [y._a.dim if is_one else None for y, is_one in zip(leaves, batched)]))
    level = next(open_level for open_level in state.levels if open_level.id == top)
    own_rule = None if cls.vmap is functions.Function.vmap else cls.vmap
    if own_rule is not None and cls.generate_vmap_rule:
        raise RuntimeError(f"{cls.__name__} defines vmap and sets generate_vmap_rule; only one of the two is possible")
    if own_rule is not None:
        info = _VmapInfo(level.batch_size, level.randomness)
        answer = own_rule(info, tuple(dims), *contents)
        if not isinstance(answer, tuple) or len(answer) != 2:
            raise RuntimeError(f"{cls.__name__}.vmap must return a pair (output, out_dims)")
        out, out_dims = answer
        leaves, tree = flatten(out)
        ends = [out_dims] * len(leaves) if isinstance(out_dims, int) or out_dims is None else list(out_dims)
        return unflatten(tree, [y if d is None else batch(y, d, top) for y, d in zip(leaves, ends)])
    if not cls.generate_vmap_rule:
        raise RuntimeError(
            f"{cls.__name__} was used under vmap; define a static method vmap, or set generate_vmap_rule = True"
        )
    lower = _mapped_function(cls, tuple(dims), level.batch_size)
    out = lower.apply(*contents)
    leaves, tree = flatten(out)
    return unflatten(tree, [batch(y, 0, top) if isinstance(y, Tensor) else y for y in leaves])


class _VmapInfo:
    """What a Function's own vmap rule is told."""

    __slots__ = ("batch_size", "randomness")

    def __init__(self, batch_size: int, randomness: str) -> None:
        self.batch_size, self.randomness = batch_size, randomness


def _mapped_function(
    cls: type[functions.Function], dims: tuple[int | None, ...], size: int
) -> type[functions.Function]:
    """A Function over the content of batched values whose forward and backward are those of `cls`, mapped."""

    class Mapped(functions.Function):
        generate_vmap_rule = True

        @staticmethod
        def forward(ctx: Any, *args: Any) -> Any:
            level = Level("vmap of " + cls.__name__)
            with level.open():
                level.batch_size, level.randomness = size, "error"
                inside = tuple(x if d is None else batch(x, d, level.id) for x, d in zip(args, dims))
                ctx.inner, output = functions.call_forward(cls, inside, True)
                ctx.inner.needs_input_grad = ctx.needs_input_grad
                ctx.level = level
                leaves, tree = flatten(output)

                results = [unbatched(y, level.id, size, 0) if isinstance(y, Tensor) else y for y in leaves]
            return unflatten(tree, results)

        @staticmethod
        def backward(ctx: Any, *grads: Any) -> Any:

            level = ctx.level
            with level.open():
                inside = [None if g is None else batch(g, 0, level.id) for g in grads]
                answer = cls.backward(ctx.inner, *inside)
                answers = answer if isinstance(answer, (tuple, list)) else (answer,)
                results = []
                for g, d in zip(answers, dims):
                    if not isinstance(g, Tensor):
                        results.append(g)
                        continue
                    whole = unbatched(g, level.id, size, 0 if d is None else d)
                    if d is None:
                        from ....ops.reduction import sum as reduce_sum

                        whole = reduce_sum(whole, axis=(0,), keepdims=False)
                    results.append(whole)
            return tuple(results)

    Mapped.__name__ = Mapped.__qualname__ = cls.__name__
    return Mapped


functions._at_level.append(apply)

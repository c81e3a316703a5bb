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
from ....ops.reduction import sum as reduce_sum
from ....transform.forward import dual
from ....transform.vmap import batch, unbatched
from ..._shared.registry import defined
from .._tensor import Tensor
from . import function as functions


def apply(cls: type[functions.Function], args: tuple[Any, ...], top: int) -> Any:
    """Apply a Function whose highest operand computes at level `top`."""
    levels.check_open(top)
    arrays = [x._a for x in args if isinstance(x, Tensor) and x._level == top]
    split = cls.setup_context is not functions.Function.setup_context
    check(cls, split)
    if any(type(a) is DualArray for a in arrays):
        return _pushed(cls, args, top, split)
    if not arrays or any(type(a) is BatchedArray for a in arrays):
        return _mapped(cls, args, top)
    return _taped(cls, args, top)


def _lower(x: Any, top: int) -> Any:
    return values.as_value(type(x)._result, x._a) if isinstance(x, Tensor) and x._level == top else x


def _taped(cls: type[functions.Function], args: tuple[Any, ...], top: int) -> Any:
    """One tape level: forward runs on the values of this level, below which the operations record as they are."""

    def forward() -> tuple[functions.FunctionCtx, Any]:
        # The output comes from the rule one level down; an argument that is handed through is the argument here, too.
        lowered = [_lower(x, top) for x in args]
        below = cls.apply(*lowered)
        own = {id(y): x for x, y in zip(args, lowered) if isinstance(x, Tensor) and x._level == top}
        leaves, tree = flatten(below)
        for y in leaves:
            if id(y) in own:
                own[id(y)]._a = values.content(y)
        output = unflatten(tree, [
            (own[id(y)] if id(y) in own else make(type(y)._result, values.content(y), None, top)) if isinstance(y, Tensor) else y
            for y in leaves
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
    ctx._pushing = True
    pushed = cls.jvp(ctx, *tangents)
    ctx._pushing = False
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
            if t is not None:
                _check_tangent(cls, y, t, primals, tangents)
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


def _check_tangent(cls: type[functions.Function], y: Any, t: Any, primals: Any, tangents: Any) -> None:
    """Raise unless `t` can be the tangent of `y`: of its shape, and of a view of an argument a view of that one's tangent."""
    if not isinstance(t, Tensor) or t.shape != y.shape:
        got = list(t.shape) if isinstance(t, Tensor) else type(t).__name__
        raise RuntimeError(f"{cls.__name__}.jvp returned {got} as the tangent of a result of shape {list(y.shape)}")
    for i, x in enumerate(primals):
        passed_on = isinstance(x, Tensor) and tangents[i] is not None and (y is x or _is_view_of(y, x))
        if passed_on and not _is_view_of(t, tangents[i]):
            raise RuntimeError(
                f"{cls.__name__}.forward returns a view of argument {i}, or itself, so jvp has to return that view of its tangent"
            )


def _is_view_of(x: Tensor, other: Tensor) -> bool:
    return x._base is not None and (x._base is other or x._base is other._base)


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
        batched = [_is_batched(y, top) for y in leaves]
        contents.append(unflatten(tree, [
            values.as_value(type(y)._result, y._a.content) if is_one else y for y, is_one in zip(leaves, batched)
        ]))  # fmt: skip
        dims.append(unflatten(tree, [y._a.dim if is_one else None for y, is_one in zip(leaves, batched)]))
    level = next(open_level for open_level in state.levels if open_level.id == top)
    _check_rule(cls)
    if cls.vmap is not functions.Function.vmap:
        answer = cls.vmap(_VmapInfo(level.batch_size, level.randomness), tuple(dims), *contents)
        if not isinstance(answer, tuple) or len(answer) != 2:
            raise RuntimeError(f"{cls.__name__}.vmap must return a pair (output, out_dims)")
        out, out_dims = answer
        leaves, tree = flatten(out)
        if isinstance(out_dims, (tuple, list)):
            if not isinstance(out, (tuple, list)) or len(out_dims) != len(leaves):
                raise RuntimeError(f"{cls.__name__}.vmap: out_dims = {out_dims} does not have the structure of the output")
            ends = list(out_dims)
        else:
            ends = [out_dims] * len(leaves)
        return unflatten(tree, [y if d is None else batch(y, d, top) for y, d in zip(leaves, ends)])
    lower = _mapped_function(cls, tuple(dims), level)
    out = lower.apply(*contents)
    leaves, tree = flatten(out)
    return unflatten(tree, [batch(y, 0, top) if isinstance(y, Tensor) else y for y in leaves])


def _is_batched(x: Any, level: int) -> bool:
    return isinstance(x, Tensor) and x._level == level and type(x._a) is BatchedArray


def check(cls: type[functions.Function], split: bool) -> None:
    """Raise where the innermost open transform cannot follow the function, whatever it is applied to."""
    innermost = next((level for level in reversed(state.levels) if level.adopt is None and level.lifts is None), None)
    if innermost is None:
        return
    if not split:
        raise RuntimeError(
            f"{cls.__name__}: under functional transforms a Function needs a separate setup_context(ctx, inputs, "
            "output), "
            "and a forward without ctx"
        )
    if innermost.batch_size is not None:
        _check_rule(cls)


def _check_rule(cls: type[functions.Function]) -> None:
    """Raise unless the function says in one way how it is mapped."""
    if cls.vmap is not functions.Function.vmap and cls.generate_vmap_rule:
        raise RuntimeError(f"{cls.__name__} defines vmap and sets generate_vmap_rule; only one of the two is possible")
    if cls.vmap is functions.Function.vmap and not cls.generate_vmap_rule:
        raise RuntimeError(
            f"{cls.__name__} was used under vmap; define a static method vmap, or set generate_vmap_rule = True"
        )


class _VmapInfo:
    """What a Function's own vmap rule is told."""

    __slots__ = ("batch_size", "randomness")

    def __init__(self, batch_size: int, randomness: str) -> None:
        self.batch_size, self.randomness = batch_size, randomness


def _mapped_function(cls: type[functions.Function], dims: tuple[Any, ...], outer: Level) -> type[functions.Function]:
    """A Function over the content of batched values whose forward, backward and jvp are those of `cls`, mapped."""
    size: Any = outer.batch_size

    def opened() -> Level:
        level = Level("vmap of " + cls.__name__)
        level.batch_size, level.randomness = size, outer.randomness
        return level

    def inside(level: Level, tree: Any, where: Any) -> Any:
        """The tensors of a container, batched as `where` says."""
        leaves, treedef = flatten(tree)
        ends = flatten(where, lambda d: d is None)[0] if isinstance(where, (tuple, list, dict)) else [where] * len(leaves)
        return unflatten(treedef, [
            x if d is None or not isinstance(x, Tensor) else batch(x, d, level.id) for x, d in zip(leaves, ends)
        ])  # fmt: skip

    def outside(level: Level, tree: Any) -> Any:
        leaves, treedef = flatten(tree)
        return unflatten(treedef, [unbatched(y, level.id, size, 0) if isinstance(y, Tensor) else y for y in leaves])

    class Mapped(functions.Function):
        generate_vmap_rule = True

        @staticmethod
        def forward(*args: Any) -> Any:
            level = opened()
            with level.open():
                return outside(level, cls.forward(*(inside(level, x, d) for x, d in zip(args, dims))))

        @staticmethod
        def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
            level = ctx.level = opened()
            with level.open():
                given, made = tuple(inside(level, x, d) for x, d in zip(inputs, dims)), inside(level, output, 0)
                ctx.inner = functions.new_context(cls, given)
                ctx.inner.needs_input_grad = ctx.needs_input_grad
                cls.setup_context(ctx.inner, given, made)
            # What is saved is saved here, with the history that it has at this level.
            inner = {id(x): y for x, y in zip(flatten((given, made))[0], flatten((inputs, output))[0])}
            ctx.mark_dirty(*(inner.get(id(x), x) for x in ctx.inner._dirty))
            ctx.mark_non_differentiable(*(inner.get(id(x), x) for x in ctx.inner._non_differentiable))
            ctx.set_materialize_grads(ctx.inner._materialize)
            for saved, save in (("_to_save", ctx.save_for_backward), ("_to_save_forward", ctx.save_for_forward)):
                kept = getattr(ctx.inner, saved) or ()
                save(*(
                    inner[id(x)] if id(x) in inner
                    else values.as_value(type(x)._result, x._a.content) if _is_batched(x, level.id) else x
                    for x in kept
                ))  # fmt: skip
                setattr(ctx.inner, saved, tuple(x._a.dim if _is_batched(x, level.id) else None for x in kept))

        @staticmethod
        def backward(ctx: Any, *grads: Any) -> Any:
            level = ctx.level
            with level.open():
                answer = cls.backward(again(ctx, "_to_save", ctx.saved_tensors), *inside(level, grads, 0))
                answers = answer if isinstance(answer, (tuple, list)) else (answer,)
                results = []
                for g, d in zip(answers, dims):
                    if not isinstance(g, Tensor):
                        results.append(g)
                        continue
                    whole = unbatched(g, level.id, size, 0 if d is None else d)
                    results.append(whole if d is not None else reduce_sum(whole, axis=(0,), keepdims=False))
            return tuple(results)

        if cls.jvp is not functions.Function.jvp:

            @staticmethod
            def jvp(ctx: Any, *tangents: Any) -> Any:
                level = ctx.level
                with level.open():
                    along = tuple(inside(level, t, d) for t, d in zip(tangents, dims))
                    return outside(level, cls.jvp(again(ctx, "_to_save_forward", ctx._to_save_forward), *along))

    def again(ctx: Any, kept: str, saved: tuple[Any, ...]) -> Any:
        """The context of `cls`, with what it saved as it was."""
        inner = ctx.inner
        before = getattr(inner, kept)
        shown = functions.new_context(cls, ())
        shown.__dict__.update(inner.__dict__)
        shown._to_save, shown._to_save_forward = None, ()
        setattr(shown, kept, tuple(x if d is None else batch(x, d, ctx.level.id) for x, d in zip(saved, before)))
        return shown

    return defined(cls.__name__, Mapped)


functions._at_level.extend((apply, check))

"""`primitive`: registers an operation. What a record holds and how its rules name what they need: core/record.py."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeVar

from .large import Large
from .record import KINDS, NOT_DIFFERENTIABLE, PRIMITIVES, Primitive, Ufunc, keyword_names, positional_names
from .specialise import specialise, specialise_rules, swap_kernel

__all__ = [
    "NOT_DIFFERENTIABLE", "PRIMITIVES", "Primitive", "Ufunc", "keyword_names", "lowering", "positional_names", "primitive",
]  # fmt: skip

F = TypeVar("F", bound=Callable[..., Any])


def primitive(
    name: str,
    *,
    kernel: Callable[..., Any],
    batch: Callable[..., Any],
    infer: Callable[..., Any],
    samples: Callable[[], Iterable[Any]],
    vjps: Any = None,
    vjp: Callable[..., Any] | None = None,
    jvp: Any = None,
    operands: Sequence[str] | None = None,
    params: Sequence[str] | None = None,
    multi: bool = False,
    diff_outs: Sequence[bool] | None = None,
    used_outs: Sequence[bool] | None = None,
    tolerances: dict[str, Any] | None = None,
    kind: str = "general",
    numpy: Callable[..., Any] | None = None,
    saves: str | Mapping[str, Sequence[str]] = "all",
    regional: Sequence[str] = (),
    texts: Sequence[str] = (),
    generated: bool | type[Large] = True,
) -> Callable[..., Any]:
    """Register a primitive and return the function that evaluates it.

    kernel(xp, *arrays, **params) -> array, or a tuple of arrays when `multi`, in functions of the array-API standard
        and the predicates of backend/dtypes.py only, since any library's arrays may come. Operands may be None where
        the kernel allows it (an absent bias).
    numpy(*arrays, **params): what NumPy, SciPy or generated code does better, or with other bits, than the kernel; other
        libraries' are registered with `lowering`.
    kind: one of KINDS (core/record.py).
    vjps: one rule per operand, `rule(g, out, *operands, **params) -> cotangent`, None for an operand without a
        derivative; or NOT_DIFFERENTIABLE. With `multi`, g and out are tuples (g holds None for absent cotangents).
    vjp: instead of vjps, one rule for all, `vjp(needs, g, out, *operands, **params) -> tuple of cotangents`; `needs`
        tells for each operand (not None) whether its cotangent is wanted.
    saves: of a joint rule for operands in any number: "all" of them are kept for it, or of each "others" only those whose
        cotangents multiply with it, so that an operand is free to change when it alone wants a gradient. Of a joint rule
        for named operands: the operands whose cotangents take the value of another one, or of "out", by that one's name
        (those that are not named are kept for all). A value that is not kept arrives as one named `x_` does.
    jvp(tangents, out, *operands, **params) -> tangent of the output; tangents are None where zero.
    batch(op, arrays, dims, params) -> (out, dim), tuples of both when `multi`; dims are None for unbatched operands.
    infer(avals, params) -> the output's Aval (a tuple of them when `multi`).
    samples() -> samples for the tests of the whole table (ops/samples.py).
    regional: the real operands, or "out", of which the rules ask only in which region they lie (the sign, say), so that
        the derivative's derivative in them is zero wherever there is one.
    texts: the rules as texts in `g`, `out` and the operands' names, such as "g * conj(y)", where they were given so
        (`elementwise` in ops/rules.py): what functions for real operands have in them instead of a call.
    generated: of an elementwise primitive, whether its expression is as accurate as what NumPy computes, so that large arrays
        may go to generated code (core/large.py); of another one, what large arrays are computed with.
    operands, params: names, where the kernel's signature does not tell them.
    diff_outs: with `multi`, which outputs carry gradients (all floating ones, if not given).
    used_outs: with `multi`, which outputs the rules take the value of (all, if not given); the others arrive as None.
    tolerances: options of the table test for this primitive (see tests/test_primitives.py).

    Raises TypeError when a field is missing.
    """
    if name in PRIMITIVES:
        raise TypeError(f"primitive {name!r} is registered twice")
    differentiable = vjps is not NOT_DIFFERENTIABLE
    if differentiable and (vjps is None) == (vjp is None):
        raise TypeError(f"primitive {name!r}: give either vjps (a rule per operand) or vjp (one for all)")
    if kind not in KINDS:
        raise TypeError(f"primitive {name!r}: the kind is one of {', '.join(sorted(KINDS))}, got {kind!r}")
    if differentiable and jvp is None:
        raise TypeError(f"primitive {name!r}: jvp is missing; write it out, or jvp=from_vjp")
    if isinstance(kernel, Ufunc):
        if operands is None:
            raise TypeError(f"primitive {name!r}: name the operands of a namespace function")
        names: tuple[str, ...] | None = tuple(operands)
        keywords: tuple[str, ...] = ()
    else:
        positional, rest = positional_names(kernel)
        names = tuple(operands) if operands is not None else None if rest is not None else positional[1:]
        keywords = tuple(params) if params is not None else keyword_names(kernel)
    record = Primitive(
        name, kernel=kernel, operands=names, params=keywords, multi=multi,
        vjps=tuple(vjps) if isinstance(vjps, (list, tuple)) else vjps, vjp=vjp, jvp=jvp, batch=batch, infer=infer,
        samples=samples, diff_outs=tuple(diff_outs) if diff_outs is not None else None,
        used_outs=tuple(used_outs) if used_outs is not None else None, tolerances=tolerances, kind=kind, numpy=numpy,
        saves=saves, regional=regional, texts=tuple(texts), generated=generated,
    )  # fmt: skip
    if differentiable and vjp is None and (names is None or len(record.vjps) != len(names)):
        raise TypeError(f"primitive {name!r}: {len(record.vjps)} rules for the operands {names}")
    record.write_rules = specialise_rules
    record.module = _module_being_imported()
    specialise(record)
    record.op.__module__ = record.module  # where it is found by name, as pickling does
    PRIMITIVES[name] = record
    return record.op


def _module_being_imported() -> str:
    """The module whose top level calls this, through whichever helpers; "" inside a function that runs later."""
    frame = sys._getframe(2)
    while frame.f_code.co_name != "<module>":
        if frame.f_back is None:
            return ""
        frame = frame.f_back
    name: str = frame.f_globals["__name__"]
    return name


def lowering(library: str, *ops: Callable[..., Any]) -> Callable[[F], F]:
    """Register, by decoration, what an array library computes in place of the standard kernel of some operations.

    The function takes arrays of the library and the parameters, and returns NotImplemented where it leaves them to the kernel.
    "numpy" is NumPy, whose function takes all; other libraries go by the name of their backend.
    """

    def register(f: F) -> F:
        for op in ops:
            prim: Primitive = op.prim  # type: ignore[attr-defined]
            prim.lowerings[library] = f
            if library == "numpy":
                swap_kernel(prim, f)
        return f

    return register

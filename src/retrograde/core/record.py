"""The record of a primitive, the table of all of them, and how a rule says what it needs.

A record says everything about an operation in one place: kernel, derivative, batching, shape rule and samples for
the tests. The helpers in ops/rules.py build records for the common kinds (elementwise, linear, bilinear).

How a rule says what it needs: a derivative rule's positional parameters are `(g, out, *operands)`. An operand named
`x` arrives with its value (which recording therefore saves); one named `x_` arrives as something that only has a
shape and a dtype (`shape_of`, `dtype_of`); one named `_x` is not needed at all and arrives as None.
"""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from .large import Large

PRIMITIVES: dict[str, Primitive] = {}
"""Every primitive by name."""


class _NotDifferentiable:
    def __repr__(self) -> str:
        return "NOT_DIFFERENTIABLE"


NOT_DIFFERENTIABLE: Any = _NotDifferentiable()


class Ufunc:
    """A kernel that is one function of the array-API standard under `name`; NumPy's is called directly."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.numpy = getattr(np, name)

    def __call__(self, xp: Any, *arrays: Any) -> Any:
        return getattr(xp, self.name)(*arrays)


KINDS = frozenset({
    "elementwise", "reduction", "scan", "linear", "bilinear", "structural", "composite", "data_dependent", "control", "general",
})  # fmt: skip
"""What kinds of operations there are.

elementwise: on corresponding elements of broadcast operands; the kernel is an expression where one exists.
reduction, scan: over one or several axes, to one element or to as many as there were.
structural: moves and repeats elements, and computes nothing.
linear, bilinear: in its first operand, in both; what is none of the former.
composite: the kernel is a composition of functions of the standard, reductions among them.
data_dependent: the shape of the result depends on values.
control: runs graphs that it has as parameters: loops and choices.
general: what is none of these.
"""

def _registered(module: str, name: str) -> Primitive:
    """The primitive of a name, which a module registers."""
    if name not in PRIMITIVES and module:
        importlib.import_module(module)
    if name not in PRIMITIVES:
        raise LookupError(
            f"the primitive {name!r} is not registered in this process; register it where a module is imported that "
            "this process can import as well"
        )
    return PRIMITIVES[name]


_MOST_PLANNED = 8
"""Of so many operands it is remembered what nodes keep."""

VALUE, AVAL, UNUSED = "value", "aval", "unused"


def needs_of(names: Sequence[str]) -> tuple[str, ...]:
    """What a rule wants of each parameter, told by the parameter's name (see the module's docstring)."""
    return tuple(UNUSED if n.startswith("_") else AVAL if n.endswith("_") else VALUE for n in names)


def positional_names(f: Callable[..., Any]) -> tuple[tuple[str, ...], str | None]:
    """The positional parameter names of a function (of the one it wraps), and that of its `*rest`, if any.

    A rule that was built around another one says in `positional` what that one's names are.
    """
    stated = getattr(f, "positional", None)
    if stated is not None:
        return stated, None
    code = getattr(f, "__wrapped__", f).__code__
    rest = None
    if code.co_flags & 0x04:
        rest = code.co_varnames[code.co_argcount + code.co_kwonlyargcount]
    return code.co_varnames[: code.co_argcount], rest


def keyword_names(f: Callable[..., Any]) -> tuple[str, ...]:
    """The keyword-only parameter names of a function (of the one it wraps)."""
    code = getattr(f, "__wrapped__", f).__code__
    return code.co_varnames[code.co_argcount : code.co_argcount + code.co_kwonlyargcount]


def real_text(text: str) -> str:
    """The text of a rule for real operands."""
    return text.replace("conj(", "(")


class Primitive:
    """One operation's record; see the module's docstring and `primitive` (core/primitive.py) for the fields."""

    def __init__(
        self, name: str, *, kernel: Callable[..., Any], operands: tuple[str, ...] | None, params: tuple[str, ...],
        multi: bool, vjps: Any, vjp: Callable[..., Any] | None, jvp: Any, batch: Callable[..., Any],
        infer: Callable[..., Any], samples: Any, diff_outs: tuple[bool, ...] | None, used_outs: tuple[bool, ...] | None,
        tolerances: dict[str, Any] | None, kind: str, numpy: Callable[..., Any] | None,
        saves: str | Mapping[str, Sequence[str]], regional: Sequence[str], texts: tuple[str, ...],
        generated: bool | type[Large],
    ) -> None:  # fmt: skip
        self.name, self.kernel, self.operands, self.params = name, kernel, operands, params
        self.multi, self.vjps, self.vjp, self.jvp = multi, vjps, vjp, jvp
        self.batch, self.infer, self.samples, self.diff_outs = batch, infer, samples, diff_outs
        self.used_outs = used_outs
        """With `multi`, the outputs of which the rules take the value (None: all): the others are not kept."""
        self.tolerances = tolerances or {}
        self.differentiable = vjps is not NOT_DIFFERENTIABLE
        self.kind = kind
        self.lowerings: dict[str, Callable[..., Any]] = {}
        """What a library computes better than the standard kernel, `f(*arrays, **params)`, by the library's name."""
        if numpy is None and isinstance(kernel, Ufunc):
            numpy = kernel.numpy
        if numpy is not None:
            self.lowerings["numpy"] = numpy
        self.numpy_kernel: Callable[..., Any] = functools.partial(kernel, np) if numpy is None else numpy
        self.large: Large | None = None
        """What NumPy arrays of `large.least` elements and more are computed with, of an elementwise primitive."""
        if isinstance(generated, type):
            self.large = generated(self)
        elif generated and kind == "elementwise" and operands and not multi:
            self.large = Large(self)
        self.texts = texts
        self.saves = saves
        self.regional = tuple((*(operands or ()), "out").index(x) for x in regional)
        """The operands (and, after them, the output) in which every rule is flat: it asks only in which region they lie."""
        self._plan_saving()
        self.op: Callable[..., Any]
        """The public function: raw arrays in, raw array out; a value among the operands, a value out."""
        self.bind: Callable[..., Any]
        """The same for operands of which one at least is a value and the others are values or arrays."""
        self.bind_level: Callable[..., Any]
        """The same where one of the values is of the tape of an open transform."""
        self.pull: Callable[..., Any]
        """`pull(node, saved, g, needs)`: the cotangents of the operands, None where `needs` has None."""
        self.step: Callable[..., None]
        """`step(node, g, grads, fit, add)`: `pull` on raw arrays, the results added to `grads`."""
        self.write_rules: Callable[[Primitive], None]
        """Gives the record its `pull` and `step` when the first is asked for (core/specialise.py)."""
        self.module: str
        """The module that registers it."""

    def __reduce__(self) -> Any:
        # Another process has records of its own: its kernels may be others, and ours hold what belongs to this one.
        return _registered, (self.module, self.name)

    def __getattr__(self, name: str) -> Any:
        if name in ("pull", "step") and self.__dict__.get("differentiable"):
            self.write_rules(self)
            return self.__dict__[name]
        raise AttributeError(f"primitive {self.__dict__.get('name')!r} has no {name!r}")

    def expression(self, *dtypes: Any, **params: Any) -> Any:
        """What an elementwise kernel computes on operands of these dtypes (float64, if none are given), as an expression.

        Raises UnsupportedError where it is none (core/expression.py).
        """
        from .expression import trace

        return trace(self, dtypes or (np.float64,) * len(self.operands or ()), params)

    def _plan_saving(self) -> None:
        """What recording keeps: `users[j]`, the operands whose rules want the value of operand j (of a joint rule: all that
        it pulls back to), `out_users` those that want the output's."""
        self.rule_needs: list[tuple[str, ...] | None] = []
        self.users: tuple[frozenset[int], ...] = ()
        self.out_users: frozenset[int] = frozenset()
        self._rest = UNUSED
        n = len(self.operands or ())
        if self.vjp is not None:
            names, rest = positional_names(self.vjp)
            wants = needs_of(names[2:])  # (needs, g, out, *operands)
            self.rule_needs = [wants]
            self._rest = UNUSED if rest is None else needs_of([rest])[0]
            users_of = self._users_named(frozenset(range(64 if self.operands is None else n)))
            n = len(wants) - 1 if self.operands is None else n
            self.users = tuple(users_of(j) if self.wants(j) == VALUE else frozenset() for j in range(n))
            self.out_users = users_of(None) if wants and wants[0] == VALUE else frozenset()
        elif self.differentiable:
            for i, rule in enumerate(self.vjps):
                names = () if rule is None else positional_names(rule)[0]
                if rule is not None and len(names) != n + 2:
                    raise TypeError(f"primitive {self.name!r}: rule {i} takes {names}, wanted g, out and {n} operands")
                self.rule_needs.append(None if rule is None else needs_of(names[1:]))  # (g, out, *operands)
            rules = [(i, wants) for i, wants in enumerate(self.rule_needs) if wants is not None]
            # Another operand's shape is taken from its array, since it may have no edge to carry it.
            self.users = tuple(
                frozenset(i for i, w in rules if w[j + 1] == VALUE or (w[j + 1] == AVAL and j != i)) for j in range(n)
            )
            self.out_users = frozenset(i for i, w in rules if w[0] == VALUE)
        self.saves_out = bool(self.out_users)
        self.saves_any = self.saves_out or any(self.users) or self._rest == VALUE
        self._kept: dict[tuple[bool, ...], tuple[tuple[bool, ...], bool]] = {}

    def _users_named(self, everyone: frozenset[int]) -> Callable[[int | None], frozenset[int]]:
        """For an operand of a joint rule (None: the output) those whose cotangents take its value, as `saves` says."""
        named, names = self.saves, self.operands
        if isinstance(named, str) or names is None:
            return lambda j: everyone
        unknown = [x for key, users in named.items() for x in (key, *users) if x not in (*names, "out")]
        if unknown:
            raise TypeError(f"primitive {self.name!r}: saves names {unknown[0]!r}, and the operands are {names}")

        def users(j: int | None) -> frozenset[int]:
            found = named.get("out" if j is None else names[j])
            return everyone if found is None else frozenset(map(names.index, found))

        return users

    def has_rule(self, i: int) -> bool:
        """Whether operand i has a derivative."""
        return self.vjp is not None or self.rule_needs[i] is not None

    def wants(self, j: int) -> str:
        """What a joint rule wants of operand j."""
        fixed = self.rule_needs[0] or ()
        return fixed[j + 1] if j + 1 < len(fixed) else self._rest

    def users_of(self, j: int, count: int) -> frozenset[int]:
        """The operands, of so many, whose rules want the value of operand j."""
        if j < len(self.users):
            return self.users[j]
        if self._rest != VALUE:  # of operands in any number
            return frozenset()
        everyone = frozenset(range(count))
        return everyone if self.saves == "all" else everyone - {j}

    def saved(self, arrays: Sequence[Any], edges: Sequence[Any], out: Any) -> tuple[Any, ...]:
        """What a node keeps for the rules that will be asked, given the edges of operands that want a gradient: an entry per
        operand, None where it is not needed, and the output where a rule wants it; () where nothing is kept."""
        if not self.saves_any:
            return ()
        flags = tuple([edge is not None for edge in edges])
        kept, of_out = self._kept.get(flags) or self._planned(flags)
        found = [x if keeps else None for x, keeps in zip(arrays, kept)]
        if self.saves_out:
            found.append(self.kept_out(out) if of_out else None)
        for x in found:
            if x is not None:
                return tuple(found)
        return ()

    def _planned(self, flags: tuple[bool, ...]) -> tuple[tuple[bool, ...], bool]:
        """Which operands a node keeps, and whether the output, by which operands want a gradient; as remembered from then on."""
        count = len(flags)
        wanted = {i for i, flag in enumerate(flags) if flag}
        asked = frozenset(i for i in range(count) if self.has_rule(i))

        def kept(of: frozenset[int]) -> bool:
            return bool(of) and (of >= asked or not wanted.isdisjoint(of))

        found = tuple([kept(self.users_of(i, count)) for i in range(count)]), kept(self.out_users)
        if count <= _MOST_PLANNED:
            self._kept[flags] = found
        return found

    def kept_out(self, out: Any) -> Any:
        """The output as a node keeps it: of several those that the rules take the value of, with None for the others."""
        return out if self.used_outs is None else tuple(x if used else None for x, used in zip(out, self.used_outs))

    def __repr__(self) -> str:
        return f"<primitive {self.name}>"

"""Expressions of PyTorch without effects: elementwise, reductions, products, shapes, views, indexing, casts."""

import math
from dataclasses import dataclass

from .draw import MAX_SIZE, Draw, Shape, Variable, broadcast, factorings, promoted, real_of, without

UNARY = """
torch.sin({a}) | torch.cos({a}) | torch.tanh({a}) | torch.sigmoid({a}) | torch.exp(-{a}.square()) | torch.expm1({a}.clamp(max=2.0))
torch.log({a}.abs() + 0.5) | torch.sqrt({a}.abs() + 0.1) | torch.rsqrt({a}.square() + 0.5) | torch.reciprocal({a}.abs() + 0.5)
{a}.square() | {a}.abs() | -{a} | {a}.relu() | F.softplus({a}) | F.gelu({a}) | F.silu({a}) | F.elu({a}) | F.leaky_relu({a}, 0.1)
F.hardtanh({a}) | torch.erf({a}) | torch.atan({a}) | torch.asinh({a}) | torch.log1p({a}.abs()) | F.logsigmoid({a}) | F.mish({a})
F.celu({a}) | F.selu({a}) | {a}.clamp(-0.8, 0.9) | {a}.clamp(min=-0.5) | {a} ** 2 | {a} ** 3 | {a}.pow(3) | {a} * 2.0 | 3.0 - {a}
{a} / 2.0 | 1.5 * {a} + 0.5 | {a} + 1 | 2 - {a} | ({a}.abs() + 0.2) ** 0.5 | ({a}.abs() + 0.3) ** -1.5 | torch.nan_to_num({a})
torch.sinc({a}) | torch.exp2({a}.clamp(max=2)) | F.gelu({a}, approximate="tanh") | F.hardswish({a}) | F.relu6({a})
F.softsign({a}) | F.tanhshrink({a}) | F.softshrink({a}, 0.3) | F.hardshrink({a}, 0.3) | F.threshold({a}, 0.1, -0.2) | torch.sinh({a}.clamp(-2, 2))
torch.cosh({a}.clamp(-2, 2)) | torch.logit({a}.sigmoid() * 0.9 + 0.05) | torch.asin({a}.tanh() * 0.9) | torch.acos({a}.tanh() * 0.9)
torch.atanh({a}.tanh() * 0.9) | torch.acosh({a}.abs() + 1.2) | torch.lgamma({a}.abs() + 0.5) | torch.digamma({a}.abs() + 0.5) | torch.frac({a} + 0.013)
torch.log2({a}.abs() + 0.5) | torch.log10({a}.abs() + 0.5) | torch.special.i0e({a}) | torch.special.ndtr({a}) | torch.special.log_ndtr({a}) | torch.erfinv({a}.tanh() * 0.9)
torch.special.entr({a}.abs() + 0.1) | torch.deg2rad({a}) | {a}.clone() | {a}.positive() | 2.0 ** {a} | 2 / ({a}.abs() + 1)
"""
UNARY_SIGN = "torch.sign({a}) | torch.floor({a} + 0.013) | torch.ceil({a} + 0.013) | torch.round({a} + 0.013) | torch.trunc({a} + 0.013)"
UNARY_COMPLEX = """
torch.sin({a}) | torch.cos({a}) | torch.tanh({a}) | torch.exp({a}) | {a}.conj() * {a} | {a}.square() | -{a} | {a} * 2.0 | {a} * (1 + 2j)
torch.reciprocal({a} + 3.0) | {a}.conj() | {a} ** 2 | torch.sgn({a} + 0.1) | torch.sqrt({a} + 4.0) | torch.log({a} + 4.0) | {a}.clone() | {a}.conj().clone() | torch.sigmoid({a})
{a} / 2 | 1 / ({a} + 4.0) | ({a} + 4.0) ** 0.5 | {a}.conj_physical() | {a}.resolve_conj()
"""
COMPLEX_TO_REAL = (
    "{a}.abs() | {a}.real | {a}.imag | torch.angle({a} + 4.0) | {a}.abs().square() | torch.view_as_real({a}).sum(-1)"
)
BINARY = """
{a} + {b} | {a} - {b} | {a} * {b} | {a} * {b} | {a} / ({b}.abs() + 0.5) | torch.maximum({a}, {b}) | torch.minimum({a}, {b}) | torch.fmax({a}, {b})
torch.fmin({a}, {b}) | torch.atan2({a}, {b}) | torch.hypot({a}, {b}) | torch.logaddexp({a}, {b}) | torch.where({a} > 0.2, {a}, {b})
torch.lerp({a}, {b}, 0.3) | torch.xlogy({a}, {b}.abs() + 0.5) | ({a}.abs() + 0.4) ** {b} | torch.where({b} < {a}, {a} * 2, {b}) | torch.add({a}, {b}, alpha=2)
torch.sub({a}, {b}, alpha=3) | torch.rsub({a}, {b}) | torch.copysign({a}, {b}) | torch.logaddexp2({a}, {b}) | torch.addcmul({a}, {b}, {a}, value=0.5)
torch.addcdiv({a}, {b}, {b}.abs() + 1, value=0.5) | torch.true_divide({a}, {b}.square() + 1) | torch.where({a} > 0, {b}, 0.5) | torch.clamp({a}, max={b})
torch.remainder({a}, {b}.abs() + 0.7) | torch.fmod({a}, {b}.abs() + 0.7) | torch.special.xlog1py({a}, {b}.abs()) | torch.dist({a}, {b}) * {a} * {b} | torch.ldexp({a}, {b})
"""
BINARY_COMPLEX = "{a} + {b} | {a} - {b} | {a} * {b} | {a} / ({b} + 4.0) | {a} * {b}.conj() | torch.where(({a} * {b}).real > 0.1, {a}, {b}) | torch.lerp({a}, {b}, 0.3)"
COMPARISONS = "{a} > {b} | {a} <= {b} | {a} == {b} | {a} != {b}"
REDUCTIONS = """
{a}.sum({d}) | {a}.mean({d}) | {a}.sum({d}) | {a}.amax({d}) | {a}.amin({d}) | torch.logsumexp({a}, {d1}) | {a}.square().sum({d}).add(0.1).sqrt()
{a}.norm(2, {d1}) | torch.linalg.vector_norm({a}, 3, {d1}) | torch.linalg.vector_norm({a}, 1, {d1}) | {a}.nansum({d})
"""
REDUCTIONS_ONE = """
{a}.prod({d}) | {a}.max({d}).values | {a}.min({d})[0] | {a}.median({d})[0] | torch.logsumexp({a}, {d}) | {a}.std({d}, correction=0) | {a}.var({d}, correction=0)
"""
ALL = """
{a}.sum() | {a}.mean() | {a}.prod() | {a}.max() | {a}.min() | {a}.norm() | {a}.var(correction=0) | {a}.square().mean() | torch.linalg.vector_norm({a}) | {a}.abs().sum()
"""
SCANS = """
{a}.cumsum({d}) | {a}.cumprod({d}) | torch.softmax({a}, {d}) | torch.log_softmax({a}, {d}) | {a}.sort({d}).values | {a}.flip({d}) | {a}.roll(1, {d})
{a}.sort({d}, descending=True)[0] | F.normalize({a}, dim={d}) | {a}.cummax({d})[0] | F.softmin({a}, {d}) | {a}.diff(dim={d}, prepend={a})
"""


def listed(table: str) -> list[str]:
    return [part.strip() for part in table.replace("\n", "|").split("|") if part.strip()]


TABLES = {
    "unary": listed(UNARY),
    "sign": listed(UNARY_SIGN),
    "unary complex": listed(UNARY_COMPLEX),
    "to real": listed(COMPLEX_TO_REAL),
    "binary": listed(BINARY),
    "binary complex": listed(BINARY_COMPLEX),
    "comparisons": listed(COMPARISONS),
    "reductions": listed(REDUCTIONS),
    "one axis": listed(REDUCTIONS_ONE),
    "all": listed(ALL),
    "scans": listed(SCANS),
}
BFLOAT16_LACKS = ("lgamma", "digamma", "linalg", "i0e", "ndtr", "erfinv", "entr", "median", "logcumsumexp")


@dataclass(frozen=True)
class Expression:
    text: str
    shape: Shape
    dtype: str
    differentiable: bool
    view_of: Variable | None = None
    expanded: bool = False
    writable: bool = True

    def fits(self, axes: int) -> bool:
        """Whether it has at most so many axes, and few enough elements."""
        return len(self.shape) <= axes and min(self.shape, default=0) >= 0 and math.prod(self.shape) <= MAX_SIZE


class Operations(Draw):
    """Draws expressions over the variables in reach."""

    batched = False
    """Inside a function that `vmap` maps, operations whose result depends on values by shape are not drawn."""

    def bind(self, expression: Expression, keep: bool = True) -> Variable:
        name = self.name()
        self.line(f"{name} = {expression.text}")
        source = expression.view_of
        variable = Variable(
            name,
            expression.shape,
            expression.dtype,
            expression.differentiable,
            leaf=bool(source and source.leaf),
            memory=source.memory if source else self.counter,
            expanded=expression.expanded or bool(source and source.expanded),
        )
        return self.add(variable) if keep else variable

    def expression(self) -> Expression | None:
        """One drawn expression, or None when nothing in reach fits."""
        kinds = {
            self.unary: 5, self.binary: 7, self.reduction: 2.5, self.scan: 1.3, self.product: 2.2, self.view: 3.5,
            self.joined: 1.6, self.indexed: 3, self.gathered: 1.6, self.cast: 0.6, self.comparison: 0.3, self.matrix: 0.5,
        }  # fmt: skip
        made = self.random.choices(list(kinds), list(kinds.values()))[0]()
        return made if made is not None and max(made.shape, default=0) <= 12 and made.fits(5) else None

    def some(self) -> Variable | None:
        if self.chance(0.8):
            chosen = self.pick(lambda v: v.differentiable)
            if chosen is not None:
                return chosen
        return self.pick(lambda v: v.inexact)

    def template(self, table: str, dtype: str) -> str:
        for _ in range(20):
            text = self.choice(TABLES[table])
            if dtype != "bfloat16" or not any(name in text for name in BFLOAT16_LACKS):
                return text
        return TABLES[table][0]

    def unary(self) -> Expression | None:
        a = self.some()
        if a is None:
            return None
        if a.complex:
            if self.chance(0.3):
                text = self.choice(TABLES["to real"])
                return Expression(text.format(a=a.name), a.shape, real_of(a.dtype), a.differentiable)
            return Expression(self.choice(TABLES["unary complex"]).format(a=a.name), a.shape, a.dtype, a.differentiable)
        table = "sign" if self.chance(0.04) else "unary"
        return Expression(self.template(table, a.dtype).format(a=a.name), a.shape, a.dtype, a.differentiable)

    def partner(self, a: Variable) -> Variable | None:
        """A variable that broadcasts with `a` (of another dtype rarely)."""
        same = self.chance(0.93)
        return self.pick(
            lambda v: broadcast(a.shape, v.shape) is not None,
            lambda v: v.dtype == a.dtype if same else v.dtype != a.dtype,
        )

    def binary(self) -> Expression | None:
        a = self.some()
        b = a and self.partner(a)
        if a is None or b is None:
            return None
        if self.chance(0.5):
            a, b = b, a
        dtype = promoted(a, b)
        shape = broadcast(a.shape, b.shape)
        assert shape is not None
        if dtype in ("bool", "int64"):
            return Expression(f"{a.name} * {b.name}", shape, dtype, False)
        complex_ = a.complex or b.complex
        if a.dtype != b.dtype:
            text = self.choice(TABLES["binary complex"][:3] if complex_ else TABLES["binary"][:4])
        else:
            text = self.choice(TABLES["binary complex"]) if complex_ else self.template("binary", dtype)
        return Expression(text.format(a=a.name, b=b.name), shape, dtype, a.differentiable or b.differentiable)

    def comparison(self) -> Expression | None:
        a = self.pick(lambda v: v.floating)
        b = a and self.partner(a)
        if a is None or b is None or b.complex:
            return None
        shape = broadcast(a.shape, b.shape)
        assert shape is not None
        return Expression(self.choice(TABLES["comparisons"]).format(a=a.name, b=b.name), shape, "bool", False)

    def reduction(self) -> Expression | None:
        a = self.some()
        if a is None:
            return None
        if a.complex:
            return Expression(f"{a.name}.sum()", (), a.dtype, a.differentiable)
        if not a.shape or self.chance(0.3):
            return Expression(self.template("all", a.dtype).format(a=a.name), (), a.dtype, a.differentiable)
        keep = self.chance(0.4)
        axis = self.axis(a.shape)
        suffix = f"{axis}, keepdim=True" if keep else str(axis)
        if len(a.shape) > 1 and self.chance(0.25):
            axes = sorted(self.random.sample(range(len(a.shape)), 2))
            text = f"({axes[0]}, {axes[1]})"
            text = f"{text}, keepdim=True" if keep else text
            shape = without(without(a.shape, axes[1], keep), axes[0], keep)
            made = self.template("reductions", a.dtype).format(a=a.name, d=text, d1=text)
            return Expression(made, shape, a.dtype, a.differentiable)
        shape = without(a.shape, axis, keep)
        table = "reductions" if self.chance(0.6) else "one axis"
        made = self.template(table, a.dtype).format(a=a.name, d=suffix, d1=suffix)
        return Expression(made, shape, a.dtype, a.differentiable)

    def scan(self) -> Expression | None:
        a = self.pick(lambda v: v.floating, lambda v: v.shape)
        if a is None:
            return None
        axis = self.axis(a.shape)
        text = self.template("scans", a.dtype)
        shape = a.shape
        if "diff" in text:
            axis %= len(shape)
            shape = (*shape[:axis], 2 * shape[axis] - 1, *shape[axis + 1 :])
        return Expression(text.format(a=a.name, d=axis), shape, a.dtype, a.differentiable)

    def product(self) -> Expression | None:
        a = self.some()
        if a is None or not a.shape:
            return None
        k = a.shape[-1]
        b = self.pick(lambda v: v.dtype == a.dtype, lambda v: v.shape and k in v.shape[-2:])
        if b is None:
            return None
        diff = a.differentiable or b.differentiable
        A, B = a.name, b.name
        forms: list[tuple[str, Shape]] = []
        if len(b.shape) == 1 and b.shape[0] == k:
            forms += [(f"{A} @ {B}", a.shape[:-1]), (f"torch.einsum('...i,i->...', {A}, {B})", a.shape[:-1])]
            forms += [(f"torch.einsum('...i,i->...i', {A}, {B})", a.shape)]
            if len(a.shape) == 1:
                forms += [(f"torch.dot({A}, {B})", ()), (f"torch.outer({A}, {B})", (k, k))]
                forms += [(f"torch.kron({A}, {B})", (k * k,))]
        if len(b.shape) == 2:
            if b.shape[0] == k:
                forms += [
                    (f"{A} @ {B}", (*a.shape[:-1], b.shape[1])),
                    (f"torch.tensordot({A}, {B}, 1)", (*a.shape[:-1], b.shape[1])),
                ]
                if len(a.shape) == 2:
                    forms += [
                        (f"torch.einsum('ij,jk->ki', {A}, {B})", (b.shape[1], a.shape[0])),
                        (f"torch.mm({A}, {B})", (a.shape[0], b.shape[1])),
                    ]
                    forms += [(f"torch.addmm({A} @ {B}, {A}, {B}, beta=0.5, alpha=2)", (a.shape[0], b.shape[1]))]
            if b.shape[1] == k:
                forms += [
                    (f"F.linear({A}, {B})", (*a.shape[:-1], b.shape[0])),
                    (f"{A} @ {B}.T", (*a.shape[:-1], b.shape[0])),
                ]
                if len(a.shape) == 2:
                    forms += [(f"torch.einsum('ij,kj->ik', {A}, {B})", (a.shape[0], b.shape[0]))]
                    forms += [(f"({B} @ {A}.t()).mT", (a.shape[0], b.shape[0]))]
        if len(a.shape) == len(b.shape) == 3 and a.shape[0] == b.shape[0] and b.shape[1] == k:
            forms += [(f"torch.bmm({A}, {B})", (*a.shape[:2], b.shape[2])), (f"{A} @ {B}", (*a.shape[:2], b.shape[2]))]
        if a.shape == b.shape:
            forms += [
                (f"torch.linalg.vecdot({A}, {B})", a.shape[:-1]),
                (f"torch.einsum('...i,...i->...', {A}, {B})", a.shape[:-1]),
            ]
        if not forms:
            return None
        text, shape = self.choice(forms)
        return Expression(text, shape, a.dtype, diff)

    def matrix(self) -> Expression | None:
        """Linear algebra of a well-conditioned square matrix."""
        a = self.pick(lambda v: v.dtype in ("float32", "float64"), lambda v: len(v.shape) == 2 and 0 < v.size <= 9)
        if a is None:
            return None
        n, m = a.shape
        eye = f"2 * torch.eye({n}, dtype=torch.{a.dtype})"
        square = f"{a.name} @ {a.name}.T + {eye}"
        forms: list[tuple[str, Shape]] = [
            (f"torch.linalg.inv({square})", (n, n)),
            (f"torch.linalg.det({square})", ()),
            (f"torch.linalg.solve({square}, {a.name})", (n, m)),
            (f"torch.linalg.cholesky({square})", (n, n)),
            (f"torch.logdet({square})", ()),
            (f"torch.linalg.slogdet({square})[1]", ()),
            (f"torch.linalg.matrix_power({a.name} @ {a.name}.T, 2)", (n, n)),
            (f"torch.trace({a.name})", ()),
            (f"torch.linalg.matrix_norm({a.name})", ()),
            (f"torch.linalg.solve_triangular(({square}).tril(), {a.name}, upper=False)", (n, m)),
            (f"torch.matrix_exp(({a.name} @ {a.name}.T).tanh())", (n, n)),
        ]
        text, shape = self.choice(forms)
        return Expression(text, shape, a.dtype, a.differentiable)

    def view(self) -> Expression | None:
        a = self.some()
        if a is None:
            return None
        shape, n = a.shape, len(a.shape)
        forms: list[tuple[str, Shape]] = [
            (f"{a.name}.unsqueeze(0)", (1, *shape)),
            (f"{a.name}.unsqueeze(-1)", (*shape, 1)),
        ]
        forms += [
            (f"{a.name}.view_as({a.name})", shape),
            (f"{a.name}[...]", shape),
            (f"{a.name}.squeeze()", tuple(k for k in shape if k != 1)),
        ]
        forms += [(f"{a.name}[None]", (1, *shape)), (f"{a.name}[..., None]", (*shape, 1))]
        if a.complex:
            forms += [(f"{a.name}.conj()", shape)]
        expands: list[tuple[str, Shape]] = [
            (f"{a.name}.expand(2, {', '.join(map(str, shape))})", (2, *shape))
            if shape
            else (f"{a.name}.expand(3)", (3,))
        ]
        if a.size <= 24:
            for other in self.random.sample(factorings(a.size), min(2, len(factorings(a.size)))):
                forms += [(f"{a.name}.{self.choice(['reshape', 'reshape', 'view'])}{other}", other)]
        if n:
            axis = self.axis(shape)
            size = shape[axis]
            forms += [(f"{a.name}.flatten()", (a.size,))]
            if size > 1:
                k = self.random.randrange(-size, size)
                stop = self.random.randint(1, size)
                start = self.random.randrange(stop)
                rest = without(shape, axis)
                positive = axis % n
                replaced = (*shape[:positive], stop - start, *shape[positive + 1 :])
                forms += [
                    (f"{a.name}.select({axis}, {k})", rest),
                    (f"{a.name}.narrow({axis}, {start}, {stop - start})", replaced),
                ]
                forms += [(f"{a.name}.unbind({axis})[{k}]", rest)]
                forms += [(f"{a.name}[{', '.join([':'] * positive + [f'{start}:{stop}'])}]", replaced)]
                forms += [(f"{a.name}[{', '.join([':'] * positive + [str(k)])}]", rest)]
                forms += [
                    (
                        f"{a.name}[{', '.join([':'] * positive + ['::2'])}]",
                        (*shape[:positive], (size + 1) // 2, *shape[positive + 1 :]),
                    )
                ]
                first = (size + 1) // 2
                forms += [(f"{a.name}.chunk(2, {axis})[0]", (*shape[:positive], first, *shape[positive + 1 :]))]
                forms += [
                    (
                        f"{a.name}.split([1, {size - 1}], {axis})[1]",
                        (*shape[:positive], size - 1, *shape[positive + 1 :]),
                    )
                ]
                forms += [(f"{a.name}.unfold({axis}, 2, 1)", (*shape[:positive], size - 1, *shape[positive + 1 :], 2))]
            if size == 1:
                forms += [(f"{a.name}.squeeze({axis})", without(shape, axis))]
                positive = axis % n
                expands += [
                    (
                        f"{a.name}.expand({', '.join(map(str, (*[-1] * positive, 3, *[-1] * (n - 1 - positive))))})",
                        (*shape[:positive], 3, *shape[positive + 1 :]),
                    )
                ]
        if n >= 2:
            i, j = self.random.sample(range(n), 2)
            swapped = list(shape)
            swapped[i], swapped[j] = swapped[j], swapped[i]
            order = self.random.sample(range(n), n)
            forms += [
                (f"{a.name}.transpose({i}, {j})", tuple(swapped)),
                (f"{a.name}.permute({', '.join(map(str, order))})", tuple(shape[k] for k in order)),
            ]
            forms += [
                (f"{a.name}.mT", (*shape[:-2], shape[-1], shape[-2])),
                (f"{a.name}.swapaxes({i}, {j})", tuple(swapped)),
            ]
            forms += [(f"{a.name}.movedim(0, -1)", (*shape[1:], shape[0]))]
            if n == 2:
                forms += [
                    (f"{a.name}.t()", shape[::-1]),
                    (f"{a.name}.diagonal()", (min(shape),)),
                    (f"{a.name}.T", shape[::-1]),
                ]
                if self.chance(0.3) and a.size:
                    forms += [(f"{a.name}.as_strided((2,), (1,), {self.random.randrange(max(a.size - 1, 1))})", (2,))]
            forms += [(f"{a.name}.flatten(0, 1)", (shape[0] * shape[1], *shape[2:]))]
        if self.chance(0.2):
            text, new = self.choice(expands)
            return Expression(text, new, a.dtype, a.differentiable, a, expanded=True)
        if self.chance(0.06):
            return Expression(
                f"{a.name}.detach()", shape, a.dtype, False, Variable(a.name, shape, a.dtype, memory=a.memory)
            )
        text, new = self.choice(forms)
        return Expression(text, new, a.dtype, a.differentiable, a, expanded="unfold" in text)

    def joined(self) -> Expression | None:
        a = self.some()
        if a is None:
            return None
        shape, n = a.shape, len(a.shape)
        b = self.pick(lambda v: v.shape == shape, lambda v: v.dtype == a.dtype)
        other = b or a
        diff = a.differentiable or other.differentiable
        forms: list[tuple[str, Shape]] = [
            (f"torch.stack([{a.name}, {other.name}])", (2, *shape)),
            (f"torch.stack([{other.name}, {a.name}], -1)", (*shape, 2)),
        ]
        if n:
            axis = self.axis(shape)
            p = axis % n
            forms += [(f"torch.cat([{a.name}, {other.name}], {axis})", (*shape[:p], 2 * shape[p], *shape[p + 1 :]))]
            forms += [
                (f"{a.name}.repeat_interleave(2, {axis})", (*shape[:p], 2 * shape[p], *shape[p + 1 :])),
                (f"{a.name}.tile(2)", (*shape[:-1], 2 * shape[-1])),
            ]
            forms += [
                (f"F.pad({a.name}, (1, 0), value=0.5)", (*shape[:-1], shape[-1] + 1)),
                (f"F.pad({a.name}, (-1, 2))", (*shape[:-1], shape[-1] + 1)),
            ]
            forms += [
                (f"{a.name}.contiguous()", shape),
                (f"torch.diag_embed({a.name})", (*shape, shape[-1])),
                (f"{a.name}.repeat(2, {', '.join('1' * n)})", (2, *shape)),
            ]
        if n == 2:
            forms += [
                (f"{a.name}.tril()", shape),
                (f"{a.name}.triu(1)", shape),
                (f"torch.rot90({a.name})", shape[::-1]),
                (f"torch.hstack([{a.name}, {a.name}])", (shape[0], 2 * shape[1])),
            ]
        if n == 1:
            forms += [(f"torch.diag({a.name})", (shape[0], shape[0])), (f"torch.cumsum({a.name}, 0).flip(0)", shape)]
        text, new = self.choice(forms)
        return Expression(text, new, a.dtype, diff)

    def places(self, size: int, count: int, unique: bool) -> str:
        places = (
            self.random.sample(range(size), min(count, size))
            if unique
            else [self.random.randrange(size) for _ in range(count)]
        )
        if self.chance(0.3):
            places = [p - size for p in places]
        return f"torch.tensor({places})"

    def mask(self, a: Variable) -> str | None:
        """A boolean of the shape of `a` that does not hang by a thread."""
        if not a.floating:
            return None
        return self.choice([f"{a.name} > 0.1", f"{a.name} < 0.3", f"{a.name}.abs() > 0.4", f"{a.name} != 0.0"])

    def index(self, a: Variable, unique: bool = False) -> tuple[str, Shape, bool] | None:
        """What stands in the brackets, the shape it gives, whether that is a view."""
        shape, n = a.shape, len(a.shape)
        if not n or not a.size:
            return None
        forms: list[tuple[str, Shape, bool]] = []
        count = self.random.randint(1, 3)
        count = min(count, shape[0]) if unique else count
        first = self.places(shape[0], count, unique)
        forms += [(first, (count, *shape[1:]), False)]
        forms += [(first.removeprefix("torch.tensor(").removesuffix(")"), (count, *shape[1:]), False)]
        forms += [
            (str(self.random.randrange(shape[0])), shape[1:], True),
            ("1:", (max(shape[0] - 1, 0), *shape[1:]), True),
        ]
        forms += [("..., 0", shape[:-1], True), ("...", shape, True), ("::2", ((shape[0] + 1) // 2, *shape[1:]), True)]
        bits = [self.chance(0.6) for _ in range(shape[0])]
        forms += [(f"torch.tensor({bits})", (sum(bits), *shape[1:]), False)]
        if n >= 2:
            both = min(shape[0], shape[1], count) if unique else count
            second = self.places(shape[1], both, unique)
            forms += [(f"{self.places(shape[0], both, unique)}, {second}", (both, *shape[2:]), False)]
            forms += [
                (f":, {second}", (shape[0], both, *shape[2:]), False),
                (f"0, {second}", (both, *shape[2:]), False),
            ]
            forms += [(f"None, :, {self.random.randrange(shape[1])}", (1, shape[0], *shape[2:]), True)]
            forms += [(f"{self.places(shape[0], 1, unique)}[:, None], {second}", (1, both, *shape[2:]), False)]
            forms += [
                (f"1:, {second}", (max(shape[0] - 1, 0), both, *shape[2:]), False),
                (f"..., {self.places(shape[-1], 1, unique)}", (*shape[:-1], 1), False),
            ]
        if n == 3:
            third = self.places(shape[2], count, unique)
            k = min(count, shape[2]) if unique else count
            forms += [(f"0, :, {third}", (k, shape[1]), False), (f":, 0, {third}", (shape[0], k), False)]
        return self.choice(forms)

    def indexed(self) -> Expression | None:
        a = self.some()
        if a is None:
            return None
        if not self.batched and self.chance(0.15):
            mask = self.mask(a)
            if mask:
                text = self.choice([f"{a.name}[{mask}]", f"torch.masked_select({a.name}, {mask})"])
                return Expression(f"{text}.sum(0, keepdim=True)", (1,), a.dtype, a.differentiable)
        found = self.index(a)
        if found is None:
            return None
        text, shape, is_view = found
        return Expression(f"{a.name}[{text}]", shape, a.dtype, a.differentiable, a if is_view else None)

    def gathered(self) -> Expression | None:
        a = self.some()
        if a is None or not a.shape or not a.size:
            return None
        shape, n = a.shape, len(a.shape)
        axis = self.axis(shape)
        p = axis % n
        count = self.random.randint(1, 3)
        index = self.places(shape[p], count, False)
        picked = (*shape[:p], count, *shape[p + 1 :])
        forms: list[tuple[str, Shape]] = [
            (
                f"{a.name}.index_select({axis}, {index.replace('-', '') if '-' not in index else self.places_positive(shape[p], count)})",
                picked,
            )
        ]
        rows = [self.random.randrange(shape[p]) for _ in range(count)]
        full = f"torch.tensor({rows}).view{(*[1] * p, count, *[1] * (n - 1 - p))}.expand{picked}"
        forms += [
            (f"{a.name}.gather({axis}, {full})", picked),
            (f"torch.take_along_dim({a.name}, {full}, {axis})", picked),
        ]
        forms += [(f"{a.name}.take(torch.tensor({[self.random.randrange(a.size) for _ in range(2)]}))", (2,))]
        mask = self.mask(a)
        if mask:
            forms += [(f"{a.name}.masked_fill({mask}, 0.25)", shape)]
        one = f"torch.tensor([{self.random.randrange(shape[p])}])"
        forms += [(f"{a.name}.index_fill({axis}, {one}, 0.5)", shape)]
        source = self.pick(lambda v: v.shape == shape, lambda v: v.dtype == a.dtype)
        diff = a.differentiable
        if source is not None:
            order = self.random.sample(range(shape[p]), shape[p])
            b = source.name
            repeated = [self.random.randrange(shape[p]) for _ in order]
            places = f"torch.tensor({order}).view{(*[1] * p, shape[p], *[1] * (n - 1 - p))}.expand{shape}"
            more = f"torch.tensor({repeated}).view{(*[1] * p, shape[p], *[1] * (n - 1 - p))}.expand{shape}"
            new = [
                (f"{a.name}.index_add({axis}, torch.tensor({repeated}), {b})", shape),
                (f"{a.name}.index_copy({axis}, torch.tensor({order}), {b})", shape),
            ]
            new += [
                (f"{a.name}.scatter({axis}, {places}, {b})", shape),
                (f"{a.name}.scatter_add({axis}, {more}, {b})", shape),
            ]
            new += (
                [(f"torch.index_put({a.name}, (torch.tensor({repeated}),), {b}[0], accumulate=True)", shape)]
                if p == 0
                else []
            )
            if self.chance(0.6):
                text, new_shape = self.choice(new)
                return Expression(text, new_shape, a.dtype, diff or source.differentiable)
        text, new_shape = self.choice(forms)
        return Expression(text, new_shape, a.dtype, diff)

    def places_positive(self, size: int, count: int) -> str:
        return f"torch.tensor({[self.random.randrange(size) for _ in range(count)]})"

    def cast(self) -> Expression | None:
        a = self.some()
        if a is None:
            return None
        if a.complex:
            other = "complex64" if a.dtype == "complex128" else "complex128"
        else:
            other = self.choice(
                [d for d in ("float32", "float64", "bfloat16", "complex64", "complex128") if d != a.dtype]
            )
        text = self.choice([f"{a.name}.to(torch.{other})", f"{a.name}.type(torch.{other})"])
        return Expression(text, a.shape, other, a.differentiable)

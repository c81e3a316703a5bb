"""Random programs of the native API that are jax's, too: NumPy functions (`xp`) under transforms (`tr`) nested to depth 4."""

import re

from .draw import Shape, Variable, broadcast, factorings, without
from .torch_operations import Expression, listed
from .torch_transforms import Transforms

UNARY = listed("""
xp.sin({a}) | xp.cos({a}) | xp.tanh({a}) | xp.exp(-xp.square({a})) | xp.log(xp.abs({a}) + 0.5) | xp.sqrt(xp.abs({a}) + 0.1) | xp.square({a}) | -{a}
xp.reciprocal(xp.square({a}) + 1) | {a} * 2.0 | 3.0 - {a} | {a} ** 2 | {a} ** 3 | {a} / 2 | xp.atan({a}) | xp.asinh({a}) | xp.expm1(xp.tanh({a})) | xp.log1p(xp.abs({a}))
xp.abs({a}) | xp.where({a} > 0.2, {a}, {a} * 0.5) | xp.maximum({a}, 0.1) | xp.sinh(xp.tanh({a})) | xp.cosh(xp.tanh({a})) | xp.asin(0.9 * xp.tanh({a})) | xp.atanh(0.9 * xp.tanh({a}))
xp.acos(0.9 * xp.tanh({a})) | xp.clip({a}, -0.8, 0.9) | xp.log2(xp.abs({a}) + 0.5) | xp.log10(xp.abs({a}) + 0.5) | xp.exp2(xp.tanh({a})) | xp.acosh(xp.abs({a}) + 1.2)
xp.real(xp.exp(1j * {a})) | xp.imag(xp.exp(1j * {a}) * ({a} + 2j)) | xp.abs({a} + 0.5j) | xp.sign({a}) * {a} | xp.tan(xp.tanh({a})) | xp.angle({a} + 2j) | ({a} + 1j) * xp.conj({a} + 1j)
2.0 ** {a} | 1 / (xp.abs({a}) + 0.5) | xp.real(({a} + 1j) ** 2) | xp.positive({a}) | xp.floor({a} + 0.0131) * {a} | {a} * xp.astype({a} > 0.1, xp.float64)
""")  # fmt: skip
UNARY = [u for u in UNARY if "conj" not in u] + ["xp.real(({a} + 1j) * xp.conj({a} + 1j))"]
# Accidental zeros are frequent (derivatives of what is constant), and at a corner the two choose differently: see known.py.
UNARY = [u.replace("xp.abs({a})", "xp.abs({a} + 0.0131)") for u in UNARY]
BINARY = listed("""
{a} + {b} | {a} - {b} | {a} * {b} | {a} * {b} | {a} / (xp.abs({b} - 0.0131) + 0.5) | xp.maximum({a}, {b}) | xp.minimum({a}, {b}) | xp.atan2({a} + 0.0131, {b}) | xp.hypot({a}, {b} * 1.3 + 0.21)
xp.logaddexp({a}, {b}) | xp.where({a} > {b}, {a}, {b} * 2) | (xp.abs({a} - 0.0131) + 0.4) ** {b} | xp.copysign({a} + 0.0131, {b} + 0.0131) | xp.remainder({a}, xp.abs({b} - 0.0131) + 0.7) | xp.add({a}, {b})
xp.subtract({a}, {b}) | xp.multiply({a}, {b}) | xp.pow(xp.abs({a} - 0.0131) + 0.4, {b}) | xp.abs({a} + 1j * {b} + 0.3)
""")
REDUCTIONS = listed("""
xp.sum({a}, axis={d}) | xp.mean({a}, axis={d}) | xp.prod({a}, axis={d}) | xp.max({a}, axis={d}) | xp.min({a}, axis={d}) | ops.logsumexp({a}, axis={d}) | xp.var({a}, axis={d}) | xp.std({a}, axis={d})
xp.linalg.vector_norm({a} + 0.0131, axis={d})
""")
SCANS = listed("""
xp.cumulative_sum({a}, axis={d}) | xp.cumulative_prod({a}, axis={d}) | ops.softmax({a}, axis={d}) | ops.log_softmax({a}, axis={d}) | xp.sort({a}, axis={d}) | xp.flip({a}, axis={d}) | xp.roll({a}, 1, axis={d})
xp.take_along_axis({a}, xp.argsort({a}, axis={d}), axis={d})
""")
CUSTOM = (
    ("custom_vjp", "xp.sin(x)", "defvjp(lambda x: (xp.sin(x), x), lambda r, g: (2 * g * xp.cos(r),))"),
    ("custom_vjp", "x * x", "defvjp(lambda x: (x * x, (x, x)), lambda r, g: (g * (r[0] + r[1]) * 0.5,))"),
    ("custom_jvp", "xp.tanh(x)", "defjvp(lambda p, t: (xp.tanh(p[0]), t[0] * 3 * p[0]))"),
    ("custom_jvp", "xp.exp(x)", "defjvp(lambda p, t: (xp.exp(p[0]), t[0] * xp.exp(p[0])))"),
)


class JaxProgram(Transforms):
    """One program: `JaxProgram(seed).text()`."""

    FORMS = (
        "xp.sum({a})",
        "xp.sum(xp.square({a}))",
        "xp.sum(xp.sin({a} * 0.5))",
        "xp.mean({a})",
        "xp.sum({a}) * xp.sum(xp.square({p}))",
    )
    FORMS_COMPLEX = ("xp.sum(xp.abs({a}))",)
    SUM = "xp.sum({a})"
    GRAD_AND_VALUE = "{value}, {gradient} = tr.value_and_grad({f})({names})"

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self.exact = False  # at ties and corners the two libraries choose different subgradients
        self.dtype = "float32" if self.chance(0.1) else "float64"

    def text(self) -> str:
        for _ in range(self.random.randint(1, 3)):
            shape, name = (
                self.random.choice([(), (2,), (3,), (2, 2), (2, 3), (3, 2), (1, 3), (2, 1), (2, 2, 3)]),
                self.name(),
            )
            self.line(f"{name} = xp.asarray({self.numbers(shape, self.dtype)}, dtype=xp.{self.dtype})")
            self.add(Variable(name, shape, self.dtype, True, memory=self.counter))
        for _ in range(self.random.randint(1, 3)):
            if self.chance(0.3):
                found = self.expression()
                if found is not None:
                    self.bind(found)
            self.transformed(self.random.randint(1, 4))
        return self.translated("\n".join(self.lines) + "\n")

    @staticmethod
    def translated(text: str) -> str:
        for old, new in (
            ("torch.func.", "tr."),
            ("in_dims", "in_axes"),
            ("out_dims", "out_axes"),
            (", chunk_size=2", ""),
        ):
            text = text.replace(old, new)
        text = re.sub(r"torch\.tensor\(([^a-z]*), dtype=torch\.", r"xp.asarray(\1, dtype=xp.", text)
        return text.replace("torch.ones_like", "xp.ones_like")

    def expression(self) -> Expression | None:
        kinds = {
            self.unary: 5,
            self.binary: 7,
            self.reduction: 2.5,
            self.scan: 1.3,
            self.product: 2,
            self.shaped: 3,
            self.indexed: 2,
            self.matrix: 0.4,
        }
        made = self.random.choices(list(kinds), list(kinds.values()))[0]()
        return made if made is not None and made.fits(4) else None

    def unary(self) -> Expression | None:
        a = self.some()
        return a and Expression(
            self.choice(UNARY).replace("xp.float64", f"xp.{a.dtype}").format(a=a.name), a.shape, a.dtype, True
        )

    def binary(self) -> Expression | None:
        a = self.some()
        b = a and self.pick(lambda v: broadcast(a.shape, v.shape) is not None, lambda v: v.dtype == a.dtype)
        if a is None or b is None:
            return None
        if self.chance(0.5):
            a, b = b, a
        shape = broadcast(a.shape, b.shape)
        assert shape is not None
        return Expression(self.choice(BINARY).format(a=a.name, b=b.name), shape, a.dtype, True)

    def reduction(self) -> Expression | None:
        a = self.some()
        if a is None:
            return None
        if not a.shape or self.chance(0.3):
            text = self.spread(self.choice(REDUCTIONS), a, a.size)
            return Expression(text.format(a=a.name, d="None"), (), a.dtype, True)
        axis, keep = self.axis(a.shape), self.chance(0.3)
        text = self.spread(self.choice(REDUCTIONS[:-4] if keep else REDUCTIONS), a, a.shape[axis])
        if "logsumexp" in text:
            keep = False
        return Expression(
            text.format(a=a.name, d=f"{axis}, keepdims=True" if keep else axis),
            without(a.shape, axis, keep),
            a.dtype,
            True,
        )

    def spread(self, text: str, a: Variable, count: int) -> str:
        """Standard deviations only of what is not all equal: jax's derivative there is nan, here it is 0."""
        if "xp.std" not in text:
            return text
        if count < 2:
            return text.replace("xp.std", "xp.var")
        return text.replace("{a}", f"{{a}} + xp.asarray({self.numbers(a.shape, a.dtype)}, dtype=xp.{a.dtype})")

    def scan(self) -> Expression | None:
        a = self.pick(lambda v: v.shape and v.size)
        return a and Expression(self.choice(SCANS).format(a=a.name, d=self.axis(a.shape)), a.shape, a.dtype, True)

    def product(self) -> Expression | None:
        a = self.pick(lambda v: v.shape)
        b = a and self.pick(lambda v: v.shape and v.dtype == a.dtype)
        if a is None or b is None:
            return None
        A, B = a.name, b.name
        forms: list[tuple[str, Shape]] = []
        if len(a.shape) == 1 and len(b.shape) == 1:
            forms += [(f"xp.einsum('i,j->ij', {A}, {B})", (*a.shape, *b.shape))]
        if a.shape[-1] == b.shape[0] and len(b.shape) <= 2:
            forms += [
                (f"{A} @ {B}", (*a.shape[:-1], *b.shape[1:])),
                (f"xp.matmul({A}, {B})", (*a.shape[:-1], *b.shape[1:])),
            ]
            forms += [(f"xp.tensordot({A}, {B}, axes=1)", (*a.shape[:-1], *b.shape[1:]))]
        if a.shape == b.shape:
            forms += [(f"xp.vecdot({A}, {B})", a.shape[:-1]), (f"xp.einsum('...i,...i->...', {A}, {B})", a.shape[:-1])]
        if len(a.shape) == 2 and len(b.shape) == 2 and a.shape[1] == b.shape[1]:
            forms += [
                (f"xp.einsum('ij,kj->ki', {A}, {B})", (b.shape[0], a.shape[0])),
                (f"{A} @ {B}.T", (a.shape[0], b.shape[0])),
            ]
        if not forms:
            return None
        text, shape = self.choice(forms)
        return Expression(text, shape, a.dtype, True)

    def matrix(self) -> Expression | None:
        a = self.pick(lambda v: len(v.shape) == 2 and 0 < v.size <= 9)
        if a is None:
            return None
        n, m = a.shape
        square = f"{a.name} @ {a.name}.T + 2 * xp.eye({n}, dtype=xp.{a.dtype})"
        forms: list[tuple[str, Shape]] = [
            (f"xp.linalg.inv({square})", (n, n)),
            (f"xp.linalg.det({square})", ()),
            (f"xp.linalg.solve({square}, {a.name})", (n, m)),
        ]
        forms += [
            (f"xp.linalg.cholesky({square})", (n, n)),
            (f"xp.linalg.slogdet({square})[1]", ()),
            (f"xp.linalg.trace({square})", ()),
        ]
        text, shape = self.choice(forms)
        return Expression(text, shape, a.dtype, True)

    def shaped(self) -> Expression | None:
        a = self.some()
        if a is None:
            return None
        shape, n = a.shape, len(a.shape)
        forms: list[tuple[str, Shape]] = [
            (f"xp.expand_dims({a.name}, axis=0)", (1, *shape)),
            (f"xp.stack([{a.name}, {a.name} * 2], axis=-1)", (*shape, 2)),
            (f"xp.broadcast_to({a.name}, {(2, *shape)})", (2, *shape)),
        ]
        new = self.choice(factorings(a.size))
        forms += [(f"xp.reshape({a.name}, {new})", new)]
        if n:
            forms += [
                (f"xp.concat([{a.name}, {a.name}], axis=0)", (2 * shape[0], *shape[1:])),
                (f"xp.repeat({a.name}, 2, axis=0)", (2 * shape[0], *shape[1:])),
                (f"xp.tile({a.name}, (2,))", (*shape[:-1], 2 * shape[-1])),
            ]
            forms += [(f"xp.diff({a.name}, axis=0)", (shape[0] - 1, *shape[1:]))] if shape[0] > 1 else []
        if n >= 2:
            order = self.random.sample(range(n), n)
            forms += [
                (f"xp.permute_dims({a.name}, {tuple(order)})", tuple(shape[k] for k in order)),
                (f"xp.matrix_transpose({a.name})", (*shape[:-2], shape[-1], shape[-2])),
            ]
            forms += [
                (f"xp.tril({a.name})", shape),
                (f"xp.triu({a.name}, k=1)", shape),
                (f"xp.moveaxis({a.name}, 0, -1)", (*shape[1:], shape[0])),
            ]
        text, new = self.choice(forms)
        return Expression(text, new, a.dtype, True)

    def indexed(self) -> Expression | None:
        a = self.some()
        found = a and self.index(a)
        if a is None or not found:
            return None
        text, shape, _ = found
        if text.startswith("[") or "True" in text or "False" in text:  # neither lists nor masks index a traced array
            return None
        return Expression(f"{a.name}[{text.replace('torch.tensor', 'xp.asarray')}]", shape, a.dtype, True)

    def effect_inside(self) -> Variable | None:
        return None

    def mask(self, a: Variable) -> str | None:
        return None

    def checkpointed(self, depth: int) -> Variable | None:
        a = self.floats()
        if a is None:
            return None
        name, _, out = self.function([a], depth, scalar=False)
        return self.result(f"tr.checkpoint({name})({a.name})", out.shape, out.dtype)

    def autograd_inside(self, depth: int) -> Variable | None:
        """A function with a derivative rule of its own."""
        a = self.floats()
        if a is None:
            return None
        kind, value, rule = self.choice(CUSTOM)
        name = self.name("f")
        self.line(f"{name} = tr.{kind}(lambda x: {value})")
        self.line(f"{name}.{rule}")
        return self.result(f"{name}({a.name})", a.shape, a.dtype)

    def transformed(self, depth: int) -> Variable | None:
        kinds = {
            self.grad: 4, self.grad_and_value: 1, self.vjp: 2, self.jvp: 3, self.jacobian: 2, self.hessian: 1, self.vmap: 4,
            self.linearize: 1.5, self.checkpointed: 1, self.autograd_inside: 0.5,
        }  # fmt: skip
        return self.random.choices(list(kinds), list(kinds.values()))[0](depth)

"""Random programs of PyTorch: leaves, operations, writes, hooks, backward passes, gradients, transforms, by a seed."""

from .draw import FLOATS, Shape, Variable, broadcast
from .torch_operations import Expression
from .torch_transforms import Transforms

IN_PLACE_UNARY = [
    "sin_()",
    "tanh_()",
    "mul_(2.0)",
    "add_(1.5)",
    "neg_()",
    "relu_()",
    "sigmoid_()",
    "clamp_(-0.5,0.8)",
    "pow_(2)",
    "exp_()",
    "zero_()",
    "fill_(0.5)",
    "abs_()",
    "div_(2)",
    "square_()",
    "sub_(0.25)",
    "cos_()",
    "sqrt_()",
    "tril_()",
    "cumsum_(0)",
    "erf_()",
    "atan_()",
    "clamp_(min=0.1)",
    "masked_fill_(torch.tensor(True),0.5)",
    "round_()",
    "leaky_relu_",
]
IN_PLACE_BINARY = """{a}.add_({b}) | {a}.mul_({b}) | {a}.sub_({b}, alpha=2) | {a}.div_({b}.abs() + 0.6) | {a}.copy_({b}) | {a} += {b} | {a} *= {b}
{a}.addcmul_({b}, {b}, value=0.5) | {a}.lerp_({b}, 0.3) | {a}.masked_fill_({b} > 0.2, 0.5) | {a} -= {b} | {a}[...] = {b} | {a}.atan2_({b}) | {a}.copy_({b} * {b})"""
TENSOR_HOOKS = (
    "lambda g: g * 2", "lambda g: None", "lambda g: log.append(g)", "lambda g: g + 1", "lambda g: g.sin()", "lambda g: g.square()",
    "lambda g: torch.zeros_like(g)", "lambda g: g.clamp(-0.5, 0.5)", "lambda g: -g", "lambda g: g.expand_as(g)", "lambda g: g.sum().expand_as(g)",
)  # fmt: skip
LEAF_HOOKS = (
    "lambda p: log.append(p.grad)", "lambda p: log.append(1)", "lambda p: log.append(p.grad.mul_(2).sum())", "lambda p: setattr(p, 'grad', None)", "lambda p: setattr(p, 'grad', p.grad * 2)",
)  # fmt: skip
NODE_HOOKS = (
    "{v}.grad_fn.register_hook(lambda i, o: log.append(o[0]))",
    "{v}.grad_fn.register_prehook(lambda o: (o[0] * 2, *o[1:]))",
    "{v}.grad_fn.register_prehook(lambda o: log.append(o[0]))",
    "{v}.grad_fn.register_hook(lambda i, o: tuple(None if g is None else g * 2 for g in i))",
)
FUNCTIONS = (
    (
        "@staticmethod", "def forward(ctx, x):", "    ctx.save_for_backward(x)", "    return x.sin()",
        "@staticmethod", "def backward(ctx, g):", "    x, = ctx.saved_tensors", "    return g * x.cos() * 2",
    ),
    (
        "@staticmethod", "def forward(ctx, x):", "    ctx.mark_dirty(x)", "    x.mul_(2)", "    return x",
        "@staticmethod", "def backward(ctx, g):", "    return g * 2",
    ),
    (
        "@staticmethod", "def forward(ctx, x):", "    y = x.exp()", "    ctx.save_for_backward(y)", "    return y, y * 2",
        "@staticmethod", "def backward(ctx, g, h):", "    y, = ctx.saved_tensors", "    return (g + 2 * h) * y",
    ),
    (
        "@staticmethod", "def forward(ctx, x):", "    return x.view_as(x)", "@staticmethod", "def backward(ctx, g):", "    return -g",
    ),
    (
        "@staticmethod", "def forward(ctx, x):", "    ctx.set_materialize_grads(False)", "    y = x.detach() > 0.1", "    ctx.mark_non_differentiable(y)",
        "    return x * 3, y", "@staticmethod", "def backward(ctx, g, h):", "    return None if g is None else g * 3",
    ),
    (
        "@staticmethod", "def forward(ctx, x):", "    ctx.save_for_backward(x)", "    return x.square().sum()",
        "@staticmethod", "def backward(ctx, g):", "    return g.expand(ctx.saved_tensors[0].shape)",
    ),
)  # fmt: skip


class TorchProgram(Transforms):
    """One program: `TorchProgram(seed).text()`."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self.dtype = self.random.choices(["float64", "float32", "bfloat16", "complex128", "mixed"], [60, 18, 5, 8, 9])[
            0
        ]
        self.profile = self.random.choices(["tape", "transforms", "second"], [6, 3, 2])[0]
        self.quiet = False  # inside no_grad
        self.with_gradient: list[Variable] = []
        self.spent = False  # a pass has freed what was recorded
        self.unrecorded: set[int] = set()
        """Memory that was written unrecorded: hooks on views of it end PyTorch's process, of einsum's results, too."""

    def text(self) -> str:
        for _ in range(self.random.randint(1, 3)):
            self.leaf()
        if self.chance(0.4):
            self.constant()
        length = self.random.randint(3, 6) if self.profile == "transforms" else self.random.randint(4, 16)
        kinds = {
            self.operation: 10, self.write: 4 if self.profile == "tape" else 0.7, self.hook: 1.4, self.quietly: 0.6, self.leaf: 0.5, self.constant: 0.5,
            self.middle_pass: 1.5, self.gradients: 1 if self.profile != "second" else 3, self.gradient_field: 1, self.custom: 0.5, self.flags: 0.4,
            self.retain: 0.7, self.nested: 5 if self.profile == "transforms" else 0.25, self.autocast: 0.1,
        }  # fmt: skip
        for _ in range(length):
            self.random.choices(list(kinds), list(kinds.values()))[0]()
        if self.chance(0.9):
            self.backward(last=True)
        if self.profile == "second" or self.chance(0.15):
            self.second()
        return "\n".join(self.lines) + "\n"

    # making and changing

    def draw_dtype(self) -> str:
        if self.dtype != "mixed":
            return self.dtype
        return self.choice(["float64", "float32", "float32", "bfloat16", "complex64", "complex128", "float64"])

    def leaf(self) -> None:
        shape, dtype, name = self.shape(), self.draw_dtype(), self.name()
        self.line(
            f"{name} = torch.tensor({self.numbers(shape, dtype)}, dtype=torch.{dtype}, requires_grad=True)"
            if 0 not in shape
            else f"{name} = torch.ones({shape}, dtype=torch.{dtype}, requires_grad=True)"
        )
        self.add(Variable(name, shape, dtype, True, leaf=True, memory=self.counter))

    def constant(self) -> None:
        shape, name = self.shape(), self.name()
        dtype = self.draw_dtype() if self.chance(0.85) else self.choice(["int64", "bool"])
        self.line(
            f"{name} = torch.tensor({self.numbers(shape, dtype)}, dtype=torch.{dtype})"
            if 0 not in shape
            else f"{name} = torch.ones({shape}, dtype=torch.{dtype})"
        )
        self.add(Variable(name, shape, dtype, memory=self.counter))

    def operation(self) -> None:
        found = self.expression()
        if found is not None:
            if self.quiet:
                found = Expression(found.text, found.shape, found.dtype, False, found.view_of, found.expanded)
            self.bind(found)

    def nested(self) -> None:
        self.transformed(self.random.randint(1, 4))

    def quietly(self) -> None:
        how = self.choice(
            ["torch.no_grad()", "torch.no_grad()", "torch.enable_grad()", "torch.set_grad_enabled(False)"]
        )
        before, self.quiet = self.quiet, "enable" not in how
        with self.block(f"with {how}:"):
            count = len(self.lines)
            for _ in range(self.random.randint(1, 2)):
                if self.chance(0.4):
                    self.write()
                else:
                    self.operation()
            if len(self.lines) == count:
                self.line("pass")
        self.quiet = before

    def autocast(self) -> None:
        a = self.pick(lambda v: v.dtype == "float32", lambda v: len(v.shape) == 2)
        if a is None:
            return
        with self.block("with torch.autocast('cpu', dtype=torch.bfloat16):"):
            name = self.name()
            self.line(f"{name} = {a.name} @ {a.name}.T")
        self.add(Variable(name, (a.shape[0], a.shape[0]), "bfloat16", a.differentiable, memory=self.counter))

    def target(self) -> Variable | None:
        """What may be written; rarely what may not."""
        if self.chance(0.04):
            return self.pick(lambda v: v.inexact)
        return self.pick(
            lambda v: v.inexact, lambda v: not v.expanded, lambda v: self.quiet or not (v.leaf and v.differentiable)
        )

    def source(self, a: Variable, shape: Shape) -> Variable | None:
        """Something of other memory that broadcasts to `shape`."""
        return self.pick(
            lambda v: v.memory != a.memory,
            lambda v: broadcast(v.shape, shape) == shape,
            lambda v: v.dtype == a.dtype,
        )

    def written(self, a: Variable, source: Variable | None = None) -> None:
        """The write is done: what shares the memory has the source's history, too."""
        if source is not None and source.differentiable and not self.quiet:
            for v in list(self.variables):
                if v.memory == a.memory:
                    self.update(v, differentiable=True)

    def write(self) -> None:
        a = self.target()
        if a is None:
            return
        if self.quiet:
            self.unrecorded.add(a.memory)
        form = self.random.choices(["unary", "binary", "set", "shape", "scatter", "through"], [3, 4, 4, 0.6, 1.5, 1])[0]
        if form == "unary" or (form == "through" and not a.shape):
            name = self.choice([n for n in IN_PLACE_UNARY if n.endswith(")")])
            if a.complex:
                name = self.choice(
                    [
                        "mul_(2.0)",
                        "neg_()",
                        "add_(1.5)",
                        "sin_()",
                        "zero_()",
                        "fill_(0.5)",
                        "div_(2)",
                        "conj_physical_()",
                    ]
                )
            if name == "sqrt_()":
                name = "abs_().add_(0.1).sqrt_()"
            self.line(f"{a.name}.{name}")
            return
        if form == "binary":
            b = self.source(a, a.shape)
            if b is None:
                return
            texts = [t.strip() for t in IN_PLACE_BINARY.replace("\n", "|").split("|")]
            if a.complex:
                texts = [t for t in texts if not any(x in t for x in (">", "abs", "atan2"))]
            self.line(self.choice(texts).format(a=a.name, b=b.name))
            self.written(a, b)
            return
        if form == "shape":
            self.reshaped(a)
            return
        if form == "scatter":
            self.scattered(a)
            return
        if form == "through":
            text, _ = self.choice(
                [
                    (f"{a.name}[0]", 0),
                    (f"{a.name}[..., -1]", 0),
                    (f"{a.name}.view(-1)[:1]", 0),
                    (f"{a.name}.detach()", 0),
                    (f"{a.name}.data", 0),
                    (f"{a.name}.unsqueeze(0)", 0),
                    (f"{a.name}.mT[..., 0]" if len(a.shape) > 1 else f"{a.name}[:1]", 0),
                ]
            )
            if text.endswith((".detach()", ".data")):
                self.unrecorded.add(a.memory)
            self.line(
                f"{text}.{self.choice(['mul_(2)', 'add_(1)', 'zero_()', 'neg_()'] + (['real.mul_(2)'] if a.complex else []))}"
            )
            return
        found = self.index(a, unique=True)
        if found is None:
            return
        index, shape, _ = found
        mask = self.mask(a) if self.chance(0.15) else None
        if mask:
            self.line(f"{a.name}[{mask}] {self.choice(['=', '*='])} {self.number(a.dtype)}")
            return
        b = self.source(a, shape)
        if b is None or self.chance(0.2):
            self.line(f"{a.name}[{index}] {self.choice(['=', '+=', '*='])} {self.number(a.dtype)}")
            return
        right = self.choice([b.name, b.name, f"{b.name} * 2", f"{b.name}.sin()"])
        self.line(f"{a.name}[{index}] {self.choice(['=', '=', '+=', '*=', '-='])} {right}")
        self.written(a, b)

    def reshaped(self, a: Variable) -> None:
        forms: list[tuple[str, Shape]] = [
            ("unsqueeze_(0)", (1, *a.shape)),
            ("squeeze_()", tuple(n for n in a.shape if n != 1)),
        ]
        if len(a.shape) == 2:
            forms += [("t_()", a.shape[::-1]), ("transpose_(0, 1)", a.shape[::-1])]
        text, shape = self.choice(forms)
        self.line(f"{a.name}.{text}")
        self.update(a, shape=shape)

    def scattered(self, a: Variable) -> None:
        if not a.shape or not a.size:
            return
        b = self.pick(lambda v: v.memory != a.memory, lambda v: v.shape == a.shape, lambda v: v.dtype == a.dtype)
        n = a.shape[0]
        order = self.random.sample(range(n), n)
        ones = [1] * (len(a.shape) - 1)
        places = f"torch.tensor({order}).view{(n, *ones)}.expand{a.shape}"
        if b is None or self.chance(0.3):
            forms = [
                f"{a.name}.index_fill_(0, torch.tensor({order[:1]}), 0.5)",
                f"{a.name}.scatter_(0, {places}, 0.25)",
            ]
            self.line(self.choice(forms))
            return
        forms = [
            f"{a.name}.index_add_(0, torch.tensor({order}), {b.name})",
            f"{a.name}.index_copy_(0, torch.tensor({order}), {b.name})",
        ]
        forms += [f"{a.name}.scatter_add_(0, {places}, {b.name})", f"{a.name}.scatter_(0, {places}, {b.name})"]
        forms += [
            f"{a.name}.index_put_((torch.tensor({order}),), {b.name}, accumulate=True)",
            f"{a.name}.index_put_((torch.tensor({order}),), {b.name})",
        ]
        self.line(self.choice(forms))
        self.written(a, b)

    def custom(self) -> None:
        a = self.pick(lambda v: v.floating, lambda v: v.differentiable)
        if a is None:
            return
        body = self.choice(FUNCTIONS)
        name, out = self.name("f"), self.name()
        with self.block(f"class {name}(torch.autograd.Function):"):
            for line in body:
                self.line(line)
        joined = " ".join(body)
        if "mark_dirty" in joined and self.chance(0.8):
            self.line(f"{out} = {name}.apply({a.name} * 1)")
            self.add(Variable(out, a.shape, a.dtype, True, memory=self.counter))
            return
        if "return y, y" in joined or "* 3, y" in joined:
            second = self.name()
            self.line(f"{out}, {second} = {name}.apply({a.name})")
            if "return y, y" in joined:
                self.add(Variable(second, a.shape, a.dtype, True, memory=self.counter))
        else:
            self.line(f"{out} = {name}.apply({a.name})")
        self.add(
            Variable(
                out, () if "sum()" in joined else a.shape, a.dtype, True, memory=self.counter, leaf="view_as" in joined
            )
        )

    def flags(self) -> None:
        a = self.pick(lambda v: v.inexact)
        if a is None:
            return
        form = self.choice(["requires_grad_()", "requires_grad_()", "detach_()", "requires_grad_(False)", "clone"])
        if form == "clone":
            name = self.name()
            self.line(f"{name} = {a.name}.detach().clone().requires_grad_()")
            self.add(Variable(name, a.shape, a.dtype, True, leaf=True, memory=self.counter))
            return
        if form == "requires_grad_()" and not a.differentiable:
            self.line(f"{a.name}.requires_grad_()")
            self.update(a, differentiable=True, leaf=True)
        elif form != "requires_grad_()" and self.chance(0.4):
            self.line(f"{a.name}.{form}")
            self.update(a, differentiable=False)

    # gradients

    def retain(self) -> None:
        a = self.pick(lambda v: v.differentiable, lambda v: not v.leaf, lambda v: v.memory not in self.unrecorded)
        if a is not None:
            self.line(f"{a.name}.retain_grad()")

    def hook(self) -> None:
        a = self.pick(lambda v: v.differentiable, lambda v: v.inexact, lambda v: v.memory not in self.unrecorded)
        if a is None:
            return
        kind = self.random.choices(["tensor", "leaf", "node"], [6, 2, 2])[0]
        if kind == "leaf" and a.leaf:
            self.line(f"{a.name}.register_post_accumulate_grad_hook({self.choice(LEAF_HOOKS)})")
        elif kind == "node" and not a.leaf:
            self.line(self.choice(NODE_HOOKS).format(v=a.name))
        else:
            text = self.choice([h for h in TENSOR_HOOKS if not (a.complex and "clamp" in h)])
            if self.chance(0.1):
                name = self.name("h")
                self.line(f"{name} = {a.name}.register_hook({text})")
                if self.chance(0.5):
                    self.line(f"{name}.remove()")
            else:
                self.line(f"{a.name}.register_hook({text})")

    def scalar(self, a: Variable) -> str:
        if a.complex:
            return self.choice(
                [
                    f"{a.name}.abs().square().sum()",
                    f"{a.name}.real.sum()",
                    f"({a.name} * {a.name}.conj()).real.sum()",
                    f"torch.view_as_real({a.name}).sum()",
                ]
            )
        return self.choice(
            [
                f"{a.name}.sum()",
                f"{a.name}.sum()",
                f"{a.name}.square().sum()",
                f"{a.name}.mean()",
                f"({a.name} * {a.name}).sum()",
                f"{a.name}.sin().sum()",
            ]
        )

    def leaves(self) -> list[Variable]:
        return [v for v in self.variables if v.leaf and v.differentiable]

    def middle_pass(self) -> None:
        if not self.spent:
            self.backward(last=False)

    def backward(self, last: bool) -> None:
        a = self.pick(lambda v: v.differentiable, lambda v: v.inexact, lambda v: not v.leaf or self.chance(0.1))
        if a is None:
            return
        options = []
        if not last and self.chance(0.85):
            options.append(self.random.choices(["retain_graph=True", "create_graph=True"], [3, 1])[0])
        elif self.chance(0.12):
            options.append("create_graph=True")
        leaves = self.leaves()
        if leaves and self.chance(0.18):
            chosen = self.random.sample(leaves, min(len(leaves), self.random.randint(1, 2)))
            extra = self.pick(lambda v: v.differentiable) if self.chance(0.3) else None
            names = [v.name for v in chosen] + ([extra.name] if extra else [])
            options.append(f"inputs=[{', '.join(dict.fromkeys(names))}]")
        if not options or not options[0].startswith(("retain", "create")):
            self.spent = True
        more = ", ".join(options)
        form = self.random.choices(["scalar", "gradient", "several", "expanded", "two"], [6, 3, 1, 1.5, 1.5])[0]
        b = self.pick(lambda v: v.dtype == a.dtype, lambda v: v.shape == a.shape)
        if form == "gradient" and b is not None:
            self.line(
                f"{a.name}.backward({', '.join([b.name if self.chance(0.6) else f'torch.ones_like({a.name})', *options])})"
            )
        elif form == "expanded" and a.shape:
            self.line(
                f"{a.name}.backward({', '.join([f'torch.tensor({self.number(a.dtype)}, dtype=torch.{a.dtype}).expand{a.shape}', *options])})"
            )
        elif form == "several" and b is not None and b.differentiable and not b.leaf:
            self.line(f"torch.autograd.backward([{self.scalar(a)}, {self.scalar(b)}]{', ' + more if more else ''})")
        elif form == "two":
            c = self.pick(lambda v: v.differentiable, lambda v: v.floating)
            text = f"({self.scalar(a)} * {self.scalar(c)})" if c is not None else self.scalar(a)
            self.line(f"{text}.backward({more})")
        elif a.shape == () and not a.complex:
            self.line(f"{a.name}.backward({more})")
        else:
            self.line(f"{self.scalar(a)}.backward({more})")
        self.with_gradient = leaves

    def gradients(self) -> None:
        """`torch.autograd.grad`, of one output or two, with its options."""
        a = self.pick(lambda v: v.differentiable, lambda v: v.inexact, lambda v: not v.leaf)
        if a is None or self.spent:
            return
        wanted = [v for v in self.variables if v.differentiable and v.inexact and v.name != a.name]
        if not wanted:
            return
        chosen = self.random.sample(wanted, min(len(wanted), self.random.randint(1, 2)))
        names = [self.name() for _ in chosen]
        create = self.chance(0.7)
        options = ["create_graph=True" if create else "retain_graph=True"]
        none = self.chance(0.15)
        options.append("allow_unused=True" if none else "materialize_grads=True")
        if self.chance(0.05):
            options = options[:1]
        output = self.scalar(a)
        b = self.pick(lambda v: v.shape == a.shape, lambda v: v.dtype == a.dtype)
        if self.chance(0.3) and b is not None:
            output = f"{a.name}, grad_outputs={b.name}"
            self.line(
                f"{', '.join(names)}{',' if len(names) == 1 else ''} = torch.autograd.grad({a.name}, [{', '.join(v.name for v in chosen)}], {b.name}, {', '.join(options)})"
            )
        elif self.chance(0.08) and a.floating:
            n = 2
            batch = f"torch.tensor({self.numbers((n, *a.shape), a.dtype)}, dtype=torch.{a.dtype})"
            self.line(
                f"{', '.join(names)}{',' if len(names) == 1 else ''} = torch.autograd.grad({a.name}, [{', '.join(v.name for v in chosen)}], {batch}, is_grads_batched=True, {', '.join(options)})"
            )
            for name, v in zip(names, chosen):
                if not none:
                    self.add(Variable(name, (n, *v.shape), v.dtype, create, memory=self.counter))
            return
        else:
            self.line(
                f"{', '.join(names)}{',' if len(names) == 1 else ''} = torch.autograd.grad({output}, [{', '.join(v.name for v in chosen)}], {', '.join(options)})"
            )
        if not none:
            for name, v in zip(names, chosen):
                self.add(Variable(name, v.shape, v.dtype, create, memory=self.counter))

    def gradient_field(self) -> None:
        """What programs do with `.grad`."""
        if not self.with_gradient:
            return
        v = self.choice(self.with_gradient)
        form = self.random.choices(
            ["none", "zero", "expanded", "set", "read", "scale", "alias"], [2, 2, 2, 1.5, 2, 1.5, 1]
        )[0]
        if form == "none":
            self.line(f"{v.name}.grad = None")
        elif form == "zero":
            self.line(
                f"if {v.name}.grad is not None: {v.name}.grad.zero_()"
                if self.chance(0.5)
                else f"torch.optim.SGD([{v.name}], lr=0.1).zero_grad(set_to_none={self.choice(['True', 'False'])})"
            )
        elif form == "expanded":
            self.line(f"{v.name}.grad = torch.tensor({self.number(v.dtype)}, dtype=torch.{v.dtype}).expand{v.shape}")
        elif form == "set":
            self.line(f"{v.name}.grad = {self.choice(['torch.ones_like', 'torch.zeros_like'])}({v.name})")
        elif form == "alias":
            b = self.pick(lambda o: o.shape == v.shape, lambda o: o.dtype == v.dtype)
            if b is not None:
                self.line(f"{v.name}.grad = {b.name}.detach()")
        elif form == "scale":
            with self.block("with torch.no_grad():"):
                self.line(f"if {v.name}.grad is not None: {v.name}.grad.mul_(0.5)")
        else:
            name = self.name()
            self.line(f"{name} = {v.name}.grad")

    def second(self) -> None:
        """The gradient of a gradient."""
        a = self.pick(lambda v: v.differentiable, lambda v: v.inexact, lambda v: not v.leaf)
        leaves = [v for v in self.leaves() if v.dtype in (*FLOATS, "complex128")]
        if a is None or not leaves or self.spent:
            return
        x = self.choice(leaves)
        first, second = self.name(), self.name()
        self.line(f"{first}, = torch.autograd.grad({self.scalar(a)}, {x.name}, create_graph=True)")
        v = Variable(first, x.shape, x.dtype, True)
        if self.chance(0.5):
            self.line(f"{self.scalar(v)}.backward()")
        else:
            self.line(f"{second}, = torch.autograd.grad({self.scalar(v)}, {x.name}, create_graph=True)")
            if self.chance(0.5):
                w = Variable(second, x.shape, x.dtype, True)
                self.line(f"{self.scalar(w)}.backward()")

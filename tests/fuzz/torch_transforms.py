"""Functions and the transforms of torch.func on them, nested to depth 4, with closures over outer variables; checkpoint."""

import re
from collections.abc import Callable

from .draw import MAX_SIZE, Shape, Variable
from .torch_operations import Operations


class Transforms(Operations):
    """Draws a function and a transform of it; the body may hold further ones.

    What PyTorch refuses or does not define is not drawn: `linearize` beside another transform, checkpoints inside of
    transforms and the reverse, functions that do not depend on their arguments.
    """

    FORMS = (
        "{a}.sum()",
        "{a}.square().sum()",
        "({a} * 0.5).sin().sum()",
        "{a}.mean()",
        "{a}.sum() * {p}.square().sum()",
    )
    FORMS_COMPLEX = ("{a}.abs().sum()", "{a}.real.sum()", "({a} * {a}.conj()).real.sum()")
    SUM = "{a}.sum()"
    GRAD_AND_VALUE = "{gradient}, {value} = torch.func.grad_and_value({f})({names})"

    within: tuple[str, ...] = ()
    """The transforms around what is drawn now."""

    def ones(self, shape: Shape, dtype: str) -> str:
        return f"torch.ones({shape}, dtype=torch.{dtype})" if shape else f"torch.tensor(1.0, dtype=torch.{dtype})"

    def like(self, variable: Variable) -> str:
        """An array of the variable's shape and dtype: another variable, or constants."""
        other = self.pick(lambda v: v.shape == variable.shape, lambda v: v.dtype == variable.dtype)
        if other is not None and self.chance(0.7):
            return other.name
        return (
            f"torch.tensor({self.numbers(variable.shape, variable.dtype)}, dtype=torch.{variable.dtype})"
            if variable.size
            else f"torch.ones_like({variable.name})"
        )

    def function(self, parameters: list[Variable], depth: int, scalar: bool) -> tuple[str, list[Variable], Variable]:
        """Define a function of variables like `parameters`: its name, and what it returns."""
        name = self.name("f")
        with self.scope():
            inner = []
            for parameter in parameters:
                fresh = self.name()
                inner.append(Variable(fresh, parameter.shape, parameter.dtype, True, memory=self.counter))
            with self.block(f"def {name}({', '.join(v.name for v in inner)}):"):
                self.variables += inner
                result = self.body(inner, depth, scalar)
                self.line(f"return {result.name}")
        return name, inner, result

    def body(self, parameters: list[Variable], depth: int, scalar: bool) -> Variable:
        last = parameters[0]
        made: list[Variable] = []
        start = len(self.lines)
        for _ in range(self.random.randint(1, 3)):
            found = self.effect_inside() if self.chance(0.1) else self.expression()
            if found is not None and not isinstance(found, Variable):
                made.append(self.bind(found))
        if depth > 1 and self.chance(0.85):
            inner = self.transformed(depth - 1)
            if inner is not None:
                made.append(inner)
        for _ in range(self.random.randint(0, 1)):
            found = self.expression()
            if found is not None:
                made.append(self.bind(found))
        real = [v for v in made if v.dtype == parameters[0].dtype and v.size]
        last = real[-1] if real else last
        if last in parameters:
            found = self.unary()
            last = self.bind(found) if found is not None else last
        if not self.depends(last, parameters, start):
            p = self.choice(parameters)
            name = self.name()
            self.line(f"{name} = {last.name} * {self.SUM.format(a=p.name)}")
            last = self.add(Variable(name, last.shape, last.dtype, True, memory=self.counter))
        if scalar:
            other = self.choice(parameters)
            form = self.choice(self.FORMS_COMPLEX if last.complex else self.FORMS)
            if "mean" in form and last.shape == () and self.chance(0.5):
                return last
            self.line(f"{self.name()} = {form.format(a=last.name, p=other.name)}")
            return self.add(
                Variable(f"v{self.counter}", (), last.dtype if last.floating else "float64", True, memory=self.counter)
            )
        return last

    def depends(self, variable: Variable, parameters: list[Variable], start: int) -> bool:
        """Whether the lines from `start` on lead from a parameter to the variable."""
        reached = {p.name for p in parameters}
        for line in self.lines[start:]:
            names = re.findall(r"\b[vf]\d+\b", line)
            if names and set(names[1:]) & reached:
                reached.update(re.findall(r"\b[vf]\d+\b", line.partition("=")[0] if " = " in line else names[0]))
        return variable.name in reached

    def effect_inside(self) -> Variable | None:
        """A change in place of a value of the function's own."""
        a = self.some()
        if a is None or not a.floating:
            return None
        name = self.name()
        self.line(f"{name} = {a.name}.clone()")
        b = self.add(Variable(name, a.shape, a.dtype, a.differentiable, memory=self.counter))
        forms = ["{b}.mul_(2.0)", "{b}.sin_()", "{b}.add_({a})", "{b}.copy_({a} * 2)", "{b} *= 0.5"]
        if a.shape and a.shape[0]:
            forms += [
                "{b}[0] = 0.5",
                "{b}[0] *= 2.0",
                "{b}[0] = {a}[-1]",
                "{b}[..., 0].mul_(3)",
                "{b}.narrow(0, 0, 1).sin_()",
                "{b}[:1] += {a}[:1]",
            ]
        self.line(self.choice(forms).format(a=a.name, b=name))
        return b

    def floats(self, *tests: Callable[[Variable], bool]) -> Variable | None:
        return self.pick(lambda v: v.dtype in ("float64", "float32"), lambda v: 0 < v.size <= 12, *tests)

    def result(self, text: str, shape: Shape, dtype: str, name: str | None = None) -> Variable:
        name = name or self.name()
        if text:
            self.line(f"{name} = {text}")
        return self.add(Variable(name, shape, dtype, True, memory=self.counter))

    def transformed(self, depth: int) -> Variable | None:
        """A transform of a drawn function, applied."""
        kinds = {
            self.grad: 4, self.grad_and_value: 1, self.vjp: 2, self.jvp: 3, self.jacobian: 2, self.hessian: 1, self.vmap: 4,
            self.linearize: 1, self.checkpointed: 1, self.autograd_inside: 1,
        }  # fmt: skip
        make = self.random.choices(list(kinds), list(kinds.values()))[0]
        name = make.__name__
        if name == "linearize" and self.within:
            return None
        if (name == "checkpointed") != ("checkpointed" in self.within) and self.within and name != "autograd_inside":
            return None
        if "linearize" in self.within:
            return None
        before = self.within
        self.within = (*before, name)
        try:
            return make(depth)
        finally:
            self.within = before

    def chosen(self) -> tuple[list[Variable], int] | None:
        """One or two arguments, and which of them is differentiated."""
        first = self.floats()
        if first is None:
            return None
        second = self.floats(lambda v: v.dtype == first.dtype)
        if second is None or self.chance(0.6):
            return [first], 0
        return [first, second], self.random.randrange(2)

    def grad(self, depth: int) -> Variable | None:
        chosen = self.chosen()
        if chosen is None:
            return None
        arguments, i = chosen
        name, _, _ = self.function(arguments, depth, scalar=True)
        names = ", ".join(v.name for v in arguments)
        option = f", argnums={i}" if i else ""
        return self.result(f"torch.func.grad({name}{option})({names})", arguments[i].shape, arguments[i].dtype)

    def grad_and_value(self, depth: int) -> Variable | None:
        chosen = self.chosen()
        if chosen is None:
            return None
        arguments, _ = chosen
        name, _, _ = self.function(arguments, depth, scalar=True)
        names = ", ".join(v.name for v in arguments)
        first, second = self.name(), self.name()
        self.line(self.GRAD_AND_VALUE.format(gradient=first, value=second, f=name, names=names))
        self.result("", (), arguments[0].dtype, second)
        return self.result("", arguments[0].shape, arguments[0].dtype, first)

    def vjp(self, depth: int) -> Variable | None:
        chosen = self.chosen()
        if chosen is None:
            return None
        arguments, _ = chosen
        name, _, out = self.function(arguments, depth, scalar=False)
        value, pull = self.name(), self.name("f")
        self.line(f"{value}, {pull} = torch.func.vjp({name}, {', '.join(v.name for v in arguments)})")
        got = self.result("", out.shape, out.dtype, value)
        i = self.random.randrange(len(arguments))
        return self.result(f"{pull}({self.like(got)})[{i}]", arguments[i].shape, arguments[i].dtype)

    def jvp(self, depth: int) -> Variable | None:
        chosen = self.chosen()
        if chosen is None:
            return None
        arguments, _ = chosen
        name, _, out = self.function(arguments, depth, scalar=False)
        tangents = ", ".join(self.like(v) for v in arguments)
        names = ", ".join(v.name for v in arguments)
        value, tangent = self.name(), self.name()
        self.line(f"{value}, {tangent} = torch.func.jvp({name}, ({names},), ({tangents},))")
        self.result("", out.shape, out.dtype, value)
        return self.result("", out.shape, out.dtype, tangent)

    def linearize(self, depth: int) -> Variable | None:
        a = self.floats()
        if a is None:
            return None
        name, _, out = self.function([a], depth, scalar=False)
        value, push = self.name(), self.name("f")
        self.line(f"{value}, {push} = torch.func.linearize({name}, {a.name})")
        self.result("", out.shape, out.dtype, value)
        return self.result(f"{push}({self.like(a)})", out.shape, out.dtype)

    def jacobian(self, depth: int) -> Variable | None:
        chosen = self.chosen()
        if chosen is None:
            return None
        arguments, i = chosen
        name, _, out = self.function(arguments, depth, scalar=False)
        transform = self.choice(["jacrev", "jacfwd"])
        option = f", argnums={i}" if i else ""
        if transform == "jacrev" and self.chance(0.15):
            option += ", chunk_size=2"
        names = ", ".join(v.name for v in arguments)
        if out.size * arguments[i].size > MAX_SIZE:
            self.line(f"{self.name()} = torch.func.{transform}({name}{option})({names})")
            return None
        return self.result(
            f"torch.func.{transform}({name}{option})({names})", (*out.shape, *arguments[i].shape), out.dtype
        )

    def hessian(self, depth: int) -> Variable | None:
        a = self.floats(lambda v: v.size <= 6)
        if a is None:
            return None
        name, _, _ = self.function([a], depth, scalar=True)
        how = self.choice(
            [
                "torch.func.hessian({f})",
                "torch.func.jacrev(torch.func.grad({f}))",
                "torch.func.jacfwd(torch.func.jacrev({f}))",
                "torch.func.jacrev(torch.func.jacfwd({f}))",
            ]
        )
        return self.result(f"{how.format(f=name)}({a.name})", (*a.shape, *a.shape), a.dtype)

    def vmap(self, depth: int) -> Variable | None:
        a = self.floats(lambda v: v.shape != () and v.shape[0] > 0)
        if a is None:
            return None
        axis = self.random.randrange(len(a.shape))
        n = a.shape[axis]
        arguments, inner = [a], [Variable(a.name, a.shape[:axis] + a.shape[axis + 1 :], a.dtype)]
        in_dims: list[int | None] = [axis]
        if self.chance(0.4):
            b = self.floats(lambda v: v.dtype == a.dtype)
            if b is not None:
                arguments.append(b)
                places = [k for k, m in enumerate(b.shape) if m == n]
                place = self.choice(places) if places and self.chance(0.7) else None
                in_dims.append(place)
                inner.append(
                    Variable(b.name, b.shape if place is None else b.shape[:place] + b.shape[place + 1 :], b.dtype)
                )
        before, self.batched = self.batched, True
        try:
            name, _, out = self.function(inner, depth, scalar=self.chance(0.3))
        finally:
            self.batched = before
        out_dim = self.random.randint(0, len(out.shape)) if self.chance(0.3) else 0
        options = f", in_dims={tuple(in_dims)}" if in_dims != [0] else ""
        options += f", out_dims={out_dim}" if out_dim else ""
        options += ", chunk_size=2" if self.chance(0.1) else ""
        shape = (*out.shape[:out_dim], n, *out.shape[out_dim:])
        mapped = f"torch.func.vmap({name}{options})"
        if self.chance(0.25) and out.shape == () and len(arguments) == 1 and not out_dim and "chunk" not in options:
            plain = f"torch.func.vmap(torch.func.grad({name}){options})({a.name})"
            return self.result(plain, (n, *inner[0].shape), a.dtype)
        return self.result(f"{mapped}({', '.join(v.name for v in arguments)})", shape, out.dtype)

    def checkpointed(self, depth: int) -> Variable | None:
        a = self.some()
        if a is None or self.batched:
            return None
        name, _, out = self.function([a], depth, scalar=False)
        return self.result(f"checkpoint({name}, {a.name}, use_reentrant=False)", out.shape, out.dtype)

    def autograd_inside(self, depth: int) -> Variable | None:
        """`torch.autograd.grad` with create_graph: of the tape, wherever it stands."""
        a = self.floats(lambda v: v.differentiable)
        if a is None:
            return None
        name, _, _ = self.function([a], depth, scalar=True)
        if self.chance(0.3):
            form = self.choice(["jacobian", "hessian"])
            text = f"torch.autograd.functional.{form}({name}, {a.name}, create_graph={self.choice(['True', 'False'])})"
            return self.result(text, a.shape if form == "jacobian" else (*a.shape, *a.shape), a.dtype)
        more = self.choice(["create_graph=True", "retain_graph=True", "create_graph=True"])
        return self.result(f"torch.autograd.grad({name}({a.name}), {a.name}, {more})[0]", a.shape, a.dtype)

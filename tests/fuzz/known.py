"""The known differences: where this library does otherwise on purpose, or the framework is wrong; each with its reason.

An entry has a program that shows it, in its smallest form; one whose program agrees again is reported. It explains another
program in one of two ways: by `rewrite`, which takes the cause out of a program, whereupon both sides have to agree in all
that the entry does not forgive; or by what the smallest form of the program, and the exceptions, look like.
"""

import ast
import re
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from .compare import NUMBERS, Difference

ANY = (*NUMBERS, "flag", "exception")


def nothing(difference: Difference) -> bool:
    return False


class Known(NamedTuple):
    reason: str
    program: str
    kinds: tuple[str, ...]
    """Kinds of difference that this explains."""
    rewrite: Callable[[str], str] | None = None
    forgives: Callable[[Difference], bool] = nothing
    """What may still differ in the rewritten program, or, without `rewrite`, all that may differ in a minimised one."""
    pattern: str = ""
    """Searched for in a minimised program."""
    reference: str = ""
    ours: str = ""
    """Searched for in the exceptions of both sides."""
    at_once: bool = False
    """Whether this is seen without making the program smaller."""

    def rewritten(self, program: str, found: list[Difference]) -> str | None:
        """The program without the cause, None where this entry has nothing to do with it."""
        if self.rewrite is None or found[0].kind not in self.kinds:
            return None
        text = self.rewrite(program)
        return None if text == program else text

    def explains(self, program: str, found: list[Difference]) -> bool:
        """Whether the smallest form of a program has this cause."""
        if self.rewrite is not None or found[0].kind not in self.kinds:
            return False
        if found[0].kind == "exception":
            for pattern, stopped in ((self.reference, found[0].reference), (self.ours, found[0].ours)):
                if pattern and not (stopped and re.search(pattern, stopped[2])):
                    return False
        elif self.forgives is not nothing and not all(self.forgives(d) for d in found):
            return False
        return re.search(self.pattern, program, re.DOTALL) is not None


# ------------------------------------------------------------------------------------------ programs without a cause


class Applied(ast.NodeTransformer):
    """Calls for which `fits` holds become arguments of `name`."""

    def __init__(self, name: str, fits: Callable[[ast.Call], bool]) -> None:
        self.name, self.fits = name, fits

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        return ast.Call(ast.Name(self.name, ast.Load()), [node], []) if self.fits(node) else node


def wrapped(name: str, prelude: str, fits: Callable[[ast.Call], bool]) -> Callable[[str], str]:
    """A rewriting that applies a function, which `prelude` defines, to the results of calls."""

    def rewrite(program: str) -> str:
        tree = ast.parse(program)
        before = ast.unparse(tree)
        after = ast.unparse(ast.fix_missing_locations(Applied(name, fits).visit(tree)))
        return program if after == before else f"{prelude}\n{after}\n"

    return rewrite


def transform_of(node: ast.Call) -> str | None:
    """`jvp` of `torch.func.jvp(...)`."""
    text = ast.unparse(node.func)
    return text.removeprefix("torch.func.") if text.startswith("torch.func.") and "(" not in text else None


def gives_arrays(node: ast.Call) -> bool:
    """`torch.func.grad(f)(x)` and the like: what a transform computes, not the function that it gives."""
    if isinstance(node.func, ast.Call):
        return transform_of(node.func) is not None
    return transform_of(node) in ("jvp", "vjp", "linearize")


EVERYWHERE = """
def everywhere(f, x):
    if isinstance(x, (tuple, list)):
        return tuple(everywhere(f, y) for y in x)
    if callable(x) and not isinstance(x, torch.Tensor):
        return lambda *a: everywhere(f, x(*a))
    return f(x) if isinstance(x, torch.Tensor) and x.dtype.is_floating_point | x.dtype.is_complex else x
"""
copied = wrapped("copied", EVERYWHERE + "def copied(x):\n    return everywhere(torch.clone, x)\n", gives_arrays)


def is_grad(creating: bool) -> Callable[[ast.Call], bool]:
    """Calls of autograd.grad, with create_graph or without."""

    def fits(node: ast.Call) -> bool:
        return (
            ast.unparse(node.func) == "torch.autograd.grad"
            and any(k.arg == "create_graph" for k in node.keywords) == creating
        )

    return fits


class Tied(ast.NodeTransformer):
    """What a transform computes, or a gradient that is to be differentiated, depends on its arguments, with derivative 0."""

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        if gives_arrays(node) or is_grad(True)(node):
            first = 0 if isinstance(node.func, ast.Call) else 1
            return ast.Call(ast.Name("tied", ast.Load()), [node, *node.args[first:]], [])
        return node


TIED = EVERYWHERE + """
def tied(x, *given):
    total = torch.zeros((), requires_grad=True)
    def add(y):
        nonlocal total
        y = torch.real(y).double()
        total = total + torch.where(torch.ones_like(y, dtype=torch.bool), 0.0, y).sum()
        return y
    everywhere(add, given)
    return everywhere(lambda y: y + total.to(y.dtype), x)
"""


class Materialising(ast.NodeTransformer):
    """`torch.autograd.grad` gives zeros for what was not used."""

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        if ast.unparse(node.func) == "torch.autograd.grad":
            node.keywords = [k for k in node.keywords if k.arg not in ("allow_unused", "materialize_grads")]
            node.keywords.append(ast.keyword("materialize_grads", ast.Constant(True)))
        return node


def with_history(program: str) -> str:
    """What transforms give, and gradients that are to be differentiated, depend on a leaf; what is not used has zeros."""
    text = transformed(program, Tied(), TIED)
    return program if text == program else transformed(text, Materialising())


class Copied(ast.NodeTransformer):
    """Gradients that are given to a pass are copied first."""

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        name = ast.unparse(node.func)
        if name in ("torch.autograd.backward", "torch.autograd.grad"):
            place = 2 if name.endswith("grad") else 1
        else:
            place = 0 if name.endswith(".backward") else len(node.args)
        if len(node.args) > place and isinstance(node.args[place], ast.Name):
            node.args[place] = ast.Call(ast.Attribute(node.args[place], "clone", ast.Load()), [], [])
        return node


def given_copies(program: str) -> str:
    return transformed(program, Copied())


RESHAPED = re.compile(r"^( *)(v\d+)\.(t|transpose|unsqueeze|squeeze)_\(", re.MULTILINE)


def reshaped_apart(program: str) -> str:
    """What is reshaped in place becomes another view."""
    return RESHAPED.sub(r"\1\2 = \2.\3(", program)


class Products(ast.NodeTransformer):
    """`other_prod(x, ...)` for `x.prod(...)` and `torch.prod(x, ...)`."""

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.func, ast.Attribute) and node.func.attr == "prod":
            first = [] if ast.unparse(node.func.value) == "torch" else [node.func.value]
            return ast.Call(ast.Name("other_prod", ast.Load()), [*first, *node.args], node.keywords)
        return node


def by_sums(program: str) -> str:
    """Products of one number as sums."""
    return transformed(
        program, Products(), "def other_prod(x, *a, **k):\n    y = x.prod(*a, **k)\n"
        "    return x.sum(*a, **k) if x.numel() == y.numel() else y\n",
    )  # fmt: skip


def apart(program: str) -> str:
    """Gradients of their own memory and history."""
    prelude = EVERYWHERE + "def {0}(x):\n    return everywhere(lambda y: {1}.clone(), x)\n"
    created = wrapped("created", prelude.format("created", "y"), is_grad(True))(program)
    return wrapped("taken", prelude.format("taken", "y.detach()"), is_grad(False))(created)


def by_jvp(program: str) -> str:
    """`linearize` as a function and its `jvp`, of tangents in memory of their own (as PyTorch takes some: those that lie in
    memory otherwise than the primals)."""
    text = program.replace("torch.func.linearize(", "linearized(")
    if text == program:
        return program
    return f"def linearized(f, *x):\n    return f(*x), lambda *t: torch.func.jvp(f, x, tuple(y.clone() for y in t))[1]\n{text}"


def depending(program: str) -> str:
    """Functions under `vmap` with results that depend on all arguments."""
    text = program.replace("torch.func.vmap(", "mapped(")
    if "out_dims" not in text:
        return program
    return (
        EVERYWHERE + "def mapped(f, **options):\n    def g(*a):\n"
        "        zero = sum((x.detach() != x.detach()).sum() * 0 for x in a)\n"
        "        return everywhere(lambda y: y + zero.to(y.dtype), f(*a))\n"
        f"    return torch.func.vmap(g, **options)\n{text}"
    )


def by_other_factors(program: str) -> str:
    """Determinants and solutions of the positive definite matrices that are drawn, without an LU decomposition."""
    text = program
    for name, other in (
        ("linalg.det", "other_logdet(a).exp()"),
        ("linalg.slogdet", "(torch.ones_like(other_logdet(a)), other_logdet(a))"),
        ("logdet", "other_logdet(a)"),
        ("linalg.solve", "torch.linalg.inv(a) @ b[0]"),
    ):
        text = text.replace(f"torch.{name}(", f"(lambda a, *b: {other})(")
        text = re.sub(rf"torch\.{re.escape(name)}\b(?!\w)", f"(lambda a, *b: {other})", text)
    if text == program:
        return program
    return (
        "def other_logdet(a):\n    return 2 * torch.linalg.cholesky(a).diagonal(dim1=-2, dim2=-1).log().sum(-1)\n"
        + text
    )


NO_GRAD = re.compile(r"no_grad\(\)|set_grad_enabled\(False\)")


class Unrecorded(ast.NodeTransformer):
    """What stands under no_grad: changes in place happen to `.data`, and views are detached."""

    def __init__(self, changes: bool) -> None:
        self.changes, self.quiet = changes, False

    def visit_With(self, node: ast.With) -> ast.AST:
        before, self.quiet = self.quiet, NO_GRAD.search(ast.unparse(node.items[0])) is not None
        self.generic_visit(node)
        self.quiet = before
        return node

    def visit_Assign(self, node: ast.Assign) -> ast.AST:
        if self.quiet and self.changes and isinstance(node.targets[0], ast.Subscript):
            node.targets[0].value = data_of(node.targets[0].value)
        elif self.quiet and not self.changes and isinstance(node.targets[0], ast.Name):
            node.value = ast.Call(ast.Name("taken_out", ast.Load()), [node.value], [])
        return node

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.AST:
        if self.quiet and self.changes:
            if isinstance(node.target, ast.Subscript):
                node.target.value = data_of(node.target.value)
            elif isinstance(node.target, ast.Name):
                return ast.AugAssign(ast.Attribute(node.target, "data", ast.Store()), node.op, node.value)
        return node

    def visit_Expr(self, node: ast.Expr) -> ast.AST:
        call = node.value
        if ".grad" in ast.unparse(call):
            return node
        if self.quiet and self.changes and isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute):
            call.func.value = data_of(call.func.value)
        return node


def data_of(node: ast.expr) -> ast.expr:
    """`x.data[0]` for `x[0]`, and so on: the variable's memory."""
    if isinstance(node, ast.Name):
        return ast.Attribute(ast.Name(node.id, ast.Load()), "data", ast.Load())
    if isinstance(node, (ast.Subscript, ast.Attribute)):
        node.value = data_of(node.value)
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        node.func.value = data_of(node.func.value)
    return node


def transformed(program: str, change: ast.NodeTransformer, prelude: str = "") -> str:
    tree = ast.parse(program)
    before = ast.unparse(tree)
    after = ast.unparse(ast.fix_missing_locations(change.visit(tree)))
    return program if after == before else f"{prelude}{after}\n"


def unnoticed(program: str) -> str:
    """Changes under no_grad, and through what is detached, that autograd does not notice."""
    return transformed(program, Unrecorded(changes=True)).replace(".detach()", ".data")


def taken_out(program: str) -> str:
    """What is made under no_grad has no part in the graph, and does not say so either."""
    prelude = EVERYWHERE + "def taken_out(x):\n    return everywhere(torch.detach, x)\n"
    return transformed(program, Unrecorded(changes=False), prelude)


class Before(ast.NodeTransformer):
    """A statement for each variable on which `wants` finds that one is to stand before a statement."""

    def __init__(self, wants: Callable[[ast.stmt], str | None], text: str) -> None:
        self.wants, self.text = wants, text

    def visit(self, node: ast.AST) -> Any:
        if isinstance(node, ast.stmt) and (name := self.wants(node)) is not None:
            return [ast.parse(self.text.format(v=name)).body[0], node]
        return self.generic_visit(node)


HOOK = re.compile(r"(?:h\d+ = )?(v\d+)\.(?:grad_fn\.)?(?:register_(?:pre)?hook|retain_grad)\(")
CHANGE = re.compile(r"(v\d+)(?:\.\w+_\(| [-+*/]=|\[.*\] [-+*/]?= )")


def hooked_apart(program: str) -> str:
    """Hooks on copies, which are no views."""

    def wants(node: ast.stmt) -> str | None:
        match = HOOK.match(ast.unparse(node))
        return match[1] if match and not re.search(rf"^{match[1]} = torch\.(tensor|ones)\(", program, re.MULTILINE) else None

    return transformed(program, Before(wants, "{v} = {v}.clone()"))


class InOneStep(ast.NodeTransformer):
    """`x[...] *= y` without writing the view back into itself."""

    def visit_AugAssign(self, node: ast.AugAssign) -> Any:
        if not isinstance(node.target, ast.Subscript):
            return node
        view = ast.Assign([ast.Name("part", ast.Store())], ast.Subscript(node.target.value, node.target.slice, ast.Load()))
        return [view, ast.AugAssign(ast.Name("part", ast.Store()), node.op, node.value)]


def looked_at(program: str) -> str:
    """The history of what is changed in place is looked at before."""

    def wants(node: ast.stmt) -> str | None:
        match = CHANGE.match(ast.unparse(node))
        return match[1] if match else None

    return transformed(transformed(program, InOneStep()), Before(wants, "{v}.grad_fn"))


def results_apart(*names: str) -> Callable[[str], str]:
    """A rewriting that copies the results of functions and methods."""
    return wrapped(
        "copied", EVERYWHERE + "def copied(x):\n    return everywhere(torch.clone, x)\n",
        lambda node: isinstance(node.func, ast.Attribute) and node.func.attr in names,
    )  # fmt: skip


def by_functions(prelude: str, *names: str) -> Callable[[str], str]:
    """A rewriting that calls functions of `prelude`, each named like PyTorch's with `other_` before, instead of PyTorch's."""

    def rewrite(program: str) -> str:
        text = program
        for name in names:
            text = re.sub(rf"\btorch\.(\w+\.)*{name}\b", f"other_{name}", text)
        return program if text == program else f"{prelude}\n{text}"

    return rewrite


def off_the_corner(*names: str) -> Callable[[str], str]:
    """A rewriting that adds a little to the first argument of functions."""

    def rewrite(program: str) -> str:
        for name in names:
            program = re.sub(rf"{re.escape(name)}(?!0\.0131)", f"{name}0.0131 + ", program)
            program = re.sub(
                rf"\b{re.escape(name[:-1])}\b(?!\()", f"(lambda *a: {name}0.0131 + a[0], *a[1:]))", program
            )
        return program

    return rewrite


class Keeping(ast.NodeTransformer):
    """Passes keep the graph."""

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        name = ast.unparse(node.func)
        if (name.endswith(".backward") or name == "torch.autograd.grad") and not any(
            k.arg in ("retain_graph", "create_graph") for k in node.keywords
        ):
            node.keywords.append(ast.keyword("retain_graph", ast.Constant(True)))
        return node


def keeping_graphs(program: str) -> str:
    tree = ast.parse(program)
    before = ast.unparse(tree)
    after = ast.unparse(ast.fix_missing_locations(Keeping().visit(tree)))
    return program if after == before else f"{after}\n"


def without_aliases(program: str) -> str:
    """A reshape of what was computed gives other memory, however the result lies in it."""
    if not re.search("einsum|linalg|matrix_|F.linear|@|tensordot|kron|outer", program):
        return program
    methods = ("flatten", "reshape", "contiguous", "ravel", "view", "chunk", "T", "squeeze")
    return wrapped(
        "torch.clone", "", lambda node: isinstance(node.func, ast.Attribute) and node.func.attr in methods
    )(program)  # fmt: skip


def zeros(x: Any) -> bool:
    """Whether a gradient is None or zero."""
    return x is None or (isinstance(x, list) and len(x) > 2 and not any(x[2]))


def absent_or_zero(d: Difference) -> bool:
    return d.kind == "missing" and zeros(d.reference) and zeros(d.ours)


def wider(d: Difference) -> bool:
    """Double precision in the framework, single here, or what it cannot show any more."""
    return d.kind == "dtype" and (d.reference in ("float64", "complex128") or "not to be observed" in str(d.reference))


def hidden(d: Difference) -> bool:
    """nan in the framework where there is a number here, and the same numbers elsewhere."""
    if (
        d.kind not in ("value", "gradient", "log")
        or not isinstance(d.reference, list)
        or len(d.reference) != len(d.ours)
    ):
        return False
    pairs: Iterable[tuple[float, float]] = zip(d.reference, d.ours)
    return all(x != x or (y == y and (x == y or abs(x - y) <= 1e-4 * (1 + abs(x)))) for x, y in pairs)


# ------------------------------------------------------------------------------------------ the lists

LEAF = "v1 = torch.tensor([1.5, 0.5], dtype=torch.float64, requires_grad=True)\n"
SCALAR = "v1 = torch.tensor(1.5, dtype=torch.float64, requires_grad=True)\n"
SILENT = LEAF + "with torch.no_grad():\n    v2 = v1[:1]\n"

TORCH = [
    Known(
        "PyTorch's transforms of an identity hand out their argument itself, here another tensor",
        "v1 = torch.tensor(2.0, dtype=torch.float64)\ndef f2(v3, v4):\n    return v4[...]\n"
        "v6, f7 = torch.func.vjp(f2, v1, v1)\nv8 = f7(v1)[1]\nv8.sub_(v1)\n",
        ANY, rewrite=copied,
    ),
    Known(
        "autograd.grad hands out one tensor where gradients are the same array: here not through views and 0-d sums",
        SCALAR + "v2 = v1[...]\nv4, v5 = torch.autograd.grad(2 / v2, [v1, v2], create_graph=True)\nv4.retain_grad()\n"
        "v4.backward(retain_graph=True)\nv5.backward()\n",
        ANY, rewrite=apart,
    ),
    Known(
        "derivatives that are constant, and zeros that are left of the gradient of what has been overwritten, have a history "
        "here or in PyTorch (whose transforms make products with zero tangents), not on the other side, so that nothing is "
        "accumulated where it accumulates zeros, and a pass from them is refused",
        "v1 = torch.tensor(1.05, dtype=torch.float64)\nv2 = torch.tensor(1.47, dtype=torch.float64, requires_grad=True)\n"
        "def f3(v4):\n    return v1 * v4\nv6 = torch.func.jacfwd(f3)(v2)\n",
        ANY, rewrite=with_history, forgives=lambda d: absent_or_zero(d) or d.where.endswith(".grad.requires_grad"),
    ),
    Known(
        "PyTorch takes .grad from a tensor that is no leaf when a custom function has changed it in place",
        SCALAR + "v2 = v1 * 1\nv2.backward(inputs=v2)\nclass f3(torch.autograd.Function):\n    @staticmethod\n"
        "    def forward(ctx, x):\n        ctx.mark_dirty(x)\n        return x\nv4 = f3.apply(v2)\n",
        ("missing",), rewrite=lambda program: program.replace("ctx.mark_dirty(x)", "x = x.clone()"),
    ),
    Known(
        "PyTorch's linearize does not record what the function closes over, and refuses changes in place inside",
        "v1 = torch.tensor(0.627, dtype=torch.float64)\nv2 = torch.tensor(0.74, dtype=torch.float64, requires_grad=True)\n"
        "def f3(v4):\n    return v2 * v4\nv6, f7 = torch.func.linearize(f3, v1)\nv8 = f7(v1)\nv8.backward(v8)\n",
        ANY, rewrite=by_jvp, forgives=absent_or_zero,
    ),
    Known(
        "PyTorch's vmap puts a result that does not depend on the batch in the wrong order with out_dims, or fails",
        "v1 = torch.tensor([1.3, 0.8], dtype=torch.float64)\nv2 = torch.func.vmap(lambda v3: v1, out_dims=1)(v1)\n",
        ANY, rewrite=depending,
    ),
    Known(
        "PyTorch widens a float32 without axes in nested forward mode to float64",
        "v1 = torch.tensor(0.5, dtype=torch.float32)\ndef f2(v3):\n    def f4(v5):\n        return v5 + 0.013\n"
        "    v7, v8 = torch.func.jvp(f4, (v3,), (v1,))\n    return v8\nv9, v10 = torch.func.jvp(f2, (v1,), (v1,))\n",
        ("dtype",), pattern=r"(float32|bfloat16|complex64).*func\.(jvp|jacfwd|hessian)", forgives=wider,
    ),
    Known(
        "a vector times a batch of matrices saves a copy of the batch in PyTorch, which a later change does not meet; here the "
        "batch itself is kept, and the change refused",
        "v1 = torch.ones(2, 2, 3, dtype=torch.float64)\nv2 = torch.ones(2, dtype=torch.float64, requires_grad=True)\n"
        "v3 = v2 @ v1\nv1.erf_()\nv3.sum().backward()\n",
        ("exception",), pattern=r"@|matmul", ours=r"^matmul .*changed in place",
    ),
    Known(
        "PyTorch refuses operations on a float32 that its forward mode of a gradient has widened to float64",
        "v1 = torch.tensor([0.884], dtype=torch.float32)\nv2 = torch.ones(2, dtype=torch.float32)\n"
        "def f3(v4):\n    return torch.func.grad(lambda v6: ((v4 * v1).sum() * v6.sum() * 0.5).sin())(v2)\n"
        "v11, v12 = torch.func.jvp(f3, (v1,), (v1,))\n"
        "v13 = v12.scatter_add(0, torch.tensor([0, 1]), v11)\n",
        ("exception",), pattern=r"(float32|bfloat16|complex64).*func\.(jvp|jacfwd|hessian)",
        reference="dtype to be equal",
    ),
    Known(
        "a view of a leaf made under no_grad takes no part in PyTorch's graph though it says that it requires grad: "
        "autograd.grad refuses it or gives zeros, hooks are not called, and nothing but the base can make it say otherwise",
        SILENT + "torch.autograd.grad(v2.sum(), v2)\n",
        ANY, rewrite=taken_out,
    ),
    Known(
        "a view taken before its base begins to want a gradient says in PyTorch that it wants one, too, but gets none; "
        "here a pass from it is refused",
        "v1 = torch.tensor([1.5], dtype=torch.float64)\nv2 = v1[:]\nv1.requires_grad_()\n",
        ("flag", "exception", "missing", "gradient"), pattern=r"v\d+ = (v\d+)(\.|\[).*\1\.requires_grad_\(\)",
        ours="does not require grad",
    ),
    Known(
        "PyTorch frees more than what an operation saved, and the operation that computed an input of backward(), which it "
        "executes, too; here a pass ends above its inputs, and what saved nothing can be passed again",
        SCALAR + "v2 = v1.exp()\nv2.backward(inputs=[v2])\nv2.backward()\n",
        ("exception",), rewrite=keeping_graphs,
    ),
    Known(
        "PyTorch executes the operation that computed an input of backward(), so its hooks are called; here the pass ends "
        "above it",
        SCALAR + "v2 = v1.exp()\nv2.grad_fn.register_hook(lambda i, o: log.append(o[0]))\nv2.backward(inputs=[v2])\n",
        ("log",), pattern=r"grad_fn\.register_hook.*backward\(.*inputs=",
    ),
    Known(
        "whether a reshape of what was computed shares its memory depends on how the result lies there: that of products "
        "and of linear algebra in C order here, and often in another in PyTorch",
        "v1 = torch.tensor([[0.4, 0.7], [0.1, 0.2]], dtype=torch.float64)\nv2 = torch.linalg.inv(v1)\n"
        "v3 = v2.flatten()\nv3.neg_()\n",
        ANY, rewrite=without_aliases,
    ),
    Known(
        "PyTorch's transforms refuse functions whose result is a gradient that torch.autograd.grad took of outer tensors",
        SCALAR + "def f2(v3):\n    v7 = torch.autograd.grad(v1.sin(), v1)[0]\n    return v7\nv8 = torch.func.grad(f2)(v1)\n",
        ("exception",), pattern=r"def .*    v\d+(, v\d+)* = (tied\()?torch\.autograd\.grad\(.*torch\.func\.",
        reference="element 0 of tensors does not require grad", at_once=True,
    ),
    Known(
        "PyTorch's own second derivatives of norms write what they have saved, and are refused",
        SCALAR + "def f2(v3):\n    v4 = torch.linalg.vector_norm(v3)\n    return v4\nv5 = torch.func.hessian(f2)(v1)\n"
        "v5.backward()\n",
        ("exception",), pattern="norm.*torch.func.|torch.func.*norm", reference="modified by an inplace operation",
    ),
    Known(
        "PyTorch's derivative of the tangent of copysign, and of a derivative of copysign, writes what it has saved, and is "
        "refused",
        SCALAR + "f2 = lambda v3: torch.func.jacfwd(lambda v4: torch.copysign(v4, v3))(v3)\n"
        "v5 = torch.func.vmap(lambda v6: torch.func.jvp(f2, (v6,), (v6,))[1])(v1[None])\n(v5 * v1).sum().backward()\n",
        ("exception",), pattern="copysign", reference="output 0 of MaskedFill", at_once=True,
    ),
    Known(
        "PyTorch's forward rules of fmax and fmin give a tie to the other operand than its backward rules; here both give it "
        "to the same",
        "v1 = torch.tensor(1.8, dtype=torch.float64)\nv2, v3 = torch.func.jvp(lambda v4: torch.fmax(v4, v1), (v1,), (v1,))\n",
        ("value", "gradient", "log"), pattern=r"(fmax|fmin).*func\.|func\..*(fmax|fmin)",
    ),
    Known(
        "the results of einsum, tensordot and repeat_interleave are views of hidden tensors in PyTorch, "
        "so that what is written below them is not theirs",
        SCALAR + "v2 = torch.einsum('...i,...i->...', v1[None], v1[None])\nv3 = v2.unsqueeze(-1)\n"
        "v3.index_fill_(0, torch.tensor(0), 0.5)\nv4, = torch.autograd.grad(v3, v2, materialize_grads=True)\n",
        ANY, rewrite=results_apart("einsum", "tensordot", "repeat_interleave"),
    ),
    Known(
        "what is changed in place unrecorded keeps its history here; in PyTorch that of a view is made anew, so that its "
        "hooks are not called and it is no operand any more of what was computed from it, and what is reshaped keeps the "
        "history, and gets the gradient, of the shape it had",
        LEAF + "v2 = v1[:1]\nv3 = v2 * 2\nwith torch.no_grad():\n    v2.sin_()\nv3.sum().backward(inputs=[v2])\n",
        ANY, rewrite=unnoticed,
    ),
    Known(
        "hooks of a view, or of its operation, are lost in PyTorch where memory is written later, since its history is made "
        "anew; here they are called",
        LEAF + "v2 = (v1 * 1)[:]\nv2.register_hook(lambda g: g * 2)\nv2[0] *= 2.0\nv2.sum().backward()\n",
        ANY, rewrite=hooked_apart,
    ),
    Known(
        "kron in PyTorch does not notice that what it saved was changed, and gives a wrong gradient; here it is refused",
        LEAF + "v2 = v1.abs()\nv3 = torch.kron(v2, v2)\nv2.add_(1)\nv3.sum().backward()\n",
        ("exception",), pattern="kron", ours="changed in place",
    ),
    Known(
        "a gradient shares its memory with the cotangent in PyTorch where it is the same numbers, and changes with it; what a "
        "derivative keeps of a cotangent that is changed later is another choice, too",
        SCALAR + "v2 = v1.type(torch.complex128)\nv2.backward(v2)\nv2.mul_(v2)\n",
        ANY, rewrite=given_copies,
    ),
    Known(
        "writes to windows that overlap are undefined in PyTorch, which adds as often as an element is seen; here once",
        "v1 = torch.tensor([0.5, 0.3, 1.2], dtype=torch.float64)\nv3 = v1.unfold(0, 2, 1)\nv3 += 1.0\n",
        ("value", "gradient", "log"), pattern=r"unfold\(.*(v\d+\.\w+_\(| [-+*]=)",
    ),
    Known(
        "PyTorch refuses passes over what its rules have saved of results and changed since, inside transforms; here less is "
        "saved",
        SCALAR + "def f2(v3):\n    return v3\nv4, f5 = torch.func.vjp(f2, v1[None])\nv7 = f5(v4)[0].prod(0, keepdim=True)\n"
        "v7[0] = 1.5\nv7.backward(v7)\n",
        ("exception",), pattern=r"torch\.func\.", reference="modified by an inplace operation",
    ),
    Known(
        "the gradient of prod of one number has no history in PyTorch",
        SCALAR + "v2 = v1.prod()\nv3, = torch.autograd.grad(v2, v1, create_graph=True)\n",
        ANY, rewrite=by_sums,
    ),
    Known(
        "a view of what is reshaped in place goes on to the memory, not through the reshaped tensor, where PyTorch makes its "
        "history anew",
        LEAF + "v2 = v1[None] * 1\nv3 = v2.flatten()\nv2.t_()\nv3.mean().backward(inputs=[v2])\n",
        ANY, rewrite=reshaped_apart,
    ),
    Known(
        "what of its result a rule keeps: PyTorch's second derivatives of copysign, prod, cumprod and log_ndtr go through it, "
        "so that hooks on it, gradients with respect to it and changes of it meet them; here those of max and its kind do",
        SCALAR + "v2 = torch.copysign(v1, v1)\nv3, = torch.autograd.grad(v2, v1, create_graph=True)\n"
        "v2.register_hook(lambda g: -g)\nv3.backward()\n",
        ANY, rewrite=results_apart("copysign", "sgn", "prod", "cumprod", "log_ndtr", "max", "min", "amax", "amin", "median"),
    ),
    Known(
        "what was a constant when an operation was recorded stays one; PyTorch looks again in a pass with create_graph",
        SCALAR + "v2 = torch.tensor(0.74, dtype=torch.float64)\nv3 = v2 * v1\nv2.requires_grad_()\n"
        "v3.backward(create_graph=True)\n",
        ("flag", "missing", "exception"), pattern=r"requires_grad_\(\).*create_graph=True",
    ),
    Known(
        "a nan that a zero should hide: PyTorch's amax and nan_to_num of infinite cotangents, distances and norms at 0 in "
        "forward mode",
        "v1 = torch.tensor([0.0], dtype=torch.float64, requires_grad=True)\n"
        "v2, = torch.autograd.grad((v1 + float('nan')).nan_to_num(), v1, v1.detach() + float('inf'))\n",
        ("value", "gradient", "log"),
        pattern=r"abs\(|real|amax|amin|nan_to_num|dist|norm|logcumsumexp|std|var|median|max|min|softmin|pow|\*\*",
        forgives=hidden,
    ),
    Known(
        "PyTorch's tape through a forward-mode derivative of det, logdet, slogdet and solve takes the factors that it saved "
        "for constants: the gradient is wrong, or there is none",
        "v1 = torch.tensor([[3.0, 1.0], [1.0, 2.0]], dtype=torch.float64, requires_grad=True)\n"
        "v2, v3 = torch.func.jvp(torch.linalg.det, (v1,), (torch.eye(2, dtype=torch.float64),))\nv3.backward()\n",
        ANY, rewrite=by_other_factors,
    ),
    Known(
        "at a tie of clamp with one tensor bound, and at nan, PyTorch's forward mode takes the bound's tangent, its backward "
        "the operand's or none; here both do as its backward",
        "v1 = torch.tensor(0.0, dtype=torch.float64)\nv2 = torch.tensor(2.0, dtype=torch.float64)\n"
        "v3, v4 = torch.func.jvp(lambda v5, v6: torch.clamp(v5, max=v6), (v1, v1), (v2, v1))\n",
        ANY, rewrite=by_functions(
            "def other_clamp(x, *a, max=None):\n    if a or not isinstance(max, torch.Tensor):\n"
            "        return torch.clamp(x, *a) if max is None else torch.clamp(x, *a, max=max)\n"
            "    return torch.where(x <= max, x, max)\n", "clamp"),
    ),
    Known(
        "a view of a constant that got a history later is refused in place by PyTorch as long as nobody has looked at its "
        "history, which then is that of no leaf",
        SCALAR + "v2 = torch.tensor([1.0], dtype=torch.float64)\nv3 = v2[...]\nv2.mul_(v1)\nv3.zero_()\n",
        ANY, rewrite=looked_at,
    ),
    Known(
        "autograd.functional inside a transform takes gradients of outer tensors for zero in PyTorch; here they are what "
        "they are",
        SCALAR + "v8 = torch.func.grad(\n"
        "    lambda v3: torch.autograd.functional.jacobian(torch.clone, v1, create_graph=True) * v3)(v1)\n",
        ANY, rewrite=by_functions(
            "def other_jacobian(f, x, create_graph):\n    return torch.func.jacrev(f)(x)\n"
            "def other_hessian(f, x, create_graph):\n    return torch.func.jacrev(torch.func.jacrev(f))(x)\n",
            "jacobian", "hessian"), forgives=absent_or_zero,
    ),
    Known(
        "PyTorch's trigamma is 1e-9 off at small numbers (that of 1 is pi^2 / 6), and so are the derivatives of digamma",
        "v1 = torch.tensor(1.0, dtype=torch.float64, requires_grad=True)\n"
        "v2, = torch.autograd.grad(torch.digamma(v1), v1)\nv3 = (v2 * 20).cos()\n",
        NUMBERS, rewrite=by_functions(
            "def other_digamma(x):\n    return torch.digamma(x + 20) - sum(1 / (x + k) for k in range(20))\n"
            "def other_lgamma(x):\n    return torch.lgamma(x + 20) - sum((x + k).abs().log() for k in range(20))\n",
            "digamma", "lgamma"),
    ),
    Known(
        "logaddexp2 of two equal numbers is rounded otherwise: 0 here where it is -5e-17 in PyTorch",
        "v1 = torch.tensor(-1.0, dtype=torch.float64)\nv2 = torch.logaddexp2(v1, v1) != 0\n",
        ANY, rewrite=by_functions(
            "def other_logaddexp2(a, b):\n    return torch.logaddexp2(a, b) + 0.0131\n", "logaddexp2"),
    ),
    Known(
        "a .grad of zeros, left of what has been overwritten, has a history here, none in PyTorch",
        SCALAR + "v2 = torch.tensor([1.5], dtype=torch.float64)\nv2[torch.tensor(0)] = v1\n"
        "v2[...] = torch.tensor(1.0, dtype=torch.float64)\nv2.square().backward(create_graph=True)\n",
        ("flag",), rewrite=lambda program: re.sub(r"(\.backward\(.*)create_graph=True", r"\1retain_graph=True", program),
    ),
    Known(
        "inside a transform as_strided refuses here elements with gaps between them, since a transform's arrays have no storage",
        "v1 = torch.tensor([1.0, 2.0, 3.0, 4.0], dtype=torch.float64)[::2]\n"
        "v2, v3 = torch.func.jvp(lambda v4: v4.as_strided((2,), (1,), 0), (v1,), (v1,))\n",
        ("exception",), pattern=r"as_strided", ours="are no storage", at_once=True,
    ),
    Known(
        "PyTorch's median of an expanded tensor reads memory that nothing has written",
        "v1 = torch.tensor(0.896, dtype=torch.float64)\nv2 = v1.expand(3).median(0)\n",
        ANY, rewrite=lambda program: re.sub(r"(?<!torch)\.median\(", ".contiguous().median(", program),
    ),
    Known(
        "PyTorch's derivative of matrix_exp is 1e-6 off where the matrix is not small; here it is right to 1e-14 (by "
        "differences in 40 digits)",
        "v1 = torch.tensor([[-0.743], [0.272], [-1.646]], dtype=torch.float64, requires_grad=True)\nv2 = v1 @ v1.T\n"
        "v3 = torch.matrix_exp((v2 @ v2.T).tanh()).exp()\n((v3 * v3).sum() * (v3 * v3).sum()).backward()\n",
        ANY, rewrite=by_functions(
            "def other_matrix_exp(a):\n    a = a / 64\n    total = term = torch.eye(a.shape[-1], dtype=a.dtype)\n"
            "    for k in range(1, 24):\n        term = term @ a / k\n        total = total + term\n"
            "    for _ in range(6):\n        total = total @ total\n    return total\n", "matrix_exp"),
    ),
    Known(
        "a pass of PyTorch that ends at one result of an operation executes what leads to its other results",
        SCALAR + "class f2(torch.autograd.Function):\n    @staticmethod\n    def forward(ctx, x):\n"
        "        return x * 1, x * 2\n    @staticmethod\n    def backward(ctx, g, h):\n        return g + h\n"
        "v3, v4 = f2.apply(v1)\nv5 = v3 * 3\nv5.retain_grad()\n"
        "v6, = torch.autograd.grad(v5.square(), v4, materialize_grads=True)\n",
        ANY, rewrite=results_apart("apply"),
    ),
    Known(
        "the sign of a zero that sums and products come to is a matter of their order, and of how BLAS computes them",
        "v1 = torch.tensor([[0.745], [-0.976]], dtype=torch.float32)\nv2 = torch.tensor([[0.0], [0.0]], dtype=torch.float32)\n"
        "v3 = v1 @ v2.T\nv4 = torch.atan2(v3, v3)\n",
        ANY, rewrite=by_functions(
            "def other_atan2(a, b):\n    return torch.atan2(a + 0.0, b + 0.0)\n"
            "def other_copysign(a, b):\n    return torch.copysign(a, b + 0.0)\n", "atan2", "copysign"),
    ),
    Known(
        "PyTorch's derivatives of atan2, hypot, copysign and sinc at 0 are nan where a zero should hide it, as in forward mode; "
        "or one side is at 0 and the other, by rounding, is not",
        "v1 = torch.tensor(0.0, dtype=torch.float64)\nv5, v6 = torch.func.jvp(lambda v3: torch.atan2(v3, v3), (v1,), (v1,))\n",
        NUMBERS, rewrite=off_the_corner("torch.atan2(", "torch.hypot(", "torch.copysign(", "torch.sinc("),
    ),
]  # fmt: skip
JAX: list[Known] = [
    Known(
        "jax's derivative of abs is 1 at 0, here it is 0 (as in PyTorch); what is composed of abs follows",
        "v1 = xp.asarray(0.0, dtype=xp.float64)\nv2 = tr.grad(xp.abs)(v1)\n", NUMBERS,
        rewrite=off_the_corner("xp.abs(", "xp.copysign("),
    ),
    Known(
        "jax's derivatives of atan2 and of norms are nan at 0, here they are 0",
        "v1 = xp.asarray([0.0], dtype=xp.float64)\nv2, v3 = tr.jvp(lambda v4: xp.atan2(v4, v4), (v1,), (v1,))\n", NUMBERS,
        rewrite=off_the_corner("xp.atan2(", "xp.linalg.vector_norm("),
    ),
    Known(
        "jax composes hypot of max and min, whose second derivatives at a tie are wrong: 0 for b^2 / r^3",
        "v1 = xp.asarray(1.5, dtype=xp.float64)\nv2 = tr.grad(tr.grad(lambda v3: xp.hypot(v3, v1)))(v1)\n", NUMBERS,
        rewrite=off_the_corner("xp.hypot("),
    ),
    Known(
        "jax's derivative of the standard deviation of equal numbers is nan, here it is 0",
        "v1 = xp.asarray(1.5, dtype=xp.float64)\nv2 = tr.grad(xp.std)(v1)\n", NUMBERS,
        pattern=r"xp\.std", forgives=hidden,
    ),
    Known(
        "jax's linearize refuses functions with a custom_vjp rule; here it transposes the pullback",
        "f1 = tr.custom_vjp(lambda x: xp.sin(x))\nf1.defvjp(lambda x: (xp.sin(x), x), lambda r, g: (g * xp.cos(r),))\n"
        "v2, f3 = tr.linearize(f1, xp.asarray(0.5, dtype=xp.float64))\nv4 = f3(v2)\n",
        ("exception",), pattern=r"linearize", reference="custom_vjp function", at_once=True,
    ),
]  # fmt: skip

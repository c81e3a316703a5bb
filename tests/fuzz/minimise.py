"""The shortest program that still differs in the same way: statements go, expressions give way to their parts."""

import ast
import copy
import itertools
import re
import time
from collections.abc import Callable, Iterator

Test = Callable[[list[str]], str | None]
"""The shortest of these texts that still differs."""

BATCH = 24
MAX_TRIALS = 1500
MAX_SECONDS = 40
"""What takes longer is left as it is then: programs of torch.func.linearize take 0.1 s and more each on PyTorch."""
NAME = re.compile(r"\b[vfh]\d+\b")


def defined(node: ast.stmt) -> set[str]:
    if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
        return {node.name}
    if isinstance(node, ast.Assign):
        return {
            n.id
            for target in node.targets
            for n in ast.walk(target)
            if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)
        }
    if isinstance(node, (ast.With, ast.If)):
        return set().union(*(defined(child) for child in node.body))
    return set()


def blocks(tree: ast.AST) -> Iterator[list[ast.stmt]]:
    for node in ast.walk(tree):
        for field in ("body",):
            body = getattr(node, field, None)
            if isinstance(body, list):
                yield body


def without_unreachable(source: str) -> str | None:
    """Drop statements that use names which nothing defines any more."""
    try:
        tree = ast.parse(source)
    except SyntaxError:
        return None
    while True:
        names = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
        names |= {n.name for n in ast.walk(tree) if isinstance(n, (ast.FunctionDef, ast.ClassDef))}
        names |= {a.arg for n in ast.walk(tree) if isinstance(n, ast.arguments) for a in n.args}
        lost = False
        for body in blocks(tree):
            for node in list(body):
                own = [node] if not isinstance(node, (ast.FunctionDef, ast.ClassDef, ast.With, ast.If)) else []
                used = {
                    n.id for part in own for n in ast.walk(part) if isinstance(n, ast.Name) and NAME.fullmatch(n.id)
                }
                if used - names:
                    body.remove(node)
                    lost = True
            if any(isinstance(node, ast.Return) for node in body):
                continue
        for body in blocks(tree):
            for node in list(body):
                empty = isinstance(node, (ast.FunctionDef, ast.ClassDef, ast.With, ast.If)) and not node.body
                headless = isinstance(node, ast.FunctionDef) and not isinstance(
                    node.body[-1] if node.body else None, (ast.Return, ast.Expr)
                )
                if empty or headless:
                    body.remove(node)
                    lost = True
        if not lost:
            return ast.unparse(ast.fix_missing_locations(tree)) + "\n"


def dropped(source: str) -> Iterator[str]:
    """Without a run of statements, long runs first, later ones first."""
    tree = ast.parse(source)
    count = [len(body) for body in blocks(tree)]
    for which, length in enumerate(count):
        size = max(length // 2, 1)
        while size:
            for start in range(length - size, -1, -size):
                changed = copy.deepcopy(tree)
                body = list(blocks(changed))[which]
                if any(isinstance(node, ast.Return) for node in body[start : start + size]):
                    continue
                del body[start : start + size]
                text = without_unreachable(
                    ast.unparse(ast.fix_missing_locations(changed)) if body or which == 0 else "pass"
                )
                if text is not None:
                    yield text
            size //= 2


def unwrapped(source: str) -> Iterator[str]:
    """Without a `with` around its body."""
    tree = ast.parse(source)
    for which, body in enumerate(blocks(tree)):
        for i, node in enumerate(body):
            if isinstance(node, ast.With):
                changed = copy.deepcopy(tree)
                other = list(blocks(changed))[which]
                other[i : i + 1] = other[i].body  # type: ignore[attr-defined]
                yield ast.unparse(changed) + "\n"


def inlined(source: str) -> Iterator[str]:
    """`v2 = v1` gone, v1 in its place; a function's argument replaced by the variable that it is called with is left alone."""
    tree = ast.parse(source)
    for which, body in enumerate(blocks(tree)):
        for i, node in enumerate(body):
            if (
                isinstance(node, ast.Assign)
                and isinstance(node.value, ast.Name)
                and isinstance(node.targets[0], ast.Name)
            ):
                changed = copy.deepcopy(tree)
                del list(blocks(changed))[which][i]
                text = ast.unparse(changed)
                yield re.sub(rf"\b{node.targets[0].id}\b", node.value.id, text) + "\n"


class Replace(ast.NodeTransformer):
    """The expression number `target` replaced by one of its parts, the number `part`."""

    def __init__(self, target: int, part: int) -> None:
        self.target, self.part, self.count, self.done = target, part, -1, False

    def visit(self, node: ast.AST) -> ast.AST:
        if isinstance(node, ast.expr) and not isinstance(getattr(node, "ctx", None), ast.Store):
            self.count += 1
            if self.count == self.target:
                parts = self.parts(node)
                if self.part < len(parts):
                    self.done = True
                    return parts[self.part]
                return node
        return self.generic_visit(node)

    @staticmethod
    def parts(node: ast.expr) -> list[ast.expr]:
        if isinstance(node, (ast.Constant, ast.Name)):
            return []
        found: list[ast.expr] = []
        if isinstance(node, ast.Call):
            for i in range(len(node.keywords)):
                if node.keywords[i].arg == "dtype":
                    continue
                fewer = copy.deepcopy(node)
                del fewer.keywords[i]
                found.append(fewer)
        if isinstance(node, (ast.List, ast.Tuple)) and len(node.elts) > 1:
            for i in range(len(node.elts)):
                shorter = copy.deepcopy(node)
                del shorter.elts[i]
                found.append(shorter)
        if isinstance(node, ast.Lambda) or (
            isinstance(node, ast.Call) and ast.unparse(node.func) in ("torch.tensor", "xp.asarray")
        ):
            return found
        children = [child for child in ast.iter_child_nodes(node) if isinstance(child, ast.expr)]
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            children = [node.func.value, *node.args]
        return found + [
            c for c in children if not (isinstance(c, ast.Name) and c.id in ("torch", "F", "xp", "tr", "ops"))
        ]


def simplified(source: str) -> Iterator[str]:
    """With one expression replaced by a part of it."""
    tree = ast.parse(source)
    target = 0
    while True:
        part = 0
        while True:
            replacing = Replace(target, part)
            changed = replacing.visit(copy.deepcopy(tree))
            if not replacing.done:
                break
            yield ast.unparse(ast.fix_missing_locations(changed)) + "\n"
            part += 1
        if replacing.count < target:
            return
        target += 1


def renamed(source: str) -> str:
    """v1, v2, ... in the order of appearance."""
    order: dict[str, str] = {}
    for name in NAME.findall(source):
        order.setdefault(name, f"{name[0]}{len(order) + 1}")
    return NAME.sub(lambda m: order[m[0]], source)


def minimise(source: str, test: Test) -> str:
    """The smallest text found for which `test` holds."""
    source = ast.unparse(ast.parse(source)) + "\n"
    trials, start = 0, time.monotonic()

    def shorter(shorten: Callable[[str], Iterator[str]]) -> str | None:
        """A text that still differs among those that `shorten` gives."""
        nonlocal trials
        candidates = (text for text in shorten(source) if len(text) < len(source))
        while batch := list(itertools.islice(candidates, BATCH)):
            if trials > MAX_TRIALS or time.monotonic() - start > MAX_SECONDS:
                return None
            trials += len(batch)
            if (hit := test(batch)) is not None:
                return hit
        return None

    before = ""
    while source != before:
        before = source
        for shorten in (dropped, unwrapped, inlined, simplified):
            while (found := shorter(shorten)) is not None:
                source = found
    return renamed(source)

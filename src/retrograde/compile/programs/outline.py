"""A program's source with hooks in it: before statements of loops and functions that could run from a trace, a question whether
they do now.

`instrumented` finds the runs of statements that follow each other, in the bodies of functions and loops, without printing,
returning, asking a tensor for a number or defining anything; regions.py decides at run time which part of a run is compiled.
The statements themselves stay where they are and as they are, so that a run that is not compiled is what it was.
"""

from __future__ import annotations

import ast
import copy
import importlib.util
import symtable
import types
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

_NOT_CALLED = frozenset({
    "print", "input", "open", "next", "iter", "exec", "eval", "locals", "globals", "vars", "dir", "id", "float", "int", "bool",
    "str", "repr", "super", "setattr", "delattr", "breakpoint",
})  # fmt: skip
"""Functions that act outside, or make of a tensor what Python needs at once."""
_NOT_ASKED = frozenset({
    "item", "tolist", "numpy", "asnumpy", "append", "appendleft", "extend", "insert", "pop", "remove", "clear", "update",
    "setdefault", "write", "writelines", "save", "register_hook", "register_forward_hook", "data_ptr", "manual_seed",
})  # fmt: skip
"""Methods that do."""
_STEPS = frozenset({"backward", "step", "zero_grad", "clear_grad", "minimize", "train_one_step"})
"""What the body of a training loop does: such a loop is looked into, never run as a whole."""
_BUILTINS = frozenset({"locals", "globals", "vars", "dir", "exec", "eval"})
_LOOK_AROUND = frozenset({"_getframe", "currentframe", "settrace", *_BUILTINS})
"""What could see the hooks: a program that names one of these is left alone. (A method by the name of a built-in function is
none, like a network's `eval()`.)"""

_PLAIN = (ast.Expr, ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Pass)
_BAD = (
    ast.Return, ast.Raise, ast.Try, ast.Yield, ast.YieldFrom, ast.Await, ast.AsyncFor, ast.AsyncWith, ast.FunctionDef,
    ast.AsyncFunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom, ast.Global, ast.Nonlocal, ast.Delete, ast.NamedExpr,
    ast.While, ast.Match, ast.Assert, ast.Break, ast.Continue,
)  # fmt: skip
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_K, _V = ".k", ".v"
"""Variables of ours, under names that no program can have."""


class Outlined:
    """A run of statements, of which a part can be made a function.

    file, name: where it is, for the report. local: the names that are variables of the function around it; None for a module's
    own statements, all of whose names are globals. turns: what `range` is called with, where the run is in a loop over one that
    is entered once.
    """

    def __init__(self, statements: Sequence[ast.stmt], scope: _Scope, turns: Sequence[ast.expr] = ()) -> None:
        self.statements = list(statements)
        self._turns = turns
        self.file, self.name, self.local = scope.file, scope.name, scope.local
        self._scope = scope

    @property
    def line(self) -> int:
        return self.statements[0].lineno

    def times(self, scope: dict[str, Any]) -> int | None:
        """How often the run is passed, where its loop says so. scope: its globals."""
        found: list[Any] = [
            x.value if isinstance(x, ast.Constant) else scope.get(x.id) if isinstance(x, ast.Name) else None for x in self._turns
        ]
        if not found or not all(type(x) is int for x in found):
            return None
        try:
            return len(range(*found))
        except (TypeError, ValueError, OverflowError):  # the program's to raise
            return None

    def takes(self, start: int, end: int) -> set[str]:
        """The names that the statements read before they have given them a value."""
        needed: set[str] = set()
        _flow(self.statements[start:end], set(), needed)
        return needed

    def gives(self, start: int, end: int) -> list[str]:
        """The names that the statements give values to and that something else reads."""
        made: dict[str, None] = {}
        for s in self.statements[start:end]:
            made.update(dict.fromkeys(sorted(_names(s)[1])))
        elsewhere = self._scope.read_outside(self.statements[start:end]) | self.takes(start, end)
        return [name for name in made if name in elsewhere]

    def function(self, start: int, end: int, params: Sequence[str], scope: dict[str, Any]) -> types.FunctionType:
        """The statements as a function of some names that returns the tuple of what they give. `scope`: its globals."""
        names = self.gives(start, end)
        back = ast.Return(ast.Tuple([ast.Name(n, ast.Load()) for n in names], ast.Load()))
        given = [ast.arg(n) for n in params]
        arguments = ast.arguments(posonlyargs=[], args=given, kwonlyargs=[], kw_defaults=[], defaults=[])
        body = [copy.deepcopy(s) for s in self.statements[start:end]]
        title = f"{self.name}:{self.statements[start].lineno}"
        f = ast.FunctionDef(name="region", args=arguments, body=[*body, back], decorator_list=[])
        ast.copy_location(f, self.statements[start])
        ast.fix_missing_locations(f)
        code = compile(ast.Module([f], []), self.file, "exec", dont_inherit=True)
        inner = next(x for x in code.co_consts if isinstance(x, types.CodeType))
        made = types.FunctionType(inner, scope, title)
        made.__qualname__, made.__module__ = title, scope.get("__name__", "__main__")
        return made

    def at(self, line: int) -> int | None:
        """The statement that a line belongs to."""
        for i, s in enumerate(self.statements):
            if s.lineno <= line <= (s.end_lineno or s.lineno):
                return i
        return None


class _Scope:
    """A function, or the module: whose variables the names in its statements are."""

    def __init__(self, tree: ast.AST, table: symtable.SymbolTable, file: str, name: str) -> None:
        self.tree, self.table, self.file, self.name = tree, table, file, name
        module = table.get_type() == "module"
        known = {s.get_name(): s for s in table.get_symbols()}
        self.local = None if module else frozenset(n for n, s in known.items() if s.is_local() or s.is_free())
        shared = {n for n, s in known.items() if not module and (s.is_global() or s.is_nonlocal() or s.is_free())}
        for inner in _below(table):
            for s in inner.get_symbols():
                if s.is_global() if module else s.is_free():
                    shared.add(s.get_name())
        self.shared = frozenset(shared)
        """The names that other functions see too, so that no statement that gives them a value is part of a run."""

    def read_outside(self, statements: Sequence[ast.stmt]) -> set[str]:
        """The names that are read in the scope, but for some of its statements."""
        found: set[str] = set()
        skipped = {id(s) for s in statements}
        todo: list[ast.AST] = [self.tree]
        while todo:
            node = todo.pop()
            if id(node) in skipped:
                continue
            if isinstance(node, ast.Name) and isinstance(node.ctx, (ast.Load, ast.Del)):
                found.add(node.id)
            elif isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
                found.add(node.target.id)
            elif isinstance(node, (ast.Global, ast.Nonlocal)):
                found.update(node.names)
            todo += ast.iter_child_nodes(node)
        return found


def instrumented(source: str | bytes, file: str, made: Callable[[Outlined], Any]) -> types.CodeType | None:
    """The code of a program with hooks; None where there is nothing to hook, or where the program looks around.

    made: gives the object that a run's hooks ask, or None where it is to have none: with `on`, `hooks` (the statements before
    which it is to be asked), `begin()`, `end()`, `ask(i, variables)`, which gives the number of the statement to go on with,
    `left`, the variables that have new values then, and `variables()`, those of the frame that calls it.
    """
    text = source if isinstance(source, str) else importlib.util.decode_source(source)
    tree = ast.parse(text, file)
    if any(name in text for name in _LOOK_AROUND):
        for node in ast.walk(tree):
            if _looks_around(node):
                return None
    table = symtable.symtable(text, file, "exec")
    writer = _Hooks(file, made)
    original = ast.parse(text, file)  # which takes a quarter of the time that a copy takes
    scope = _Scope(original, table, file, "<module>")
    tree.body = writer.body(tree.body, original.body, scope, hot=False)
    if not writer.asked:
        return None
    return writer.finished(compile(tree, file, "exec", dont_inherit=True))


def _looks_around(node: ast.AST) -> bool:
    if isinstance(node, ast.Name):
        return node.id in _LOOK_AROUND
    if isinstance(node, ast.alias):  # from sys import _getframe
        return node.name in _LOOK_AROUND
    if not isinstance(node, ast.Attribute) or node.attr not in _LOOK_AROUND:
        return False
    return node.attr not in _BUILTINS or (isinstance(node.value, ast.Name) and "builtins" in node.value.id)


class _Hooks:
    """Puts the hooks into statements. Each statement comes with its original, which stays as it was."""

    def __init__(self, file: str, made: Callable[[Outlined], Any]) -> None:
        self.file, self.made = file, made
        self.asked: dict[str, Any] = {}
        """What hooks ask, by the text that stands for it in the code."""
        self._count = 0

    def finished(self, code: types.CodeType) -> types.CodeType:
        """The code with the objects in the place of the texts that stand for them."""
        constants = tuple([
            self.finished(x) if isinstance(x, types.CodeType)
            else self.asked.get(x, x) if type(x) is str
            else x
            for x in code.co_consts
        ])  # fmt: skip
        return code.replace(co_consts=constants)

    def body(
        self, body: list[ast.stmt], own: list[ast.stmt], scope: _Scope, *, hot: bool, turns: Sequence[ast.expr] = ()
    ) -> list[ast.stmt]:  # fmt: skip
        """A list of statements with hooks. hot: whether it may run more than once; turns: see `Outlined`."""
        out: list[ast.stmt] = []
        run: list[tuple[ast.stmt, ast.stmt]] = []

        def close() -> None:
            if run:
                plain, originals = [s for s, _ in run], [s for _, s in run]
                out.extend(self._hooked(plain, originals, scope, turns) if _worth(originals) else plain)
                run.clear()

        for s, original in zip(body, own):
            plain = hot and _plain(original) and not _names(original)[1] & scope.shared
            self._inside(s, original, scope, hot=hot)
            if plain:
                run.append((s, original))
            else:
                close()
                out.append(s)
        close()
        return out

    def _inside(self, s: Any, original: Any, scope: _Scope, *, hot: bool) -> None:
        """Put hooks into the bodies that a statement has."""
        if isinstance(s, (ast.FunctionDef, ast.AsyncFunctionDef)):
            inner = _table_of(scope.table, s.name, s.lineno)
            if inner is not None and not isinstance(s, ast.AsyncFunctionDef):
                name = s.name if scope.name == "<module>" else f"{scope.name}.{s.name}"
                s.body = self.body(s.body, original.body, _Scope(original, inner, self.file, name), hot=True)
        elif isinstance(s, ast.ClassDef):
            inner = _table_of(scope.table, s.name, s.lineno)
            if inner is not None:
                within = copy.copy(scope)
                within.table = inner
                within.name = s.name if scope.name == "<module>" else f"{scope.name}.{s.name}"
                for x, y in zip(s.body, original.body):
                    if isinstance(x, ast.FunctionDef):
                        self._inside(x, y, within, hot=True)
        else:
            looped = hot or isinstance(s, (ast.For, ast.While, ast.AsyncFor))
            for field in ("body", "orelse", "finalbody"):
                mine = getattr(s, field, None)
                if isinstance(mine, list) and mine and isinstance(mine[0], ast.stmt):
                    turns = _turns(original) if field == "body" and not hot and scope.name == "<module>" else ()
                    setattr(s, field, self.body(mine, getattr(original, field), scope, hot=looped, turns=turns))
            for x, y in zip(getattr(s, "handlers", ()), getattr(original, "handlers", ())):
                x.body = self.body(x.body, y.body, scope, hot=hot)

    def _hooked(
        self, plain: list[ast.stmt], originals: list[ast.stmt], scope: _Scope, turns: Sequence[ast.expr]
    ) -> Iterator[ast.stmt]:  # fmt: skip
        number = self._count
        self._count += 1
        run = self.made(Outlined(originals, scope, turns))
        if run is None:
            yield from plain
            return
        text = f"\0run {number}"
        self.asked[text] = run
        n = len(plain)
        lines = ["K = 0", "if RUN.on: RUN.begin()"]
        for i, s in enumerate(originals):
            lines += [f"if {i} in RUN.hooks and K <= {i}:", f"    K = RUN.ask({i}, RUN.variables())"]
            lines += [f"    if K > {i}: V, RUN.left = RUN.left, None", f"if K <= {i}: pass"]
            names = sorted(_names(s)[1])
            if names:  # what it would have left is left by the version that has run in its place
                lines += ["else:", *[f"    if {name!r} in V: {name} = V[{name!r}]" for name in names]]
        lines += ["if K: V = None", "if RUN.on:", f"    if {n} in RUN.hooks: RUN.ask({n}, RUN.variables())", "    RUN.end()"]
        begin, zero, *between, forget, last = ast.parse("\n".join(lines)).body
        place = _Placed(text, number)
        yield place.at(begin, plain[0])
        yield place.at(zero, plain[0])
        for i, s in enumerate(plain):
            yield place.at(between[2 * i], s)
            test: Any = place.at(between[2 * i + 1], s)
            test.body = [s]
            yield test
        yield place.at(forget, plain[-1])
        yield place.at(last, plain[-1])


class _Placed(ast.NodeTransformer):
    """Our names in written statements, at places of the program's."""

    def __init__(self, text: str, number: int) -> None:
        self.text = text
        self.names = {"K": f"{_K}{number}", "V": f"{_V}{number}"}
        """Each run has its own: a loop that is a statement of one has runs inside."""

    def at(self, s: ast.stmt, place: ast.stmt) -> ast.stmt:
        """A written statement where one of the program's is."""
        self.place = {name: getattr(place, name) for name in ("lineno", "col_offset", "end_lineno", "end_col_offset")}
        found: ast.stmt = self.visit(s)
        return found

    def visit(self, node: ast.AST) -> Any:
        if isinstance(node, ast.Name):
            if node.id in self.names:
                node.id = self.names[node.id]
            elif node.id == "RUN":
                node = ast.Constant(self.text)
        elif not isinstance(node, ast.Constant):
            self.generic_visit(node)
        if isinstance(node, (ast.stmt, ast.expr)):
            vars(node).update(self.place)
        return node


def _below(table: symtable.SymbolTable) -> Iterator[symtable.SymbolTable]:
    """The scopes inside one that are called later: functions, not comprehensions, which are done at once."""
    for inner in table.get_children():
        if inner.get_name() not in ("listcomp", "setcomp", "dictcomp", "genexpr"):
            yield inner
        yield from _below(inner)


def _table_of(table: symtable.SymbolTable, name: str, line: int) -> symtable.SymbolTable | None:
    found = [t for t in table.get_children() if t.get_name() == name]
    near = [t for t in found if t.get_lineno() == line]
    return (near or found)[0] if len(near or found) == 1 else None


def _turns(s: ast.stmt) -> Sequence[ast.expr]:
    """What `range` is called with, of a loop over one."""
    called = s.iter if isinstance(s, ast.For) else None
    if not (isinstance(called, ast.Call) and isinstance(called.func, ast.Name) and called.func.id == "range"):
        return ()
    return () if called.keywords else called.args


def _plain(s: ast.stmt) -> bool:
    """Whether a statement may be part of a run."""
    if isinstance(s, ast.AnnAssign) and s.value is None:
        return False
    if isinstance(s, ast.Expr) and isinstance(s.value, ast.Constant):
        return False
    if isinstance(s, ast.For):
        if s.orelse or any(isinstance(x, ast.Attribute) and x.attr in _STEPS for x in ast.walk(s)):
            return False
    elif not isinstance(s, (*_PLAIN, ast.If, ast.With)):
        return False
    return not any(_speaks_against(x) for x in ast.walk(s))


def _speaks_against(x: ast.AST) -> bool:
    if isinstance(x, _BAD):
        return True
    if isinstance(x, ast.Call):
        f = x.func
        return (isinstance(f, ast.Name) and f.id in _NOT_CALLED) or (isinstance(f, ast.Attribute) and f.attr in _NOT_ASKED)
    if isinstance(x, ast.Attribute):
        return x.attr.startswith("__") and not x.attr.endswith("__")  # it has another name inside a class
    return isinstance(x, ast.Name) and x.id in ("__class__", "super")


def _worth(statements: Iterable[ast.stmt]) -> bool:
    """Whether a run does anything that could be slow."""
    calls = sum(isinstance(x, (ast.Call, ast.BinOp, ast.AugAssign)) for s in statements for x in ast.walk(s))
    return calls >= 2


def _names(s: ast.AST) -> tuple[set[str], set[str]]:
    """The names that a statement reads and gives values to, but for those of its comprehensions and lambdas."""
    read, written = set[str](), set[str]()
    todo: list[tuple[ast.AST, frozenset[str]]] = [(s, frozenset())]
    while todo:
        node, bound = todo.pop()
        if isinstance(node, ast.Name):
            if node.id not in bound:
                (read if isinstance(node.ctx, ast.Load) else written).add(node.id)
            continue
        if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
            read.add(node.target.id)
        if isinstance(node, _COMPREHENSIONS):
            inner = {x.id for g in node.generators for x in ast.walk(g.target) if isinstance(x, ast.Name)}
            # The first sequence is looked up outside; a name that is both is read there, to be sure.
            read |= {x.id for x in ast.walk(node.generators[0].iter) if isinstance(x, ast.Name)} - bound
            bound = bound | inner
        elif isinstance(node, ast.Lambda):
            a = node.args
            given = [*a.posonlyargs, *a.args, *a.kwonlyargs, *(x for x in (a.vararg, a.kwarg) if x)]
            bound = bound | {x.arg for x in given}
        todo += [(x, bound) for x in ast.iter_child_nodes(node)]
    return read, written


def _flow(statements: Sequence[ast.stmt], have: set[str], needed: set[str]) -> set[str]:
    """The names that have a value for sure after some statements, which are run where those of `have` do; what is read before is
    added to `needed`."""
    for s in statements:
        if isinstance(s, ast.For):
            needed |= _names(s.iter)[0] - have
            have = _flow(s.body, have | _names(s.target)[1], needed)
        elif isinstance(s, ast.If):
            needed |= _names(s.test)[0] - have
            one, other = _flow(s.body, set(have), needed), _flow(s.orelse, set(have), needed)
            needed |= (one ^ other) - have
            have = one & other
        elif isinstance(s, ast.With):
            for item in s.items:
                needed |= _names(item.context_expr)[0] - have
                if item.optional_vars is not None:
                    have = have | _names(item.optional_vars)[1]
            have = _flow(s.body, have, needed)
        else:
            read, written = _names(s)
            needed |= read - have
            have = have | written
    return have

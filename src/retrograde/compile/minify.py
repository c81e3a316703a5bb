"""`compile_minify`: a wrong result of compiled code shrunk to a script that shows it.

The graph of a call is made smaller as long as its code still goes wrong in the same way: fewer outputs, operations whose results
are given instead, shorter axes, simpler numbers. Then passes and emitters are tried one after the other, so that the script says
which of them makes the difference.
"""

from __future__ import annotations

import base64
import importlib
import math
import pickle
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from .._tree import flatten
from ..core import level as levels
from ..core.aval import Aval
from . import pipeline
from .emit import straight
from .emit.expressions import expressible
from .emit.program import available
from .graph import Equation, Graph, Variable, uniform
from .jit import jit
from .passes.dead import dead
from .passes.decompose import decomposed
from .versions.results import close

_LISTED = 64
"""Elements of an array at most that the script lists."""
_TOGETHER = (8, 4, 2)
"""Into how many parts the operations are divided whose results are tried as operands."""


def compile_minify(
    f: Callable[..., Any], args: Sequence[Any] = (), kwargs: Mapping[str, Any] | None = None, *, file: str | Path | None = None
) -> str:  # fmt: skip
    """A script, as short as could be found, that shows how a compiled function differs from what it is without.

    f: the function, compiled or not; args, kwargs: what it is called with. The script builds the part of the graph that goes
    wrong with functions of this package, and compares both results; its head says which pass or emitter makes the difference.
    With `file` it is written there, too. Gradients belong inside: give `rg.value_and_grad(f)`.

    Raises ValueError where compiled code gives what the function gives.

    Examples
    --------
    >>> import retrograde as rg
    >>> try:
    ...     rg.compile_minify(rg.sin, [rg.asarray([1.0])])
    ... except ValueError as problem:
    ...     print(problem)
    sin: compiled code gives what the operations give one by one
    """
    inner = getattr(f, "_f", f)
    with pipeline.choosing("eager"):
        version = jit(inner).lower(*args, **(kwargs or {}))
    arrays = [np.array(x) for x in version.arrays_of(flatten((tuple(args), dict(kwargs or {})))[0])]
    case = _Case(version.graph, arrays)
    name = getattr(inner, "__name__", type(inner).__name__)
    if case.symptom is None:
        raise ValueError(f"{name}: compiled code gives what the operations give one by one")
    smallest = _smaller(case)
    script = _script(smallest, name)
    if file is not None:
        Path(file).write_text(script)
    return script


# ------------------------------------------------------------------------------------------ what is wrong


class _Case:
    """A graph with operands. symptom: how its compiled code differs: the type of an exception, "values", or None."""

    def __init__(self, graph: Graph, arrays: Sequence[np.ndarray]) -> None:
        self.graph, self.arrays = graph, list(arrays)
        self.symptom, self.said = _symptom(graph, self.arrays)


def _symptom(graph: Graph, arrays: Sequence[np.ndarray]) -> tuple[str | None, str]:
    with np.errstate(all="ignore"), levels.exactly(()):
        try:
            wanted = [np.asarray(y) for y in graph.run(*arrays)]
        except Exception:  # it is no case of its own
            return None, ""
        try:
            found = pipeline.compiled(graph, anew=True)(*[x.copy() for x in arrays])
        except Exception as problem:
            return type(problem).__name__, f"{type(problem).__name__}: {problem}"
    return _compared(found, wanted)


def _compared(found: Sequence[Any], wanted: Sequence[np.ndarray]) -> tuple[str | None, str]:
    for i, (x, y) in enumerate(zip(found, wanted)):
        if not close(np.asarray(x), y):
            return "values", f"another value of output {i}"
    return None, ""


# ------------------------------------------------------------------------------------------ smaller


def _smaller(case: _Case) -> _Case:
    """The smallest case that shows the same."""
    while True:
        before = _size(case)
        for candidates in (_one_output, _ends_earlier, _begins_later, _shorter, _simpler):
            case = _followed(case, candidates)
        if _size(case) >= before:
            return case


def _size(case: _Case) -> tuple[int, ...]:
    return len(case.graph.equations), len(case.graph.outputs), len(case.graph.inputs), sum(x.size for x in case.arrays)


def _followed(case: _Case, candidates: Callable[[_Case], Iterator[tuple[Graph, list[np.ndarray]]]]) -> _Case:
    """The case after the first candidate that shows the same, as often as there is one."""
    while True:
        for graph, arrays in candidates(case):
            made = _Case(graph, arrays)
            if made.symptom == case.symptom:
                case = made
                break
        else:
            return case


def _pruned(graph: Graph, arrays: Mapping[Variable, np.ndarray]) -> tuple[Graph, list[np.ndarray]]:
    """A graph without what no output takes."""
    graph = dead(graph)
    graph = graph.replaced(graph.equations)
    used = graph.uses()
    inputs = [v for v in arrays if v in used]
    return Graph(inputs, graph.constants, graph.equations, graph.outputs), [arrays[v] for v in inputs]


def _given(case: _Case) -> dict[Variable, np.ndarray]:
    return dict(zip(case.graph.inputs, case.arrays))


def _one_output(case: _Case) -> Iterator[tuple[Graph, list[np.ndarray]]]:
    g = case.graph
    for v in dict.fromkeys(g.outputs):
        if len(g.outputs) > 1:
            yield _pruned(Graph(g.inputs, g.constants, g.equations, [v]), _given(case))
    for v in g.outputs:
        rest = [w for w in g.outputs if w is not v]
        if rest and len(g.outputs) > 1:
            yield _pruned(Graph(g.inputs, g.constants, g.equations, rest), _given(case))


def _ends_earlier(case: _Case) -> Iterator[tuple[Graph, list[np.ndarray]]]:
    g = case.graph
    for e in g.equations[:-1]:
        for v in e.outputs:
            if v not in g.outputs:
                yield _pruned(Graph(g.inputs, g.constants, g.equations, [v]), _given(case))


def _begins_later(case: _Case) -> Iterator[tuple[Graph, list[np.ndarray]]]:
    """Results of some operations become operands."""
    g = case.graph
    with np.errstate(all="ignore"), levels.exactly(()):
        values = dict(zip(g.producers(), Graph(g.inputs, g.constants, g.equations, list(g.producers())).run(*case.arrays)))
    count = len(g.equations)
    tried: list[Sequence[Equation]] = []
    for parts in _TOGETHER:
        step = -(-count // parts)
        tried += [g.equations[k : k + step] for k in range(0, count, step)] if step > 1 else []
    tried += [[e] for e in g.equations]
    for some in tried:
        gone = {v for e in some for v in e.outputs}
        if not gone.isdisjoint(g.outputs):
            continue
        left = [e for e in g.equations if e.outputs[0] not in gone]
        arrays = _given(case) | {v: np.array(values[v]) for v in gone}
        yield _pruned(Graph([*g.inputs, *gone], g.constants, left, g.outputs), arrays)


def _shorter(case: _Case) -> Iterator[tuple[Graph, list[np.ndarray]]]:
    """An axis of some size, wherever it is, becomes shorter."""
    sizes = sorted({n for x in case.arrays for n in x.shape if n > 1}, reverse=True)
    for n in sizes:
        for m in dict.fromkeys([1, 2, 3, n // 2, n - 1]):
            if 0 < m < n:
                made = _resized(case, n, m)
                if made is not None:
                    yield made


def _resized(case: _Case, n: int, m: int) -> tuple[Graph, list[np.ndarray]] | None:
    g = case.graph
    new: dict[Variable, Variable] = {}

    def cut(x: np.ndarray) -> np.ndarray:
        return x[tuple([slice(m) if size == n else slice(None) for size in x.shape])]

    arrays = [cut(x).copy() for x in case.arrays]
    constants = {v: cut(x) for v, x in g.constants.items()}
    for v, x in [*zip(g.inputs, arrays), *constants.items()]:
        new[v] = Variable(x.shape, v.dtype)
    equations = []
    for e in g.equations:
        params = {k: _replaced(p, n, m) for k, p in e.params.items()}
        try:
            avals = e.prim.infer([None if v is None else Aval(new[v].shape, new[v].dtype) for v in e.inputs], params)
        except Exception:  # the shapes do not fit any more
            return None
        outputs = [Variable(a.shape, a.dtype) for a in (avals if e.prim.multi else (avals,))]
        new.update(zip(e.outputs, outputs))
        equations.append(Equation(e.prim, [None if v is None else new[v] for v in e.inputs], params, outputs, e.at))
    renamed = {new[v]: x for v, x in constants.items()}
    return Graph([new[v] for v in g.inputs], renamed, equations, [new[v] for v in g.outputs]), arrays


def _replaced(p: Any, n: int, m: int) -> Any:
    """A parameter in which a size is another: in shapes, which are tuples of whole numbers."""
    if type(p) is tuple and all(type(x) is int for x in p):
        return tuple([m if x == n else x for x in p])
    return p


def _simpler(case: _Case) -> Iterator[tuple[Graph, list[np.ndarray]]]:
    for i, x in enumerate(case.arrays):
        if x.dtype.kind not in "fc" and x.dtype.name != "bfloat16":
            continue
        count = np.arange(x.size).reshape(x.shape)
        for y in (np.ones_like(x), (1 + count % 3).astype(x.dtype), np.round(x.astype(np.float64), 1).astype(x.dtype)):
            if _written(y) < _written(x):
                yield case.graph, [*case.arrays[:i], y, *case.arrays[i + 1 :]]


def _written(x: np.ndarray) -> int:
    """How long an array is when it is written down."""
    flat = x.ravel()
    return 0 if x.size and (flat == flat[0]).all() else len(repr(flat[:_LISTED].tolist()))


# ------------------------------------------------------------------------------------------ who is it


def _culprit(case: _Case) -> str:
    """Which step from the graph to the code makes the difference, in words."""
    graph, arrays = case.graph, case.arrays
    with np.errstate(all="ignore"), levels.exactly(()):
        wanted = [np.asarray(y) for y in graph.run(*arrays)]
        for _ in range(pipeline.ROUNDS):
            before = graph
            for step in pipeline.PASSES:
                try:
                    graph = step(graph)
                    found = graph.run(*arrays)
                except Exception as problem:
                    return f"the pass {step.__name__}, which raises {type(problem).__name__}"
                if _compared(found, wanted)[0]:
                    return f"the pass {step.__name__}"
            if graph is before:
                break
        try:
            if _compared(straight.emitted(graph)(*arrays), wanted)[0]:
                return "the emitter of straight-line NumPy (emit/straight.py)"
        except Exception as problem:
            return f"the emitter of straight-line NumPy (emit/straight.py), which raises {type(problem).__name__}"
        if _compared(decomposed(graph, expressible).run(*arrays), wanted)[0]:
            return "the pass decomposed"
    return "the machine code (emit/machine.py)" if available() else "none of them alone"


# ------------------------------------------------------------------------------------------ the script


def _script(case: _Case, name: str) -> str:
    g = case.graph
    names = g.names()
    lines = [
        f'"""{name}, compiled, differs from what it is without: {case.said}',
        "",
        f"What makes the difference: {_culprit(case)}.",
        '"""',
        "",
        "import numpy as np",
        "",
        "import retrograde as rg",
    ]
    if any(not _function_of(e) for e in g.equations):
        modules = sorted({e.prim.module for e in g.equations if not _function_of(e) and e.prim.module})
        lines += [f"import {module}" for module in modules]
        lines.append("from retrograde.core.primitive import PRIMITIVES")
    lines.append("")
    for v, x in [*zip(g.inputs, case.arrays), *g.constants.items()]:
        lines.append(f"{names[v]} = {_array(x)}")
    listed = ", ".join(names[v] for v in g.inputs)
    lines += ["", "", f"def f({listed}):"]
    for e in g.equations:
        called = _function_of(e) or f"PRIMITIVES[{e.prim.name!r}].op"
        given = ["None" if v is None else names[v] for v in e.inputs] + [f"{k}={_value(p)}" for k, p in e.params.items()]
        targets = ", ".join(names[v] for v in e.outputs) + ("," if e.prim.multi and len(e.outputs) == 1 else "")
        at = f"  # {e.at[0]}:{e.at[1]}" if e.at else ""
        lines.append(f"    {targets} = {called}({', '.join(given)}){at}")
    lines.append(f"    return {', '.join(names[v] for v in g.outputs)}{',' if len(g.outputs) == 1 else ''}")
    operands = ", ".join(f"rg.asarray({names[v]})" for v in g.inputs)
    tolerance = min([math.sqrt(_eps(v.dtype)) for v in g.outputs], default=0.0)
    lines += [
        "",
        "",
        f"eager = f({operands})",
        f"compiled = rg.jit(f)({operands})",
        "for x, y in zip(compiled, eager):",
        '    print("compiled", x, "and without", y)',
        "for x, y in zip(compiled, eager):",
        "    x, y = np.asarray(x).astype(np.complex128), np.asarray(y).astype(np.complex128)",
        f"    scale = {tolerance:.3g} * np.max(np.abs(y), initial=0, where=np.isfinite(y))",
        f"    np.testing.assert_allclose(x, y, rtol={tolerance:.3g}, atol=scale)",
        "",
    ]
    return "\n".join(lines)


def _eps(dtype: np.dtype) -> float:
    if dtype.kind in "fc":
        return float(np.finfo(dtype).eps)
    return 2.0**-8 if dtype.name == "bfloat16" else 0.0


def _function_of(e: Equation) -> str | None:
    """The function of the package that is an equation's primitive and nothing else."""
    package = importlib.import_module(__name__.partition(".")[0])
    function = getattr(package, e.prim.name, None)
    if e.params or not callable(function) or e.prim.multi or any(v is None for v in e.inputs):
        return None
    try:
        with pipeline.choosing("eager"):
            graph = jit(function).lower(*[np.ones(v.shape, v.dtype) for v in e.inputs if v is not None]).graph
    except Exception:  # it takes something else
        return None
    same = len(graph.equations) == 1 and graph.equations[0].prim is e.prim and graph.equations[0].inputs == graph.inputs
    return f"rg.{e.prim.name}" if same else None


def _array(x: np.ndarray) -> str:
    """An expression for an array, of stride 0 where it is."""
    dtype = f"np.{x.dtype.name}" if hasattr(np, x.dtype.name) else f"rg.{x.dtype.name}"
    if x.dtype.kind == "b":
        dtype = "bool"
    if x.size and (uniform(x) or bool((x == x.flat[0]).all())):
        number = f"np.array({_value(x.flat[0].item())}, {dtype})"
        if not x.ndim:
            return number
        spread = f"np.broadcast_to({number}, {x.shape!r})"
        return spread if uniform(x) and x.size > 1 else f"{spread}.copy()"
    if x.size <= _LISTED:
        return f"np.array({_value(x.tolist())}, {dtype}).reshape({x.shape!r})"
    packed = base64.b64encode(np.ascontiguousarray(x).tobytes()).decode()
    return f"np.frombuffer(__import__('base64').b64decode({packed!r}), {dtype}).reshape({x.shape!r}).copy()"


def _value(p: Any) -> str:
    """An expression for a parameter."""
    if isinstance(p, np.dtype):
        return f"np.dtype({p.name!r})" if hasattr(np, p.name) else f"np.dtype(rg.{p.name})"
    shown = repr(p)
    known = {"inf": math.inf, "nan": math.nan, "slice": slice, "None": None, "True": True, "False": False, "Ellipsis": Ellipsis}
    try:
        same = repr(eval(shown, {"__builtins__": {}}, known)) == shown  # noqa: S307 - of our own
    except Exception:  # no expression
        same = False
    if not same:
        packed = base64.b64encode(pickle.dumps(p)).decode()
        return f"__import__('pickle').loads(__import__('base64').b64decode({packed!r}))"
    return shown.replace("inf", "np.inf").replace("nan", "np.nan") if isinstance(p, (float, complex, list)) else shown

"""Programs that are kept on disk: a graph that has been compiled before, in this process or another, is neither taken through
the passes nor written as code again.

The key is all that compiling looks at: the graph with its constants' elements, the processor, the versions of what takes part
and the files of this package. Entries lie beside the machine code that they name (backend/jit/cache.py), signed like it; where
a part is missing or damaged there is no entry.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import importlib
import marshal
import os
import sys
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .._version import __version__
from ..backend.canonical import canonical_dtype
from ..backend.jit import cache, llvm, objects
from ..core.primitive import PRIMITIVES
from .emit.program import Missing, Program, Routine
from .graph import Equation, Graph, Variable, uniform

LARGEST = 1 << 22
"""Bytes of a graph's constants at most: the elements are part of the key."""

_NAME = "graph"
_PACKAGE = __name__.partition(".")[0]
_ROOMS = (
    "", "backend", "backend/jit", "compile", "compile/emit", "compile/guards", "compile/loops", "compile/passes", "compile/trace",
    "compile/versions", "core", "learn", "ops", "tape", "tensor",
)  # fmt: skip
"""The folders of this package whose files say what becomes of a graph."""


class _Unkept(Exception):
    """Something has no form on disk: a parameter that is an object of Python's."""


def function(graph: Graph, make: Callable[[], Program]) -> Callable[..., Sequence[Any]]:
    """The function of a graph's program: of the one that is kept, or of what `make` gives, which is kept from then on."""
    key = _known(graph)
    found = None if key is None else _kept(key, graph)
    if found is not None:
        return found
    program = make()
    found = program.function()
    if key is not None:
        with contextlib.suppress(_Unkept):
            cache.write(_NAME, key, _written(program, graph))
    return found


def kept(graph: Graph) -> Callable[..., Sequence[Any]] | None:
    """The function of a graph's program that is kept; None where there is none. LLVM is not loaded for it."""
    key = _known(graph) if llvm.met() else None
    return None if key is None else _kept(key, graph)


def _kept(key: str, graph: Graph) -> Callable[..., Sequence[Any]] | None:
    data = cache.read(_NAME, key)
    if data is not None:
        with contextlib.suppress(Missing):
            return _read(data, graph).function()
    return None


# ------------------------------------------------------------------------------------------ the key


def _known(graph: Graph) -> str | None:
    """The key of a graph's program; None of one that is not kept."""
    try:
        return _key(graph) if objects.understood() else None
    except _Unkept:
        return None


def _key(graph: Graph) -> str:
    number: dict[Variable | None, int] = {None: -1}
    for v in (*graph.inputs, *graph.constants):
        number.setdefault(v, len(number))
    constants = []
    size = 0
    for v, a in graph.constants.items():
        same = a.ndim > 0 and uniform(a)
        size += 0 if same else a.nbytes
        if a.dtype.hasobject or size > LARGEST:
            raise _Unkept
        constants.append((_type(v), same, (a.reshape(-1)[:1] if same else a).tobytes()))
    equations = []
    for e in graph.equations:
        for v in e.outputs:
            number.setdefault(v, len(number))
        equations.append((
            _primitive(e), _params(e.params) if e.params else (), tuple([number[v] for v in e.inputs]),
            tuple([_type(v) for v in e.outputs]),
        ))  # fmt: skip
    inputs = tuple([_type(v) for v in graph.inputs])
    said = (*_surroundings(), inputs, tuple(constants), tuple(equations), tuple([number[v] for v in graph.outputs]))
    # In the second version of the format nothing depends on which objects are one and the same.
    return hashlib.sha256(marshal.dumps(said, 2)).hexdigest()


@functools.cache
def _surroundings() -> tuple[Any, ...]:
    """What says, beside the graph, what becomes of it."""
    package = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    files = []
    for room in _ROOMS:
        with os.scandir(os.path.join(package, room)) as found:
            for file in found:
                if file.name.endswith(".py"):
                    state = file.stat()
                    files.append((room, file.name, state.st_size, state.st_mtime_ns))
    return __version__, np.__version__, sys.version, llvm.key(""), tuple(sorted(files))


def _primitive(e: Equation) -> str:
    name = e.prim.name
    if PRIMITIVES.get(name) is not e.prim:
        raise _Unkept
    return name


def _primitive_of(name: str) -> Any:
    found = PRIMITIVES.get(name)
    if found is None:  # what a part is made of, from a module that is not loaded here
        raise Missing(name)
    return found


def _params(params: dict[str, Any]) -> tuple[Any, ...]:
    return tuple([(name, _plain(params[name])) for name in sorted(params)])


_AS_THEY_ARE = frozenset({type(None), bool, int, float, complex, str, bytes, type(Ellipsis)})


def _plain(x: Any) -> Any:
    """A parameter as what marshal knows: a list stands for something else, by its first word."""
    kind = type(x)
    if kind in _AS_THEY_ARE:
        return x
    if kind is tuple:
        return tuple([y if type(y) in _AS_THEY_ARE else _plain(y) for y in x])
    if isinstance(x, np.dtype):
        return ["dtype", _dtype_name(x)]
    if kind is slice:
        return ["slice", _plain(x.start), _plain(x.stop), _plain(x.step)]
    if isinstance(x, np.generic) and not x.dtype.hasobject:
        return ["number", _dtype_name(x.dtype), x.tobytes()]
    if isinstance(x, tuple) and hasattr(kind, "_fields"):
        return ["made", _named(kind), tuple(map(_plain, x))]
    return ["named", _named(x)]


def _named(x: Any) -> tuple[str, str]:
    """The module and the name of what a module of this package has by a name: a function, a class, or one thing by itself,
    which says its name as `__reduce__`."""
    module = getattr(x, "__module__", None) if callable(x) else type(x).__module__
    name = getattr(x, "__qualname__", None)
    if name is None:
        with contextlib.suppress(TypeError):  # of what has no form to be copied
            name = x.__reduce__()
    if not (isinstance(module, str) and isinstance(name, str)) or getattr(sys.modules.get(module), name, None) is not x:
        raise _Unkept
    package, _, rest = module.partition(".")
    if package != _PACKAGE or rest.rpartition(".")[0].replace(".", "/") not in _ROOMS:
        raise _Unkept  # another's, which may change
    return module, name


def _object(x: Any) -> Any:
    """What `_plain` has made so."""
    if type(x) is tuple:
        return tuple([_object(y) for y in x])
    if type(x) is not list:
        return x
    kind, *rest = x
    if kind == "dtype":
        return _dtype(rest[0])
    if kind == "slice":
        return slice(*map(_object, rest))
    if kind in ("named", "made"):
        found = getattr(importlib.import_module(rest[0][0]), rest[0][1])
        return found if kind == "named" else found(*map(_object, rest[1]))
    return np.frombuffer(rest[1], _dtype(rest[0]))[0]


@functools.cache
def _dtype_name(dtype: np.dtype) -> str:
    name = dtype.name if dtype.isbuiltin == 2 else dtype.str
    if dtype.names is not None or dtype.subdtype is not None or _dtype(name) != dtype:
        raise _Unkept
    return name


@functools.cache
def _dtype(name: str) -> np.dtype:
    return canonical_dtype(np.dtype(name))


def _type(v: Variable) -> tuple[Any, ...]:
    return v.shape, _dtype_name(v.dtype)


def _variable(type_: tuple[Any, ...]) -> Variable:
    return Variable(type_[0], _dtype(type_[1]))


# ------------------------------------------------------------------------------------------ entries


def _written(program: Program, graph: Graph) -> bytes:
    given = {id(a): k for k, a in enumerate(graph.constants.values())}
    lines = {id(e.at): k for k, e in enumerate(graph.equations) if e.at is not None}
    constants = list[Any]()
    for name, a in program.constants.items():
        if id(a) in given:
            constants.append((name, given[id(a)]))
        else:
            same = a.ndim > 0 and uniform(a)
            held = (a.reshape(-1)[:1] if same else a).tobytes()
            constants.append((name, (a.shape, _dtype_name(a.dtype), same, held)))
    calls = [
        (
            k, _primitive(e), [(name, _plain(x)) for name, x in e.params.items()],
            [None if v is None else _type(v) for v in e.inputs], [_type(v) for v in e.outputs], lines.get(id(e.at)),
        )
        for k, e in program.calls.items()
    ]  # fmt: skip
    routines = [
        (k, [_type(v) for v in r.takes], [_type(v) for v in r.gives], r.room, r.work, r.key)
        for k, r in program.routines.items()
    ]
    return marshal.dumps((program.code, constants, calls, routines))


def _read(data: bytes, graph: Graph) -> Program:
    code, constants, calls, routines = marshal.loads(data)
    given = list(graph.constants.values())
    return Program(
        code,
        {name: given[x] if type(x) is int else _array(*x) for name, x in constants},
        {
            k: Equation(
                _primitive_of(prim), [None if t is None else _variable(t) for t in inputs],
                {name: _object(x) for name, x in params}, [_variable(t) for t in outputs],
                None if at is None else graph.equations[at].at,
            )
            for k, prim, params, inputs, outputs, at in calls
        },
        {
            k: Routine([_variable(t) for t in takes], [_variable(t) for t in gives], room, work, key)
            for k, takes, gives, room, work, key in routines
        },
    )  # fmt: skip


def _array(shape: tuple[int, ...], dtype: str, same: bool, held: bytes) -> np.ndarray:
    a = np.frombuffer(held, _dtype(dtype)).copy()
    return np.broadcast_to(a[0], shape) if same else a.reshape(shape)

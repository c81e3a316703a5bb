"""Machine code from LLVM's assembly language, through llvmlite where it is installed (a dependency where it has wheels).

`Code` writes a function with loops and values; `assembled` translates one to machine code for this processor. What has been
translated is kept on disk (cache.py), for this processor and version of LLVM: 0.3 ms to load again (objects.py) instead of
some hundred, and LLVM is loaded only where something has to be translated.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import itertools
import os
import sys
import threading
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from . import cache, host, objects
from .processor import Processor, kind_of

# ------------------------------------------------------------------------------------------ text


class Code:
    """The text of one function: straight code and loops, every value under a new name."""

    def __init__(self) -> None:
        self.lines = ["entry:"]
        self._count = itertools.count()
        self._declared: dict[str, None] = {}

    def declare(self, line: str) -> None:
        """A function that is called here, said once for the module."""
        self._declared[line] = None

    def fresh(self) -> str:
        """A number that no other name has."""
        return str(next(self._count))

    def do(self, text: str) -> None:
        """An instruction without a value."""
        self.lines.append(f"  {text}")

    def value(self, text: str, name: str | None = None) -> str:
        """An instruction with a value; returns its name."""
        name = f"%v{self.fresh()}" if name is None else name
        self.lines.append(f"  {name} = {text}")
        return name

    def label(self, name: str) -> None:
        """The begin of a block."""
        self.lines.append(f"{name}:")

    def add(self, x: str, y: str | int) -> str:
        """x + y of two i64."""
        return self.value(f"add i64 {x}, {y}")

    def mul(self, x: str, y: str | int) -> str:
        """x y of two i64."""
        return self.value(f"mul i64 {x}, {y}")

    def least(self, x: str, y: str | int) -> str:
        """The lesser of two i64."""
        return self.value(f"call i64 @llvm.smin.i64(i64 {x}, i64 {y})")

    def at(self, type: str, pointer: str, index: str | int) -> str:
        """The address of an element."""
        return self.value(f"getelementptr inbounds {type}, ptr {pointer}, i64 {index}")

    def field(self, struct: str, pointer: str, k: int) -> str:
        """The address of part k of a struct."""
        return self.value(f"getelementptr inbounds {struct}, ptr {pointer}, i32 0, i32 {k}")

    def spread(self, count: int, type: str, x: str) -> str:
        """A vector of `count` times x."""
        one = self.value(f"insertelement <{count} x {type}> poison, {type} {x}, i64 0")
        return self.value(
            f"shufflevector <{count} x {type}> {one}, <{count} x {type}> poison, <{count} x i32> zeroinitializer"
        )

    def loop(
        self, start: str | int, stop: str | int, step: str | int | Callable[[str], str],
        body: Callable[..., Sequence[str] | None], *, carried: Sequence[tuple[str, str]] = (),
    ) -> list[str]:  # fmt: skip
        """body(i, *values) for i in range(start, stop, step); returns the values that are carried from turn to turn.

        step: a function computes it from i, for every turn anew. carried: type and first value of each; `body` returns the
        next ones.
        """
        n = self.fresh()
        before, head, inner, after = (f"{what}{n}" for what in ("before", "head", "body", "after"))
        self.do(f"br label %{before}")
        self.label(before)
        self.do(f"br label %{head}")
        self.label(head)
        place = len(self.lines)
        values = [f"%c{n}.{k}" for k in range(len(carried))]
        going = self.value(f"icmp slt i64 %i{n}, {stop}")
        self.do(f"br i1 {going}, label %{inner}, label %{after}")
        self.label(inner)
        following = body(f"%i{n}", *values) or ()
        self.do(f"br label %last{n}")
        self.label(f"last{n}")
        self.value(f"add nuw nsw i64 %i{n}, {step(f'%i{n}') if callable(step) else step}", f"%n{n}")
        self.do(f"br label %{head}")
        self.label(after)
        self.lines[place:place] = [
            f"  %i{n} = phi i64 [ {start}, %{before} ], [ %n{n}, %last{n} ]",
            *(
                f"  {v} = phi {type} [ {first}, %{before} ], [ {later}, %last{n} ]"
                for v, (type, first), later in zip(values, carried, following, strict=True)
            ),
        ]
        return values

    def when(self, condition: str, body: Callable[[], object]) -> None:
        """body() where a condition holds."""
        n = self.fresh()
        self.do(f"br i1 {condition}, label %then{n}, label %end{n}")
        self.label(f"then{n}")
        body()
        self.do(f"br label %end{n}")
        self.label(f"end{n}")

    def repeat(self, body: Callable[[], str]) -> None:
        """body() again and again, as long as the condition that it returns (an i1) holds."""
        n = self.fresh()
        self.do(f"br label %again{n}")
        self.label(f"again{n}")
        going = body()
        self.do(f"br i1 {going}, label %again{n}, label %done{n}")
        self.label(f"done{n}")

    def module(self, head: str, attributes: str = "") -> str:
        """The module of the function, which returns nothing: `head` is its `define` line up to the brace."""
        self.do("ret void")
        declared = "\n".join(self._declared)
        return "\n".join([declared, head + " #0 {", *self.lines, "}", f"attributes #0 = {{ nounwind {attributes} }}"])


# ------------------------------------------------------------------------------------------ machine code

lock = threading.RLock()
"""Held by whoever asks llvmlite for anything, and while the process forks: a thread inside llvmlite holds a lock of that
library's, which a child would wait for without end."""
_kept: dict[tuple[str, str], tuple[int, Any]] = {}
"""By name and `key`: addresses, and what their code lives as long as."""

if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=lock.acquire, after_in_parent=lock.release, after_in_child=lock.release)

MADE = {"translated": 0, "read": 0}
"""How many modules were translated, and how many were read from disk."""

_OPTIONS = {"opt": 3}
"""Of the translation to machine code. LLVM's passes over the text are left out: vectors and loops are written as they should
be, every function is as fast without, and they took 2 thirds of the time (all of them together: 2.2 s, without 0.7)."""


@functools.cache
def _llvmlite() -> Any:
    """llvmlite's module, or None: 50 ms, for programs that come to generated code only. Asked with the lock held."""
    try:
        import llvmlite.binding
    except (ImportError, OSError):  # OSError: installed for another system
        return None
    return llvmlite.binding


@functools.cache
def _host() -> host.Host | None:
    """What LLVM says of this processor, now or earlier; None without llvmlite. Asked with the lock held."""
    found = None if "llvmlite.binding" in sys.modules else host.known()
    if found is None and (llvm := _llvmlite()) is not None:
        found = host.described(llvm)
        host.keep(found)
    return found


def met() -> bool:
    """Whether something can be on disk, as far as is known without LLVM: it has said what this processor is, now or earlier."""
    with lock:
        return "llvmlite.binding" in sys.modules or host.known() is not None


@functools.cache
def processor() -> Processor | None:
    """What code is generated for; None without llvmlite, and for kinds of processors that no code is generated for."""
    with lock:
        found = _host()
        return None if found is None else kind_of(found.triple, found.has())


@functools.cache
def has(feature: str) -> bool:
    """Whether the processor has what LLVM calls so, such as "avx512bf16", beyond what its kind says."""
    with lock:
        llvm = _llvmlite()
        return llvm is not None and bool(llvm.get_host_cpu_features().get(feature, False))


LOADING, READING = 50_000_000, 2_000_000
"""Nanoseconds that loading llvmlite takes, and a function that lies on the disk."""

_spent = 0


def pays(nanoseconds: int) -> bool:
    """Whether llvmlite is loaded, or would be in the time that slower ways without it have taken, `nanoseconds` more included:
    where code lies on the disk and nothing else is to be loaded, what is asked for does as a rule, too."""
    global _spent
    if "llvmlite.binding" in sys.modules:
        return True
    _spent += nanoseconds
    return _spent >= LOADING or (_spent >= READING and _read())


@functools.cache
def _read() -> bool:
    """Whether functions that were translated earlier are read without LLVM."""
    return objects.understood() and met()


def available() -> bool:
    """Whether machine code can be made here: the environment variable RETROGRADE_JIT=0 switches it off."""
    return sys.maxsize > 1 << 32 and os.environ.get("RETROGRADE_JIT") != "0" and processor() is not None


def assembled(name: str, text: str) -> int:
    """The address of function `name` of a module in LLVM's assembly language, translated for this processor.

    Raises RuntimeError where LLVM does not understand the text, or the module has no such function.
    """
    with lock:
        found = _kept.get((name, key(text)))
        if found is None:
            found = _kept[name, key(text)] = _translated(name, text)
        return found[0]


def key(text: str) -> str:
    """What code that is made of a text is kept by: the text, the processor, LLVM's version, and how it is asked to translate.

    Raises RuntimeError without llvmlite.
    """
    with lock:
        here = _host()
    if here is None:
        raise RuntimeError("llvmlite is not installed")
    import hashlib  # 1 ms

    return hashlib.sha256("\0".join([text, *here, repr(_OPTIONS)]).encode()).hexdigest()


def kept(name: str, key: str) -> int | None:
    """The address of function `name` of the module with this key that was translated earlier; None where it is not there any
    more, or nothing but LLVM could load it."""
    with lock:
        found = _kept.get((name, key))
        if found is None:
            file = cache.read(name, key)
            found = None if file is None else objects.loaded(name, file)
            if found is None:
                return None
            MADE["read"] += 1
            _kept[name, key] = found
        return found[0]


def _translated(name: str, text: str) -> tuple[int, Any]:
    """The address of a function, and what has to be kept as long."""
    own = key(text)
    found = cache.read(name, own)
    if found is not None and (loaded := objects.loaded(name, found)) is not None:
        MADE["read"] += 1
        return loaded
    for code in (None,) if found is None else (found, None):
        how = "translated" if code is None else "read"
        llvm, machine, module = _parsed(text)
        if code is None:
            module.verify()
            if objects.understood():
                code = machine.emit_object(module)
                cache.write(name, own, code)
                if (loaded := objects.loaded(name, code)) is not None:
                    MADE[how] += 1
                    return loaded
        engine = llvm.create_mcjit_compiler(module, machine)
        engine.set_object_cache(lambda _module, made: cache.write(name, own, made), lambda _module, code=code: code)
        engine.finalize_object()
        address = int(engine.get_function_address(name))
        if address:
            MADE[how] += 1
            return address, engine
    raise RuntimeError(f"the module has no function {name}")


def _parsed(text: str) -> tuple[Any, Any, Any]:
    """llvmlite, what translates for this processor, and a module, in a context of its own."""
    here, llvm = _host(), _llvmlite()
    if here is None or llvm is None:
        raise RuntimeError("llvmlite cannot be loaded")
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    machine = llvm.Target.from_default_triple().create_target_machine(cpu=here.cpu, features=here.features, **_OPTIONS)
    module = llvm.parse_assembly(text, llvm.create_context())
    module.triple = here.triple
    return llvm, machine, module


@contextlib.contextmanager
def meanwhile(modules: Sequence[tuple[str, str]], count: int) -> Iterator[None]:
    """A context in which other threads, `count` with this one, translate modules that are not there yet, given by the name of a
    function and the text: at its end `assembled` finds them. This thread may translate others in it.

    Nothing is done in advance where llvmlite or the system is not as it is known here.
    """
    emit = _emitter() if count > 1 and objects.understood() else None
    if emit is None:
        yield
        return
    with lock:  # so that nobody forks while they are at it
        todo: list[tuple[str, str, Any, Any]] = []
        made: dict[tuple[str, str], bytes] = {}
        for name, text in modules:
            if kept(name, key(text)) is None:
                with contextlib.suppress(RuntimeError):  # which `assembled` raises
                    _, machine, module = _parsed(text)
                    module.verify()
                    todo.append((name, key(text), machine, module))

        def work() -> None:
            while True:
                try:
                    name, own, machine, module = todo.pop()
                except IndexError:
                    return
                code = emit(machine, module)
                if code is not None:
                    made[name, own] = code

        helpers = [threading.Thread(target=work, name="retrograde: machine code") for _ in range(min(count - 1, len(todo)))]
        for helper in helpers:
            helper.start()
        try:
            yield
        finally:
            work()
            for helper in helpers:
                helper.join()
            for (name, own), code in made.items():
                cache.write(name, own, code)
                if (loaded := objects.loaded(name, code)) is not None:
                    MADE["translated"] += 1
                    _kept[name, own] = loaded


@functools.cache
def _emitter() -> Callable[[Any, Any], bytes | None] | None:
    """What llvmlite does to translate a module, without its lock, by which one thread at a time is in LLVM: it is needed for
    modules of one context, and ours each have their own. None where llvmlite is made in another way than is known here."""
    with lock:
        llvm = _llvmlite()
    try:
        library = ctypes.CDLL("llvmlite", handle=llvm.ffi.lib._handle)
        emit, begin, size, free = (
            getattr(library, f"LLVMPY_{name}")
            for name in ("TargetMachineEmitToMemory", "GetBufferStart", "GetBufferSize", "DisposeMemoryBuffer")
        )
    except (AttributeError, OSError, TypeError):
        return None
    emit.restype = begin.restype = ctypes.c_void_p
    emit.argtypes = ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int, ctypes.c_void_p
    size.restype, free.restype = ctypes.c_size_t, None
    begin.argtypes = size.argtypes = free.argtypes = (ctypes.c_void_p,)

    def emitted(machine: Any, module: Any) -> bytes | None:
        problem = ctypes.c_void_p()
        buffer = emit(machine, module, 1, ctypes.byref(problem))
        if not buffer:
            return None
        try:
            return ctypes.string_at(begin(buffer), size(buffer))
        finally:
            free(buffer)

    return emitted


def address(name: str, text: Callable[[Code], str], *, level: int = 1) -> int | None:
    """The address of function `name` of the module that `text` writes.

    None where nothing is `available`, and, with a warning, where this version of LLVM has another assembly language.
    """
    if not available():
        return None
    with lock:  # what is left of an attempt that fails goes while it is held, too
        try:
            return assembled(name, text(Code()))
        except RuntimeError as problem:
            reason = str(problem)
    warnings.warn(f"llvmlite could not translate {name}, the slower way without it is taken: {reason}", stacklevel=3 + level)
    return None


def function(name: str, text: Callable[[Code], str], *operands: Any) -> Callable[..., None] | None:
    """The function `name` of the module that `text` writes, called with operands of the given ctypes.

    None where it is not `available`, and, with a warning, where this version of LLVM has another assembly language.
    """
    found = address(name, text, level=2)
    return None if found is None else ctypes.CFUNCTYPE(None, *operands)(found)


_CTYPES: dict[str, Any] = {
    "ptr": ctypes.c_void_p, "object": ctypes.py_object, "array": ctypes.py_object, "i64": ctypes.c_int64,
    "float": ctypes.c_float, "double": ctypes.c_double, "bytes": ctypes.c_char_p,
}  # fmt: skip
_NUMBERS = "i64", "float", "double"
DATA = object.__basicsize__
"""Where in a NumPy array the address of its numbers stands, if `arrays_are_read`."""


@functools.cache
def arrays_are_read() -> bool:
    """Whether generated code finds the numbers of a NumPy array itself: 0.1 µs, where `a.ctypes.data` takes 1."""
    import numpy as np

    if sys.implementation.name != "cpython":  # elsewhere id() is no address
        return False
    a = np.zeros(3)[1:]
    return ctypes.c_void_p.from_address(id(a) + DATA).value == a.ctypes.data


def shared(
    name: str, operands: str, body: Callable[[Code], None], *, attributes: str = ""
) -> Callable[..., None] | None:  # fmt: skip
    """The function `name(pool, units, grain, *operands)`, that shares its units out to the pool's threads (threads.py).

    operands: types and names, such as "ptr out, ptr x, i64 width"; "ptr" is given as a number, "bytes" as bytes; an "object"
    is one of Python's, an "array" one of NumPy, of whose numbers `body` has the address. It writes what is done for the units
    from %first to %last. pool, units, grain: what `threads.tiles` gives. None as for `function`.
    """
    split = [operand.split() for operand in operands.split(",")]
    arrays = [k for k, (kind, _) in enumerate(split, 3) if kind == "array"]
    if not arrays_are_read():
        split = [["ptr" if kind == "array" else kind, x] for kind, x in split]
    kinds = ["ptr", "i64", "i64", *(kind for kind, _ in split)]
    direct = arrays_are_read()
    entry = f"{name}_called" if direct else name
    found = address(entry, lambda code: _shared(code, name, split, body, attributes, kinds if direct else ()), level=2)
    if found is None:
        return None
    if direct:
        return _builtin(name, found)
    function = ctypes.CFUNCTYPE(None, *(_CTYPES[kind] for kind in kinds))(found)
    if not arrays:
        return function
    return lambda *args: function(*(a.ctypes.data if k in arrays else a for k, a in enumerate(args)))


# What a call from Python needs of the interpreter, all of it of its stable interface, and what it returns. Generated code finds
# the addresses in an array, since calls to names outside a module are not linked on every system.
_INTERPRETER = {
    "PyLong_AsLongLong": "i64", "PyFloat_AsDouble": "double", "PyBytes_AsString": "ptr", "PyErr_Occurred": "ptr",
    "PyErr_BadArgument": "i32", "PyEval_SaveThread": "ptr", "PyEval_RestoreThread": "void", "Py_IncRef": "void",
}  # fmt: skip


@functools.cache
def _interpreter() -> Any:
    """The addresses of `_INTERPRETER`, and that of None."""
    import numpy as np

    found = [ctypes.cast(getattr(ctypes.pythonapi, name), ctypes.c_void_p).value for name in _INTERPRETER]
    return np.array([*found, id(None)], np.uintp)


class _Method(ctypes.Structure):
    """What the interpreter knows of a function in machine code (PyMethodDef)."""

    _fields_ = [("name", ctypes.c_char_p), ("call", ctypes.c_void_p), ("flags", ctypes.c_int), ("doc", ctypes.c_char_p)]


FASTCALL = 0x80
_methods: list[_Method] = []  # live as long as the process, as their code does


def _builtin(name: str, found: int) -> Callable[..., None]:
    """The function of Python at an address: a call of `channels.normalize` takes 0.55 µs, through ctypes 2.2."""
    method = _Method(name.encode(), found, FASTCALL, None)
    _methods.append(method)
    return builtin(ctypes.addressof(method), _interpreter())


def builtin(method: int, itself: Any) -> Callable[..., Any]:
    """The function that a PyMethodDef at an address describes, which is given `itself`; the memory has to last as long."""
    new: Any = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p)
    made: Callable[..., Any] = new(("PyCFunction_NewEx", ctypes.pythonapi))(method, itself, None)
    return made


def _called(name: str, kinds: Sequence[str]) -> str:
    """The function that the interpreter calls: it reads the operands, and runs `name` without the interpreter's lock."""
    code = Code()
    table = code.value(f"load ptr, ptr {code.at('i8', '%self', DATA)}")
    places = {symbol: k for k, symbol in enumerate((*_INTERPRETER, "None"))}

    def word(symbol: str) -> str:
        return code.value(f"load ptr, ptr {code.at('ptr', table, places[symbol])}")

    def call(symbol: str, x: str = "") -> str:
        result = _INTERPRETER[symbol]
        text = f"call {result} {word(symbol)}({x and f'ptr {x}'})"
        if result != "void":
            return code.value(text)
        code.do(text)
        return ""

    wrong = code.value(f"icmp ne i64 %count, {len(kinds)}")
    code.do(f"br i1 {wrong}, label %miscounted, label %counted")
    code.label("miscounted")
    call("PyErr_BadArgument")
    code.do("ret ptr null")
    code.label("counted")
    listed = []
    for k, kind in enumerate(kinds):
        x = code.value(f"load ptr, ptr {code.at('ptr', '%args', k)}")
        if kind in ("ptr", "i64"):
            x = call("PyLong_AsLongLong", x)
            if kind == "ptr":
                x = code.value(f"inttoptr i64 {x} to ptr")
        elif kind == "bytes":
            x = call("PyBytes_AsString", x)
        elif kind in ("double", "float"):
            x = call("PyFloat_AsDouble", x)
            if kind == "float":
                x = code.value(f"fptrunc double {x} to float")
        listed.append(f"{kind if kind in _NUMBERS else 'ptr'} {x}")
    problem = call("PyErr_Occurred")
    code.do(f"br i1 {code.value(f'icmp ne ptr {problem}, null')}, label %refused, label %read")
    code.label("refused")
    code.do("ret ptr null")
    code.label("read")
    thread = call("PyEval_SaveThread")
    code.do(f"call void @{name}({', '.join(listed)})")
    call("PyEval_RestoreThread", thread)
    none = word("None")
    call("Py_IncRef", none)
    code.do(f"ret ptr {none}")
    return "\n".join([f"define ptr @{name}_called(ptr %self, ptr %args, i64 %count) #0 {{", *code.lines, "}"])


def _shared(
    code: Code, name: str, operands: Sequence[Sequence[str]], body: Callable[[Code], None], attributes: str,
    kinds: Sequence[str],
) -> str:  # fmt: skip
    """The module of a function that shares its units out, and, with the kinds of all operands, of what calls it from Python."""
    from . import threads

    arrays = [x for kind, x in operands if kind == "array"]
    operands = [(kind if kind in _NUMBERS else "ptr", x) for kind, x in operands]
    public = ", ".join(f"{kind} %{x}.array" if x in arrays else f"{kind} %{x}" for kind, x in operands)
    listed = ", ".join(f"{kind} %{x}" for kind, x in operands)
    struct = "{ " + ", ".join(kind for kind, _ in operands) + " }"
    body(code)
    units = code.module(f"define internal void @{name}_units(i64 %first, i64 %last, {listed})", attributes)
    tile, entry = Code(), Code()
    for k, (kind, x) in enumerate(operands):
        tile.value(f"load {kind}, ptr {tile.field(struct, '%given', k)}", f"%{x}")
        entry.do(f"store {kind} %{x}, ptr {entry.field(struct, '%given', k)}")
    tile.do(f"call void @{name}_units(i64 %first, i64 %last, {listed})")
    entry.lines.insert(1, f"  %given = alloca {struct}")
    run = entry.value(f"load ptr, ptr {entry.at('i8', '%pool', threads.RUN)}")
    entry.do(f"call void {run}(ptr %pool, ptr @{name}_tile, ptr %given, i64 %units, i64 %grain)")
    alone = Code()
    for x in arrays:
        place = alone.value(f"getelementptr inbounds i8, ptr %{x}.array, i64 {DATA}", f"%{x}.place")
        alone.value(f"load ptr, ptr {place}", f"%{x}")
    alone.value("icmp eq ptr %pool, null", "%alone")
    alone.value("icmp sle i64 %units, %grain", "%little")
    alone.value("or i1 %alone, %little", "%serial")
    alone.do("br i1 %serial, label %whole, label %share")
    alone.label("whole")
    alone.do(f"call void @{name}_units(i64 0, i64 %units, {listed})")
    alone.do("ret void")
    alone.label("share")
    entry.lines[:1] = alone.lines
    return "\n".join([
        units, *([_called(name, kinds)] if kinds else []), *(
            f"define {head} #0 {{\n" + "\n".join([*part.lines, "  ret void", "}"])
            for head, part in (
                (f"internal void @{name}_tile(ptr %given, i64 %first, i64 %last)", tile),
                (f"void @{name}(ptr %pool, i64 %units, i64 %grain, {public})", entry),
            )
        )
    ])  # fmt: skip

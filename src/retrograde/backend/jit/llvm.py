"""Machine code from LLVM's assembly language, through llvmlite where it is installed (a dependency where it has wheels).

`Code` writes a function with loops and values; `assembled` translates one to machine code for this processor. What has been
translated is kept on disk (cache.py), for this processor and version of LLVM: 2 ms to load again instead of some hundred.
"""

from __future__ import annotations

import ctypes
import functools
import itertools
import os
import sys
import threading
import warnings
from collections.abc import Callable, Sequence
from typing import Any

from . import cache

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

    def when(self, condition: str, body: Callable[[], None]) -> None:
        """body() where a condition holds."""
        n = self.fresh()
        self.do(f"br i1 {condition}, label %then{n}, label %end{n}")
        self.label(f"then{n}")
        body()
        self.do(f"br label %end{n}")
        self.label(f"end{n}")

    def module(self, head: str, attributes: str = "") -> str:
        """The module of the function, which returns nothing: `head` is its `define` line up to the brace."""
        self.do("ret void")
        declared = "\n".join(self._declared)
        return "\n".join([declared, head + " #0 {", *self.lines, "}", f"attributes #0 = {{ nounwind {attributes} }}"])


# ------------------------------------------------------------------------------------------ machine code

lock = threading.RLock()
"""Held by whoever asks llvmlite for anything, and while the process forks: a thread inside llvmlite holds a lock of that
library's, which a child would wait for without end."""
_kept: dict[tuple[str, str], tuple[int, Any]] = {}  # addresses, and engines: their code lives as long as they do

if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=lock.acquire, after_in_parent=lock.release, after_in_child=lock.release)

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
def _features() -> dict[str, bool]:
    """What the processor has, by LLVM's names; empty without llvmlite."""
    with lock:
        llvm = _llvmlite()
        return {} if llvm is None else llvm.get_host_cpu_features()


def available(*features: str) -> bool:
    """Whether machine code can be made here and the processor has some features, as LLVM calls them.

    The environment variable RETROGRADE_JIT=0 switches generated code off.
    """
    if sys.maxsize < 1 << 32 or os.environ.get("RETROGRADE_JIT") == "0":
        return False
    found = _features()
    return bool(found) and all(found.get(feature) for feature in features)


def assembled(name: str, text: str) -> int:
    """The address of function `name` of a module in LLVM's assembly language, translated for this processor.

    Raises RuntimeError where LLVM does not understand the text, or the module has no such function.
    """
    with lock:
        found = _kept.get((name, text))
        if found is None:
            found = _kept[name, text] = _translated(name, text)
        return found[0]


def _translated(name: str, text: str) -> tuple[int, Any]:
    llvm = _llvmlite()
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    cpu, features = llvm.get_host_cpu_name(), llvm.get_host_cpu_features().flatten()
    triple, version = llvm.get_process_triple(), ".".join(map(str, llvm.llvm_version_info))
    key = _key(text, cpu, features, triple, version, repr(_OPTIONS))
    found = cache.read(name, key)
    for code in (None,) if found is None else (found, None):
        machine = llvm.Target.from_default_triple().create_target_machine(cpu=cpu, features=features, **_OPTIONS)
        module = llvm.parse_assembly(text)
        module.triple = triple
        if code is None:
            module.verify()
        engine = llvm.create_mcjit_compiler(module, machine)
        engine.set_object_cache(lambda _module, made: cache.write(name, key, made), lambda _module, code=code: code)
        engine.finalize_object()
        address = int(engine.get_function_address(name))
        if address:
            return address, engine
    raise RuntimeError(f"the module has no function {name}")


def _key(*parts: str) -> str:
    import hashlib  # 1 ms

    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def function(
    name: str, text: Callable[[Code], str], *operands: Any, features: Sequence[str] = ("avx2", "fma")
) -> Callable[..., None] | None:  # fmt: skip
    """The function `name` of the module that `text` writes, called with operands of the given ctypes.

    None where it is not `available`, and, with a warning, where this version of LLVM has another assembly language.
    """
    if not available(*features):
        return None
    with lock:  # what is left of an attempt that fails goes while it is held, too
        try:
            address = assembled(name, text(Code()))
        except RuntimeError as problem:
            reason = str(problem)
        else:
            return ctypes.CFUNCTYPE(None, *operands)(address)
    warnings.warn(f"llvmlite could not translate {name}, the slower way without it is taken: {reason}", stacklevel=4)
    return None

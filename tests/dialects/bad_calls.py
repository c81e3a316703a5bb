"""Calls of a dialect's public functions with arguments of the wrong kind, and which of them end in an error that leaks.

    python bad_calls.py torch        what leaks, a line for each call

An error leaks when nobody wrote its words: Python's own for an attribute that is missing, an index or a key, a bare
assertion, running out of the stack; so does a call that does not end. What the framework itself leaves to Python in the
same function is listed in `AS_THERE`.
"""

from __future__ import annotations

import functools
import importlib
import inspect
import json
import os
import re
import resource
import select
import signal
import sys
import tempfile
import traceback
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

PLACES = {
    "torch": ["", "nn.functional", "autograd", "autograd.functional", "autograd.forward_ad", "func", "linalg", "fft",
              "special", "nn", "optim", "nn.utils", "nn.init"],
    "paddle": ["", "autograd", "incubate.autograd", "linalg", "fft", "nn.functional", "nn", "optimizer"],
    "mindspore": ["", "ops", "nn", "mint", "mint.nn.functional", "mint.linalg"],
}  # fmt: skip
AS_THERE = {
    "torch": (
        "nn.init.kaiming_", "nn.utils.clip_grad", "nn.utils.fuse_", "nn.utils.parameters_to_vector",
        "nn.utils.remove_", "nn.utils.spectral_norm", "nn.utils.vector_to_parameters", "nn.utils.weight_norm",
        "nn.Buffer", "optim.Rprop", "optim.Optimizer", "nn.TransformerDecoder", "nn.TransformerEncoder",
    ),
    "paddle": ("nn.BiRNN", "nn.RNN", "nn.Upsample", "nn.TransformerDecoder", "nn.TransformerEncoder"),
    "mindspore": (
        "nn.TrainOneStep", "nn.WithGradCell", "nn.ForwardValueAndGrad", "nn.TransformerDecoder",
        "nn.TransformerEncoder",
    ),
}  # fmt: skip
"""Functions (and those whose names begin so) that ask an attribute of what they get, in the framework, too."""
OPEN = {"torch": ("broadcast_tensors", "meshgrid", "nn.init.trunc_normal_", "squeeze", "t")}
"""Functions that do leak: a NumPy array in a tensor's place gets as far as `bind`; a mean far outside the bounds is
drawn for without end."""
_NEVER = (
    RecursionError, UnboundLocalError, NameError, ZeroDivisionError, StopIteration, SystemError, MemoryError,
)  # fmt: skip
_PYTHONS_WORDS = re.compile(
    r"(type )?(object )?'[\w.]+' object has no attribute|type object '\w+' has no attribute|"
    r"(list|tuple|string|range object|pop) index out of range|pop from empty|$"
)
SECONDS = 5
"""Of processor time, which a call may take: other work on the machine is not counted."""
LIMIT = 6 << 30

# What writes files, ends or changes the process, waits, or has nothing to do with arguments.
_LEFT_OUT = (
    "save", "load", "set_", "use_", "manual_seed", "seed", "from_file", "compile", "import_ir", "export", "fork",
    "get_", "is_", "enable_", "disable_", "launch", "run_", "init_", "enter_", "exit_", "summary", "flops", "thread",
    "hub", "cond", "while_loop", "async", "Model", "DataParallel", "Variable", "test", "print", "typename",
    "parse_print", "convert_model", "data_sink", "connect_network", "ms_memory", "shard", "reset", "context", "jit",
    "vmap_decrement", "vmap_increment", "to_dlpack", "from_dlpack", "wait", "lazy", "monitor", "obfuscate", "mutable", "unary",
)  # fmt: skip


def bad_arguments(tensor: Callable[[Any], Any]) -> dict[str, Any]:
    """Arguments of every wrong kind, by name."""
    return {
        "None": None, "3": 3, "-1": -1, "1.5": 1.5, "nan": float("nan"), "10**20": 10**20, "True": True, "'x'": "x",
        "b'x'": b"x", "[]": [], "()": (), "{}": {}, "{1}": {1}, "[None]": [None], "(5, -5)": (5, -5), "object": object(),
        "int": int, "lambda": lambda *args: args[0] if args else 1, "array": np.ones(2), "vector": tensor([1.0, 2.0]),
        "whole": tensor([1, 2]), "scalar": tensor(2.0), "empty": tensor(np.zeros((0, 2), np.float32)),
        "matrix": tensor(np.ones((3, 2), np.float32)), "tensors": [tensor([1.0]), None],
        "image": tensor(np.ones((1, 2, 3, 3), np.float32)),
    }  # fmt: skip


FORMS = ("b", "vb", "bv", "mb", "mmb", "bmm", "b3", "m3b", "ib", "wb", "fb", "bf")
"""Arguments by letter: b the wrong one, v a vector, m a matrix, i an image, w whole numbers, f a function."""


def functions(framework: Any, place: str) -> Iterator[tuple[str, Any]]:
    """The public functions and classes of a module, by name."""
    module = framework
    for part in place.split(".") if place else ():
        module = getattr(module, part, None)
        if module is None:
            try:
                module = importlib.import_module(f"{framework.__name__}.{place}")
            except ImportError:
                return
            break
    names = getattr(module, "__all__", None) or dir(module)
    for name in sorted(set(names)):
        if name.startswith(("_", *_LEFT_OUT)) or name.endswith("Error") or name == "Tensor":
            continue
        found = getattr(module, name, None)
        if callable(found) and not inspect.ismodule(found) and not _is_helper(found, name):
            yield f"{place}.{name}".lstrip("."), found


def _is_helper(found: Any, name: str) -> bool:
    """Whether a module has a name only because its own functions need it."""
    while hasattr(found, "_stands_before"):  # a check, once there are two dialects
        found = found._stands_before
    home = getattr(found, "__module__", None) or ""
    helpers = ("_shared", "_promote", "_graph_nodes", "ops.", "core.", "tape.", "tensor.", "typing", "collections")
    return inspect.ismethod(found) or getattr(found, "__name__", name) != name or any(part in home for part in helpers)


class _Slow(BaseException):
    pass


def _alarm(*_: Any) -> None:
    raise _Slow


def leaks(error: Exception) -> bool:
    """Whether an error is one that nobody wrote: of a type that is never an answer, or in Python's words."""
    if isinstance(error, KeyError):
        return not (error.args and isinstance(error.args[0], str) and " " in error.args[0])
    kinds = (AttributeError, IndexError, AssertionError)
    return isinstance(error, _NEVER) or (isinstance(error, kinds) and _PYTHONS_WORDS.match(str(error)) is not None)


def outcomes(f: Any, arguments: dict[str, Any], forms: tuple[str, ...] = FORMS) -> dict[str, str]:
    """For one function the calls that leak, each with its error and the place that it comes from."""
    given = {"v": "vector", "m": "matrix", "i": "image", "w": "whole", "f": "lambda", "3": "3"}
    found = {}
    signal.signal(signal.SIGPROF, _alarm)
    for form in forms:
        for label, bad in arguments.items():
            args = [bad if letter == "b" else arguments[given[letter]] for letter in form]
            signal.setitimer(signal.ITIMER_PROF, SECONDS)
            try:
                f(*args)
            except _Slow:
                found[f"{form} {label}"] = "does not end"
            except Exception as error:
                if leaks(error):
                    at = traceback.extract_tb(error.__traceback__)[-1]
                    place = f"{Path(at.filename).name}:{at.lineno}"
                    found[f"{form} {label}"] = f"{type(error).__name__} {str(error)[:80]} ({place})"
            finally:
                signal.setitimer(signal.ITIMER_PROF, 0)
    return found


def walk(dialect: str, every: int = 1, forms: tuple[str, ...] = FORMS) -> list[str]:
    """The calls that leak, a line for each; every function is called in a process of its own, which a time limit ends.

    every: take one function of so many only.
    """
    framework = importlib.import_module(f"retrograde.dialects.{dialect}")
    tensor = {"torch": "tensor", "paddle": "to_tensor", "mindspore": "Tensor"}[dialect]
    arguments = bad_arguments(getattr(framework, tensor))
    everything = [pair for place in PLACES[dialect] for pair in functions(framework, place)]
    found = []
    for name, f in everything[::every]:
        if not name.startswith(AS_THERE[dialect]) and name.removesuffix("_copy") not in OPEN.get(dialect, ()):
            calls = _in_child(functools.partial(outcomes, f, arguments, forms))
            found += [f"{dialect}.{name}({call}): {error}" for call, error in calls.items()]
    return found


def _in_child(compute: Callable[[], dict[str, str]]) -> dict[str, str]:
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.close(read)
            os.chdir(tempfile.gettempdir())
            resource.setrlimit(resource.RLIMIT_AS, (LIMIT, LIMIT))
            null = os.open(os.devnull, os.O_WRONLY)
            os.dup2(null, 1)
            os.dup2(null, 2)
            warnings.simplefilter("ignore")
            with os.fdopen(write, "w") as pipe:
                json.dump(compute(), pipe)
        finally:
            os._exit(0)
    os.close(write)
    text = b""
    with os.fdopen(read, "rb", 0) as pipe:
        while select.select([pipe], [], [], 12 * SECONDS)[0]:
            chunk = pipe.read(65536)
            if not chunk:
                break
            text += chunk
        else:
            os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return json.loads(text) if text else {"...": "ends the process, or hangs"}


if __name__ == "__main__":
    print("\n".join(walk(sys.argv[1])))

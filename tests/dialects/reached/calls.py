"""Calls of what else no test enters, evaluated with whichever framework is given, and results as one line of text.

`torch.jsonl`, `paddle.jsonl` and `mindspore.jsonl` hold statements (with `; ` between them, the last an expression) and what the
framework gives for them, `mint.jsonl` those over `mindspore.mint` with what PyTorch gives. `python calls.py torch [more.txt]`,
where PyTorch is installed, writes its file anew; calls of a text file are added (`written`).
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import io
import json
import os
import re
import signal
import sys
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

HERE = Path(__file__).parent
_MATRIX, _VECTOR, _SQUARE = [[3.0, 1.0, 2.0], [0.5, 4.0, 5.0]], [1.0, 2.0, 3.0], [[4.0, 1.0], [1.0, 3.0]]


@functools.cache
def calls(name: str) -> dict[str, str]:
    """The recorded results by statement."""
    file = HERE / f"{name}.jsonl"
    return dict(json.loads(line) for line in file.read_text().splitlines()) if file.exists() else {}


def _number(v: Any) -> str:
    if isinstance(v, (bool, np.bool_)):
        return str(bool(v))
    if isinstance(v, (complex, np.complexfloating)):
        return f"{_number(float(v.real))}+{_number(float(v.imag))}j"
    if isinstance(v, (float, np.floating)):
        return "0" if abs(v) < 2e-6 else f"{float(v):.4g}"
    return str(v)


class Framework:
    """A framework, or the dialect that stands for it."""

    def __init__(self, name: str, module: Any) -> None:
        self.name, self.module = name, module
        for part in {"torch": (), "paddle": ("audio", "incubate", "text"), "mindspore": ("mint", "numpy", "scipy.linalg")}[name]:
            importlib.import_module(f"{module.__name__}.{part}")
        self.tensor = module.to_tensor if name == "paddle" else module.tensor if name == "torch" else module.Tensor

    def scope(self) -> dict[str, Any]:
        """The names that statements use."""
        m, t = self.module, self.tensor
        names = {
            self.name: m, "np": np, "nn": m.nn, "t": t, "x": t(_MATRIX), "v": t(_VECTOR), "m": t(_SQUARE), "i": t([2, 0, 1]),
            "b": t([True, False, True]), "module": lambda path: importlib.import_module(f"{m.__name__}.{path}"),
        }  # fmt: skip
        if self.name == "mindspore":
            names |= {"ops": m.ops, "mint": m.mint, "mnp": m.numpy}
            m.set_seed(1)
        else:
            names["F"] = m.nn.functional
            names["mint"] = m  # `mindspore.mint` has PyTorch's names, and MindSpore no kernels for them on a CPU
            (m.seed if self.name == "paddle" else m.manual_seed)(1)
        return names | {"error": self.error, "slopes": self.slopes, "alone": self.alone, "filled": self.filled}

    def filled(self, layer: Any) -> Any:
        """The layer in evaluation, its parameters being certain numbers of about one over the root of their number."""
        for p in layer.parameters():
            pattern = (np.arange(p.size) * 7919 % 101 - 50) / 29
            numbers = 0.6 + 0.3 * pattern if p.ndim < 2 else pattern / (p.size / p.shape[0 if p.ndim > 2 else 1]) ** 0.5
            p.set_value(numbers.reshape(p.shape).astype("float32"))
        layer.eval()
        return layer

    def alone(self) -> Any:
        """The module of collective operations, for a group of this process alone."""
        found = self.module.distributed
        if self.name == "torch":
            store = {"store": found.HashStore()} if hasattr(found, "HashStore") else {}
            found.init_process_group("gloo", rank=0, world_size=1, **store)
        return found

    def error(self, f: Callable[[], Any]) -> str:
        """The type of what a call raises, or what it gives."""
        try:
            return f"no error: {self.shown(f())}"
        except Exception as error:
            return type(error).__name__

    def slopes(self, f: Callable[..., Any], *operands: Any) -> tuple[Any, ...]:
        """What a function gives, and the gradient of the sum of `y * y + y` for each operand."""
        if self.name == "mindspore":
            whole = self.module.grad(lambda *a: (f(*a) * f(*a) + f(*a)).sum(), tuple(range(len(operands))))
            return f(*operands), whole(*operands)
        leaves = [a.detach().clone() for a in operands]
        for leaf in leaves:
            if self.name == "paddle":
                leaf.stop_gradient = False
            else:
                leaf.requires_grad_()
        y = f(*leaves)
        (y * y + y).sum().backward()
        return y, [leaf.grad for leaf in leaves]

    def evaluate(self, statements: str) -> str:
        """The result of statements, or the name of the exception."""
        *before, last = statements.split("; ")
        scope = self.scope()
        try:
            with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
                warnings.simplefilter("ignore")
                exec("\n".join(before), scope)
                return self.shown(eval(last, scope))
        except Exception as error:
            return f"!{type(error).__name__}"
        finally:
            if self.name == "torch" and self.module.distributed.is_initialized():
                self.module.distributed.destroy_process_group()

    def shown(self, y: Any) -> str:
        """A result as text: of tensors the dtype, the shape and the elements."""
        if isinstance(y, self.module.Tensor):
            if y.is_sparse if self.name == "torch" else self.name == "paddle" and y.is_sparse():
                places, elements = (y._indices(), y._values()) if self.name == "torch" else (y.indices(), y.values())
                return f"{list(y.shape)} with {self.shown(elements)} at {self.shown(places)}"
            if self.name == "torch":
                y = y.resolve_conj().resolve_neg()
            a = np.asarray(y.asnumpy() if self.name == "mindspore" else y.detach().numpy())
            said = " ".join(map(_number, a.reshape(-1)[:40].tolist()))
            return f"{str(y.dtype).rpartition('.')[2].lower()}{list(a.shape)} {said}"
        if isinstance(y, np.ndarray):
            return f"array {y.dtype}{list(y.shape)} {' '.join(map(_number, y.reshape(-1)[:40].tolist()))}"
        if isinstance(y, Mapping):
            return "{" + ", ".join(f"{k}: {self.shown(v)}" for k, v in y.items()) + "}"
        if isinstance(y, (tuple, list)):
            return "(" + ", ".join(map(self.shown, y)) + ")"
        return _number(y) if isinstance(y, (float, np.generic)) else repr(y)


def _apart(framework: Framework, statements: str) -> str:
    """`evaluate` in a process of its own: frameworks end theirs for some calls. Nothing is said of those."""
    source, sink = os.pipe()
    child = os.fork()
    if not child:
        signal.alarm(20)  # a call that waits for others ends its process, too
        os.write(sink, framework.evaluate(statements).encode()[:60000])
        os._exit(0)
    os.close(sink)
    with os.fdopen(source, "rb") as pipe:
        found = pipe.read().decode()
    os.waitpid(child, 0)
    return found


def written(text: str) -> list[str]:
    """The calls of a text: each a line (`\\n` in it), or lines between empty ones; those that begin with a space go on."""
    found = []
    for block in text.split("\n\n"):
        lines = [line for line in block.splitlines() if line and line[0] != "#"]
        if any(line[0] == " " for line in lines):
            found.append(re.sub(r"\n(?! )", "; ", "\n".join(lines)))
        else:
            found += [line.replace("\\n", "\n") for line in lines]
    return found


if __name__ == "__main__":
    name = sys.argv[1]
    source = "torch" if name == "mint" else name
    framework = Framework(source, importlib.import_module(source))
    statements = list(calls(name)) + [call for file in sys.argv[2:] for call in written(Path(file).read_text())]
    without = "!RuntimeError" if name == "mindspore" else ""  # what has no kernel on a CPU
    found = {line: _apart(framework, line) for line in statements}
    lines = [json.dumps([line, result]) for line, result in found.items() if result not in ("", without)]
    (HERE / f"{name}.jsonl").write_text("\n".join(lines) + "\n")

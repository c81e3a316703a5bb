"""Expressions over paddle's functions, evaluated with whichever `paddle` is given, and results as one line of text.

`data/operations.jsonl` holds expressions with what PaddlePaddle 3.3.1 gives for them (record_operations.py). In them `t`
makes a tensor (float32 unless a dtype is named), `i`, `i32`, `f64`, `b`, `c` one of the dtype they are called after,
`seq` and `ar` one of a shape with elements that differ, `spd` a positive definite matrix; `G(f, *xs)` is f(*xs) with the
gradients of a weighted sum of it; `I(x, statement)` is x after an in-place statement; `D(names, *args)` says of each of
several functions the dtype of its result, or which exception it raises.
"""

from __future__ import annotations

import importlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

DATA = Path(__file__).parent / "data" / "operations.jsonl"


def cases() -> Iterator[tuple[str, str]]:
    """The expressions and their recorded results."""
    for line in DATA.read_text().splitlines():
        expression, result = json.loads(line)
        yield expression, result


def _number(v: Any) -> str:
    if isinstance(v, (bool, np.bool_)):
        return "T" if v else "F"
    if isinstance(v, (complex, np.complexfloating)):
        return f"{_number(float(v.real))}+{_number(float(v.imag))}j"
    if isinstance(v, (float, np.floating)):
        return "0" if abs(v) < 2e-6 else f"{float(v):.4g}"
    return str(v)


def _elements(a: np.ndarray) -> str:
    return _number(a[()]) if a.ndim == 0 else "[" + " ".join(_elements(x) for x in a) + "]"


class Expressions:
    """The namespace in which expressions are evaluated."""

    def __init__(self, paddle: Any) -> None:
        self.paddle = paddle
        self.names = {name: getattr(paddle, name) for name in dir(paddle) if not name.startswith("_")}
        for name in ("linalg", "fft", "signal", "geometric", "incubate"):
            self.names[name] = importlib.import_module(f"{paddle.__name__}.{name}")
        self.names.update(
            paddle=paddle, np=np, inf=float("inf"), nan=float("nan"), F=paddle.nn.functional, tuple=tuple, list=list,
            type=type, isinstance=isinstance, len=len, fmt=self.shown, t=self.t, i=self.i, i32=self.i32, f64=self.f64,
            b=self.b, c=self.c, seq=self.seq, ar=self.ar, spd=self.spd, G=self.with_gradients, I=self.in_place, D=self.dtypes,
        )  # fmt: skip

    def evaluate(self, expression: str) -> str:
        """The result of an expression, or the name of the exception, as text."""
        try:
            return self.shown(eval(expression, dict(self.names)))
        except Exception as error:
            return "!" + type(error).__name__

    def shown(self, r: Any) -> str:
        """A result as text: of tensors dtype, shape, whether they want a gradient, and elements to four digits."""
        if isinstance(r, self.paddle.Tensor):
            a = np.asarray(r.numpy())
            text = _elements(a)
            wants = "" if r.stop_gradient else "g"
            return f"{str(r.dtype).split('.')[-1]}{list(a.shape)}{wants} {text[:400]}{'...' * (len(text) > 400)}"
        if isinstance(r, (tuple, list)):
            return type(r).__name__ + "(" + ", ".join(self.shown(x) for x in r) + ")"
        return _number(r) if isinstance(r, float) else repr(r)

    def t(self, v: Any, dtype: str = "float32") -> Any:
        array = np.array(v, "complex128" if "complex" in dtype else "float64")
        return self.paddle.to_tensor(array).astype(dtype)

    def i(self, v: Any) -> Any:
        return self.paddle.to_tensor(np.array(v, "int64"))

    def i32(self, v: Any) -> Any:
        return self.paddle.to_tensor(np.array(v, "int32"))

    def b(self, v: Any) -> Any:
        return self.paddle.to_tensor(np.array(v, "bool"))

    def f64(self, v: Any) -> Any:
        return self.t(v, "float64")

    def c(self, v: Any) -> Any:
        return self.t(v, "complex64")

    def seq(self, *shape: int, dtype: str = "float32") -> Any:
        n = int(np.prod(shape))
        return self.t(((np.arange(n) * 7 % 11 - 4.3) / 3.1).reshape(shape), dtype)

    def ar(self, *shape: int, dtype: str = "float32") -> Any:
        return self.t(np.arange(int(np.prod(shape))).reshape(shape), dtype)

    def spd(self, n: int) -> Any:
        a = np.arange(n * n).reshape(n, n) * 7 % 11 / 5.0
        return self.t(a @ a.T + np.eye(n) * 2)

    def _tensors(self, y: Any) -> Iterator[Any]:
        if isinstance(y, (tuple, list)):
            for x in y:
                yield from self._tensors(x)
        elif isinstance(y, self.paddle.Tensor) and not y.stop_gradient and y.dtype not in (
            self.paddle.int64, self.paddle.int32, self.paddle.bool):  # fmt: skip
            yield y

    def with_gradients(self, f: Any, *xs: Any) -> Any:
        paddle = self.paddle
        xs = tuple(x.detach() if isinstance(x, paddle.Tensor) else x for x in xs)
        wanted = [x for x in xs if isinstance(x, paddle.Tensor) and
                  (paddle.is_floating_point(x) or paddle.is_complex(x))]  # fmt: skip
        for x in wanted:
            x.stop_gradient = False
        y = f(*xs)
        loss = None
        for out in self._tensors(y):
            w = np.cos(np.arange(int(np.prod(out.shape))) + 1.0).reshape(out.shape)
            if paddle.is_complex(out):
                out, w = paddle.as_real(out), np.stack([w, w * 0.5], -1)
            part = (out * paddle.to_tensor(w.astype(str(out.dtype).split(".")[-1]))).sum().astype("float64")
            loss = part if loss is None else loss + part
        loss.backward()
        return y, [x.grad for x in wanted]

    def in_place(self, x: Any, statement: str) -> Any:
        scope = {**self.names, "x": x}
        exec(statement, scope)
        return scope["x"]

    def dtypes(self, names: str, *args: Any) -> str:
        return " ".join(f"{name}:{self._dtype(name, *args)}" for name in names.split())

    def _dtype(self, name: str, *args: Any) -> str:
        f = self.names.get(name) or getattr(self.paddle.Tensor, name)
        try:
            result = f(*args)
        except Exception as error:
            return type(error).__name__
        first = result[0] if isinstance(result, (tuple, list)) else result
        return str(first.dtype).rpartition(".")[2]

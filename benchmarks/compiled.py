"""Functions with their gradients, compiled, which `python -m benchmarks --compiled` compares: `rg.jit`, PyTorch eager,
torch.compile, jax.jit.

`builders(framework)` as workloads.py has it, for "native" (`rg.jit`), "torch" (eager), "torch.compile",
"retrograde.torch.compile" (the dialect's) and "jax": a step is one call with all its checks, of the value and the gradient, which
the torch programs take outside of what is compiled. The numbers come from NumPy with one seed, so that all compute the same.
The training steps at the end (steps.py) are whole: with the update of the parameters.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import steps


def builders(framework: str) -> dict[str, Callable[[], Callable[[], object]]]:
    """The functions, by name."""
    if framework == "native":
        import retrograde as rg

        given = rg, rg.asarray, rg.value_and_grad, rg.jit
    elif framework == "jax":
        import jax

        def waited(f):
            compiled = jax.jit(f)
            return lambda *args: jax.block_until_ready(compiled(*args))

        given = _Jax(jax), jax.numpy.asarray, jax.value_and_grad, waited
    else:
        if framework.startswith("retrograde."):
            import retrograde

            retrograde.activate("torch")
        import torch

        compile_ = torch.compile if framework != "torch" else lambda f: f
        given = _Torch(torch, framework == "torch.compile"), torch.tensor, _torch_gradient(torch, compile_), lambda f: f
    functions = {name: lambda p=program: _step(p, *given) for name, program in PROGRAMS.items()}
    return functions | steps.builders(framework)


def _step(program, xp, asarray, value_and_grad, compile_):
    function, arrays = program(xp)
    arrays = [asarray(a) for a in arrays]
    run = compile_(value_and_grad(function, tuple(range(len(arrays)))))
    return lambda: run(*arrays)


def _torch_gradient(torch, compile_):
    def value_and_grad(f, argnums):
        f = compile_(f)

        def run(*args):
            args = [a.detach().requires_grad_() for a in args]
            value = f(*args)
            return value, torch.autograd.grad(value, args, allow_unused=True)

        return run

    return value_and_grad


class _Torch:
    """PyTorch's functions under the names of the array-API standard."""

    def __init__(self, torch, functional: bool) -> None:
        self.torch, self.functional = torch, functional

    def __getattr__(self, name: str):
        return getattr(self.torch, name)

    def mean(self, x, axis=None, keepdims=False):
        return x.mean() if axis is None else x.mean(axis, keepdims)

    def max(self, x, axis, keepdims):
        return x.amax(axis, keepdims)

    def sum(self, x, axis=None, keepdims=False):
        return x.sum() if axis is None else x.sum(axis, keepdims)

    def grad_of(self, f, x):
        if self.functional:  # what is compiled cannot be differentiated twice from outside
            return self.torch.func.grad(lambda z: f(z).sum())(x)
        with self.torch.enable_grad():
            y = f(x)
        return self.torch.autograd.grad(y.sum(), x, create_graph=True)[0]


class _Jax:
    def __init__(self, jax) -> None:
        self.jax = jax

    def __getattr__(self, name: str):
        return getattr(self.jax.numpy, name)


def _grad(xp, f, x):
    """The derivative of an elementwise function of x, to be differentiated again."""
    if isinstance(xp, _Torch):
        return xp.grad_of(f, x if x.requires_grad or xp.functional else x.detach().requires_grad_())
    grad = xp.jax.grad if isinstance(xp, _Jax) else xp.grad
    return grad(lambda z: xp.sum(f(z)))(x)


def _numbers(*shapes, scale=1.0):
    rng = np.random.default_rng(0)
    return [(rng.normal(size=shape) * scale).astype(np.float32) for shape in shapes]


def _elementwise(n):
    def program(xp):
        return lambda x: xp.sum(xp.tanh(2 * x + 1) * xp.exp(-(x**2)) + xp.sin(x)), _numbers(n)

    return program


def _chain(xp):
    def f(x, y):
        for _ in range(100):
            x = x * y
        return xp.sum(x)

    return f, [np.linspace(0.9, 1.1, 4, dtype=np.float32), np.linspace(0.95, 1.05, 4, dtype=np.float32)]


def _rows(xp):
    def f(x, w, b):
        p = xp.exp(x - xp.max(x, axis=1, keepdims=True))
        p = p / xp.sum(p, axis=1, keepdims=True)
        centred = p - xp.mean(p, axis=1, keepdims=True)
        variance = xp.mean(centred * centred, axis=1, keepdims=True)
        y = centred / xp.sqrt(variance + 1e-5) * w + b
        return xp.sum(y * y)

    return f, _numbers((4096, 512), 512, 512)


def _mlp(batch, hidden):
    def program(xp):
        x, y, *weights = _numbers((batch, 784), (batch, 10), (784, hidden), hidden, (hidden, 10), 10, scale=0.05)
        x, y = (xp.torch.tensor(a) if isinstance(xp, _Torch) else xp.asarray(a) for a in (x, y))

        def f(w1, b1, w2, b2):
            return xp.mean((xp.matmul(xp.tanh(xp.matmul(x, w1) + b1), w2) + b2 - y) ** 2)

        return f, weights

    return program


def _second_derivative(xp):
    points, *weights = _numbers((4096, 1), (1, 64), 64, (64, 64), 64, (64, 1), 1, scale=0.3)
    x = xp.torch.tensor(points) if isinstance(xp, _Torch) else xp.asarray(points)

    def f(w1, b1, w2, b2, w3, b3):
        def u(z):
            return xp.matmul(xp.tanh(xp.matmul(xp.tanh(xp.matmul(z, w1) + b1), w2) + b2), w3) + b3

        u_xx = _grad(xp, lambda z: _grad(xp, u, z), x)
        return xp.mean((u_xx + xp.sin(x)) ** 2)

    return f, weights


PROGRAMS = {
    "elementwise 1e6": _elementwise(1_000_000), "elementwise 1e4": _elementwise(10_000), "chain of 100": _chain, "rows": _rows,
    "mlp 64": _mlp(64, 256), "mlp 512": _mlp(512, 1024), "second derivative": _second_derivative,
}  # fmt: skip

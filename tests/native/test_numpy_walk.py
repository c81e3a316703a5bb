"""A walk over NumPy's and scipy.special's functions: with recorded tensors each is right or raises, none drops a derivative."""

import contextlib
import io
import types
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import retrograde as rg

special = pytest.importorskip("scipy.special")

V = np.array([0.31, 0.573, 0.737])
M = np.array([[1.31, 0.213, 0.4177], [0.213, 1.73, 0.3377], [0.4177, 0.3377, 2.11]])
POINTS = {"vector": (V, np.cos(np.arange(3) * 1.7)), "matrix": (M, np.cos(np.arange(9).reshape(3, 3)) @ M / 3)}
POINTS["matrix"] = (M, POINTS["matrix"][1] + POINTS["matrix"][1].T)  # of eigh and cholesky, one triangle counts
MASK = [True, False, True]

Call = Callable[[Any, Any], Any]


def beside(x: Any) -> np.ndarray:
    """A constant of the same shape."""
    return np.linspace(0.417, 0.913, x.size).reshape(x.shape)


def into(f: Any, *args: Any) -> np.ndarray | None:
    """What a function makes of an array, if it changes it."""
    f(a := np.zeros(3), *args)
    return a if a.any() else None


# Ways to call a function with a tensor: those that NumPy's own arrays do not fit are passed over.
CALLS: dict[str, Call] = {
    "x": lambda f, x: f(x), "x, x": lambda f, x: f(x, x), "x, c": lambda f, x: f(x, beside(x)),
    "c, x": lambda f, x: f(beside(x), x), "x, 1": lambda f, x: f(x, 1), "1, x": lambda f, x: f(1, x),
    "[x, x]": lambda f, x: f([x, x]), "x, x, x": lambda f, x: f(x, x, x), "1, x, x": lambda f, x: f(1, x, x),
    "0.5, 2, x": lambda f, x: f(0.5, 2, x),
    "mask, x": lambda f, x: f() if isinstance(f, np.ufunc) else f(MASK, x), "x, mask": lambda f, x: f(x, MASK),
    "x0": lambda f, x: f(x[0]), "x0, x1": lambda f, x: f(x[0], x[1]), "[x0, x1]": lambda f, x: f([x[0], x[1]]),
    "x0, x1, 4": lambda f, x: f(x[0], x[1], 4), "x0, x1, x2": lambda f, x: f(x[0], x[1], x[2]),
    "2, x0": lambda f, x: f((2,), x[0]), "x, float": lambda f, x: f(x, float) if f in OF_DTYPES else f(),
    "f[x]": lambda f, x: f[x], "f[x, x]": lambda f, x: f[x, x],
    "axes": lambda f, x: f(np.sum, 0, x) if f in OF_FUNCTIONS else f(),
    "function": lambda f, x: f(x, [x > 0.5], [lambda v: v * 2, np.sin]), "...": lambda f, x: f("...->...", x),
    "a, x": lambda f, x: into(f, x), "a, mask, x": lambda f, x: into(f, MASK, x),
    "a, at, x": lambda f, x: into(f, [0, 1, 2], x),
}  # fmt: skip
OF_MATRICES = ("x", "x, x", "x, c", "x, 1", "[x, x]", "axes", "...")
OF_FUNCTIONS = (np.apply_along_axis, np.apply_over_axes)
OF_DTYPES = (np.array, np.asarray, np.asanyarray, np.ascontiguousarray, np.fromiter, np.require, np.full_like, np.astype)

WAYS_OUT = {
    # NumPy's class derives from Python's: np.float64(x) is float(x), the program's own way out.
    "np.float64", "np.double", "np.complex64", "np.complex128", "np.csingle", "np.cdouble",
    # What nobody has set is not to be compared, and bmat gives None for what it does not know.
    "np.empty", "np.empty_like", "np.ndarray", "np.bmat",
}  # fmt: skip
NOT_CALLED = {
    "test", "info", "save", "savez", "savez_compressed", "savetxt", "load", "loadtxt", "genfromtxt", "fromfile", "memmap",
    "set_printoptions", "printoptions", "seterr", "seterrcall", "setbufsize", "errstate", "show_config", "show_runtime",
    # one result written over another, results with steps, a name of a dtype
    "modf", "fix", "frexp", "divmod", "mintypecode",
}  # fmt: skip


def functions() -> Iterator[tuple[str, Any]]:
    for prefix, module in (("np", np), ("np.linalg", np.linalg), ("np.fft", np.fft), ("scipy.special", special)):
        for name in sorted(set(module.__all__) - NOT_CALLED):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                f = getattr(module, name)
            if not isinstance(f, types.ModuleType) and (callable(f) or hasattr(f, "__getitem__")):
                yield f"{prefix}.{name}", f


def numbers(y: Any) -> list[Any]:
    """The floating results among what a function returned."""
    if isinstance(y, (tuple, list)):
        return [part for each in y for part in numbers(each)]
    if isinstance(y, (rg.Tensor, np.ndarray, np.generic, float, complex)):
        return [y] if (y if hasattr(y, "dtype") else np.asarray(y)).dtype.kind in "fc" else []
    return []


def weighted(ys: list[Any]) -> Any:
    """One number that depends on every element."""
    total: Any = 0.0
    for k, y in enumerate(ys):
        weights = np.cos(np.arange(np.size(y)) + 1.0 + k).reshape(np.shape(y))
        part = (y if isinstance(y, rg.Tensor) else np.asarray(y)) * weights
        total = total + part.real.sum() + (part.imag.sum() if part.dtype.kind == "c" else 0.0)
    return total


def plain(x: Any) -> np.ndarray:
    return np.asarray(x.detach() if isinstance(x, rg.Tensor) else x)


REMEDIES = (
    "detach()", "write x = x + y", "not 'Tensor'", "only integers are", "only integer scalar", "as an integer",
    "wanted numbers, arrays", "wanted a tensor with one element", "float() argument",
)  # fmt: skip


def names_the_remedy(error: BaseException | None, name: str) -> bool:
    """Whether an error says which function it is about, or what to do; NumPy puts its own around what our classes raise,
    and SciPy refuses some arguments itself."""
    while error is not None:
        text = str(error)
        if isinstance(error, rg.RetrogradeError) or name in text or any(part in text for part in REMEDIES):
            return True
        trace = error.__traceback__
        while trace is not None and trace.tb_next is not None:
            trace = trace.tb_next
        if trace is not None and trace.tb_frame.f_globals["__name__"].startswith(("numpy", "scipy")):
            return True
        error = error.__cause__
    return False


def problems(name: str, f: Any, call: Call, x: np.ndarray, d: np.ndarray) -> Iterator[tuple[str, Any]]:
    h = 1e-6
    try:
        values = [np.array(y) for y in numbers(call(f, x.copy()))]
        slope = (weighted(numbers(call(f, x + h * d))) - weighted(numbers(call(f, x - h * d)))) / (2 * h)
    except Exception:
        return
    if not values:  # nothing that has a derivative
        return
    expected = weighted(values)

    def on_the_tape() -> Any:
        t = rg.asarray(x.copy(), requires_grad=True)
        found = numbers(call(f, t))
        assert len(found) == len(values)
        for y, e in zip(found, values):
            np.testing.assert_allclose(plain(y), e, rtol=1e-7, atol=1e-12)
        total = weighted(found)
        if not getattr(total, "requires_grad", False):
            return 0.0
        total.backward()
        return 0.0 if t.grad is None else (t.grad.numpy() * d).sum()

    def in_grad() -> Any:
        return (rg.grad(lambda t: rg.asarray(weighted(numbers(call(f, t)))))(x.copy()).numpy() * d).sum()

    def in_jvp() -> Any:
        return rg.jvp(lambda t: weighted(numbers(call(f, t))), (x.copy(),), (d,))[1].numpy()

    def in_vmap() -> Any:
        found = rg.vmap(lambda t: weighted(numbers(call(f, t))))(np.stack([x, x]))
        np.testing.assert_allclose(found.numpy(), [expected, expected], rtol=1e-6)
        return slope

    for mode in (on_the_tape, in_grad, in_jvp, in_vmap):
        try:
            found = mode()
        except AssertionError as error:
            yield mode.__name__, error
        except Exception as error:
            if not names_the_remedy(error, getattr(f, "__name__", name)):
                yield mode.__name__, error
        else:
            if np.isfinite(slope) and not np.allclose(found, slope, rtol=1e-3, atol=1e-5):
                yield mode.__name__, f"the derivative is {found}, not {slope}"


def test_nothing_is_dropped() -> None:
    wrong: list[str] = []
    with warnings.catch_warnings(), np.errstate(all="ignore"), contextlib.redirect_stderr(io.StringIO()):
        warnings.simplefilter("ignore")
        for name, f in functions():
            if name in WAYS_OUT:
                continue
            for how, call in CALLS.items():
                for kind, (x, d) in POINTS.items():
                    if kind == "matrix" and how not in OF_MATRICES:
                        continue
                    for mode, problem in problems(name, f, call, x, d):
                        wrong.append(f"{name}({how}) of a {kind}, {mode}: {type(problem).__name__} {str(problem)[:300]}")
    assert not wrong, "\n".join(wrong)

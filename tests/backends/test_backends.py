"""Array libraries beside NumPy: every primitive on their arrays, value and gradient, against NumPy's.

LIBRARY-xfails.txt lists the primitives that do not run on a library yet, with the reason, dask-whole.txt those that need whole
arrays of some sample of theirs, which a Dask array in blocks refuses unless that is allowed. A test skips where the
library is not installed. `python tests/backends/test_backends.py LIBRARY` writes the list anew, keeping its reasons.
"""

from __future__ import annotations

import importlib
import pkgutil
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import retrograde as rg
import retrograde.ops
from retrograde.backend import backend_of
from retrograde.backend.standard import StandardBackend
from retrograde.core.primitive import PRIMITIVES
from retrograde.learn import accumulating, updates

for module in pkgutil.walk_packages(retrograde.ops.__path__, "retrograde.ops."):
    importlib.import_module(module.name)

NAMES = sorted(name for name, prim in PRIMITIVES.items() if prim.module.startswith("retrograde.ops"))
LIBRARIES = ["array_api_strict", "cupy", "dask", "torch"]
HERE = Path(__file__).parent


def arrays_of(library: str) -> Callable[[np.ndarray], Any]:
    """What makes an array of a library from one of NumPy's; skips where it is not installed or has no device."""
    if library == "array_api_strict":
        strict = pytest.importorskip("array_api_strict", reason="array-api-strict is not installed")
        strict.set_array_api_strict_flags(api_version="2024.12")  # as tests/array_api asks for, in one process or not
        # Its second device stands for a GPU: there nothing is converted to NumPy's, or moved beside another one, in silence.
        return lambda x: strict.asarray(x, device=strict.Device("device1"))
    if library == "dask":
        da = pytest.importorskip("dask.array", reason="dask is not installed")
        return lambda x: da.from_array(x, chunks=2) if x.ndim else da.asarray(x)
    if library == "torch":
        torch = pytest.importorskip("torch", reason="PyTorch is not installed")
        if not hasattr(torch, "_C"):
            pytest.skip("the name torch stands for the dialect in this process")
        return lambda x: torch.from_numpy(x.copy())
    cupy = pytest.importorskip("cupy", reason="CuPy is not installed")
    try:
        cupy.cuda.runtime.getDeviceCount()
    except cupy.cuda.runtime.CUDARuntimeError:
        pytest.skip("there is no CUDA device")
    return cupy.asarray


def expected_failures(library: str) -> dict[str, str]:
    lines = (HERE / f"{library}-xfails.txt").read_text().splitlines()
    pairs = (line.partition("#") for line in lines if line.strip() and not line.startswith("#"))
    return {name.strip(): reason.strip() for name, _, reason in pairs}


def check(name: str, wrap: Callable[[np.ndarray], Any]) -> None:
    """Value and gradient of every sample of a primitive on a library's arrays are NumPy's."""
    prim = PRIMITIVES[name]
    for operands, params in prim.samples():
        with np.errstate(all="ignore"):
            expected = evaluate(prim, operands, params, rg.asarray)
            found = evaluate(prim, operands, params, lambda x, **kw: rg.asarray(wrap(x), **kw))
        assert len(found) == len(expected)
        for y, e in zip(found, expected):
            if e is None:
                assert y is None
                continue
            assert y.shape == e.shape, (y.shape, e.shape)
            assert y.dtype == e.dtype, (y.dtype, e.dtype)
            np.testing.assert_allclose(y, e, rtol=1e-7, atol=1e-9)  # libraries differ in lgamma and the like


def evaluate(prim: Any, operands: Any, params: Any, tensor: Callable[..., Any]) -> list[Any]:
    """The outputs of a primitive, and the gradients of its operands, as NumPy arrays."""
    given = [
        None if x is None else tensor(x, requires_grad=prim.differentiable and np.asarray(x).dtype.kind in "fc")
        for x in operands
    ]
    out = prim.op(*given, **params)
    outs = list(out) if prim.multi else [out]
    results = [backend_of(y._a).to_host(y._a) for y in outs]
    if not prim.differentiable or prim.tolerances.get("gauge"):
        return results if not prim.tolerances.get("gauge") else [np.zeros(r.shape) for r in results]
    roots = [y for y in outs if y._node is not None]
    if not roots:
        return results
    leaves = [x for x in given if x is not None and x.requires_grad]
    seeds = [tensor(pattern(y)) for y in roots]
    for y in outs:
        assert backend_of(y._a).device_of(y._a) == backend_of(leaves[0]._a).device_of(leaves[0]._a)
    grads = rg.autograd.grad(roots, leaves, seeds, allow_unused=True)
    return results + [None if g is None else backend_of(g._a).to_host(g._a) for g in grads]


def pattern(y: rg.Tensor) -> np.ndarray:
    return np.cos(np.arange(y.size)).reshape(y.shape).astype(y.dtype)


def outcome(name: str, wrap: Callable[[np.ndarray], Any], refused: set[str] | None = None) -> str:
    """Why a primitive fails on a library, empty if it does not; what is refused until it is allowed goes into `refused`."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            check(name, wrap)
    except rg.UnsupportedError as error:
        if refused is None or "needs the whole" not in str(error):
            return f"UnsupportedError: {error}"[:110]
        refused.add(name)
        with rg.allow_whole():
            return outcome(name, wrap)
    except Exception as error:
        return f"{type(error).__name__}: {str(error).strip().splitlines()[0] if str(error).strip() else ''}"[:110]
    return ""


beside, from_host, to_host = StandardBackend.beside, StandardBackend.from_host, StandardBackend.to_host


def numbers_only(backend: Any, prim: Any, host: Any, arrays: Any) -> Any:
    """In place of `beside`: a rule makes its constants where its operands are, and not in NumPy."""
    assert not host.ndim, f"an array of NumPy's in the middle of {prim.name}"
    return beside(backend, prim, host, arrays)


def no_numbers(backend: Any, array: np.ndarray, like: Any) -> Any:
    """In place of `from_host`: a number goes to a device as an argument, without a transfer that waits for it."""
    assert array.ndim, f"the number {array} moved to a device"
    return from_host(backend, array, like)


@pytest.fixture(autouse=True)
def from_the_second_device(monkeypatch: pytest.MonkeyPatch) -> None:
    """The standard has no function that takes an array from a device to NumPy, which tests need."""

    def taken(backend: Any, array: Any) -> np.ndarray:
        strict = sys.modules.get("array_api_strict")
        if backend.xp is not strict:
            return to_host(backend, array)
        return np.asarray(strict.asarray(array.array, device=strict.Device("CPU_DEVICE")))

    monkeypatch.setattr(StandardBackend, "to_host", taken)


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("part", range(8))
def test_primitives(library: str, part: int, monkeypatch: pytest.MonkeyPatch) -> None:
    wrap, listed = arrays_of(library), expected_failures(library)
    if library == "array_api_strict":
        monkeypatch.setattr(StandardBackend, "beside", numbers_only)
        monkeypatch.setattr(StandardBackend, "from_host", no_numbers)
    refused: set[str] = set()
    found = {name: outcome(name, wrap, refused) for name in NAMES[part::8]}
    whole = set((HERE / "dask-whole.txt").read_text().split()) if library == "dask" else set()
    assert refused == whole & set(NAMES[part::8]), "dask-whole.txt lists what does not go in pieces"
    broken = {name: why for name, why in found.items() if why and name not in listed}
    assert not broken, f"not listed in {library}-xfails.txt: {broken}"
    mended = [name for name, why in found.items() if not why and name in listed]
    assert not mended, f"run now, take them out of {library}-xfails.txt: {mended}"


@pytest.mark.parametrize("library", LIBRARIES)
def test_update_rules(library: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The steps of optimisers, which the table gets from learn/: their coefficients are made where the parameters are."""
    wrap = arrays_of(library)
    if library == "array_api_strict":
        monkeypatch.setattr(StandardBackend, "beside", numbers_only)
        monkeypatch.setattr(StandardBackend, "from_host", no_numbers)
    for rule in (updates.adam, updates.sgd, updates.radam, accumulating.rprop, accumulating.asgd):
        assert not (why := outcome(rule.step.prim.name, wrap)), (rule, why)


@pytest.mark.parametrize("library", LIBRARIES)
def test_listed_primitives_exist(library: str) -> None:
    assert set(expected_failures(library)) <= set(PRIMITIVES)


@pytest.mark.parametrize("library", LIBRARIES)
def test_a_tensor_around_an_array(library: str) -> None:
    wrap = arrays_of(library)
    a = np.linspace(0.1, 1.2, 6).reshape(2, 3)
    x = rg.asarray(wrap(a), requires_grad=True)
    y = rg.sum(rg.exp(x) * 2.0 - x / 3 + rg.tanh(x) ** 2, axis=1)
    assert y.shape == (2,)
    assert y.dtype == np.float64
    y.sum().backward()
    t = np.tanh(a)
    expected = 2 * np.exp(a) - 1 / 3 + 2 * t * (1 - t * t)
    np.testing.assert_allclose(x.grad.numpy(), expected)
    (x * x).sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), expected + 2 * a)
    np.testing.assert_allclose(np.sin(x).detach().numpy(), np.sin(a))
    np.testing.assert_allclose((x.detach() + rg.asarray(wrap(a))).numpy(), 2 * a)
    np.testing.assert_allclose(rg.take(x.detach(), np.array([1, 0]), axis=0).numpy(), a[::-1])
    if library == "dask":  # what is deferred takes a snapshot
        later = x.detach() + (host := a.copy())
        host[...] = 0
        np.testing.assert_allclose(later.numpy(), 2 * a)
    else:
        with pytest.raises(TypeError, match=f"NumPy.* beside one of {library}; move one"):
            x.detach() + a
    assert rg.asarray(wrap(np.array(2.5))).item() == 2.5


@pytest.mark.parametrize("library", LIBRARIES)
def test_transforms(library: str) -> None:
    wrap = arrays_of(library)
    a = np.linspace(0.1, 1.2, 4)

    def f(x: Any) -> Any:
        return rg.sum(x * x * x)

    x = rg.asarray(wrap(a))
    np.testing.assert_allclose(rg.grad(f)(x).numpy(), 3 * a * a)
    np.testing.assert_allclose(rg.jvp(f, (x,), (rg.asarray(wrap(np.ones(4))),))[1].numpy(), (3 * a * a).sum())
    np.testing.assert_allclose(rg.grad(lambda v: rg.sum(rg.grad(f)(v) ** 2))(x).numpy(), 36 * a**3)
    np.testing.assert_allclose(rg.vmap(rg.grad(lambda t: t * t))(x).numpy(), 2 * a)


@pytest.mark.parametrize("library", LIBRARIES)
def test_in_place(library: str) -> None:
    wrap = arrays_of(library)
    x = rg.asarray(wrap(np.ones(4)), requires_grad=True)
    y = x * 2.0
    view = y[1:3]
    view *= 5.0
    y[0] = 7.0
    y += 1.0
    np.testing.assert_allclose(y.detach().numpy(), [8, 11, 11, 3])
    y.sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), [0, 10, 10, 2])


def test_an_unknown_library_is_refused() -> None:
    class Array:
        shape, dtype = (2,), np.dtype(float)

    with pytest.raises(rg.UnsupportedError, match="register"):
        backend_of(Array())


if __name__ == "__main__":
    library = sys.argv[1]
    path = HERE / f"{library}-xfails.txt"
    reasons = expected_failures(library) if path.exists() else {}
    wrapper = arrays_of(library)
    needy: set[str] = set()
    failures = {name: why for name in NAMES if (why := outcome(name, wrapper, needy))}
    if library == "dask":
        (HERE / "dask-whole.txt").write_text("\n".join(sorted(needy)) + "\n")
    head = (
        f"# Primitives that do not run on {library} yet: the first error of each. {len(failures)} of {len(NAMES)}."
    )
    path.write_text("\n".join([head, *(f"{n} # {reasons.get(n, why)}" for n, why in failures.items())]) + "\n")
    print(head)

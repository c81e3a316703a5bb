"""Array libraries beside NumPy: every primitive on their arrays, value and gradients of both orders, against NumPy's.

LIBRARY-xfails.txt lists the primitives that do not run on a library yet, with the reason, dask-whole.txt those that need whole
arrays of some sample of theirs, which a Dask array in blocks refuses unless that is allowed. A test skips where the
library is not installed. `python tests/backends/test_backends.py LIBRARY` writes the list anew, keeping its reasons.
"""

from __future__ import annotations

import importlib
import pickle
import pkgutil
import sys
import warnings
from collections.abc import Callable, Sequence
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


def check(name: str, wrap: Callable[[np.ndarray], Any], second: bool = True) -> None:
    """Value, gradient and second derivative of every sample of a primitive on a library's arrays are NumPy's."""
    prim = PRIMITIVES[name]
    for operands, params in prim.samples():
        with np.errstate(all="ignore"):
            expected = evaluate(prim, operands, params, rg.asarray, second)
            found = evaluate(prim, operands, params, lambda x, **kw: rg.asarray(wrap(x), **kw), second)
        assert len(found) == len(expected)
        for y, e in zip(found, expected):
            if e is None:
                assert y is None
                continue
            assert y.shape == e.shape, (y.shape, e.shape)
            assert y.dtype == e.dtype, (y.dtype, e.dtype)
            np.testing.assert_allclose(y, e, rtol=1e-7, atol=1e-9)  # libraries differ in lgamma and the like


def evaluate(prim: Any, operands: Any, params: Any, tensor: Callable[..., Any], second: bool) -> list[Any]:
    """The outputs of a primitive, the gradients of its operands and the gradients of those, as NumPy arrays."""
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
    grads = rg.autograd.grad(roots, leaves, seeds, allow_unused=True, create_graph=True)
    active = [g for g in grads if g is not None and g._node is not None]
    again: Sequence[Any] = []
    if active and second and prim.tolerances.get("second") is not False:
        again = rg.autograd.grad(active, leaves, [tensor(pattern(g)) for g in active], allow_unused=True)
    return results + [None if g is None else backend_of(g._a).to_host(g._a) for g in (*grads, *again)]


def pattern(y: rg.Tensor) -> np.ndarray:
    return np.cos(np.arange(y.size)).reshape(y.shape).astype(y.dtype)


def outcome(
    name: str, wrap: Callable[[np.ndarray], Any], refused: set[str] | None = None, second: bool = True
) -> str:
    """Why a primitive fails on a library, empty if it does not; what is refused until it is allowed goes into `refused`."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            check(name, wrap, second)
    except rg.UnsupportedError as error:
        if refused is None or "needs the whole" not in str(error):
            return f"UnsupportedError: {error}"[:110]
        refused.add(name)
        with rg.allow_whole():
            return outcome(name, wrap, second=second)
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
    found = {name: outcome(name, wrap, refused, second=library != "dask") for name in NAMES[part::8]}
    whole = set((HERE / "dask-whole.txt").read_text().split()) if library == "dask" else set()
    assert refused == whole & set(NAMES[part::8]), "dask-whole.txt lists what does not go in pieces"
    broken = {name: why for name, why in found.items() if why and name not in listed}
    assert not broken, f"not listed in {library}-xfails.txt: {broken}"
    mended = [name for name, why in found.items() if not why and name in listed]
    assert not mended, f"run now, take them out of {library}-xfails.txt: {mended}"


@pytest.mark.long
@pytest.mark.parametrize("part", range(8))
def test_second_derivatives_on_dask(part: int) -> None:
    """What `test_primitives` leaves out there, since graphs of second derivatives take a minute."""
    wrap, listed = arrays_of("dask"), expected_failures("dask")
    refused: set[str] = set()
    broken = {name: why for name in NAMES[part::8] if name not in listed and (why := outcome(name, wrap, refused))}
    assert not broken
    assert refused - {"prod"} == set((HERE / "dask-whole.txt").read_text().split()) & set(NAMES[part::8])


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
        with pytest.raises(TypeError, match=f"NumPy.* beside one of {library} on .*; move one"):
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


OTHERS = [library for library in LIBRARIES if library != "dask"]


@pytest.mark.parametrize("library", LIBRARIES)
def test_the_array_comes_out_as_it_went_in(library: str) -> None:
    array = arrays_of(library)(np.arange(6.0, dtype=np.float32).reshape(2, 3))
    x = rg.asarray(array)
    assert type(x.data) is type(array)
    assert backend_of(x._a).device_of(x._a) == x.device
    again = pickle.loads(pickle.dumps(x))
    assert type(again.data) is type(array)
    assert again.dtype == np.float32
    np.testing.assert_array_equal(again.numpy(), x.numpy())
    recorded = rg.asarray(array, requires_grad=True) * 2
    with pytest.raises(rg.GradError, match="data: this tensor is recorded"):
        _ = recorded.data
    with pytest.raises(BufferError):
        recorded.__dlpack__()
    with pytest.raises(rg.UnsupportedError, match="inside vmap"):
        rg.vmap(lambda row: row.data)(x)


@pytest.mark.parametrize("library", OTHERS)
def test_arrays_are_made_where_another_one_is(library: str) -> None:
    wrap = arrays_of(library)
    x = rg.asarray(wrap(np.arange(6.0, dtype=np.float32).reshape(2, 3)))
    moved = rg.asarray(np.ones((2, 3), np.float32), like=x)
    there: dict[str, Any] = {"dtype": np.float32, "device": x.device}
    made = [rg.zeros(3, **there), rg.full((2,), 7, **there), rg.arange(3, **there), rg.linspace(0, 1, 3, **there)]
    made += [rg.eye(2, **there), rg.asarray([1.0], **there), rg.asarray(rg.ones(2), **there), moved]
    made += [rg.zeros_like(x), rg.zeros_like(x, device=x.device), rg.ones_like(x), rg.full_like(x, 2), np.zeros_like(x)]
    for y in (*made, rg.empty_like(x, shape=(2,))):
        assert type(y.data) is type(x.data)
        assert y.device == x.device
        assert y.dtype == np.float32
    np.testing.assert_array_equal((x + moved).numpy(), np.arange(1.0, 7).reshape(2, 3))
    assert rg.asarray(x, like=moved) is x
    assert type(rg.asarray(moved, like=np.zeros(1)).data) is np.ndarray
    with pytest.raises(rg.GradError, match="like"):
        rg.asarray(rg.ones(3, dtype=np.float32).requires_grad_() * 2, like=x)
    for seen in (x.requires_grad_() * 2, x.sum()):  # the seeds of a backward pass, and gradients
        (g,) = rg.autograd.grad(seen, x, None if not seen.shape else moved)
        assert type(g.data) is type(x.detach().data)
        assert g.device == x.device
        assert g.dtype == np.float32


@pytest.mark.parametrize("library", OTHERS)
def test_nothing_goes_to_numpy_unasked(library: str, monkeypatch: pytest.MonkeyPatch) -> None:
    wrap = arrays_of(library)
    a = np.array([[3.0, 1.0, 2.0], [1.0, np.nan, 3.0]])
    n = np.array([[3, 1, 2], [1, 0, 3]])
    x, i = rg.asarray(wrap(a)), rg.asarray(wrap(n))

    def moves(*_: Any) -> Any:
        raise AssertionError("elements were copied to NumPy")

    with monkeypatch.context() as patched:
        patched.setattr(type(backend_of(x._a)), "to_host", moves)
        found = {
            "mask": x[x > 1], "nonzero": rg.nonzero(i)[1], "powers": i**i, "sorted": rg.sort(i, axis=1), "rows": x[i[:, 0] % 2],
            "distinct": rg.unique_values(i), "inverse": rg.unique_inverse(i)[1], "counts": rg.unique_counts(i)[1],
            "first": rg.unique_all(i)[1], "every nan": rg.unique_values(x), "one nan": np.unique(x),
        }  # fmt: skip
        close = rg.allclose(x, x), rg.allclose(x, x, equal_nan=True)
        x[x > 2] = 0.0
    values, first, inverse, counts = np.unique(n, return_index=True, return_inverse=True, return_counts=True)
    expected = {
        "mask": a[a > 1], "nonzero": n.nonzero()[1], "powers": n**n, "sorted": np.sort(n, axis=1), "rows": a[n[:, 0] % 2],
        "distinct": values, "inverse": inverse.reshape(n.shape), "counts": counts, "first": first,
        "every nan": np.unique(a, equal_nan=False), "one nan": np.unique(a),
    }  # fmt: skip
    for name, y in found.items():
        np.testing.assert_array_equal(backend_of(y._a).to_host(y._a), expected[name], err_msg=name)
    assert close == (False, True)
    np.testing.assert_array_equal(backend_of(x._a).to_host(x._a), np.where(a > 2, 0, a))


@pytest.mark.parametrize("library", OTHERS)
def test_numpy_gets_no_copy_from_a_device(library: str) -> None:
    x = rg.asarray(arrays_of(library)(np.ones(3)))
    if backend_of(x._a).on_host(x._a):
        assert np.asarray(x).tolist() == [1, 1, 1]
    else:
        with pytest.raises(TypeError, match=r"the elements are on .* numpy\(\) makes one"):
            np.asarray(x)


def test_pytorch_shares_its_memory_with_tensors() -> None:
    arrays_of("torch")
    torch = importlib.import_module("torch")
    a = torch.arange(6.0).reshape(2, 3)
    x = rg.asarray(a)
    assert torch.as_tensor(x).data_ptr() == torch.from_dlpack(x).data_ptr() == x.data.data_ptr() == a.data_ptr()
    assert torch.from_dlpack(rg.asarray(x, copy=True)).data_ptr() != a.data_ptr()
    for dtype in (torch.bfloat16, torch.float16, torch.float32, torch.float64, torch.complex64):
        b = rg.asarray(a.to(dtype), requires_grad=True)
        y = rg.sum(rg.abs(b * b))
        assert (b * 2).detach().data.dtype is dtype
        assert rg.autograd.grad(y, b)[0].data.dtype is dtype
    assert x[torch.tensor([1])].shape == (1, 3)
    with pytest.raises(rg.GradError, match=r"autograd has recorded.*detach\(\)"):
        rg.asarray(a.requires_grad_() * 2)


def test_an_unknown_library_is_refused() -> None:
    class Array:
        shape, dtype = (2,), np.dtype(float)

    with pytest.raises(rg.UnsupportedError, match=r"register.*docs/backends/writing-one\.md"):
        backend_of(Array())


if __name__ == "__main__":
    library = sys.argv[1]
    path = HERE / f"{library}-xfails.txt"
    reasons = expected_failures(library) if path.exists() else {}
    wrapper = arrays_of(library)
    needy: set[str] = set()
    failures = {name: why for name in NAMES if (why := outcome(name, wrapper, needy, second=library != "dask"))}
    if library == "dask":
        (HERE / "dask-whole.txt").write_text("\n".join(sorted(needy)) + "\n")
    head = (
        f"# Primitives that do not run on {library} yet: the first error of each. {len(failures)} of {len(NAMES)}."
    )
    path.write_text("\n".join([head, *(f"{n} # {reasons.get(n, why)}" for n, why in failures.items())]) + "\n")
    print(head)

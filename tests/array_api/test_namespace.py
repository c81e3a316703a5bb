"""The namespace has what the standard lists, with parameters that take what the standard lets callers give."""

import inspect
from typing import Any

import numpy as np
import pytest

strict = pytest.importorskip("array_api_strict", reason="the reference implementation is not installed")

import retrograde as rg  # noqa: E402 - after what decides whether there is anything to test

# Of array_api_strict itself, or of the draft after 2024.12.
NOT_IN_THE_STANDARD = {
    "Device", "set_array_api_strict_flags", "get_array_api_strict_flags", "reset_array_api_strict_flags",
    "ArrayAPIStrictFlags", "broadcast_shapes", "isin", "__version__",
}  # fmt: skip
CONSTANTS = {"e": np.e, "pi": np.pi, "inf": np.inf, "newaxis": None}

strict.set_array_api_strict_flags(api_version="2024.12")


def functions(ours: Any, theirs: Any) -> list[Any]:
    names = [n for n in theirs.__all__ if n not in NOT_IN_THE_STANDARD and inspect.isfunction(getattr(theirs, n, None))]
    return [pytest.param(ours, theirs, n, id=n) for n in sorted(names)]


@pytest.mark.parametrize(
    ("ours", "theirs", "name"),
    functions(rg, strict) + functions(rg.linalg, strict.linalg) + functions(rg.fft, strict.fft),
)
def test_signature(ours: Any, theirs: Any, name: str) -> None:
    wanted = list(inspect.signature(getattr(theirs, name)).parameters.values())
    found = inspect.signature(getattr(ours, name)).parameters
    positions = [p for p in found.values() if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    for i, p in enumerate(wanted):
        if p.kind == p.VAR_POSITIONAL:
            assert any(q.kind == q.VAR_POSITIONAL for q in found.values())
            continue
        if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD):
            assert i < len(positions), f"{name}: {p.name} cannot be given by position"
        if p.kind in (p.KEYWORD_ONLY, p.POSITIONAL_OR_KEYWORD):
            assert p.name in found, f"{name} has no parameter {p.name}"
            assert found[p.name].kind in (p.KEYWORD_ONLY, p.POSITIONAL_OR_KEYWORD)
        if p.default is not p.empty:
            q = found.get(p.name) or positions[i]
            assert q.default is not q.empty, f"{name}: {p.name} has no default"
    for q in found.values():
        if q.default is q.empty and q.kind == q.KEYWORD_ONLY:
            assert q.name in [p.name for p in wanted], f"{name}: {q.name} must be given"


def test_every_name_is_there() -> None:
    for ours, theirs in ((rg, strict), (rg.linalg, strict.linalg), (rg.fft, strict.fft)):
        missing = [n for n in theirs.__all__ if n not in NOT_IN_THE_STANDARD and not hasattr(ours, n)]
        assert not missing
    assert all(hasattr(rg, n) for n in rg.__all__)
    assert rg.__array_api_version__ == "2024.12"


def test_constants() -> None:
    for name, x in CONSTANTS.items():
        assert getattr(rg, name) == x
    assert np.isnan(rg.nan)


def test_attributes_of_the_array() -> None:
    standard = [
        n for n in dir(strict.zeros(1)) if n not in ("__buffer__",) and (not n.startswith("_") or n.startswith("__"))
    ]
    assert not [n for n in standard if not hasattr(rg.Tensor, n)]
    x = rg.zeros((2, 3), dtype=rg.float32)
    assert (x.shape, x.ndim, x.size, x.dtype, x.device) == ((2, 3), 2, 6, rg.float32, "cpu")
    assert x.to_device("cpu") is x
    with pytest.raises(ValueError, match="gpu"):
        x.to_device("gpu")
    assert x.__array_namespace__() is rg
    assert x.__array_namespace__(api_version="2024.12") is rg
    with pytest.raises(ValueError, match="1999"):
        x.__array_namespace__(api_version="1999.12")


def test_info() -> None:
    info = rg.__array_namespace_info__()
    assert info.default_device() == "cpu"
    assert info.devices() == ["cpu"]
    assert set(info.capabilities()) == {"boolean indexing", "data-dependent shapes", "max dimensions"}
    assert info.default_dtypes()["real floating"] == rg.zeros(1).dtype
    assert info.default_dtypes()["integral"] == rg.asarray(1).dtype
    assert info.default_dtypes()["indexing"] == rg.argmax(rg.zeros(2)).dtype
    assert set(info.dtypes()) == set(strict.__array_namespace_info__().dtypes())
    for kind in ("bool", "signed integer", "real floating", ("bool", "complex floating")):
        assert set(info.dtypes(kind=kind)) == set(strict.__array_namespace_info__().dtypes(kind=kind))


def test_devices_that_do_not_exist() -> None:
    for call in (
        lambda: rg.zeros(2, device="gpu"),
        lambda: rg.asarray(1, device="gpu"),
        lambda: rg.arange(2, device="gpu"),
    ):
        with pytest.raises(ValueError, match="gpu"):
            call()
    assert rg.zeros(2, device="cpu").shape == (2,)


def test_compat_recognises_the_namespace() -> None:
    compat = pytest.importorskip("array_api_compat")
    assert compat.array_namespace(rg.zeros(1), rg.ones(2)) is rg
    assert compat.is_array_api_obj(rg.zeros(1))


def test_hypothesis_draws_arrays_of_the_namespace() -> None:
    """The public suite draws its arrays so."""
    from hypothesis import given, settings
    from hypothesis.extra import array_api

    xps = array_api.make_strategies_namespace(rg, api_version="2024.12")

    @settings(max_examples=30, deadline=None)
    @given(xps.arrays(xps.scalar_dtypes(), xps.array_shapes(min_dims=0, max_side=4)))
    def check(x: Any) -> None:
        assert isinstance(x, rg.Tensor)
        assert rg.asarray(x, copy=True).shape == x.shape

    check()

    @settings(max_examples=10, deadline=None)
    @given(xps.arrays(rg.float64, (3, 2), unique=True), xps.indices((3, 2), allow_newaxis=True))
    def check_unique(x: Any, key: Any) -> None:
        assert rg.unique_values(x).shape == (6,)
        assert x[key].ndim >= 0

    check_unique()

"""Array types and functions of other packages with Tensors, where installed: xarray, scikit-learn, `sparse`."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.sparse

import retrograde as rg

X = np.arange(6.0).reshape(2, 3) + 1.3

OF_XARRAY: dict[str, Callable[[Any], Any]] = {
    "arithmetic": lambda d: np.exp(-d) * d**2 + d.isel(a=0),
    "reductions": lambda d: d.mean() + d.std("b") + d.max("b") + d.prod("b") + d.median("b") + d.quantile(0.3, "b"),
    "labels": lambda d: d.sel(b=20) * d.isel(b=[0, 2]) + d.reindex(b=[10, 30], fill_value=0),
    "missing": lambda d: d.where(d > 3).sum("a") + d.fillna(0).cumsum("b"),
    "shapes": lambda d: d.transpose("b", "a") * d.stack(z=("a", "b")).unstack("z").shift(b=1, fill_value=0),
    "pairs": lambda d: d.dot(d, dim="b") + d.diff("b").sum("b") + d.clip(2, 4).pad(b=1, constant_values=0).sum("b"),
}


@pytest.mark.parametrize("name", OF_XARRAY)
def test_xarray_keeps_gradients(name: str) -> None:
    xarray = pytest.importorskip("xarray", reason="xarray is not installed")

    def named(x: Any) -> Any:
        return OF_XARRAY[name](xarray.DataArray(x, dims=("a", "b"), coords={"b": [10, 20, 30]}))

    x = rg.asarray(X, requires_grad=True)
    y = named(x)
    assert isinstance(y.data, rg.Tensor)
    np.testing.assert_allclose(y.data.detach().numpy(), named(X).values)
    (g,) = rg.autograd.grad(rg.sum(y.data**2), x)
    direction, step = np.cos(X), 1e-6
    slope = (((named(X + step * direction) ** 2).sum() - (named(X - step * direction) ** 2).sum()) / (2 * step)).item()
    np.testing.assert_allclose(float(rg.sum(g * direction)), slope, rtol=1e-6)
    with pytest.raises(rg.GradError, match="detach"):
        _ = y.values


# scikit-learn reads SCIPY_ARRAY_API from the environment once.
SKLEARN = """
import sys
import numpy as np, retrograde as rg, sklearn
from sklearn import decomposition, linear_model, metrics, preprocessing
sklearn.set_config(array_api_dispatch=True)
rng = np.random.default_rng(0)
a, t, labels = rng.normal(size=(30, 4)), rng.normal(size=30), rng.integers(0, 2, (2, 30))
if sys.argv[1] == "torch":
    import torch
    wrap = torch.from_numpy
else:
    wrap = np.asarray
x, z, (y, p) = rg.asarray(wrap(a)), rg.asarray(wrap(t)), (rg.asarray(wrap(v)) for v in labels)
assert metrics.accuracy_score(y, p) == metrics.accuracy_score(*labels)
assert np.isclose(metrics.mean_squared_error(z, z + x[:, 0]), (a[:, 0] ** 2).mean())
for f, given in (
    (preprocessing.StandardScaler().fit_transform, x), (preprocessing.MinMaxScaler().fit_transform, x),
    (metrics.pairwise.rbf_kernel, x), (metrics.pairwise.euclidean_distances, x),
    (decomposition.PCA(2, svd_solver="full").fit_transform, x),
):
    found = f(given)
    assert type(found) is rg.Tensor and type(found.data) is type(x.data), f
    with sklearn.config_context(array_api_dispatch=False):
        expected = f(a)
    assert np.allclose(np.abs(found.numpy()), np.abs(expected), atol=1e-6), f
leaf = rg.asarray(x, requires_grad=True)
(g,) = rg.autograd.grad(rg.sum(metrics.pairwise.rbf_kernel(leaf, x[:3]) ** 2), leaf)
def value(a):
    return (metrics.pairwise.rbf_kernel(a, a0[:3]) ** 2).sum()
a0, d = a.copy(), np.cos(a)
with sklearn.config_context(array_api_dispatch=False):
    slope = (value(a + 1e-6 * d) - value(a - 1e-6 * d)) / 2e-6
assert np.isclose(float((g.numpy() * d).sum()), slope, rtol=1e-6)
(g,) = rg.autograd.grad(rg.sum(linear_model.Ridge(solver="svd").fit(leaf, z).coef_), leaf)
assert g.shape == (30, 4)
"""


@pytest.mark.parametrize("library", ["numpy", "torch"])
def test_scikit_learn_takes_tensors(library: str) -> None:
    pytest.importorskip("sklearn", reason="scikit-learn is not installed")
    if library == "torch" and not hasattr(pytest.importorskip("torch", reason="PyTorch is not installed"), "_C"):
        pytest.skip("the name torch stands for the dialect in this process")
    environment = {**os.environ, "SCIPY_ARRAY_API": "1"}
    done = subprocess.run([sys.executable, "-c", SKLEARN, library], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_sparse_arrays_are_refused() -> None:
    given: list[Any] = [scipy.sparse.csr_array(np.eye(3)), scipy.sparse.coo_matrix(np.eye(3))]
    if importlib.util.find_spec("sparse") is not None:
        given.append(importlib.import_module("sparse").COO.from_numpy(np.eye(3)))
    for s in given:
        with pytest.raises(rg.UnsupportedError, match=r"sparse arrays are not differentiated.*todense"):
            rg.asarray(s)

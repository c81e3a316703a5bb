"""Dask's other ways to run a graph: worker processes, a cluster of two, and `dask.compute` on tensors themselves."""

from __future__ import annotations

import pickle
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import retrograde as rg
from retrograde.core.primitive import PRIMITIVES
from retrograde.core.value import make
from retrograde.ops.distance import cdist

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array", reason="dask is not installed")

A = np.linspace(0.1, 1.2, 6).reshape(2, 3)


def lazy(array: np.ndarray, **options: Any) -> Any:
    return rg.asarray(da.from_array(array, chunks=2), **options)


def programs() -> dict[str, tuple[Any, np.ndarray]]:
    """Tensors to compute, by kind of kernel, with what they are."""
    x = lazy(A, requires_grad=True)
    y = x * 2.0
    y[0] = 7.0  # a step of a view, which holds operations
    rg.sum(rg.exp(x) * rg.tanh(x) + y).backward()
    t = np.tanh(A)
    square = lazy(A[:, :2] + np.eye(2))
    return {
        "block by block": (rg.sin(lazy(A)) * 2.0, np.sin(A) * 2),
        "in pieces": (rg.sum(lazy(A), axis=0), A.sum(0)),
        "argmax": (rg.argmax(lazy(A), axis=1), A.argmax(1)),
        "whole": (rg.linalg.inv(square), np.linalg.inv(A[:, :2] + np.eye(2))),
        "two outputs": (rg.linalg.slogdet(square)[1], np.linalg.slogdet(A[:, :2] + np.eye(2))[1]),
        "gradient": (x.grad, np.exp(A) * (t + 1 - t * t) + np.array([[0.0], [2.0]])),
    }


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    distributed = pytest.importorskip("distributed", reason="distributed is not installed")
    options = {"n_workers": 2, "threads_per_worker": 1, "processes": True, "dashboard_address": None, "host": "127.0.0.1"}
    with distributed.LocalCluster(**options) as workers, distributed.Client(workers, timeout=30) as client:
        yield client


def test_worker_processes() -> None:
    found = {name: programs()[name] for name in ("block by block", "argmax", "whole", "gradient")}
    computed = dask.compute(*(tensor for tensor, _ in found.values()), scheduler="processes", num_workers=1)
    for name, tensor, (_, expected) in zip(found, computed, found.values()):
        np.testing.assert_allclose(tensor.numpy(), expected, err_msg=name)


def test_a_cluster_of_two(cluster: Any) -> None:
    for name, (tensor, expected) in programs().items():
        np.testing.assert_allclose(tensor.numpy(), expected, err_msg=name)  # the client's cluster is the default
        computed = cluster.compute(tensor).result(timeout=30)
        assert type(computed) is rg.Tensor, name
        np.testing.assert_allclose(computed.numpy(), expected, err_msg=name)


def test_a_record_goes_to_another_process_as_its_name() -> None:
    prim = PRIMITIVES["argmax"]
    assert pickle.loads(pickle.dumps(prim)) is prim
    program = "import pickle, sys; print(pickle.loads(sys.stdin.buffer.read()).name)"
    sent = pickle.dumps(cdist.prim)  # of a file that `import retrograde` does not load
    done = subprocess.run([sys.executable, "-c", program], input=sent, capture_output=True, check=True)
    assert done.stdout.decode().strip() == "cdist"
    unknown = object.__new__(type(prim))
    unknown.__dict__.update(name="nowhere", module="")
    with pytest.raises(LookupError, match="'nowhere' is not registered"):
        pickle.loads(pickle.dumps(unknown))


def test_compute_gives_a_tensor_over_a_numpy_array() -> None:
    x = lazy(A)
    assert dask.is_dask_collection(x)
    assert not dask.is_dask_collection(rg.asarray(A))
    (y,), (nested,) = dask.compute(rg.exp(x)), dask.compute({"key": [x, 3]})
    assert type(y) is type(nested["key"][0]) is rg.Tensor
    assert type(y._a) is np.ndarray
    np.testing.assert_array_equal(y.numpy(), np.exp(A))
    np.testing.assert_array_equal(nested["key"][0].numpy(), A)
    np.testing.assert_array_equal(dask.delayed(lambda t: t + t)(x).compute().numpy(), 2 * A)
    assert dask.compute(rg.sum(x))[0].shape == ()


def test_the_class_and_a_leaf_s_wish_are_kept() -> None:
    class Measured(rg.Tensor):
        pass

    x = lazy(A, requires_grad=True)
    assert dask.compute(x)[0].requires_grad
    assert not dask.compute(x.detach())[0].requires_grad
    (kept,) = dask.persist(x)
    assert kept.requires_grad
    assert type(kept._a) is da.Array
    (computed,) = dask.compute(make(Measured, x._a), scheduler="synchronous")
    assert type(computed) is Measured


def test_history_is_not_dropped() -> None:
    y = rg.sin(lazy(A, requires_grad=True))
    with pytest.raises(rg.GradError, match=r"dask\.compute.*detach\(\)"):
        dask.compute(y)
    with pytest.raises(rg.GradError, match=r"dask\.(persist|compute).*detach\(\)"):
        dask.persist(y)
    np.testing.assert_array_equal(dask.compute(y.detach())[0].numpy(), np.sin(A))


def test_equal_graphs_have_equal_names() -> None:
    x = da.from_array(A, chunks=2, name="given")
    one, two, other = (rg.clip(rg.asarray(x), 0.0, top) for top in (0.5, 0.5, 0.7))
    assert one._a.name == two._a.name != other._a.name
    whole = [rg.cumulative_sum(rg.asarray(x), axis=axis) for axis in (0, 0, 1)]
    assert whole[0]._a.name == whole[1]._a.name != whole[2]._a.name
    tokens = [dask.base.tokenize(rg.asarray(a)) for a in (A, A.copy(), A + 1)]
    assert tokens[0] == tokens[1] != tokens[2]

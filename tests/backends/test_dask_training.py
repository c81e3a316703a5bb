"""examples/dask_training.py: what it writes and reads, that it learns, and that a worker may die while it does."""

from __future__ import annotations

import importlib.util
import os
import signal
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import retrograde as rg

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array", reason="dask is not installed")

SOURCE = Path(__file__).parents[2] / "examples" / "dask_training.py"


@pytest.fixture(scope="module")
def example() -> Any:
    spec = importlib.util.spec_from_file_location("dask_training", SOURCE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def points(example: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder: Path = tmp_path_factory.mktemp("dask") / "points"
    with dask.config.set(scheduler="sync"):
        example.write(folder, 600, 100)
    return folder


def test_it_learns_what_numpy_says(example: Any, points: Path) -> None:
    x, label = example.read(points)
    assert x.data.numblocks == (6, 1)
    assert 0.2 < rg.compute(rg.mean(label), scheduler="sync")[0].item() < 0.8
    theta = example.starts()["network"]
    with dask.config.set(scheduler="sync"):
        value, slope = rg.compute(*rg.value_and_grad(example.network)(rg.asarray(theta), x, label))
        expected = rg.value_and_grad(example.network)(rg.asarray(theta), x.numpy(), label.numpy())
        np.testing.assert_allclose(value.numpy(), expected[0].numpy(), rtol=1e-5)
        np.testing.assert_allclose(slope.numpy(), expected[1].numpy(), rtol=1e-3, atol=1e-5)
        for loss in (example.regression, example.network):
            _, losses = example.lbfgs(loss, example.starts()[loss.__name__], x, label, 8)
            assert losses[-1] < losses[0] - 0.05
        _, losses = example.minibatches(example.network, theta, x, label, 6, 100)
        assert len(losses) == 6
        assert losses == example.minibatches(example.network, theta, x, label, 6, 100)[1]


def test_the_picture(example: Any, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    task = {"worker": "a", "startstops": [{"action": "compute", "start": 1.0, "stop": 2.0}]}
    example.picture({"one": [3.0, 2.0], "other": [2.0, 1.0, 0.5]}, [task, {**task, "worker": "b"}], tmp_path / "curve.png")
    assert (tmp_path / "curve.png").stat().st_size > 1000


@pytest.mark.long
def test_a_worker_that_dies_changes_nothing(example: Any, points: Path) -> None:
    distributed = pytest.importorskip("distributed", reason="distributed is not installed")
    options = {"n_workers": 2, "threads_per_worker": 1, "processes": True, "dashboard_address": None, "host": "127.0.0.1"}
    x, label = example.read(points)
    theta = example.starts()["network"]
    with dask.config.set(scheduler="sync"):
        expected, _ = example.minibatches(example.network, theta, x, label, 60, 200)
    with distributed.LocalCluster(**options) as workers, distributed.Client(workers, timeout=60) as client:
        before = dict(client.run(os.getpid))
        victim, killed = next(iter(before.values())), threading.Event()

        def kill() -> None:
            time.sleep(1.0)
            os.kill(victim, signal.SIGKILL)
            killed.set()

        thread = threading.Thread(target=kill)
        thread.start()
        found, _ = example.minibatches(example.network, theta, x, label, 60, 200)
        while not killed.is_set():  # a machine on which the training took less than a second
            found, _ = example.minibatches(example.network, theta, x, label, 60, 200)
        thread.join()
        client.wait_for_workers(2, timeout=60)
        assert victim not in client.run(os.getpid).values()
    np.testing.assert_array_equal(found, expected)

"""What PaddlePaddle and MindSpore draw from NumPy's global stream is drawn from it here, so that a program which seeds, builds
its network and then makes data with NumPy trains on the same data. Recorded with PaddlePaddle 3.3 and MindSpore 2.10."""

import numpy as np
import pytest

from retrograde.dialects import mindspore as ms
from retrograde.dialects import paddle
from retrograde.dialects.mindspore import nn
from retrograde.dialects.mindspore.common import initializer as init
from retrograde.dialects.paddle import io


@pytest.fixture(autouse=True)
def _the_stream_is_put_back():
    state = np.random.get_state()
    yield
    np.random.set_state(state)


class Seven(io.Dataset):
    def __len__(self):
        return 7

    def __getitem__(self, i):
        return np.float32(i)


def two_epochs():
    sampler = io.DistributedBatchSampler(Seven(), batch_size=2, num_replicas=2, rank=0, shuffle=True)
    return [list(sampler), list(sampler)]


SHUFFLED = {
    "random": (lambda: list(io.RandomSampler(Seven())), [4, 6, 5, 3, 1, 0, 2], 0.510827605197663),
    "some": (lambda: list(io.RandomSampler(list(range(9)), num_samples=4)), [6, 2, 7, 4], 0.43706194234112716),
    "replacement": (
        lambda: list(io.RandomSampler(Seven(), replacement=True, num_samples=5)), [2, 0, 1, 3, 0], 0.12132858120521606),
    "batches": (
        lambda: list(io.BatchSampler(Seven(), shuffle=True, batch_size=3)), [[4, 6, 5], [3, 1, 0], [2]], 0.510827605197663),
    "loader": (
        lambda: [b[0].tolist() for b in io.DataLoader(io.TensorDataset([np.arange(7)]), shuffle=True, batch_size=3)],
        [[4, 6, 5], [3, 1, 0], [2]], 0.510827605197663),
    "weighted": (
        lambda: list(io.WeightedRandomSampler(np.array([0.1, 0.5, 0.4]), 5)), [1, 2, 1, 1, 2], 0.8962930889334381),
    "weighted, each once": (
        lambda: list(io.WeightedRandomSampler(np.array([0.1, 0.5, 0.4]), 2, replacement=False)), [1, 2], 0.2909047389129443),
    "epochs of one process of two": (two_epochs, [[[6, 2], [3, 0]], [[0, 2], [0, 4]]], 0.5507979025745755),
    "not begun": (lambda: iter(io.RandomSampler(Seven())) and 0, 0, 0.5507979025745755),
    "a layer": (lambda: paddle.nn.Linear(2, 3) and 0, 0, 0.5507979025745755),
}  # fmt: skip


@pytest.mark.parametrize("name", SHUFFLED)
def test_paddle_shuffles(name):
    order, expected, after = SHUFFLED[name]
    np.random.seed(3)
    assert order() == expected
    assert np.random.rand() == after


BUILT = {
    "Dense": (lambda: nn.Dense(2, 3), 0.2909047389129443),
    "two": (lambda: (nn.Dense(2, 3), nn.Dense(2, 3)), 0.8929469543476547),
    "Conv2d": (lambda: nn.Conv2d(2, 3, 3, has_bias=True), 0.2909047389129443),
    "BatchNorm1d": (lambda: nn.BatchNorm1d(3), 0.5507979025745755),
    "Embedding": (lambda: nn.Embedding(3, 4), 0.7081478226181048),
    "LSTM": (lambda: nn.LSTM(2, 3), 0.6816117788074266),
    "LSTMCell": (lambda: nn.LSTMCell(2, 3), 0.08979086952306481),
    "TruncatedNormal": (lambda: init.initializer(init.TruncatedNormal(), (2, 3)).init_data(), 0.7081478226181048),
    "Orthogonal": (lambda: init.initializer(init.Orthogonal(), (2, 3)).init_data(), 0.7081478226181048),
    "VarianceScaling": (lambda: init.initializer(init.VarianceScaling(), (2, 3)).init_data(), 0.7081478226181048),
    "Sparse": (lambda: init.initializer(init.Sparse(0.5), (4, 3)).init_data(), 0.12558531046383625),
    "One": (lambda: init.initializer("ones", (4, 3)).init_data(), 0.5507979025745755),
    "Parameter": (lambda: ms.Parameter(init.initializer("normal", (4, 3))), 0.7081478226181048),
}


@pytest.mark.parametrize("name", BUILT)
def test_mindspore_builds(name):
    build, after = BUILT[name]
    ms.set_seed(3)
    build()
    assert np.random.rand() == after


def test_mindspore_s_layers_repeat_with_numpy_s_seed():
    np.random.seed(5)
    one = nn.Dense(2, 3).weight.asnumpy()
    assert (nn.Dense(2, 3).weight.asnumpy() != one).all()
    np.random.seed(5)
    assert (nn.Dense(2, 3).weight.asnumpy() == one).all()


def test_mindspore_s_stacks_draw_from_the_stream_itself():
    np.random.seed(1)
    nn.LSTMCell(2, 1)
    weights = nn.LSTM(2, 1).trainable_params()[0].asnumpy()
    recorded = [[-0.9634234309196472, 0.5002886056900024], [0.97772216796875, 0.4963313043117523],
                [-0.43911200761795044, 0.5785586833953857], [-0.7935479879379272, -0.10421294718980789]]  # fmt: skip
    np.testing.assert_array_equal(weights, np.float32(recorded))

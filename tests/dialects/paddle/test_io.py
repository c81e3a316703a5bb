"""Files both ways, datasets and loaders, metrics."""

from __future__ import annotations

import base64
import io
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from retrograde.dialects import paddle

# Written by PaddlePaddle 3.3.1: a dict of tensors (bfloat16, int64, bool), and tensors nested in plain containers.
STATE = (
    "gASVkgEAAAAAAAB9lCiMAXGUjBZudW1weS5fY29yZS5tdWx0aWFycmF5lIwMX3JlY29uc3RydWN0lJOUjAVudW1weZSMB25kYXJyYXmUk5RLAI"
    "WUQwFilIeUUpQoSwFLAoWUaAWMBWR0eXBllJOUjAJ1MpSJiIeUUpQoSwOMATyUTk5OSv////9K/////0sAdJRiiUMEgD8AQJR0lGKMAWmUaARo"
    "B0sAhZRoCYeUUpQoSwFLAoWUaA6MAmk4lImIh5RSlChLA2gSTk5OSv////9K/////0sAdJRiiUMQAQAAAAAAAAACAAAAAAAAAJR0lGKMAWKUaA"
    "RoB0sAhZRoCYeUUpQoSwFLAYWUaA6MAmIxlImIh5RSlChLA4wBfJROTk5K/////0r/////SwB0lGKJQwEBlHSUYowbU3RydWN0dXJlZFRvUGFy"
    "YW1ldGVyTmFtZUBAlH2UKGgBjAtlYWdlcl90bXBfMJRoFowTZ2VuZXJhdGVkX3RlbnNvcl8xMJRoIYwTZ2VuZXJhdGVkX3RlbnNvcl8xMZR1dS"
    "4="
)
NESTED = (
    "gASVgwEAAAAAAAB9lCiMAWGUXZQojAhidWlsdGluc5SMBXR1cGxllJOUjBJnZW5lcmF0ZWRfdGVuc29yXzCUjBZudW1weS5fY29yZS5tdWx0aW"
    "FycmF5lIwMX3JlY29uc3RydWN0lJOUjAVudW1weZSMB25kYXJyYXmUk5RLAIWUQwFilIeUUpQoSwFLAoWUaAqMBWR0eXBllJOUjAJmNJSJiIeU"
    "UpQoSwOMATyUTk5OSv////9K/////0sAdJRiiUMIAACAPwAAAECUdJRihpSFlFKUfZSMAWKUaAWMEmdlbmVyYXRlZF90ZW5zb3JfMZRoCWgMSw"
    "CFlGgOh5RSlChLASloFolDBAAAQECUdJRihpSFlFKUc2WMAWOUKEsBR0AEAAAAAAAAjAFzlE50lIwBZJRoCWgMSwCFlGgOh5RSlChLAUsDhZRo"
    "E4wCaTiUiYiHlFKUKEsDaBdOTk5K/////0r/////SwB0lGKJQxgAAAAAAAAAAAEAAAAAAAAAAgAAAAAAAACUdJRidS4="
)


def read(text: str, **options: Any) -> Any:
    return paddle.load(io.BytesIO(base64.b64decode(text)), **options)


def test_reads_what_paddle_wrote() -> None:
    state = read(STATE)
    assert {k: (str(v.dtype), v.astype("float32").tolist()) for k, v in state.items()} == {
        "q": ("paddle.bfloat16", [1.0, 2.0]), "i": ("paddle.int64", [1, 2]), "b": ("paddle.bool", [True]),
    }  # fmt: skip
    nested = read(NESTED)
    assert nested["a"][0].tolist() == [1.0, 2.0]
    assert nested["a"][0].name == "generated_tensor_0"
    assert float(nested["a"][1]["b"]) == 3.0
    assert nested["c"] == (1, 2.5, "s", None)
    assert type(nested["d"]) is np.ndarray
    assert type(read(NESTED, return_numpy=True)["a"][0]) is np.ndarray


def test_writes_what_paddle_reads() -> None:
    """The same bytes, but for the names of tensors, which are counted."""
    named = read(STATE)
    for k, name in (("q", "eager_tmp_0"), ("i", "generated_tensor_10"), ("b", "generated_tensor_11")):
        assert named[k].name == name
    buffer = io.BytesIO()
    paddle.save(named, buffer)
    assert pickle.loads(buffer.getvalue()).keys() == pickle.loads(base64.b64decode(STATE)).keys()
    assert pickle.loads(buffer.getvalue())["StructuredToParameterName@@"]["q"] == "eager_tmp_0"
    nested = io.BytesIO()
    paddle.save(read(NESTED), nested)
    assert nested.getvalue() == base64.b64decode(NESTED)


@pytest.mark.parametrize("protocol", [2, 3, 4])
def test_states_come_back(tmp_path: Path, protocol: int) -> None:
    layer = paddle.nn.Linear(2, 3)
    opt = paddle.optimizer.Adam(paddle.optimizer.lr.StepDecay(0.1, 1), parameters=layer.parameters())
    layer(paddle.ones([1, 2])).sum().backward()
    opt.step()
    paddle.save(layer.state_dict(), str(tmp_path / "new" / "net.pdparams"), protocol)
    paddle.save(opt.state_dict(), str(tmp_path / "net.pdopt"), protocol)
    other = paddle.nn.Linear(2, 3)
    assert other.set_state_dict(paddle.load(str(tmp_path / "new" / "net.pdparams"))) == ([], [])
    assert other.weight.numpy().tolist() == layer.weight.numpy().tolist()
    back = paddle.load(str(tmp_path / "net.pdopt"))
    assert list(back) == list(opt.state_dict())
    assert back["LR_Scheduler"] == {"last_epoch": 0, "last_lr": 0.1}


class Harmful:
    def __reduce__(self) -> Any:
        return print, ("called",)


def test_refuses_by_name_what_is_no_data(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(pickle.UnpicklingError, match=r"builtins\.print"):
        paddle.load(io.BytesIO(pickle.dumps({"a": Harmful()}, 4)))
    assert not capsys.readouterr().out
    with pytest.raises(pickle.UnpicklingError, match="damaged|early"):
        paddle.load(io.BytesIO(base64.b64decode(STATE)[:60]))


@pytest.mark.parametrize(
    "call",
    [
        lambda: paddle.load("/no/such/file"), lambda: paddle.save(paddle.nn.Linear(1, 1), "x"),
        lambda: paddle.save({"a": object()}, "x"), lambda: paddle.save(1, "folder/"),
        lambda: paddle.save(1, "x", protocol=5),
    ],
)  # fmt: skip
def test_errors_of_files(call: Any) -> None:
    with pytest.raises(ValueError):
        call()


# ------------------------------------------------------------------------------------------ datasets and loaders


class Squares(paddle.io.Dataset):
    def __init__(self, n: int) -> None:
        self.n = n

    def __getitem__(self, i: int) -> Any:
        return np.array([i, i * i], "float32"), i

    def __len__(self) -> int:
        return self.n


class Stream(paddle.io.IterableDataset):
    def __iter__(self) -> Any:
        return iter(range(5))


def test_batches() -> None:
    batches = list(paddle.io.DataLoader(Squares(5), batch_size=2))
    assert [type(b) for b in batches] == [list] * 3
    assert batches[1][0].tolist() == [[2, 4], [3, 9]]
    assert batches[2][1].tolist() == [4]
    assert batches[0][1].dtype is paddle.int64
    assert len(paddle.io.DataLoader(Squares(5), batch_size=2, drop_last=True)) == 2
    assert [b.tolist() for b in paddle.io.DataLoader(Stream(), batch_size=3)] == [[0, 1, 2], [3, 4]]
    fields = next(iter(paddle.io.DataLoader([{"a": np.ones(2), "c": "s"}, {"a": np.zeros(2), "c": "t"}], batch_size=2)))
    assert fields["a"].tolist() == [[1, 1], [0, 0]]
    assert fields["c"] == ["s", "t"]
    assert sorted(i for b in paddle.io.DataLoader(Squares(7), batch_size=2, shuffle=True) for i in b[1].tolist()) == [
        *range(7)
    ]


def test_datasets_and_samplers() -> None:
    both = paddle.io.ConcatDataset([Squares(2), Squares(3)])
    assert len(both) == 5
    assert both[-1][1] == 2
    assert len(paddle.io.ComposeDataset([Squares(2), Squares(2)])[1]) == 4
    assert [*iter(paddle.io.ChainDataset([Stream(), Stream()]))] == [*range(5)] * 2
    assert [len(part) for part in paddle.io.random_split(Squares(5), [0.4, 0.6])] == [2, 3]
    assert list(paddle.io.BatchSampler(Squares(5), batch_size=2, drop_last=True)) == [[0, 1], [2, 3]]
    assert sorted(paddle.io.SubsetRandomSampler([3, 1])) == [1, 3]
    assert set(paddle.io.WeightedRandomSampler([0.0, 1.0], 4)) == {1}
    rows = paddle.io.TensorDataset([paddle.to_tensor([[1.0], [2.0]]), paddle.to_tensor([3, 4])])
    assert rows[1][1].item() == 4
    assert len(rows) == 2


@pytest.mark.parametrize(
    "call,error",
    [
        (lambda: paddle.io.BatchSampler(), AssertionError),
        (lambda: paddle.io.DataLoader(Squares(1), num_workers=-1), AssertionError),
        (lambda: paddle.io.DataLoader(Stream(), shuffle=True), ValueError), (lambda: len(Stream()), RuntimeError),
        (lambda: paddle.io.random_split(Squares(5), [2, 2]), ValueError), (lambda: paddle.io.Dataset()[0], NotImplementedError),
        (lambda: list(paddle.io.RandomSampler(Squares(2), False, 7)), ValueError),
    ],
)  # fmt: skip
def test_errors_of_loaders(call: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        call()


# ------------------------------------------------------------------------------------------ metrics


def test_metrics() -> None:
    scores = paddle.to_tensor([[0.1, 0.9, 0.0], [0.8, 0.2, 0.3]])
    top = paddle.metric.Accuracy(topk=(1, 2))
    correct = top.compute(scores, paddle.to_tensor([[0], [1]]))
    assert correct.tolist() == [[0, 1], [0, 0]]
    assert list(top.update(correct)) == [0, 0.5]
    assert top.name() == ["acc_top1", "acc_top2"]
    assert list(top.accumulate()) == [0, 0.5]
    assert float(paddle.metric.accuracy(scores, paddle.to_tensor([[1], [1]]))) == 0.5
    area = paddle.metric.Auc()
    area.update(
        np.array([[0.9, 0.1], [0.4, 0.6], [0.2, 0.8], [0.6, 0.4], [0.2, 0.8]]), np.array([[0], [1], [1], [1], [0]])
    )
    assert area.accumulate() == pytest.approx(0.5833333333)
    precision, recall = paddle.metric.Precision(), paddle.metric.Recall()
    for metric in (precision, recall):
        metric.update(np.array([0.1, 0.6, 0.9]), np.array([1, 0, 1]))
    assert (precision.accumulate(), recall.accumulate()) == (0.5, 0.5)


@pytest.mark.filterwarnings("ignore")
def test_mixed_precision_changes_nothing_on_the_cpu() -> None:
    scaler, x = paddle.amp.GradScaler(), paddle.ones([2, 2])
    assert scaler.scale(x) is x
    assert not scaler.is_enable()
    assert scaler.state_dict() == {}
    with paddle.amp.auto_cast():
        assert paddle.matmul(x, x).dtype is paddle.float32
    with pytest.raises(ValueError):
        paddle.amp.auto_cast(level="O3")


# ------------------------------------------------------------------------------------------ arrays in files


def kinds(value: Any) -> Any:
    if isinstance(value, dict):
        return {k: kinds(v) for k, v in value.items()}
    return type(value)(map(kinds, value)) if isinstance(value, (list, tuple)) else type(value).__name__


@pytest.mark.parametrize("saved,loaded", [  # recorded from PaddlePaddle 3.3.1; "T" stands for a tensor, "n" for an array
    ("n", "T"), (["n"], ["T"]), (("n", 1), ("T", 1)), ({"n": "n"}, {"n": "T"}), ({"n": "n", "t": "T"}, {"n": "n", "t": "T"}),
    (["n", "T"], ["n", "T"]), ({"a": {"n": "n"}}, {"a": {"n": "n"}}), ({"a": {"n": "n"}, "n": "n"}, {"a": {"n": "T"}, "n": "T"}),
    ({"a": ["n"]}, {"a": ["T"]}), ({"a": ["n"], "t": "T"}, {"a": ["n"], "t": "T"}), ([{"n": "n"}], [{"n": "T"}]),
])  # fmt: skip
def test_arrays_are_tensors_where_a_file_holds_no_tensor(saved: Any, loaded: Any) -> None:
    def made(value: Any) -> Any:
        if isinstance(value, dict):
            return {k: made(v) for k, v in value.items()}
        if isinstance(value, (list, tuple)):
            return type(value)(map(made, value))
        return {"T": paddle.ones([1]), "n": np.ones(2)}.get(value, value)

    file = io.BytesIO()
    paddle.save(made(saved), file)
    file.seek(0)
    assert kinds(paddle.load(file)) == kinds(made(loaded))


def test_shares_of_a_distributed_sampler_are_whole_batches() -> None:
    class Numbers(paddle.io.Dataset):
        def __len__(self) -> int:
            return 7

    def share(rank: int, size: int) -> list[list[int]]:
        return list(paddle.io.DistributedBatchSampler(Numbers(), size, 2, rank))

    assert [share(0, 2), share(1, 2)] == [[[0, 1], [4, 5]], [[2, 3], [6, 0]]]
    assert [share(0, 3), share(1, 3)] == [[[0, 1, 2], [6]], [[3, 4, 5], [0]]]


def test_save_takes_paths_and_bytes_only(tmp_path: Any) -> None:
    with open(tmp_path / "x", "wb") as file, pytest.raises(ValueError, match="a path or a BytesIO"):
        paddle.save({"a": paddle.ones([1])}, file)

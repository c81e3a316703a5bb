"""Datasets, samplers and the DataLoader of the dialect against orders recorded from PyTorch (record_data.py)."""

import json
import warnings
from collections import OrderedDict, namedtuple
from pathlib import Path

import numpy as np
import pytest
from dialects.torch import data_cases

from retrograde.dialects import torch

RECORD = json.loads((Path(__file__).parent / "data" / "dataloader.json").read_text())["cases"]
D = torch.utils.data
Pair = namedtuple("Pair", "a b")


@pytest.mark.parametrize("label", data_cases.CASES)
def test_order_and_random_numbers(label):
    got = json.loads(json.dumps(data_cases.run(torch, label)))
    wanted = RECORD[label]

    def rounded(x):
        return [rounded(y) for y in x] if isinstance(x, list) else round(x, 7) if isinstance(x, float) else x

    assert rounded(got) == rounded(wanted)


class Count(D.IterableDataset):
    def __iter__(self):
        return iter(range(7))


def tensors(n=10):
    return D.TensorDataset(torch.arange(float(n)))


BAD = {
    "workers": (lambda: D.DataLoader(tensors(), num_workers=-1), ValueError),
    "timeout": (lambda: D.DataLoader(tensors(), timeout=-1), ValueError),
    "prefetch": (lambda: D.DataLoader(tensors(), prefetch_factor=2), ValueError),
    "persistent": (lambda: D.DataLoader(tensors(), persistent_workers=True), ValueError),
    "context": (lambda: D.DataLoader(tensors(), multiprocessing_context="spawn"), ValueError),
    "two orders": (lambda: D.DataLoader(tensors(), shuffle=True, sampler=[1]), ValueError),
    "two sizes": (lambda: D.DataLoader(tensors(), batch_size=2, batch_sampler=[[1]]), ValueError),
    "no batches to drop": (lambda: D.DataLoader(tensors(), batch_size=None, drop_last=True), ValueError),
    "batch_size": (lambda: D.DataLoader(tensors(), batch_size=0), ValueError),
    "batch_size float": (lambda: D.DataLoader(tensors(), batch_size=1.5), ValueError),
    "shuffled stream": (lambda: D.DataLoader(Count(), shuffle=True), ValueError),
    "shuffled nothing": (lambda: D.DataLoader(tensors(0), shuffle=True), ValueError),
    "stream length": (lambda: len(D.DataLoader(Count())), TypeError),
    "lengths": (lambda: D.TensorDataset(torch.ones(2), torch.ones(3)), AssertionError),
    "replacement": (lambda: D.RandomSampler(range(3), replacement=3), TypeError),
    "num_samples": (lambda: D.WeightedRandomSampler([1, 2], 0), ValueError),
    "weights": (lambda: D.WeightedRandomSampler([[1, 2]], 1), ValueError),
    "split": (lambda: D.random_split(range(3), [1, 1]), ValueError),
    "fraction": (lambda: D.random_split(range(3), [-0.1, 1.1]), ValueError),
    "nothing to join": (lambda: D.ConcatDataset([]), AssertionError),
    "joined stream": (lambda: D.ConcatDataset([Count()]), AssertionError),
    "chained list": (lambda: list(D.ChainDataset([[1]])), AssertionError),
    "before": (lambda: D.ConcatDataset([range(3)])[-4], ValueError),
    "beyond": (lambda: D.ConcatDataset([range(3)])[3], IndexError),
    "no getitem": (lambda: D.Dataset()[0], NotImplementedError),
    "no iter": (D.IterableDataset, TypeError),
    "collate None": (lambda: D.default_collate([None]), TypeError),
    "collate object array": (lambda: D.default_collate([np.array(["a"])]), TypeError),
    "collate lengths": (lambda: D.default_collate([[1], [1, 2]]), RuntimeError),
    "collate shapes": (lambda: D.default_collate([torch.ones(2), torch.ones(3)]), RuntimeError),
    "collate keys": (lambda: D.default_collate([{"a": 1}, {"b": 1}]), KeyError),
    "unknown": (lambda: D.DataLoder, AttributeError),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_arguments(case):
    act, error = BAD[case]
    with pytest.raises(error):
        act()


COLLATED = [
    ([1, 2], torch.tensor([1, 2])),
    ([1.5, 2.0], torch.tensor([1.5, 2.0], dtype=torch.float64)),
    ([1, 2.5], torch.tensor([1.0, 2.5])),
    ([True, False], torch.tensor([True, False])),
    (["a", "b"], ["a", "b"]),
    ([np.float32(1), np.float32(2)], torch.tensor([1.0, 2.0])),
    ([np.ones(2), np.zeros(2)], torch.tensor([[1.0, 1.0], [0.0, 0.0]], dtype=torch.float64)),
    ([(1, "x"), (3, "y")], [torch.tensor([1, 3]), ("x", "y")]),
    ([[1, 2], [3, 4]], [torch.tensor([1, 3]), torch.tensor([2, 4])]),
    ([{"a": 1}, {"a": 2}], {"a": torch.tensor([1, 2])}),
    ([OrderedDict(a=1)], OrderedDict(a=torch.tensor([1]))),
    ([Pair(1, 2), Pair(3, 4)], Pair(torch.tensor([1, 3]), torch.tensor([2, 4]))),
    ([torch.ones(2), torch.zeros(2)], torch.tensor([[1.0, 1.0], [0.0, 0.0]])),
]


@pytest.mark.parametrize(("batch", "wanted"), COLLATED, ids=lambda x: str(x)[:40])
def test_default_collate(batch, wanted):
    got = D.default_collate(batch)
    assert type(got) is type(wanted)
    assert repr(got) == repr(wanted)


def test_default_convert():
    got = D.default_convert({"a": np.ones(1), "b": (1, np.float32(2)), "c": "text", "d": np.array("a")})
    assert repr(got["a"]) == repr(torch.ones(1, dtype=torch.float64))
    assert got["b"][0] == 1
    assert got["b"][1].dtype is torch.float32
    assert got["c"] == "text"
    assert isinstance(got["d"], np.ndarray)


def test_datasets_of_datasets():
    joined = D.ConcatDataset([tensors(4), tensors(3)]) + tensors(2)
    assert len(joined) == 9
    assert [joined[i][0].item() for i in (0, 3, 4, -1)] == [0.0, 3.0, 0.0, 1.0]
    assert list(Count() + Count()) == [*range(7), *range(7)]
    part = D.Subset(tensors(), [3, 1])
    assert part[1][0].item() == 1.0
    assert part[[0, 1]][0].tolist() == [3.0, 1.0]
    assert [x.item() for (x,) in part.__getitems__([1, 0])] == [1.0, 3.0]
    stacked = D.StackDataset(x=range(3), y="abc")
    assert stacked[1] == {"x": 1, "y": "b"}
    assert D.StackDataset(range(3), "abc").__getitems__([0, 2]) == [(0, "a"), (2, "c")]


@pytest.mark.parametrize(("size", "drop", "batches"), [(3, False, 4), (3, True, 3), (None, False, 10)])
def test_length(size, drop, batches):
    loader = D.DataLoader(tensors(), batch_size=size, drop_last=drop)
    assert len(loader) == len(iter(loader)) == len(list(loader)) == batches


def test_tensors_are_gathered_as_stacking_would():
    x, y = torch.arange(12.0).reshape(6, 2), torch.arange(6)
    a, b = next(iter(D.DataLoader(D.TensorDataset(x, y), batch_size=4)))
    assert torch.equal(a, x[:4])
    assert torch.equal(b, y[:4])
    a.zero_()
    assert x[0, 1].item() == 1.0
    (c,) = next(iter(D.DataLoader(D.TensorDataset(x.requires_grad_()), batch_size=4)))
    assert type(c.grad_fn).__name__ == "StackBackward0"


def test_streams():
    assert [b.tolist() for b in D.DataLoader(Count(), batch_size=3)] == [[0, 1, 2], [3, 4, 5], [6]]
    assert [b.tolist() for b in D.DataLoader(Count(), batch_size=3, drop_last=True)] == [[0, 1, 2], [3, 4, 5]]
    assert list(D.DataLoader(Count(), batch_size=None)) == list(range(7))


def test_getitems_fetches_a_batch_at_once():
    class Fast(D.Dataset):
        def __len__(self):
            return 4

        def __getitems__(self, indices):
            return [10 * i for i in indices]

    assert [b.tolist() for b in D.DataLoader(Fast(), batch_size=2)] == [[0, 10], [20, 30]]


def test_workers_are_told_to_be_imitated():
    with pytest.warns(UserWarning, match="num_workers=2 starts no processes"):
        loader = D.DataLoader(tensors(4), num_workers=2)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert len(list(loader)) == 4
    assert D.get_worker_info() is None


def test_an_error_in_a_worker_leaves_the_random_state():
    class Broken(D.Dataset):
        def __len__(self):
            return 2

        def __getitem__(self, i):
            torch.rand(3)
            raise ZeroDivisionError

    with pytest.warns(UserWarning, match="starts no processes"):
        loader = D.DataLoader(Broken(), num_workers=1)
    torch.manual_seed(0)
    batches = iter(loader)
    before = torch.get_rng_state()
    with pytest.raises(ZeroDivisionError):
        next(batches)
    assert torch.equal(torch.get_rng_state(), before)
    assert D.get_worker_info() is None


def test_settings_are_fixed():
    loader = D.DataLoader(tensors())
    for name in ("batch_size", "sampler", "batch_sampler", "drop_last", "dataset", "persistent_workers"):
        with pytest.raises(ValueError, match=name):
            setattr(loader, name, None)
    loader.num_workers = 0

"""Loaders that are run on PyTorch (record_data.py) and on the dialect (test_data.py) alike."""

from __future__ import annotations

import random
import warnings

import numpy as np


def dataset(torch, n=23):
    return torch.utils.data.TensorDataset(torch.arange(n))


def epochs(torch, loader, draws=True):
    """Two epochs, with draws of the program's own between the batches."""
    seen = []
    for _ in range(2):
        for (batch,) in loader:
            seen.append(batch.tolist())
            if draws:
                seen.append(torch.rand(()).item())
    return [*seen, torch.rand(()).item()]


def noisy(torch):
    """A dataset whose samples hold random numbers of three kinds, and the worker that drew them."""

    class Noisy(torch.utils.data.Dataset):
        def __len__(self):
            return 6

        def __getitem__(self, i):
            worker = torch.utils.data.get_worker_info()
            drawn = [torch.rand(()).item(), float(np.random.rand()), random.random()]
            return [i, None if worker is None else [worker.id, worker.num_workers], *drawn]

    return Noisy()


def stream(torch):
    """An iterable dataset that divides itself among the workers by what `worker_init_fn` sets."""

    class Stream(torch.utils.data.IterableDataset):
        def __init__(self):
            self.start, self.stop = 0, 11

        def __iter__(self):
            return iter(range(self.start, self.stop))

    return Stream()


def divide(torch):
    def worker_init(number):
        data = torch.utils.data.get_worker_info().dataset
        data.start, data.stop = (0, 7) if number == 0 else (7, 11)

    return worker_init


def with_generator(torch, make):
    generator = torch.Generator()
    generator.manual_seed(5)
    out = make(generator)
    return [*out, torch.rand((), generator=generator).item()]


def D(torch):
    return torch.utils.data


CASES = {
    "in order": lambda t: epochs(t, D(t).DataLoader(dataset(t), batch_size=5)),
    "shuffle": lambda t: epochs(t, D(t).DataLoader(dataset(t), batch_size=5, shuffle=True)),
    "drop last": lambda t: epochs(t, D(t).DataLoader(dataset(t), batch_size=5, shuffle=True, drop_last=True)),
    "samples": lambda t: epochs(t, D(t).DataLoader(dataset(t, 4), batch_size=None, shuffle=True)),
    "generator": lambda t: with_generator(
        t, lambda g: epochs(t, D(t).DataLoader(dataset(t), batch_size=5, shuffle=True, generator=g))
    ),
    "replacement": lambda t: epochs(
        t, D(t).DataLoader(dataset(t), 16, sampler=D(t).RandomSampler(range(23), True, num_samples=70))
    ),
    "fewer samples": lambda t: with_generator(
        t, lambda g: epochs(t, D(t).DataLoader(dataset(t), 4, sampler=D(t).RandomSampler(range(9), False, 20, g)))
    ),
    "subset": lambda t: epochs(t, D(t).DataLoader(dataset(t), 2, sampler=D(t).SubsetRandomSampler([3, 1, 4, 15, 9]))),
    "weighted": lambda t: epochs(
        t, D(t).DataLoader(dataset(t), 4, sampler=D(t).WeightedRandomSampler([0.1, 2.0, 3.0, 0.5], 10))
    ),
    "weighted once": lambda t: list(D(t).WeightedRandomSampler([0.1, 2.0, 3.0, 0.5], 3, replacement=False)),
    "split": lambda t: [list(part.indices) for part in D(t).random_split(dataset(t), [0.5, 0.3, 0.2])],
    "split generator": lambda t: with_generator(
        t, lambda g: [list(part.indices) for part in D(t).random_split(range(10), [7, 3], generator=g)]
    ),
    "workers": lambda t: [*D(t).DataLoader(noisy(t), 2, num_workers=2, collate_fn=list), t.rand(()).item()],
    "workers shuffle": lambda t: [
        *D(t).DataLoader(noisy(t), 2, shuffle=True, num_workers=3, collate_fn=list), t.rand(()).item()
    ],
    "persistent workers": lambda t: (
        lambda loader: [*loader, *loader, t.rand(()).item()]
    )(D(t).DataLoader(noisy(t), 4, num_workers=2, collate_fn=list, persistent_workers=True)),
    "iterable workers": lambda t: [
        b.tolist() for b in D(t).DataLoader(stream(t), 3, num_workers=2, worker_init_fn=divide(t))
    ],
    "iterable copies": lambda t: [b.tolist() for b in D(t).DataLoader(stream(t), 4, num_workers=2, drop_last=True)],
}  # fmt: skip


def run(torch, label):
    torch.manual_seed(3)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="DataLoader: num_workers")
        return CASES[label](torch)

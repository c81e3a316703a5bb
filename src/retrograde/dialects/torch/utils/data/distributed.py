"""`torch.utils.data.distributed`: the share of a dataset that one of several processes reads."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from ...random import Generator, randperm
from .sampler import Sampler


class DistributedSampler(Sampler[int]):
    """Every `num_replicas`-th index from `rank` on, of an order that is shuffled anew with the seed and the epoch.

    The last indices are dropped, or the first ones repeated, so that all shares have one length. `num_replicas` and `rank` are
    those of the process group where they are not given. Raises ValueError without either, and where they are out of range.
    """

    def __init__(self, dataset: Any, num_replicas: int | None = None, rank: int | None = None, shuffle: bool = True,
                 seed: int = 0, drop_last: bool = False) -> None:  # fmt: skip
        if num_replicas is None or rank is None:
            from ...distributed import get_rank, get_world_size

            num_replicas = get_world_size() if num_replicas is None else num_replicas
            rank = get_rank() if rank is None else rank
        if not 0 <= rank < num_replicas:
            raise ValueError(f"DistributedSampler: rank must lie in [0, {num_replicas}), got {rank}")
        self.dataset, self.num_replicas, self.rank, self.epoch = dataset, num_replicas, rank, 0
        self.shuffle, self.seed, self.drop_last = shuffle, seed, drop_last
        count = len(dataset)
        if drop_last and count % num_replicas:
            self.num_samples = math.ceil((count - num_replicas) / num_replicas)
        else:
            self.num_samples = math.ceil(count / num_replicas)
        self.total_size = self.num_samples * num_replicas

    def __iter__(self) -> Iterator[int]:
        if self.shuffle:
            order = randperm(len(self.dataset), generator=Generator().manual_seed(self.seed + self.epoch)).tolist()
        else:
            order = list(range(len(self.dataset)))
        if not self.drop_last and order:
            order = (order * math.ceil(self.total_size / len(order)))[: self.total_size]
        return iter(order[self.rank : self.total_size : self.num_replicas])

    def __len__(self) -> int:
        return self.num_samples

    def set_epoch(self, epoch: int) -> None:
        """Choose the order of an epoch."""
        self.epoch = epoch


__all__ = ["DistributedSampler"]

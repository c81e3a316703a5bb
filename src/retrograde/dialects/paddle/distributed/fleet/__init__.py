"""`paddle.distributed.fleet`: data-parallel training by its names, and `utils.recompute`."""

from __future__ import annotations

import os
from typing import Any

from ... import nn
from ..._api import attributes as _attributes
from .. import DataParallel, get_rank, get_world_size, init_parallel_env
from .. import barrier as _barrier

_NAMES = (
    "DistributedStrategy", "barrier_worker", "distributed_model", "distributed_optimizer", "init", "is_first_worker", "is_worker",
    "local_rank", "rank", "utils", "worker_index", "worker_num", "world_size",
)  # fmt: skip


class DistributedStrategy:
    """Settings of the training; what goes beyond data-parallel training is refused where the model is made."""

    _PLAIN = {
        "find_unused_parameters": False, "fuse_grad_size_in_MB": 32, "last_comm_group_size_MB": 1,
        "without_graph_optimization": True,
    }  # fmt: skip

    def __init__(self) -> None:
        self.hybrid_configs = {"dp_degree": -1, "mp_degree": 1, "pp_degree": 1, "sharding_degree": 1, "sep_degree": 1}
        self.amp = self.recompute = self.sharding = self.gradient_merge = self.lamb = self.lars = self.dgc = self.localsgd = False
        vars(self).update(self._PLAIN)


_state: dict[str, Any] = {"strategy": None}


def init(
    role_maker: Any = None, is_collective: bool = False, strategy: DistributedStrategy | None = None, log_level: Any = "INFO"
) -> None:
    """Connect the processes. Raises NotImplementedError for strategies beyond data-parallel training."""
    chosen = DistributedStrategy() if strategy is None else strategy
    more = [k for k, v in chosen.hybrid_configs.items() if k != "dp_degree" and v not in (1, -1)]
    more += [k for k in ("sharding", "gradient_merge", "lamb", "lars", "dgc", "localsgd") if getattr(chosen, k, False)]
    if more:
        raise NotImplementedError(f"fleet.init: {', '.join(more)} is not offered; processes train data-parallel here")
    init_parallel_env()
    _state["strategy"] = chosen


def distributed_model(model: Any) -> Any:
    """The layer as `DataParallel` where there are several processes."""
    if not isinstance(model, nn.Layer):
        raise TypeError(f"fleet.distributed_model: wanted a Layer, got {type(model).__name__}")
    strategy = _state["strategy"]
    if strategy is None:
        raise RuntimeError("fleet.distributed_model: call fleet.init() first")
    if get_world_size() == 1:
        return model
    return DataParallel(
        model, comm_buffer_size=strategy.fuse_grad_size_in_MB, find_unused_parameters=strategy.find_unused_parameters
    )


def distributed_optimizer(optimizer: Any, strategy: Any = None) -> Any:
    """The optimiser itself: the gradients that it finds are averaged already."""
    return optimizer


def worker_num() -> int:
    """How many processes there are."""
    return get_world_size()


def worker_index() -> int:
    """This process's number."""
    return get_rank()


rank, world_size = worker_index, worker_num


def local_rank() -> int:
    """This process's number on its machine."""
    return int(os.environ.get("LOCAL_RANK", get_rank()))


def is_first_worker() -> bool:
    """Whether this is process 0."""
    return get_rank() == 0


def is_worker() -> bool:
    """True: all processes train."""
    return True


def barrier_worker() -> None:
    """Wait for all processes."""
    _barrier()


__getattr__ = _attributes(globals(), "utils", known=_NAMES)

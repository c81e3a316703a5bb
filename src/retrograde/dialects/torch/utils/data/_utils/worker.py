"""`torch.utils.data._utils.worker`: seeds of processes that load data."""

from __future__ import annotations

import numpy as np


def _generate_state(base_seed: int, worker_id: int) -> list[int]:
    """Four words by which NumPy's global generator is seeded in a worker: `SeedSequence` of its number and the base seed."""
    entropy = [worker_id, base_seed & 0xFFFFFFFF, base_seed >> 32, 0]
    return [int(word) for word in np.random.SeedSequence(entropy).generate_state(4)]

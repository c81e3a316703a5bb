"""Optimisers and their options; run with MindSpore this records data/optim.json.

    python tests/dialects/mindspore/optim_cases.py      (in an environment with MindSpore)
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

RECORD = Path(__file__).parent / "data" / "optim.json"
STEPS = 4

CASES: list[tuple[str, dict[str, Any]]] = [(name, options) for name, several in {
    "SGD": [{}, {"momentum": 0.9}, {"momentum": 0.9, "nesterov": True}, {"weight_decay": 0.1}, {"loss_scale": 2.0},
            {"momentum": 0.9, "dampening": 0.3, "weight_decay": 0.1, "loss_scale": 4.0}],
    "Momentum": [{"momentum": 0.9}, {"momentum": 0.9, "weight_decay": 0.1, "loss_scale": 2.0}],
    "Adam": [{}, {"beta1": 0.8, "beta2": 0.9, "eps": 1e-3}, {"weight_decay": 0.1}, {"use_nesterov": True},
             {"use_amsgrad": True}, {"loss_scale": 2.0}],
    "AdamWeightDecay": [{}, {"weight_decay": 0.1}, {"eps": 1e-2, "beta1": 0.8}],
    "AdaMax": [{}, {"eps": 1e-2, "beta1": 0.8, "weight_decay": 0.1}],
    "Adagrad": [{}, {"accum": 1.0, "weight_decay": 0.1}],
    "Adadelta": [{}, {"rho": 0.5, "epsilon": 1e-3, "weight_decay": 0.1}],
    "RMSProp": [{}, {"decay": 0.5, "momentum": 0.9}, {"centered": True, "momentum": 0.9, "epsilon": 1e-3},
                {"weight_decay": 0.1}],
    "FTRL": [{}, {"lr_power": -0.3, "initial_accum": 0.5, "weight_decay": 0.1}],
    "ProximalAdagrad": [{}, {"l1": 0.1, "l2": 0.1, "weight_decay": 0.1}],
    "ASGD": [{}, {"lambd": 0.1, "alpha": 0.5, "t0": 2.0, "weight_decay": 0.1}],
    "Rprop": [{}, {"etas": (0.4, 1.3), "step_sizes": (1e-3, 0.2), "weight_decay": 0.1}],
    "LazyAdam": [{}],
    "AdaFactor": [{"relative_step": False, "scale_parameter": False}, {"relative_step": False, "weight_decay": 0.1}],
}.items() for options in several]  # fmt: skip


def gradient(step: int, shape: tuple[int, ...], k: float) -> np.ndarray:
    """A gradient that depends on nothing."""
    return np.sin(np.arange(int(np.prod(shape))) * 1.7 + step * 0.9 + k).astype(np.float32).reshape(shape)


def trajectory(ms: Any, name: str, options: dict[str, Any]) -> dict[str, Any]:
    """The parameters after each step, what a step gives, and the names of the optimiser's parameters."""
    w = ms.Parameter(ms.Tensor(np.linspace(-1, 1, 6).astype(np.float32).reshape(2, 3)), name="w")
    b = ms.Parameter(ms.Tensor(np.array([0.5, -0.25], np.float32)), name="b")
    optimizer = getattr(ms.nn, name)([w, b], learning_rate=0.1, **options)
    values = []
    for step in range(STEPS):
        given = optimizer((ms.Tensor(gradient(step, (2, 3), 0.0)), ms.Tensor(gradient(step, (2,), 1.0))))
        values.append([float(x) for x in (*w.asnumpy().ravel(), *b.asnumpy())])
    return {"values": values, "given": repr(given), "names": [p.name for p in optimizer.get_parameters()]}


if __name__ == "__main__":
    import mindspore

    RECORD.write_text("[\n" + ",\n".join(json.dumps(trajectory(mindspore, *case)) for case in CASES) + "\n]\n")

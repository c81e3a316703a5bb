"""Record optimiser trajectories with an installed PyTorch: `python record_updates.py > data/updates.json`.

Parameters w (2, 3), b (3,), s () meet the recorded gradients for STEPS steps; b has no gradient at step 3. Kept are the
parameters after KEPT_STEPS and the state dict at the end, for each case and dtype.
"""

import json
import sys

import numpy as np
import torch

STEPS = 8
CASES = [
    ("SGD", {"lr": 0.1}),
    ("SGD", {"lr": 0.1, "weight_decay": 0.05, "maximize": True}),
    ("SGD", {"lr": 0.1, "momentum": 0.9}),
    ("SGD", {"lr": 0.1, "momentum": 0.8, "dampening": 0.1, "weight_decay": 0.01}),
    ("SGD", {"lr": 0.1, "momentum": 0.8, "nesterov": True, "weight_decay": 0.01, "maximize": True}),
    ("Adam", {}),
    ("Adam", {"lr": 0.1, "betas": [0.8, 0.95], "eps": 1e-3, "weight_decay": 0.1}),
    ("Adam", {"lr": 0.1, "amsgrad": True, "maximize": True}),
    ("Adam", {"lr": 0.1, "weight_decay": 0.2, "decoupled_weight_decay": True}),
    ("Adam", {"lr": 0.1, "betas": [0.3, 0.6]}),
    ("AdamW", {"lr": 0.1}),
    ("AdamW", {"lr": 0.1, "weight_decay": 0.3, "amsgrad": True, "maximize": True}),
    ("Adamax", {"lr": 0.1}),
    ("Adamax", {"lr": 0.1, "weight_decay": 0.1, "maximize": True, "betas": [0.7, 0.9]}),
    ("NAdam", {"lr": 0.1}),
    ("NAdam", {"lr": 0.1, "weight_decay": 0.1, "momentum_decay": 0.3, "maximize": True}),
    ("NAdam", {"lr": 0.1, "weight_decay": 0.1, "decoupled_weight_decay": True}),
    ("RAdam", {"lr": 0.1}),
    ("RAdam", {"lr": 0.1, "weight_decay": 0.1, "maximize": True, "betas": [0.8, 0.99]}),
    ("RAdam", {"lr": 0.1, "weight_decay": 0.1, "decoupled_weight_decay": True}),
    ("Adagrad", {"lr": 0.1}),
    ("Adagrad", {"lr": 0.1, "lr_decay": 0.2, "weight_decay": 0.1, "initial_accumulator_value": 0.5, "maximize": True}),
    ("Adadelta", {}),
    ("Adadelta", {"lr": 0.5, "rho": 0.7, "eps": 1e-3, "weight_decay": 0.1, "maximize": True}),
    ("RMSprop", {}),
    ("RMSprop", {"lr": 0.05, "momentum": 0.5, "weight_decay": 0.1, "maximize": True}),
    ("RMSprop", {"lr": 0.05, "centered": True, "alpha": 0.8}),
    ("RMSprop", {"lr": 0.05, "centered": True, "momentum": 0.3, "eps": 1e-4}),
    ("Rprop", {}),
    ("Rprop", {"lr": 0.1, "etas": [0.4, 1.5], "step_sizes": [0.05, 0.2], "maximize": True}),
    ("ASGD", {"lr": 0.1}),
    ("ASGD", {"lr": 0.1, "lambd": 0.01, "alpha": 0.6, "t0": 3.0, "weight_decay": 0.1, "maximize": True}),
    ("Adafactor", {"lr": 0.1}),
    (
        "Adafactor",
        {"lr": 0.2, "beta2_decay": -0.5, "eps": [1e-3, 1e-2], "d": 1.5, "weight_decay": 0.1, "maximize": True},
    ),
    ("Muon", {"lr": 0.1}),
    ("Muon", {"lr": 0.1, "nesterov": False, "momentum": 0.5, "weight_decay": 0.0, "adjust_lr_fn": "match_rms_adamw"}),
]
COMPLEX = ["SGD", "Adam", "AdamW", "Adamax", "NAdam", "RAdam", "Adagrad", "Adadelta", "RMSprop", "Rprop", "ASGD"]


def plain(x):
    """Tensors as nested lists (complex ones as pairs), everything else as JSON can hold it."""
    if isinstance(x, torch.Tensor):
        x = x.detach()
        if x.is_complex():
            x = torch.view_as_real(x)
        if x.dtype != torch.float64:
            return [plain(row) for row in x] if x.dim() else float(f"{x.item():.9g}")
        return x.tolist()
    if isinstance(x, dict):
        return {str(key): plain(value) for key, value in x.items()}
    if isinstance(x, list | tuple):
        return [plain(value) for value in x]
    return x


KEPT_STEPS = (0, 2, 3, 5, 7)


def trajectory(name, options, dtype, start, gradients):
    params = [torch.nn.Parameter(torch.tensor(a, dtype=dtype)) for a in start]
    options = {key: tuple(value) if isinstance(value, list) else value for key, value in options.items()}
    if name == "Muon":
        del params[1:]
    optimizer = getattr(torch.optim, name)(params, **options)
    history = []
    for step, row in enumerate(gradients):
        for index, (p, g) in enumerate(zip(params, row)):
            p.grad = None if (step == 3 and index == 1) else torch.tensor(g, dtype=dtype)
        optimizer.step()
        if step in KEPT_STEPS:
            history.append(plain(params))
    return {"params": history, "state": plain(optimizer.state_dict()["state"])}


def main():
    rng = np.random.default_rng(0)
    shapes = [(2, 3), (3,), ()]
    start = [rng.normal(size=shape).round(3).tolist() for shape in shapes]
    gradients = [[rng.normal(size=shape).round(3).tolist() for shape in shapes] for _ in range(STEPS)]
    gradients[4][1] = [0.0, 0.0, 0.0]
    imaginary = [rng.normal(size=shape).round(3).tolist() for shape in shapes]
    cases = []
    for name, options in CASES:
        for dtype in ("float32", "float64", "bfloat16"):
            if dtype == "bfloat16" and options.get("nesterov") is False:
                continue  # here PyTorch's Muon normalises its momentum in place, by an oversight
            result = trajectory(name, options, getattr(torch, dtype), start, gradients)
            cases.append({"optimizer": name, "options": options, "dtype": dtype, **result})
    complex_start = [(np.array(a) + 1j * np.array(b)).tolist() for a, b in zip(start, imaginary)]
    complex_gradients = [
        [(np.array(a) * (1 - 0.5j) + 0.1j * (i + 1)).tolist() for a in row] for i, row in enumerate(gradients)
    ]
    for name in COMPLEX:
        result = trajectory(name, {"lr": 0.1}, torch.complex64, complex_start, complex_gradients)
        cases.append({"optimizer": name, "options": {"lr": 0.1}, "dtype": "complex64", **result})
    document = {"torch": torch.__version__, "kept_steps": KEPT_STEPS, "start": start, "imaginary": imaginary}
    document["gradients"] = gradients
    document["cases"] = cases
    text = json.dumps(document, default=str)
    sys.stdout.write(text.replace('{"optimizer"', '\n{"optimizer"') + "\n")


if __name__ == "__main__":
    main()

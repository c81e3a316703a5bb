"""Records data/repr.json, the texts that the real PyTorch prints; run where that is installed."""

import base64
import json
import random
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch._tensor_str import printoptions

COUNT = 360  # random cases, beside the chosen ones
FLOATS = ["float16", "bfloat16", "float32", "float64", "float8_e4m3fn", "float8_e5m2"]
INTEGERS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
SUBCLASS = type("Measured", (torch.Tensor,), {})

CHOSEN: list[tuple[Any, str, tuple[int, ...], dict[str, Any]]] = [
    # values, dtype, shape, print options
    ([2.0], "float32", (), {}),
    ([], "float32", (2, 0), {}),
    ([], "int64", (0,), {}),
    ([], "complex128", (0, 3), {}),
    ([1.0, 1000.0], "float32", (2,), {}),
    ([1.0, 1001.0], "float32", (2,), {}),
    ([0.5, 501.0], "float64", (2,), {}),
    ([1e8, 1e8], "float64", (2,), {}),
    ([100000001.0], "float64", (1,), {}),
    ([1e-4], "float64", (1,), {}),
    ([9.9e-5], "float64", (1,), {}),
    ([float("nan"), 0.0, -0.0], "float32", (3,), {}),
    ([float("nan"), 1.5, float("-inf")], "float32", (3,), {}),
    ([float("inf"), 3.0], "bfloat16", (2,), {}),
    ([True, False], "bool", (2,), {}),
    ([1 + 2j, -0.0 - 1.5j], "complex64", (2,), {}),
    ([complex(float("nan"), float("-inf")), 1e5 + 1e-5j], "complex128", (2,), {}),
    ([1.0, 2.0, 3.5], "float32", (3,), {"sci_mode": True}),
    ([1.0, 1e6], "float32", (2,), {"sci_mode": False}),
    ([0.0, float("nan")], "float32", (2,), {"sci_mode": True}),
    ([0.25, 0.75, 1.5], "float32", (3,), {"precision": 0}),
    (list(range(12)), "int64", (3, 4), {"threshold": 0, "edgeitems": 0}),
    (list(range(12)), "int64", (3, 4), {"edgeitems": 0}),
    ([1.0], "float32", (), {"threshold": 0, "edgeitems": 0}),
    (list(range(24)), "float32", (2, 3, 4), {"threshold": 0, "edgeitems": 1}),
    (list(range(30)), "int16", (30,), {"linewidth": 1}),
    (list(range(1001)), "float32", (1001,), {}),
    (list(range(1000)), "int16", (10, 10, 10), {"threshold": 999, "edgeitems": 1}),
]


def draw_floats(rng: np.random.Generator, count: int) -> np.ndarray:
    kind = rng.integers(8)
    values = [
        lambda: rng.standard_normal(count),
        lambda: rng.standard_normal(count) * 10.0 ** rng.uniform(-6, 9),
        lambda: rng.standard_normal(count) * 10.0 ** rng.uniform(-8, 8, count),
        lambda: rng.integers(-20, 20, count).astype(float),
        lambda: np.round(rng.standard_normal(count) * 10.0 ** rng.uniform(2, 11)),
        lambda: rng.integers(-40, 40, count) / 8,
        lambda: rng.choice([0.0, -0.0], count),
        lambda: rng.choice([1e-4, 9.9999e-5, 1e8, 100000001.0, 0.5, 500.0, 501.0], count),
    ][kind]()
    if rng.random() < 0.3:
        odd = rng.random(count) < 0.3
        values = np.where(odd, rng.choice([np.nan, np.inf, -np.inf, 0.0, -0.0], count), values)
    return values


def draw(rng: np.random.Generator, pick: random.Random) -> tuple[torch.Tensor, str]:
    dimensions = pick.choice([0, 1, 1, 2, 2, 3, 4])
    longest = {0: 1, 1: 20, 2: 7, 3: 4, 4: 3}[dimensions]
    shape = tuple(pick.randint(0 if pick.random() < 0.1 else 1, longest) for _ in range(dimensions))
    count = int(np.prod(shape))
    name = pick.choice([*FLOATS[:4], *FLOATS, "complex64", "complex128", *INTEGERS, "bool"])
    dtype = getattr(torch, name)
    if dtype.is_complex:
        values = torch.complex(*(torch.from_numpy(draw_floats(rng, count)) for _ in range(2)))
    elif dtype.is_floating_point:
        values = torch.from_numpy(draw_floats(rng, count))
    elif name == "bool":
        values = torch.from_numpy(rng.random(count) < 0.5)
    else:
        limits = np.iinfo(name)
        bound = min(limits.max, pick.choice([1, 9, 100, 10**6, limits.max]))
        values = torch.from_numpy(rng.integers(max(limits.min, -bound), bound, count, dtype=name, endpoint=True))
    return values.to(dtype).reshape(shape), name


def draw_options(pick: random.Random) -> dict[str, Any]:
    options: dict[str, Any] = {}
    if pick.random() < 0.5:
        return options
    for name, choices in {
        "precision": [0, 1, 2, 3, 8],
        "threshold": [0, 1, 5, 20],
        "edgeitems": [0, 1, 2, 3],
        "linewidth": [10, 40, 60, 120],
        "sci_mode": [True, False],
        "profile": ["default", "short", "full"],
    }.items():
        if pick.random() < 0.4:
            options[name] = pick.choice(choices)
    return options


def record(tensor: torch.Tensor, name: str, options: dict[str, Any], default: str, role: str) -> dict[str, Any]:
    raw = np.asarray(tensor.contiguous().reshape(-1).view(torch.uint8)).tobytes()
    suffixes: list[str] = []
    shown = tensor
    if role == "requires_grad":
        shown, suffixes = tensor.clone().requires_grad_(), ["requires_grad=True"]
    elif role == "parameter":
        shown, suffixes = torch.nn.Parameter(tensor.clone()), ["requires_grad=True"]
    elif role == "grad_fn":
        shown = tensor.clone().requires_grad_().unsqueeze(0).squeeze(0)
        suffixes = ["grad_fn=<SqueezeBackward1>"]
    elif role == "subclass":
        shown = tensor.as_subclass(SUBCLASS)
    torch.set_default_dtype(getattr(torch, default))
    try:
        with printoptions(**options):
            text = repr(shown)
    finally:
        torch.set_default_dtype(torch.float32)
    return {
        "dtype": name,
        "shape": list(tensor.shape),
        "data": base64.b64encode(raw).decode(),
        "default": default,
        "options": options,
        "role": role,
        "suffixes": suffixes,
        "text": text,
    }


def main() -> None:
    rng, pick = np.random.default_rng(7), random.Random(7)
    cases = []
    for values, name, shape, options in CHOSEN:
        tensor = torch.tensor(values, dtype=getattr(torch, name)).reshape(shape)
        cases.append(record(tensor, name, options, "float32", "plain"))
    for _ in range(COUNT):
        tensor, name = draw(rng, pick)
        roles = ["plain", "plain", "subclass"]
        if name in ("float16", "bfloat16", "float32", "float64", "complex64", "complex128"):
            roles += ["requires_grad", "parameter", "grad_fn"]
        default = pick.choice(["float32", "float32", "float64", "bfloat16"])
        cases.append(record(tensor, name, draw_options(pick), default, pick.choice(roles)))
    path = Path(__file__).parent / "data" / "repr.json"
    path.write_text("[\n" + ",\n".join(json.dumps(case) for case in cases) + "\n]\n")


if __name__ == "__main__":
    main()

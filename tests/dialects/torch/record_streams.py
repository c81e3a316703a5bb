"""Record random draws with an installed PyTorch: `python record_streams.py > data/streams.json`.

Each case seeds the generator, draws once, and keeps a digest of the bytes, the first and last values, the float32
that `rand(1)` draws next (so the words consumed) and whether a spare normal is held.
"""

import base64
import hashlib
import itertools
import json
import sys
from collections.abc import Callable

import torch
import torch.nn.functional as F

SIZES = (0, 1, 15, 16, 17, 31, 33, 100, 1000, 100_003)
SMALL = (1, 15, 16, 17, 33, 1000)
HALVES, FLOATS = ("float16", "bfloat16"), ("float32", "float64")
INTEGERS = ("uint8", "int8", "int16", "int32", "int64")


def weights(size: int, dtype: torch.dtype) -> torch.Tensor:
    """Give probabilities in [0, 1) by a formula that the test repeats."""
    return ((torch.arange(size, dtype=torch.float64) * 7 + 3) % 11 / 11).to(dtype)


def strided(size: int, dtype: torch.dtype) -> torch.Tensor:
    return torch.empty(2 * size, dtype=dtype)[::2].normal_(0.1, 0.3)


def empty(method: str, *args: object) -> Callable[[int, torch.dtype], torch.Tensor]:
    return lambda size, dtype: getattr(torch.empty(size, dtype=dtype), method)(*args)


DRAWS: dict[str, tuple[tuple[str, ...], tuple[int, ...], Callable[[int, torch.dtype], torch.Tensor]]] = {
    "uniform": (
        (*HALVES, *FLOATS, "complex64", "complex128"),
        SIZES,
        lambda size, dtype: torch.rand(size, dtype=dtype),
    ),
    "uniform range": ((*HALVES, *FLOATS), SIZES, empty("uniform_", -0.3, 2.7)),
    "normal": (
        (*HALVES, *FLOATS, "complex64", "complex128"),
        SIZES,
        lambda size, dtype: torch.randn(size, dtype=dtype),
    ),
    "normal scaled": ((*HALVES, *FLOATS), SIZES, empty("normal_", 0.1, 0.3)),
    "normal strided": ((*HALVES, *FLOATS), SMALL, strided),
    "normal each": (FLOATS, SMALL, lambda size, dtype: torch.normal(weights(size, dtype), weights(size, dtype) + 0.5)),
    "randint": (
        (*INTEGERS, *FLOATS),
        (1, 1000),
        lambda size, dtype: torch.randint(3, 100, (size,), dtype=dtype),
    ),
    "randint wide": (("int64",), SIZES, lambda size, dtype: torch.randint(-(2**40), 2**50, (size,), dtype=dtype)),
    "random": ((*INTEGERS, "bool", *HALVES, *FLOATS), (1, 1000), empty("random_")),
    "permutation": (("int64", "int32", "float32"), SIZES, lambda size, dtype: torch.randperm(size, dtype=dtype)),
    "bernoulli": (("float32", "int64", "bool"), SIZES, empty("bernoulli_", 0.3)),
    "bernoulli each": (FLOATS, SIZES, lambda size, dtype: torch.bernoulli(weights(size, dtype))),
    "dropout": (("float32",), SIZES, lambda size, dtype: F.dropout(torch.ones(size, dtype=dtype), 0.3) != 0),
    "dropout features": (("float32",), (6, 42), lambda size, dtype: F.dropout2d(torch.ones(2, size, 1, 1), 0.3) != 0),
    "exponential": ((*HALVES, *FLOATS), (*SMALL, 100_003), empty("exponential_", 2.5)),
    "geometric": (("float32", "int64", "int8"), (*SMALL, 100_003), empty("geometric_", 0.01)),
    "cauchy": ((*HALVES, *FLOATS), SMALL, empty("cauchy_", 0.3, 1.7)),
    "log_normal": ((*HALVES, *FLOATS), SMALL, empty("log_normal_", 0.2, 0.3)),
    "rrelu": (("float32",), SMALL, lambda size, dtype: F.rrelu(weights(size, dtype) - 0.5, 0.1, 0.3, True)),
    "multinomial": (FLOATS, (20, 300), lambda size, dtype: torch.multinomial(weights(2 * size, dtype).view(2, -1), 9)),
    "multinomial one": (FLOATS, (20, 300), lambda size, dtype: torch.multinomial(weights(size, dtype), 1)),
    "multinomial replaced": (
        (*HALVES, *FLOATS),
        (20, 300),
        lambda size, dtype: torch.multinomial(weights(2 * size, dtype).view(2, -1), 500, True),
    ),
    "poisson": (FLOATS, SMALL, lambda size, dtype: torch.poisson(weights(size, dtype) * 40)),
    "binomial": (FLOATS, SMALL, lambda size, dtype: torch.binomial(weights(size, dtype) * 110, weights(size, dtype))),
    "gamma": (FLOATS, SMALL, lambda size, dtype: torch._standard_gamma(weights(size, dtype) * 3)),
    "dirichlet": (FLOATS, (10,), lambda size, dtype: torch._sample_dirichlet(weights(6 * size, dtype).view(-1, 6) * 3)),
}


def raw(tensor: torch.Tensor) -> bytes:
    flat = tensor.contiguous().flatten()
    return flat.numpy().tobytes() if flat.dtype != torch.bfloat16 else flat.view(torch.int16).numpy().tobytes()


def encoded(data: bytes) -> str:
    return base64.b64encode(data).decode()


def record() -> dict[str, object]:
    """Draw every case."""
    cases = []
    seeds = itertools.count(2**31 - 9)
    for name, (dtypes, sizes, draw) in DRAWS.items():
        for dtype, size in itertools.product(dtypes, sizes):
            seed = next(seeds)
            torch.manual_seed(seed)
            values = draw(size, getattr(torch, dtype))
            flat = values.flatten()
            held = bool(torch.get_rng_state()[5040])
            cases.append(
                {
                    "draw": name,
                    "dtype": dtype,
                    "size": size,
                    "seed": seed,
                    "shape": list(values.shape),
                    "digest": hashlib.sha256(raw(values)).hexdigest()[:16],
                    "ends": encoded(raw(torch.cat((flat[:4], flat[-4:])))),
                    "next": torch.rand(1).item(),
                    "spare": held,
                }
            )
    torch.manual_seed(7)
    torch.randn(3)
    state = torch.get_rng_state().numpy().tobytes()
    after = raw(torch.cat((torch.randn(2), torch.rand(700), torch.randn(17))))
    return {"torch": torch.__version__, "cases": cases, "state": encoded(state), "after state": encoded(after)}


if __name__ == "__main__":
    recorded = record()
    lines = ",\n".join(json.dumps(case) for case in recorded.pop("cases"))  # type: ignore[arg-type]
    sys.stdout.write(json.dumps(recorded)[:-1] + ', "cases": [\n' + lines + "\n]}\n")

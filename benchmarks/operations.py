"""Single operations, forward and backward, and whole networks, which `python -m benchmarks --operations` compares with PyTorch.

`builders(framework)` as workloads.py has it, for "torch" and "retrograde.torch"; the last word of a name is its group: how many
numbers the operands have (4, 1e4, 1e6), "images", "sequences" or "networks".
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

SIDES = {"4": 2, "1e4": 100, "1e6": 1000}
"""Of the square operands of a group."""


def builders(framework: str) -> dict[str, Callable[[], Callable[[], None]]]:
    """The operations and networks, by name."""
    dialect = framework.removeprefix("retrograde.")
    if dialect != framework:
        import retrograde

        retrograde.activate(dialect)
    import torch

    torch.manual_seed(0)
    found = {}
    for group, side in SIDES.items():
        for name, function, *operands in _numbers(torch, side):
            found[f"{name} {group}"] = _step(torch, function, operands)
    for group, listed in (("images", _images), ("sequences", _sequences)):
        for name, function, *operands in listed(torch):
            found[f"{name} {group}"] = _step(torch, function, operands)
    return found | {f"{name} networks": lambda make=make: _training(torch, *make(torch)) for name, make in NETWORKS.items()}


def _step(torch, function, operands):
    """What sets up forward and backward of a function; the gradient of all its results is 1."""

    def build():
        seed = torch.ones_like(function(*operands))
        return lambda: function(*operands).backward(seed)

    return build


def _numbers(torch, n: int) -> Iterator[tuple]:
    F = torch.nn.functional

    def leaf(*shape, shift=0.0):
        return (torch.rand(*shape) + shift).requires_grad_(True)

    x, y, p, v = leaf(n, n), leaf(n, n), leaf(n, n, shift=0.5), leaf(n)
    mask, constant = torch.rand(n, n) > 0.5, torch.rand(n, n)
    rows, places = torch.randint(0, n, (n,)), torch.randint(0, n, (n, n))
    for name in ("exp", "sin", "tanh", "sigmoid", "abs", "erf", "relu", "square"):
        yield name, getattr(torch, name), x
    for name in ("log", "sqrt", "rsqrt", "lgamma", "reciprocal"):
        yield name, getattr(torch, name), p
    for name in ("gelu", "silu", "softplus", "leaky_relu", "elu", "hardswish", "normalize"):
        yield name, getattr(F, name), x
    for name in ("add", "mul", "maximum", "atan2"):
        yield name, getattr(torch, name), x, y
    yield "div", torch.div, x, p
    yield "pow 1.7", lambda a: a**1.7, p
    yield "where", lambda a, b: torch.where(mask, a, b), x, y
    yield "clamp", lambda a: a.clamp(0.2, 0.8), x
    for name in ("sum", "mean", "std", "norm", "max", "amin"):
        yield name, lambda a, name=name: getattr(a, name)(), x
    for name in ("sum", "var", "prod", "logsumexp", "amax", "softmax", "log_softmax", "cumsum", "cumprod"):
        yield f"{name} of rows", lambda a, name=name: getattr(a, name)(1), p
    yield "sum of columns", lambda a: a.sum(0), x
    yield "softmax of columns", lambda a: a.softmax(0), x
    yield "layer_norm", lambda a: F.layer_norm(a, (n,)), x
    yield "sort", lambda a: a.sort(1)[0], x
    yield "topk", lambda a: a.topk(2, 1)[0], x
    yield "median", lambda a: a.median(1)[0], x
    yield "row broadcast", lambda a, b: a * b, x, v
    yield "column broadcast", lambda a, b: a + b[:, None], x, v
    yield "outer", lambda b: b[:, None] * b, v
    yield "transposed sum", lambda a, b: a.t() + b, x, y
    yield "contiguous", lambda a: a.t().contiguous(), x
    yield "slice", lambda a: a[1:, :-1], x
    yield "flip", lambda a: a.flip(0), x
    yield "roll", lambda a: a.roll(1, 0), x
    yield "cat", lambda a, b: torch.cat([a, b], 1), x, y
    yield "stack", lambda a, b: torch.stack([a, b]), x, y
    yield "chunk", lambda a: sum(torch.chunk(a, 2)), x
    yield "pad", lambda a: F.pad(a, (1, 1)), x
    yield "tril", torch.tril, x
    yield "diagonal", torch.diagonal, x
    yield "rows", lambda a: a[rows], x
    yield "index_select", lambda a: a.index_select(1, rows), x
    yield "gather", lambda a: a.gather(1, places), x
    yield "scatter_add", lambda a, b: a.scatter_add(1, places, b), x, y
    yield "mask", lambda a: a[mask], x
    yield "index_put", lambda a, b: a.index_put((rows,), b), x, y
    yield "embedding", lambda a: F.embedding(rows, a), x
    yield "mm", torch.mm, x, y
    yield "mv", torch.mv, x, v
    yield "linear", F.linear, x, y, v
    for name in ("mse_loss", "smooth_l1_loss", "binary_cross_entropy_with_logits"):
        yield name, lambda a, name=name: getattr(F, name)(a, constant), x
    yield "cross_entropy", lambda a: F.cross_entropy(a, rows), x
    yield "dropout", lambda a: F.dropout(a, 0.5), x
    yield "clone", torch.clone, x
    yield "half", lambda a: a.half(), x
    yield "bfloat16", lambda a: a.bfloat16(), x
    if n == 100:
        yield "solve", lambda a, b: torch.linalg.solve(a + n * torch.eye(n), b), x, y
        yield "cholesky", lambda a: torch.linalg.cholesky(a @ a.t() + torch.eye(n)), x
        yield "eigvalsh", lambda a: torch.linalg.eigvalsh(a + a.t()), x


def _images(torch) -> Iterator[tuple]:
    F = torch.nn.functional
    for size, (n, c, s) in {"small": (2, 4, 16), "large": (16, 32, 56)}.items():
        x, w = (torch.rand(*shape).requires_grad_(True) for shape in ((n, c, s, s), (c, c, 3, 3)))
        one, each = (torch.rand(*shape).requires_grad_(True) for shape in ((2 * c, c, 1, 1), (c, 1, 3, 3)))
        grid, norm = torch.rand(n, s, s, 2) * 2 - 1, torch.nn.BatchNorm2d(c)
        listed = {
            "conv3x3": lambda a, w=w: F.conv2d(a, w, padding=1), "conv1x1": lambda a, w=one: F.conv2d(a, w),
            "conv stride 2": lambda a, w=w: F.conv2d(a, w, stride=2, padding=1),
            "depthwise": lambda a, w=each, c=c: F.conv2d(a, w, padding=1, groups=c),
            "max_pool": lambda a: F.max_pool2d(a, 2), "avg_pool": lambda a: F.avg_pool2d(a, 2), "batch_norm": norm,
            "max_pool 3, 2": lambda a: F.max_pool2d(a, 3, 2, 1), "group_norm": lambda a: F.group_norm(a, 2),
            "bilinear": lambda a: F.interpolate(a, scale_factor=2, mode="bilinear"),
            "unfold": lambda a: F.unfold(a, 3, padding=1),
            "grid_sample": lambda a, g=grid: F.grid_sample(a, g, align_corners=False),
            "pixel_shuffle": lambda a: F.pixel_shuffle(a, 2),
        }  # fmt: skip
        for name, function in listed.items():
            yield f"{name} {size}", function, x


def _sequences(torch) -> Iterator[tuple]:
    F = torch.nn.functional
    for size, (n, t, h) in {"small": (2, 8, 16), "large": (32, 64, 128)}.items():
        x, q = (torch.rand(*shape).requires_grad_(True) for shape in ((n, t, h), (n, 4, t, h // 4)))
        lstm, gru = torch.nn.LSTM(h, h, batch_first=True), torch.nn.GRU(h, h, batch_first=True)
        yield f"lstm {size}", lambda a, layer=lstm: layer(a)[0], x
        yield f"gru {size}", lambda a, layer=gru: layer(a)[0], x
        yield f"attention {size}", lambda a: F.scaled_dot_product_attention(a, a, a, is_causal=True), q
        yield f"bmm {size}", lambda a: a @ a.transpose(1, 2), x


# ------------------------------------------------------------------------------------------ networks


def _training(torch, net, loss):
    optimiser = torch.optim.Adam(net.parameters())

    def step():
        optimiser.zero_grad()
        loss().backward()
        optimiser.step()

    return step


def _deep(torch):
    nn = torch.nn
    net, x = nn.Sequential(*[layer for _ in range(20) for layer in (nn.Linear(512, 512), nn.Tanh())]), torch.rand(1024, 512)
    return net, lambda: net(x).square().mean()


def _convolutional(torch):
    nn = torch.nn

    def unit(a, b):
        return nn.Conv2d(a, b, 3, padding=1), nn.BatchNorm2d(b), nn.ReLU()

    net = nn.Sequential(
        *unit(3, 32), *unit(32, 32), nn.MaxPool2d(2), *unit(32, 64), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(64 * 64, 10)
    )
    x, labels = torch.rand(64, 3, 32, 32), torch.randint(0, 10, (64,))
    return net, lambda: nn.functional.cross_entropy(net(x), labels)


def _encoder(torch):
    layer = torch.nn.TransformerEncoderLayer(256, 8, 1024, batch_first=True)
    net, x = torch.nn.TransformerEncoder(layer, 4), torch.rand(8, 128, 256)
    return net, lambda: net(x).square().mean()


def _recurrent(torch):
    net, x = torch.nn.LSTM(128, 256, 2, batch_first=True), torch.rand(64, 50, 128)
    return net, lambda: net(x)[0].square().mean()


NETWORKS = {"mlp": _deep, "convolutions": _convolutional, "transformer": _encoder, "lstm": _recurrent}

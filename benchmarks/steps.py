"""Training steps of networks, the update of the parameters included, for `python -m benchmarks --compiled`.

The same program for PyTorch and for retrograde's dialect of it, with `torch.compile` on the whole step ("native": retrograde's),
and in jax's manner: a compiled function from the old parameters to the new ones.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import workloads

WIDTH, HEADS, LENGTH, WORDS, LAYERS, BATCH, RATE = 64, 4, 64, 65, 3, 8, 1e-3


def builders(framework: str) -> dict[str, Callable[[], Callable[[], object]]]:
    """The steps, by name."""
    if framework == "jax":
        return {"gpt step": _gpt_jax, "convolution step": _convolution_jax}
    if framework in ("native", "retrograde.torch.compile"):
        import retrograde

        retrograde.activate("torch")
    import torch

    compile_ = (lambda f: f) if framework == "torch" else torch.compile
    return {
        "gpt step": lambda: compile_(workloads.gpt(torch)),
        "convolution step": lambda: compile_(_convolution(torch)),
    }


def _convolution(torch):
    """8 channels of 5×5 convolutions, pooling, a linear layer, on 32 images of 28×28; SGD."""
    nn, functional = torch.nn, torch.nn.functional
    torch.manual_seed(0)
    net = nn.Sequential(nn.Conv2d(1, 8, 5), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(1152, 10))
    optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
    x, target = torch.randn(32, 1, 28, 28), torch.randint(0, 10, (32,))

    def step():
        optimizer.zero_grad()
        loss = functional.cross_entropy(net(x), target)
        loss.backward()
        optimizer.step()
        return loss

    return step


def _updating(jax, update, state):
    """A step that keeps what the compiled function gives for the next one."""
    compiled, now = jax.jit(update, donate_argnums=0), [state]

    def step():
        now[0], loss = compiled(now[0])
        return jax.block_until_ready(loss)

    return step


def _cross_entropy(jax, logits, target):
    logs = jax.nn.log_softmax(logits)
    return -jax.numpy.mean(jax.numpy.take_along_axis(logs, target[:, None], 1))


def _convolution_jax():
    import jax
    from jax import numpy as jnp

    draw = np.random.default_rng(0)
    x = jnp.asarray(draw.normal(size=(32, 1, 28, 28)).astype(np.float32))
    target = jnp.asarray(draw.integers(0, 10, 32))
    shapes = (8, 1, 5, 5), (8,), (1152, 10), (10,)
    parameters = tuple(jnp.asarray((0.1 * draw.normal(size=s)).astype(np.float32)) for s in shapes)

    def loss_of(parameters):
        kernel, b, w, c = parameters
        y = jax.nn.relu(jax.lax.conv(x, kernel, (1, 1), "VALID") + b[:, None, None])
        y = jax.lax.reduce_window(y, -jnp.inf, jax.lax.max, (1, 1, 2, 2), (1, 1, 2, 2), "VALID")
        return _cross_entropy(jax, y.reshape(32, -1) @ w + c, target)

    def update(parameters):
        loss, gradients = jax.value_and_grad(loss_of)(parameters)
        return tuple(p - 0.01 * g for p, g in zip(parameters, gradients)), loss

    return _updating(jax, update, parameters)


def _gpt_jax():
    """What workloads.gpt computes: dropout 0.1, gelu, clipped norm, AdamW."""
    import jax
    from jax import numpy as jnp

    draw = np.random.default_rng(0)

    def normal(*shape):
        return jnp.asarray((0.05 * draw.normal(size=shape)).astype(np.float32))

    def norm():
        return jnp.ones(WIDTH), jnp.zeros(WIDTH)

    def linear(i, o):
        return normal(i, o), jnp.zeros(o)

    blocks = [
        {"n1": norm(), "n2": norm(), "parts": linear(WIDTH, 3 * WIDTH), "joined": linear(WIDTH, WIDTH),
         "up": linear(WIDTH, 4 * WIDTH), "down": linear(4 * WIDTH, WIDTH)}
        for _ in range(LAYERS)
    ]  # fmt: skip
    parameters = {
        "word": normal(WORDS, WIDTH),
        "place": normal(LENGTH, WIDTH),
        "blocks": blocks,
        "norm": norm(),
        "out": linear(WIDTH, WORDS),
    }
    text = jnp.asarray(draw.integers(0, WORDS, (BATCH, LENGTH + 1)))
    past = jnp.tril(jnp.ones((LENGTH, LENGTH), bool))

    def normalized(x, p):
        centred = x - x.mean(-1, keepdims=True)
        return centred * jax.lax.rsqrt((centred * centred).mean(-1, keepdims=True) + 1e-5) * p[0] + p[1]

    def dropout(x, key):
        return jnp.where(jax.random.bernoulli(key, 0.9, x.shape), x / 0.9, 0)

    def attention(x, p, keys):
        q, k, v = (
            y.reshape(BATCH, LENGTH, HEADS, -1).swapaxes(1, 2)
            for y in jnp.split(x @ p["parts"][0] + p["parts"][1], 3, 2)
        )
        scores = jnp.where(past, q @ k.swapaxes(2, 3) * (WIDTH // HEADS) ** -0.5, -jnp.inf)
        mixed = dropout(jax.nn.softmax(scores), keys[0]) @ v
        mixed = mixed.swapaxes(1, 2).reshape(BATCH, LENGTH, WIDTH)
        return dropout(mixed @ p["joined"][0] + p["joined"][1], keys[1])

    def loss_of(parameters, key):
        x = parameters["word"][text[:, :-1]] + parameters["place"]
        for p, k in zip(parameters["blocks"], jax.random.split(key, LAYERS)):
            keys = jax.random.split(k, 3)
            x = x + attention(normalized(x, p["n1"]), p, keys)
            y = jax.nn.gelu(normalized(x, p["n2"]) @ p["up"][0] + p["up"][1], approximate=False)
            x = x + dropout(y @ p["down"][0] + p["down"][1], keys[2])
        logits = normalized(x, parameters["norm"]) @ parameters["out"][0] + parameters["out"][1]
        return _cross_entropy(jax, logits.reshape(-1, WORDS), text[:, 1:].reshape(-1))

    def update(state):
        parameters, first, second, count, key = state
        key, drawn = jax.random.split(key)
        loss, gradients = jax.value_and_grad(loss_of)(parameters, drawn)
        each = jax.tree.map
        length = jnp.sqrt(sum(jnp.sum(g * g) for g in jax.tree.leaves(gradients)))
        gradients = each(lambda g: g * jnp.minimum(1.0, 1.0 / (length + 1e-6)), gradients)
        count = count + 1
        first = each(lambda m, g: 0.9 * m + 0.1 * g, first, gradients)
        second = each(lambda v, g: 0.999 * v + 0.001 * g * g, second, gradients)

        def stepped(p, m, v):
            return p * (1 - RATE * 0.1) - RATE * (m / (1 - 0.9**count)) / (jnp.sqrt(v / (1 - 0.999**count)) + 1e-8)

        return (each(stepped, parameters, first, second), first, second, count, key), loss

    zeros = jax.tree.map(jnp.zeros_like, parameters)
    state = parameters, zeros, jax.tree.map(jnp.zeros_like, parameters), jnp.zeros(()), jax.random.key(0)
    return _updating(jax, update, state)

"""What the three programs beside this file have in common: the equation's data and the starting weights, as NumPy arrays.

    u u' = nu u''  on [-1, 1],  u(-1) = c tanh(c / (2 nu)) = -u(1),  solved by  u(x) = -c tanh(c x / (2 nu))
"""

import numpy as np

NU, C = 0.3, 1.0
WIDTH = 32
POINTS = 128
NAMES = ("w1", "b1", "w2", "b2", "w3", "b3")


def solution(x):
    """The exact solution at the points x."""
    return (-C * np.tanh(C * x / (2 * NU))).astype(np.float32)


def data():
    """Collocation points, the two ends, and the solution there, each of shape (n, 1)."""
    ends = np.array([[-1.0], [1.0]], np.float32)
    return np.linspace(-1.0, 1.0, POINTS, dtype=np.float32).reshape(-1, 1), ends, solution(ends)


def weights(seed=0):
    """Starting weights by name; matrices are (in, out)."""
    draw = np.random.RandomState(seed)
    found = {}
    for i, (fan_in, fan_out) in enumerate(((1, WIDTH), (WIDTH, WIDTH), (WIDTH, 1)), 1):
        found[f"w{i}"] = draw.uniform(-1.0, 1.0, (fan_in, fan_out)).astype(np.float32) / np.float32(fan_in) ** 0.5
        found[f"b{i}"] = np.zeros(fan_out, np.float32)
    return found

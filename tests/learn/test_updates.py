"""The update rules against trajectories recorded from PyTorch (record_updates.py), on plain NumPy arrays."""

import json
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

from retrograde._errors import UnsupportedError
from retrograde.learn import accumulating, blocks, factored, quasi_newton, updates

RECORD = json.loads((Path(__file__).parent / "data" / "updates.json").read_text())
DTYPES = {"float32": np.float32, "float64": np.float64, "bfloat16": ml_dtypes.bfloat16, "complex64": np.complex64}
TOLERANCE = {"float32": 3e-6, "float64": 1e-12, "bfloat16": 2e-2, "complex64": 3e-6}


class Slot:
    """One parameter and what a caller keeps for it: state arrays and the number of steps it has made."""

    def __init__(self, name, p, options):
        self.name, self.p, self.options, self.steps = name, p, dict(options), 0
        self.extra = {}

    def zeros(self, key):
        return self.extra.setdefault(key, [np.zeros_like(self.p)])

    def update(self, g):
        self.steps += 1
        assert isinstance(g, np.ndarray)
        getattr(self, self.name.lower())(self.p, g, **self.options)

    def sgd(self, p, g, **o):
        buffer = self.zeros("buffer") if o.get("momentum") else None
        updates.sgd([p], [g], buffer, first=self.steps == 1, **o)

    def adam(self, p, g, lr=1e-3, amsgrad=False, decoupled_weight_decay=False, **o):
        v_max = self.zeros("v_max") if amsgrad else None
        m, v = self.zeros("m"), self.zeros("v")
        updates.adam([p], [g], m, v, v_max, lr=lr, step=self.steps, decoupled=decoupled_weight_decay, **o)

    def adamw(self, p, g, weight_decay=1e-2, **o):
        self.adam(p, g, weight_decay=weight_decay, decoupled_weight_decay=True, **o)

    def adamax(self, p, g, **o):
        updates.adamax([p], [g], self.zeros("m"), self.zeros("u"), step=self.steps, **o)

    def nadam(self, p, g, betas=(0.9, 0.999), momentum_decay=4e-3, decoupled_weight_decay=False, **o):
        mu, mu_next = updates.nadam_schedule(self.steps, betas[0], momentum_decay)
        product = self.extra["product"] = np.float32(self.extra.get("product", np.float32(1)) * mu)
        momenta = {"mu": mu, "mu_next": mu_next, "mu_product": float(product)}
        m, v = self.zeros("m"), self.zeros("v")
        updates.nadam([p], [g], m, v, betas=betas, step=self.steps, decoupled=decoupled_weight_decay, **momenta, **o)

    def radam(self, p, g, decoupled_weight_decay=False, **o):
        updates.radam(
            [p], [g], self.zeros("m"), self.zeros("v"), step=self.steps, decoupled=decoupled_weight_decay, **o
        )

    def adagrad(self, p, g, initial_accumulator_value=0.0, **o):
        if "total" not in self.extra:
            both = initial_accumulator_value * (1 + 1j) if p.dtype.kind == "c" else initial_accumulator_value
            self.extra["total"] = [np.full_like(p, both)]
        accumulating.adagrad([p], [g], self.extra["total"], step=self.steps, **o)

    def adadelta(self, p, g, **o):
        accumulating.adadelta([p], [g], self.zeros("v"), self.zeros("changes"), **o)

    def rmsprop(self, p, g, lr=0.01, centered=False, **o):
        mean = self.zeros("mean") if centered else None
        buffer = self.zeros("buffer") if o.get("momentum") else None
        accumulating.rmsprop([p], [g], self.zeros("v"), buffer, mean, lr=lr, **o)

    def rprop(self, p, g, lr=0.01, **o):
        if "sizes" not in self.extra:
            self.extra["sizes"] = [np.full_like(p, lr * (1 + 1j) if p.dtype.kind == "c" else lr)]
        accumulating.rprop([p], [g], self.zeros("previous"), self.extra["sizes"], **o)

    def asgd(self, p, g, lr=0.01, lambd=1e-4, alpha=0.75, t0=1e6, **o):
        eta, mu = self.extra.get("schedule", (np.float32(lr), np.float32(1)))
        accumulating.asgd([p], [g], self.zeros("ax"), eta=float(eta), mu=float(mu), lambd=lambd, **o)
        self.extra["schedule"] = tuple(map(np.float32, accumulating.asgd_schedule(self.steps, lr, lambd, alpha, t0)))

    def adafactor(self, p, g, eps=(None, 1e-3), **o):
        first = ml_dtypes.finfo(p.dtype).eps if eps[0] is None else eps[0]
        rows = columns = variance = None
        if p.ndim > 1:
            rows = self.extra.setdefault("rows", np.zeros(p.shape[:-1] + (1,), p.dtype))
            columns = self.extra.setdefault("columns", np.zeros(p.shape[:-2] + (1,) + p.shape[-1:], p.dtype))
        else:
            (variance,) = self.zeros("variance")
        factored.adafactor(p, g, rows, columns, variance, eps=(float(first), eps[1]), step=self.steps, **o)

    def muon(self, p, g, lr, adjust_lr_fn=None, **o):
        rows, columns = p.shape
        ratio = 0.2 * max(rows, columns) ** 0.5 if adjust_lr_fn else max(1, rows / columns) ** 0.5
        factored.muon(p, g, *self.zeros("buffer"), lr=lr, step_size=lr * ratio, **o)


def array(nested, imaginary, dtype, tilt=None):
    real = np.array(nested)
    if dtype != "complex64":
        return real.astype(DTYPES[dtype])
    return np.array(real + 1j * np.array(imaginary) if tilt is None else real * (1 - 0.5j) + tilt, np.complex64)


def as_recorded(p):
    return np.stack([p.real, p.imag], -1) if p.dtype.kind == "c" else p.astype(np.float64)


def label(case):
    return "-".join([case["optimizer"], case["dtype"], *map(str, case["options"].values())])


@pytest.mark.parametrize("case", RECORD["cases"], ids=label)
def test_trajectory(case):
    dtype = case["dtype"]
    rule = case["optimizer"]
    starts = zip(RECORD["start"], RECORD["imaginary"])
    slots = [Slot(rule, array(a, b, dtype), case["options"]) for a, b in starts]
    if rule == "Muon":
        del slots[1:]
    history = iter(case["params"])
    for step, row in enumerate(RECORD["gradients"]):
        for index, (slot, g) in enumerate(zip(slots, row)):
            if not (step == 3 and index == 1):
                gradient = array(g, None, dtype, 0.1j * (step + 1))
                before = gradient.copy()
                slot.update(gradient)
                np.testing.assert_array_equal(gradient, before)
        if step in RECORD["kept_steps"]:
            tolerance = TOLERANCE[dtype]
            for slot, wanted in zip(slots, next(history)):
                np.testing.assert_allclose(as_recorded(slot.p), wanted, rtol=tolerance, atol=tolerance)


RULES = ["Adam", "NAdam", "RAdam", "Adamax", "Adagrad", "Adadelta", "RMSprop", "Rprop", "ASGD", "SGD"]


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("dtype", [np.float32, np.complex64])
def test_large_arrays_go_by_blocks_and_strided_ones_whole(rule, dtype):
    rng = np.random.default_rng(1)
    shape = (3, blocks.BLOCK // 2 + 5)
    start = rng.normal(size=shape).astype(dtype)
    gradients = [rng.normal(size=shape).astype(dtype) for _ in range(2)]
    whole = Slot(rule, start.copy(), {"lr": 0.1})
    strided = Slot(rule, np.asfortranarray(start), {"lr": 0.1})
    rows = [Slot(rule, row.copy(), {"lr": 0.1}) for row in start]
    for g in gradients:
        whole.update(g)
        strided.update(g)
        for slot, row in zip(rows, g):
            slot.update(row)
    expected = np.stack([slot.p for slot in rows])
    np.testing.assert_array_equal(whole.p, expected)
    np.testing.assert_array_equal(strided.p, expected)


@pytest.mark.parametrize("rule", RULES)
def test_empty_and_nan(rule):
    empty = Slot(rule, np.zeros((0, 3), np.float32), {"lr": 0.1})
    empty.update(np.zeros((0, 3), np.float32))
    mixed = Slot(rule, np.ones(2, np.float32), {"lr": 0.1})
    with np.errstate(invalid="ignore"):
        mixed.update(np.array([np.nan, 1.0], np.float32))
    # Rprop looks at signs only: a NaN has none, so its element stays.
    assert np.isnan(mixed.p[0]) == (rule != "Rprop")
    assert np.isfinite(mixed.p[1])


def test_other_arrays_are_refused():
    with pytest.raises(UnsupportedError, match="list"):
        updates.sgd([[1.0]], [np.ones(1)], lr=0.1)
    with pytest.raises(UnsupportedError, match="list"):
        factored.muon([1.0], np.ones(1), np.ones(1), lr=0.1, step_size=0.1)


class Rosenbrock:
    def __init__(self, dtype):
        self.x = np.array([-1.5, 2.0], dtype)
        self.calls = 0

    def evaluate(self):
        self.calls += 1
        a, b = self.x
        loss = (1 - a) ** 2 + 100 * (b - a * a) ** 2
        return float(loss), np.array([-2 * (1 - a) - 400 * a * (b - a * a), 200 * (b - a * a)], self.x.dtype)

    def move(self, t, direction):
        self.x += t * direction

    def save(self):
        return self.x.copy()

    def restore(self, saved):
        self.x[...] = saved


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_lbfgs_with_line_search_solves_rosenbrock(dtype):
    problem, memory = Rosenbrock(dtype), quasi_newton.Memory()
    loss, gradient = problem.evaluate()
    quasi_newton.lbfgs(problem, memory, loss, gradient, max_iter=60, max_eval=200, strong_wolfe=True)
    np.testing.assert_allclose(problem.x, [1, 1], rtol=1e-3)
    assert memory.evaluations == problem.calls - 1


def test_lbfgs_history_is_bounded():
    problem, memory = Rosenbrock(np.float64), quasi_newton.Memory()
    loss, gradient = problem.evaluate()
    quasi_newton.lbfgs(problem, memory, loss, gradient, max_iter=20, history_size=3, strong_wolfe=True)
    assert len(memory.moves) == len(memory.gradient_changes) == len(memory.inverse_curvatures) == 3

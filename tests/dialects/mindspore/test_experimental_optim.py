"""`mindspore.experimental.optim` and its schedulers; figures recorded from MindSpore 2.10."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from dialects.mindspore.optim_cases import gradient

from retrograde.dialects import mindspore as ms
from retrograde.dialects.mindspore import Parameter, Tensor
from retrograde.dialects.mindspore.experimental import optim
from retrograde.dialects.mindspore.experimental.optim import lr_scheduler as rates


def parameters() -> list[Parameter]:
    start = np.linspace(-1, 1, 6).astype(np.float32).reshape(2, 3)
    return [Parameter(Tensor(start), name="w"), Parameter(Tensor([0.5, -0.25]), name="b")]


@pytest.mark.parametrize("name, options, want", [
    ("SGD", {"lr": 0.1, "momentum": 0.9, "dampening": 0.1, "weight_decay": 0.1},
     [-1.309168, -0.861614, 0.289942, 0.373147, 0.027654, 0.860981, -0.061647, -0.030115]),
    ("SGD", {"lr": 0.1, "momentum": 0.9, "nesterov": True, "maximize": True},
     [-0.385499, -0.292489, -0.893743, 0.071259, 1.326918, 0.941422, 1.160136, -0.638902]),
    ("Adam", {"lr": 0.1, "weight_decay": 0.1, "amsgrad": True},
     [-1.124628, -0.819448, 0.169653, 0.375974, 0.226627, 0.846681, 0.1581, -0.203105]),
    ("AdamW", {"lr": 0.1},
     [-1.241347, -0.835978, 0.168711, 0.38449, 0.227725, 0.874841, 0.159876, -0.213711]),
    ("RMSprop", {"lr": 0.1, "momentum": 0.9, "centered": True},
     [-5.551966, -4.110794, 7.342918, 2.797475, -6.317947, -0.550493, -5.120944, 0.428603]),
    ("Adagrad", {"lr": 0.1, "lr_decay": 0.1},
     [-1.180733, -0.668474, 0.054969, 0.232473, 0.376908, 1.005862, 0.339598, -0.171305]),
    ("Adadelta", {},
     [-1.008659, -0.600335, -0.187111, 0.19838, 0.589779, 1.003597, 0.494213, -0.241003]),
    ("Adamax", {"lr": 0.1},
     [-1.17418, -0.805242, 0.103656, 0.362214, 0.296533, 0.88723, 0.196866, -0.253647]),
    ("NAdam", {"lr": 0.1},
     [-1.2476, -0.661371, 0.120563, 0.211347, 0.322075, 1.040674, 0.309175, -0.11398]),
    ("RAdam", {"lr": 0.1},
     [-1.159541, -0.8034, 0.011955, 0.348781, 0.349706, 0.915717, 0.223763, -0.202282]),
    ("ASGD", {"lr": 0.1},
     [-1.21841, -0.620453, 0.023735, 0.162817, 0.385829, 1.092318, 0.340692, -0.073451]),
    ("Rprop", {"lr": 0.1},
     [-1.364, -0.76, 0.3368, 0.36, 0.236, 0.84, 0.136, -0.24]),
])  # fmt: skip
def test_trajectories(name: str, options: dict[str, Any], want: list[float]) -> None:
    w, b = parameters()
    optimizer = getattr(optim, name)([w, b], **options)
    for step in range(4):
        assert optimizer((Tensor(gradient(step, (2, 3), 0.0)), Tensor(gradient(step, (2,), 1.0)))) is True
    np.testing.assert_allclose([*w.asnumpy().ravel(), *b.asnumpy()], want, rtol=2e-5, atol=2e-6)


def test_groups_and_text() -> None:
    w, b = parameters()
    optimizer = optim.Adam([{"params": [w], "lr": 0.5}, {"params": [b]}], lr=0.1)
    assert [float(group["lr"]) for group in optimizer.param_groups] == [np.float32(0.5), np.float32(0.1)]
    assert repr(optimizer).startswith("Adam (\nParameter Group 0\n    amsgrad: False\n    betas: (0.9, 0.999)\n")
    assert "    lr: 0.1\n" in repr(optimizer)
    optimizer.param_groups[1]["lr"] = 0.0
    before = b.asnumpy().copy()
    optimizer((Tensor(np.ones((2, 3), np.float32)), Tensor([1.0, 1.0])))
    assert (b.asnumpy() == before).all()
    assert ms.mint.optim.AdamW is optim.AdamW


@pytest.mark.parametrize("make, want", [
    (lambda o: rates.StepLR(o, 2, 0.5), [0.1, 0.1, 0.05, 0.05, 0.025, 0.025, 0.0125]),
    (lambda o: rates.MultiStepLR(o, [1, 3], 0.1), [0.1, 0.01, 0.01, 0.001, 0.001, 0.001, 0.001]),
    (lambda o: rates.ExponentialLR(o, 0.9), [0.1, 0.09, 0.081, 0.0729, 0.06561, 0.059049, 0.053144]),
    (lambda o: rates.CosineAnnealingLR(o, 4, 0.01), [0.1, 0.08682, 0.055, 0.02318, 0.01, 0.02318, 0.055]),
    (lambda o: rates.LambdaLR(o, lambda epoch: 0.9**epoch), [0.1, 0.09, 0.081, 0.0729, 0.06561, 0.059049, 0.053144]),
    (lambda o: rates.MultiplicativeLR(o, lambda epoch: 0.9), [0.1, 0.09, 0.081, 0.0729, 0.06561, 0.059049, 0.053144]),
    (lambda o: rates.LinearLR(o, 0.5, 1.0, 4), [0.05, 0.0625, 0.075, 0.0875, 0.1, 0.1, 0.1]),
    (lambda o: rates.ConstantLR(o, 0.5, 2), [0.05, 0.05, 0.1, 0.1, 0.1, 0.1, 0.1]),
    (lambda o: rates.PolynomialLR(o, 4, 2.0), [0.1, 0.05625, 0.025, 0.00625, 0.0, 0.0, 0.0]),
])  # fmt: skip
def test_schedulers(make: Any, want: list[float]) -> None:
    scheduler = make(optim.SGD(parameters(), lr=0.1))
    got = [float(scheduler.get_last_lr()[0])]
    for _ in range(6):
        scheduler.step()
        got.append(float(scheduler.get_last_lr()[0]))
    np.testing.assert_allclose(got, want, rtol=2e-5, atol=1e-6)


@pytest.mark.parametrize("kind, call", [
    (ValueError, lambda: optim.SGD([], 0.1)), (ValueError, lambda: optim.SGD(parameters(), -0.1)),
    (ValueError, lambda: optim.Adam(parameters(), betas=(1.0, 0.9))), (TypeError, lambda: optim.SGD(parameters()[0], 0.1)),
    (ValueError, lambda: optim.SGD(parameters(), 0.1, nesterov=True)), (TypeError, lambda: rates.StepLR(1, 2)),
    (ValueError, lambda: optim.SGD(parameters(), 0.1)((Tensor([1.0]),))),
])  # fmt: skip
def test_refusals(kind: type[Exception], call: Any) -> None:
    with pytest.raises(kind):
        call()


@pytest.mark.parametrize("name, options, want", [
    ("RMSprop", {"eps": 0.1}, [0.666667, -1.8, 0.194281, -1.47917]),
    ("RMSprop", {"eps": 0.1, "momentum": 0.9}, [0.666667, -1.8, -0.105719, -1.29917]),
    ("Adam", {"eps": 0.1}, [0.986347, -1.992674, 0.961138, -1.978176]),
    ("Adam", {"eps": 0.1, "amsgrad": True, "weight_decay": 0.1}, [0.984052, -1.987543, 0.95643, -1.966974]),
])  # fmt: skip
def test_where_epsilon_stands(name: str, options: dict[str, Any], want: list[float]) -> None:
    p = Parameter(Tensor([1.0, -2.0]), name="w")
    optimizer, got = getattr(optim, name)([p], lr=0.1, **options), []
    for scale in (1.0, 2.0):
        optimizer((Tensor([0.5 * scale, -0.25 * scale]),))
        got += p.asnumpy().tolist()
    np.testing.assert_allclose(got, want, rtol=2e-6, atol=1e-6)


@pytest.mark.parametrize("make, want", [
    (lambda o: rates.CyclicLR(o, 0.01, 0.1, 2, 3), [0.01, 0.055, 0.1, 0.07, 0.04, 0.01, 0.055]),
    (lambda o: rates.CyclicLR(o, 0.01, 0.1, 2, mode="triangular2"), [0.01, 0.055, 0.1, 0.055, 0.01, 0.0325, 0.055]),
    (lambda o: rates.CyclicLR(o, [0.01], 0.1, 2, mode="exp_range", gamma=0.9),
     [0.01, 0.0505, 0.0829, 0.042805, 0.01, 0.036572, 0.05783]),
    (lambda o: rates.CosineAnnealingWarmRestarts(o, 2, 2, 0.01), [0.1, 0.055, 0.1, 0.08682, 0.055, 0.02318, 0.1]),
    (lambda o: rates.SequentialLR(o, [
        rates.LinearLR(o, 0.5, total_iters=2), rates.CosineAnnealingLR(o, 4), rates.StepLR(o, 1, 0.5)], [2, 5]),
     [0.05, 0.075, 0.1, 0.085355, 0.05, 0.1, 0.05]),
])  # fmt: skip
def test_cycles_and_sequences(make: Any, want: list[float]) -> None:
    test_schedulers(make, want)


@pytest.mark.parametrize("options, want", [
    ({"patience": 1}, [0.1, 0.1, 0.1, 0.01, 0.01, 0.001, 0.001, 0.001, 0.001, 0.0001]),
    ({"patience": 1, "mode": "max", "factor": 0.5},
     [0.1, 0.1, 0.05, 0.05, 0.025, 0.025, 0.0125, 0.0125, 0.00625, 0.00625]),
    ({"patience": 0, "cooldown": 2}, [0.1, 0.1, 0.01, 0.01, 0.01, 0.001, 0.001, 0.001, 0.0001, 0.0001]),
    ({"patience": 0, "min_lr": 0.005}, [0.1, 0.1, 0.01, 0.005, 0.005, 0.005, 0.005, 0.005, 0.005, 0.005]),
])  # fmt: skip
def test_plateaus(options: dict[str, Any], want: list[float]) -> None:
    optimizer = optim.SGD(parameters(), lr=0.1)
    scheduler, got = rates.ReduceLROnPlateau(optimizer, **options), []
    for metric in (1.0, 0.9, 0.9, 0.9, 0.9, 0.9, 0.95, 0.5, 0.5, 0.5):
        scheduler.step(Tensor(metric))
        got.append(float(optimizer.param_groups[0]["lr"]))
    np.testing.assert_allclose(got, want, rtol=2e-5)


def test_schedulers_start_from_the_first_rate_and_go_to_an_epoch() -> None:
    optimizer = optim.SGD(parameters(), lr=0.1)
    rates.ConstantLR(optimizer, 0.1, 2)
    scheduler = rates.StepLR(optimizer, 2)
    assert repr(scheduler.base_lrs) == "[Tensor(shape=[], dtype=Float32, value= 0.1)]"
    for epoch, want in ((0, 0.1), (1, 0.1), (3, 0.01), (5, 0.001)):
        scheduler.step(epoch)
        assert float(optimizer.param_groups[0]["lr"]) == pytest.approx(want)


@pytest.mark.parametrize("kind, make", [
    (ValueError, lambda o: rates.CyclicLR(o, 0.01, 0.1, mode="a")), (TypeError, lambda o: rates.CyclicLR(o, "a", 0.1)),
    (ValueError, lambda o: rates.CyclicLR(o, [0.01, 0.02], 0.1)),
    (ValueError, lambda o: rates.CosineAnnealingWarmRestarts(o, 2.5)),
    (ValueError, lambda o: rates.SequentialLR(o, [rates.StepLR(o, 2)], [3])),
    (ValueError, lambda o: rates.ReduceLROnPlateau(o, factor=1.5)),
    (TypeError, lambda o: rates.ReduceLROnPlateau(o, min_lr="a")),
])  # fmt: skip
def test_refusals_of_schedulers(kind: type[Exception], make: Any) -> None:
    with pytest.raises(kind):
        make(optim.SGD(parameters(), lr=0.1))


def test_warm_restarts_of_fractions_of_an_epoch() -> None:
    schedule = rates.CosineAnnealingWarmRestarts(optim.SGD(parameters(), lr=0.1, momentum=0.9), 2)
    found = []
    for epoch in (0, 1 / 3, 2 / 3, 1, 4 / 3, None, None, None):
        schedule.step(epoch)
        found.append(schedule.get_last_lr()[0].item())
    np.testing.assert_allclose(found, [0.1, 0.0933013, 0.075, 0.05, 0.025, 0.0933013, 0.025, 0.0933013], rtol=1e-5)
    with pytest.raises(ValueError, match="negative"):
        schedule.step(-1)

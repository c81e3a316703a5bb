"""Optimisers, parameter groups and learning rates; figures recorded from MindSpore 2.10 (optim_cases.py)."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from dialects.mindspore import optim_cases

from retrograde.dialects import mindspore as ms
from retrograde.dialects.mindspore import Parameter, Tensor, nn
from retrograde.dialects.mindspore.boost import GradientAccumulation
from retrograde.dialects.mindspore.nn.optim.optimizer import opt_init_args_register

RECORD = json.loads(optim_cases.RECORD.read_text())


def parameter(name: str, *values: float) -> Parameter:
    return Parameter(Tensor(np.array(values, np.float32)), name=name)


ONE = Tensor([1.0, 3.0])


@pytest.mark.parametrize("i", range(len(optim_cases.CASES)), ids=[f"{n}-{o}" for n, o in optim_cases.CASES])
def test_trajectories(i: int) -> None:
    got, want = optim_cases.trajectory(ms, *optim_cases.CASES[i]), RECORD[i]
    assert got["given"] == want["given"]
    assert got["names"] == want["names"]
    np.testing.assert_allclose(got["values"], want["values"], rtol=4e-6, atol=4e-7)


def test_nesterov_momentum_and_ftrl_follow_their_formulas() -> None:
    # MindSpore's CPU kernels ignore use_nesterov, and take l1 for sign(linear) * l1.
    p = parameter("p", 1.0)
    optimizer = nn.Momentum([p], 0.1, 0.5, use_nesterov=True)
    optimizer((Tensor([1.0]),))
    assert p.asnumpy() == pytest.approx([1 - 0.1 * 1.5])
    p = parameter("p", 0.0)
    nn.FTRL([p], learning_rate=0.1, l1=0.5)((Tensor([-1.0]),))
    assert p.asnumpy() == pytest.approx([0.5 / (np.sqrt(1.1) / 0.1)])


def test_adagrad_keeps_its_sums_without_update_slots() -> None:
    p = parameter("p", 1.0)
    optimizer = nn.Adagrad([p], accum=0.25, learning_rate=0.1, update_slots=False)
    for _ in range(2):
        optimizer((Tensor([1.0]),))
    assert p.asnumpy() == pytest.approx([1 - 2 * 0.1 / 0.5])


def test_lamb_and_lars_scale_with_norms() -> None:
    p = parameter("p", 3.0, 4.0)
    nn.Lamb([p], 0.1)((Tensor([1.0, 1.0]),))
    np.testing.assert_allclose(p.asnumpy(), np.array([3, 4]) - 0.1 * 5 / np.sqrt(2), rtol=1e-5)
    p = parameter("p", 3.0, 4.0)
    optimizer = nn.LARS(nn.Momentum([p], 0.1, 0.9), epsilon=1e-8, coefficient=0.02)
    optimizer((Tensor([0.6, 0.8]),))
    np.testing.assert_allclose(p.asnumpy(), np.array([3, 4]) - 0.1 * 0.02 * 5 * np.array([0.6, 0.8]), rtol=1e-6)


def test_groups_with_rates_decay_and_order() -> None:
    a, b, c = (parameter(name, 1.0, 1.0) for name in "abc")
    optimizer = nn.Momentum(
        [{"params": [a], "lr": 0.5, "weight_decay": 0.1}, {"params": [b], "weight_decay": 0.0},
         {"params": [c], "lr": 0.3}, {"order_params": [c, b, a]}], learning_rate=0.1, momentum=0.9, weight_decay=0.01,
    )  # fmt: skip
    assert [p.name for p in optimizer.parameters] == ["c", "b", "a"]
    assert [p.name for p in optimizer.learning_rate] == ["learning_rate_group_2", "learning_rate", "learning_rate_group_0"]
    assert optimizer.get_lr_parameter(a).name == "learning_rate_group_0"
    for _ in range(3):
        assert optimizer((ONE, ONE * 2, ONE * 3)) == (True, True, True)
    np.testing.assert_allclose(a.asnumpy(), [-7.327374458, -23.444875717], rtol=1e-6)
    np.testing.assert_allclose(b.asnumpy(), [-0.121999979, -2.365999699], rtol=1e-6)
    np.testing.assert_allclose(c.asnumpy(), [-0.695469558, -4.052834511], rtol=1e-6)


def test_weight_decay_leaves_out_normalisation() -> None:
    for name, want in (("x.gamma", 1.0), ("betax", 1.0), ("bias", 0.5), ("BETA", 0.5)):
        p = parameter(name, 1.0)
        nn.Momentum([p], 1.0, 0.0, weight_decay=0.5)((Tensor([0.0]),))
        assert p.asnumpy() == [want], name
    p = parameter("x.beta", 1.0)
    nn.Momentum([{"params": [p], "weight_decay": 0.5}], 1.0, 0.0)((Tensor([0.0]),))
    assert p.asnumpy() == [0.5]


def test_learning_rates_in_every_form() -> None:
    w = parameter("w", 1.0)
    optimizer = nn.SGD([w], learning_rate=[0.5, 0.25])
    for want in (0.5, 0.25):
        optimizer((Tensor([1.0]),))
        assert w.asnumpy() == [want]
    with pytest.raises(RuntimeError, match="2 steps"):
        optimizer((Tensor([1.0]),))
    scheduled = nn.Momentum([w], nn.ExponentialDecayLR(0.1, 0.9, 1), 0.9)
    assert float(scheduled.get_lr()) == pytest.approx(0.1)
    scheduled((Tensor([1.0]),))
    assert float(scheduled.get_lr()) == np.float32(0.09) - np.spacing(np.float32(0.09))
    settable = nn.Adam([w], learning_rate=Tensor(0.1))
    settable.learning_rate.set_data(Tensor(0.5))
    before = w.asnumpy().copy()
    settable((Tensor([1.0]),))
    assert w.asnumpy() == pytest.approx(before - 0.5, rel=1e-5)


@pytest.mark.parametrize("kind, make", [
    (ValueError, lambda p: nn.SGD([p], -0.1)), (TypeError, lambda p: nn.SGD([p], None)),
    (ValueError, lambda p: nn.SGD([p], weight_decay=-1.0)), (ValueError, lambda p: nn.SGD([p], nesterov=True)),
    (ValueError, lambda p: nn.SGD([p], loss_scale=0.0)), (TypeError, lambda p: nn.SGD([p], weight_decay="a")),
    (ValueError, lambda p: nn.SGD([])), (TypeError, lambda p: nn.SGD(p)), (TypeError, lambda p: nn.SGD([1])),
    (KeyError, lambda p: nn.SGD([{}])), (KeyError, lambda p: nn.SGD([{"params": [p], "x": 1}])),
    (ValueError, lambda p: nn.SGD([{"params": []}])), (ValueError, lambda p: nn.SGD([p, p])),
    (RuntimeError, lambda p: nn.SGD([{"params": [p]}, {"params": [p]}])),
    (ValueError, lambda p: nn.SGD([{"params": [p]}, {"order_params": [p, p]}])),
    (ValueError, lambda p: nn.SGD(None)), (ValueError, lambda p: nn.SGD({})),
    (ValueError, lambda p: nn.Adam([p], beta1=1.0)), (TypeError, lambda p: nn.Adam([p], beta1=1)),
    (ValueError, lambda p: nn.Adam([p], eps=0.0)), (TypeError, lambda p: nn.Adam([p], use_nesterov=1)),
    (ValueError, lambda p: nn.Adam([p], use_amsgrad=True, use_lazy=True)), (TypeError, lambda p: nn.Momentum([p], 0.1, 1)),
    (TypeError, lambda p: nn.Momentum([p], 0.1)), (ValueError, lambda p: nn.RMSProp([p], decay=-1.0)),
    (ValueError, lambda p: nn.FTRL([p], lr_power=1.0)), (ValueError, lambda p: nn.Rprop([p], etas=(1.5, 2.0))),
    (RuntimeError, lambda p: nn.SGD([p])((Tensor([1.0]), Tensor([1.0])))),
])  # fmt: skip
def test_refusals(kind: type[Exception], make: Any) -> None:
    with pytest.raises(kind):
        make(parameter("p", 1.0))


def test_an_optimizer_of_ones_own() -> None:
    class Plain(nn.Optimizer):
        def __init__(self, params: Any, learning_rate: Any = 0.1) -> None:
            super().__init__(learning_rate, params, weight_decay=0.5)

        def construct(self, gradients: Any) -> Any:
            rate = self.get_lr()
            self.assignadd(self.global_step, self.global_step_increase_tensor)
            for p, g in zip(self.parameters, self.decay_weight(gradients)):
                p.set_data(p - rate * g)
            return True

    w = parameter("w", 1.0)
    optimizer = Plain([w])
    assert optimizer((Tensor([1.0]),)) is True
    assert w.asnumpy() == pytest.approx([1 - 0.1 * 1.5])
    assert optimizer.global_step.asnumpy().tolist() == [1]


def test_half_precision_keeps_its_dtype() -> None:
    p = Parameter(Tensor(np.ones(1, np.float16)), name="p")
    optimizer = nn.Adam([p], learning_rate=0.1)
    optimizer((Tensor(np.ones(1, np.float16)),))
    assert p.dtype is ms.float16
    assert p.asnumpy() == pytest.approx([0.9], abs=1e-3)


def test_lists_of_rates() -> None:
    assert nn.piecewise_constant_lr([2, 5, 7], [0.1, 0.05, 0.01]) == [0.1, 0.1, 0.05, 0.05, 0.05, 0.01, 0.01]
    assert nn.cosine_decay_lr(0.01, 0.1, 6, 2, 2) == pytest.approx([0.1, 0.1, 0.055, 0.055, 0.01, 0.01])
    assert nn.exponential_decay_lr(0.1, 0.9, 6, 2, 1) == pytest.approx([0.1, 0.1, 0.09, 0.09, 0.081, 0.081])
    assert nn.exponential_decay_lr(0.1, 0.9, 6, 2, 2, True) == pytest.approx([0.1] * 4 + [0.09] * 2)
    assert nn.inverse_decay_lr(0.1, 0.5, 3, 1, 1) == pytest.approx([0.1, 0.0666667, 0.05], rel=1e-5)
    assert nn.natural_exp_decay_lr(0.1, 0.9, 6, 2, 2, True) == pytest.approx([0.1] * 4 + [0.01652989] * 2)
    assert nn.polynomial_decay_lr(0.1, 0.01, 6, 2, 2, 0.5) == pytest.approx([0.1, 0.1, 0.0736396, 0.0736396, 0.01, 0.01])
    assert nn.warmup_lr(0.01, 6, 2, 2) == pytest.approx([0.0, 0.0, 0.005, 0.005, 0.01, 0.01])
    for call in (
        lambda: nn.piecewise_constant_lr([2, 1], [0.1, 0.2]), lambda: nn.cosine_decay_lr(0.2, 0.1, 6, 2, 2),
        lambda: nn.exponential_decay_lr(-0.1, 0.9, 6, 2, 1), lambda: nn.warmup_lr(0.1, 0, 2, 2),
    ):  # fmt: skip
        with pytest.raises(ValueError):
            call()
    with pytest.raises(TypeError):
        nn.exponential_decay_lr(1, 0.9, 6, 2, 1)


@pytest.mark.parametrize("schedule, want", [
    (lambda: nn.CosineDecayLR(0.01, 0.1, 4), [0.1, 0.0868198, 0.055, 0.0231802, 0.01, 0.01]),
    (lambda: nn.ExponentialDecayLR(0.1, 0.9, 4, True), [0.1, 0.1, 0.1, 0.1, 0.09, 0.09]),
    (lambda: nn.InverseDecayLR(0.1, 0.9, 4), [0.1, 0.0816327, 0.0689655, 0.0597015, 0.0526316, 0.0470588]),
    (lambda: nn.NaturalExpDecayLR(0.1, 0.9, 4), [0.1, 0.040657, 0.0165299, 0.00672055, 0.00273237, 0.0011109]),
    (lambda: nn.PolynomialDecayLR(0.1, 0.01, 4, 0.5, True), [0.1, 0.0879423, 0.0736396, 0.055, 0.01, 0.0651135]),
    (lambda: nn.WarmUpLR(0.1, 4), [0.0, 0.025, 0.05, 0.075, 0.1, 0.1]),
])  # fmt: skip
def test_schedules(schedule: Any, want: list[float]) -> None:
    rates = [schedule()(Tensor(step, ms.int32)) for step in range(6)]
    assert [r.dtype for r in rates] == [ms.float32] * 6
    assert [float(r) for r in rates] == pytest.approx(want, rel=2e-5)


def test_unknown_options_of_adam() -> None:
    with pytest.raises(KeyError, match="momentum"):
        nn.Adam([Parameter(Tensor([1.0]), name="w")], momentum=0.9)


def test_errors_of_groups_and_rates_say_what_is_wanted() -> None:
    w = Parameter(Tensor([1.0]), name="w")
    with pytest.raises(KeyError, match="'params'"):
        nn.SGD([{"lr": 0.1}])
    with pytest.raises(ValueError, match="learning_rate"):
        nn.SGD([w], ["a"])


def test_a_schedule_of_ones_own_gives_a_number() -> None:
    class Falling(nn.learning_rate_schedule.LearningRateSchedule):
        def construct(self, step: Any) -> Any:
            return 0.5 / (step + 1)

    optimizer = nn.SGD([Parameter(Tensor([1.0]), name="w")], Falling())
    optimizer((Tensor([1.0]),))
    assert str(optimizer.get_lr()) == "0.25"


def test_what_an_optimizer_of_ones_own_finds() -> None:
    p = Parameter(Tensor([1.0]), name="w")
    optimizer = nn.Optimizer(0.1, [p])
    assert optimizer._parameters[0] is p
    assert optimizer.hyper_map(lambda g: g * 2, (Tensor([3.0]),))[0].asnumpy().tolist() == [6.0]


def test_an_optimizer_keeps_what_it_was_made_with() -> None:
    class Mine(nn.Optimizer):
        @opt_init_args_register
        def __init__(self, params: Any, learning_rate: Any = 0.1, weight_decay: float = 0.5, *, mode: str = "x") -> None:
            super().__init__(learning_rate, params, weight_decay)

        @nn.Optimizer.target.setter  # type: ignore[attr-defined, untyped-decorator]
        def target(self, value: Any) -> None:
            self._set_base_target(value)

    parameters = [Parameter(Tensor([1.0]), name="w")]
    optimizer = Mine(parameters, weight_decay=0.25)
    assert optimizer.init_args == {"weight_decay": 0.25, "mode": "x"}
    assert (optimizer.init_params, optimizer.init_learning_rate) == ({"params": parameters}, 0.1)
    optimizer.target = "CPU"
    assert optimizer.target == "CPU"
    with pytest.raises(TypeError, match="target must be a str"):
        optimizer.target = 3
    with pytest.raises(ValueError, match="target must be 'CPU'"):
        optimizer.target = "Ascend"


def test_gradients_of_two_batches_make_one_step() -> None:
    w = Parameter(Tensor([1.0, 2.0]), name="w")
    step = GradientAccumulation(2, nn.SGD([w], 0.5))
    seen = []
    for g in ([2.0, 4.0], [6.0, 0.0], [1.0, 1.0]):
        assert float(step(Tensor(3.0), (Tensor(g),))) == 3.0
        seen.append((w.asnumpy().tolist(), step._grad_accumulation[0].asnumpy().tolist()))
    assert seen == [([1.0, 2.0], [1.0, 2.0]), ([-1.0, 1.0], [0.0, 0.0]), ([-1.0, 1.0], [0.5, 0.5])]

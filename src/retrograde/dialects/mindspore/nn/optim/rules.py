"""The optimisers: what each is called, its options and defaults, and the rule of `retrograde.learn` that it follows.

Betas and their powers are kept in float32, as MindSpore computes with them.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .....learn import accumulating, bridge, factored, proximal, updates
from ..._parameter import Parameter, ParameterTuple
from ..._tensor import Tensor, from_array
from .._checks import a_bool, a_float, between, not_negative_float, positive_float
from .optimizer import RuleOptimizer, _as_float, _Chosen, number

_f32 = np.float32


def _scalar(value: float, name: str) -> Parameter:
    return Parameter(from_array(np.array(value, _f32)), name=name)


class SGD(RuleOptimizer):
    """Gradient descent, with momentum and dampening: the first gradient enters the momentum undamped."""

    def __init__(
        self, params: Any, learning_rate: Any = 0.1, momentum: float = 0.0, dampening: float = 0.0,
        weight_decay: Any = 0.0, nesterov: bool = False, loss_scale: float = 1.0,
    ) -> None:  # fmt: skip
        super().__init__(learning_rate, params, weight_decay, loss_scale)
        momentum, dampening = _as_float(momentum), _as_float(dampening)
        not_negative_float("SGD", "momentum", momentum)
        not_negative_float("SGD", "dampening", dampening)
        a_bool("SGD", "nesterov", nesterov)
        if nesterov and (momentum <= 0 or dampening != 0):
            raise ValueError(
                f"SGD: nesterov goes with a momentum above 0 and no dampening, got momentum={momentum}, "
                f"dampening={dampening}"
            )
        if self.dynamic_weight_decay:
            raise TypeError("SGD: weight_decay must be a number; a schedule goes with the other optimizers")
        self.dampening, self.nesterov = dampening, nesterov
        self.momentum, self._has_momentum = _scalar(momentum, "momentum"), momentum != 0
        self.accum = self._state("accum")
        self.stat = self._state("stat", 1.0)

    def _step(self, chosen: _Chosen) -> None:
        momentum = number(self.momentum)
        moving = self._has_momentum if isinstance(momentum, Tensor) else momentum != 0
        stats = chosen.of(self.stat)
        # Without dampening the first gradient enters as all others do.
        first = self.dampening != 0 and bool((stats[0].asnumpy() != 0).all())
        for stat in stats:
            bridge.put(stat, 0)
        chosen.update(
            updates.sgd, self.accum if moving else None, lr=chosen.lr, momentum=momentum,
            dampening=_f32(self.dampening), nesterov=self.nesterov, first=first,
        )  # fmt: skip


class Momentum(RuleOptimizer):
    """`v = momentum * v + g`, `p -= lr * v`; with `use_nesterov`, `p -= lr * (g + momentum * v)`."""

    def __init__(
        self, params: Any, learning_rate: Any, momentum: float, weight_decay: Any = 0.0, loss_scale: float = 1.0,
        use_nesterov: bool = False,
    ) -> None:  # fmt: skip
        super().__init__(learning_rate, params, weight_decay, loss_scale)
        not_negative_float("Momentum", "momentum", momentum)
        self.use_nesterov = a_bool("Momentum", "use_nesterov", use_nesterov)
        self.momentum = _scalar(momentum, "momentum")
        self.moments = self._state("moments")

    def _step(self, chosen: _Chosen) -> None:
        chosen.update(
            updates.sgd, self.moments, lr=chosen.lr, momentum=number(self.momentum),
            nesterov=self.use_nesterov,
        )  # fmt: skip


def _check_adam(name: str, beta1: float, beta2: float, eps: float) -> None:
    between(name, "beta1", beta1)
    between(name, "beta2", beta2)
    positive_float(name, "eps", eps)


class _Moments(RuleOptimizer):
    """What the optimisers of Adam's family share: two averages, and the powers of the betas."""

    def _prepare(self, beta1: float, beta2: float, eps: float) -> None:
        _check_adam(type(self).__name__, beta1, beta2, eps)
        self.beta1, self.beta2, self.eps = _f32(beta1), _f32(beta2), _f32(eps)
        self.beta1_power = _scalar(1.0, "beta1_power")

    def _begin(self) -> None:
        bridge.scale(self.beta1_power, self.beta1)


class Adam(_Moments):
    """Adam (Kingma and Ba 2015) with the correction of the bias in the rate, so that `eps` stands beside the bare root.

    use_amsgrad: the largest second moment so far takes its place. use_nesterov: the first moment a step ahead.
    `use_locking`, and `use_lazy` and `use_offload`, which say how gradients are stored, change nothing here.
    """

    def __init__(
        self, params: Any, learning_rate: Any = 1e-3, beta1: float = 0.9, beta2: float = 0.999, eps: float = 1e-8,
        use_locking: bool = False, use_nesterov: bool = False, weight_decay: Any = 0.0, loss_scale: float = 1.0,
        use_amsgrad: bool = False, **kwargs: Any,
    ) -> None:  # fmt: skip
        super().__init__(learning_rate, params, weight_decay, loss_scale)
        name = type(self).__name__
        stored = {key: a_bool(name, key, kwargs.pop(key, False)) for key in ("use_lazy", "use_offload")}
        if kwargs:
            raise KeyError(f"{name}: unknown options {', '.join(kwargs)}; there are use_lazy and use_offload")
        if use_amsgrad and any(stored.values()):
            raise ValueError(f"{name}: use_amsgrad does not go with use_lazy or use_offload")
        a_bool(name, "use_locking", use_locking)
        self.use_nesterov = a_bool(name, "use_nesterov", use_nesterov)
        self.use_amsgrad = a_bool(name, "use_amsgrad", use_amsgrad)
        self._prepare(beta1, beta2, eps)
        self.beta2_power = _scalar(1.0, "beta2_power")
        self.moment1 = self._state("moment1")
        self.moment2 = self._state("moment2")
        self.vhat = self._state("vhat") if use_amsgrad else None

    def _begin(self) -> None:
        super()._begin()
        bridge.scale(self.beta2_power, self.beta2)

    def _step(self, chosen: _Chosen) -> None:
        rate = updates.corrected_rate(chosen.lr, number(self.beta1_power), number(self.beta2_power))
        chosen.update(
            updates.adam, self.moment1, self.moment2, self.vhat, lr=rate, betas=(self.beta1, self.beta2),
            eps=self.eps, nesterov=self.use_nesterov,
        )  # fmt: skip


class _StoredAdam(Adam):
    """Adam under the names that say how gradients or states are stored, which makes no difference here."""

    def __init__(
        self, params: Any, learning_rate: Any = 1e-3, beta1: float = 0.9, beta2: float = 0.999, eps: float = 1e-8,
        use_locking: bool = False, use_nesterov: bool = False, weight_decay: Any = 0.0, loss_scale: float = 1.0,
    ) -> None:  # fmt: skip
        super().__init__(params, learning_rate, beta1, beta2, eps, use_locking, use_nesterov, weight_decay, loss_scale)


class LazyAdam(_StoredAdam):
    """Adam for sparse gradients; gradients here are dense, so it is Adam."""


class AdamOffload(_StoredAdam):
    """Adam with its state on the host, where it always is here."""


class AdamWeightDecay(RuleOptimizer):
    """Adam without correction of the bias: `p -= lr * (m / (sqrt(v) + eps) + weight_decay * p)`."""

    _decays_gradient = False

    def __init__(
        self, params: Any, learning_rate: Any = 1e-3, beta1: float = 0.9, beta2: float = 0.999, eps: float = 1e-6,
        weight_decay: Any = 0.0,
    ) -> None:  # fmt: skip
        super().__init__(learning_rate, params, weight_decay)
        _check_adam("AdamWeightDecay", beta1, beta2, eps)
        self.beta1, self.beta2, self.eps = _f32(beta1), _f32(beta2), _f32(eps)
        self.moments1 = self._state("adam_m")
        self.moments2 = self._state("adam_v")

    def _step(self, chosen: _Chosen) -> None:
        chosen.update(
            updates.adam, self.moments1, self.moments2, None, lr=chosen.lr, betas=(self.beta1, self.beta2),
            eps=self.eps, weight_decay=chosen.weight_decay, decoupled=True,
        )  # fmt: skip


class AdaMax(_Moments):
    """Adamax (Kingma and Ba 2015, section 7), with `eps` added to the decaying maximum."""

    def __init__(
        self, params: Any, learning_rate: Any = 1e-3, beta1: float = 0.9, beta2: float = 0.999, eps: float = 1e-8,
        weight_decay: Any = 0.0, loss_scale: float = 1.0,
    ) -> None:  # fmt: skip
        super().__init__(learning_rate, params, weight_decay, loss_scale)
        self._prepare(beta1, beta2, eps)
        self.moment1 = self._state("moment1")
        self.moment2 = self._state("moment2")

    def _step(self, chosen: _Chosen) -> None:
        chosen.update(
            updates.adamax, self.moment1, self.moment2, lr=chosen.lr / (1 - number(self.beta1_power)),
            betas=(self.beta1, self.beta2), eps=self.eps, eps_at=updates.SCALE,
        )  # fmt: skip


class Adagrad(RuleOptimizer):
    """`accum += g**2`, `p -= lr * g / sqrt(accum)`; `accum` stays as it is unless `update_slots`."""

    def __init__(
        self, params: Any, accum: float = 0.1, learning_rate: Any = 1e-3, update_slots: bool = True,
        loss_scale: float = 1.0, weight_decay: Any = 0.0,
    ) -> None:  # fmt: skip
        super().__init__(learning_rate, params, weight_decay, loss_scale)
        not_negative_float("Adagrad", "accum", accum)
        self.update_slots = a_bool("Adagrad", "update_slots", update_slots)
        self.accum = self._state("accum", accum)

    def _step(self, chosen: _Chosen) -> None:
        if self.update_slots:
            chosen.update(accumulating.adagrad, self.accum, step=1, lr=chosen.lr, eps=0.0)
        else:
            for p, g, total in zip(chosen.params, chosen.grads, chosen.of(self.accum)):
                p.set_data(p - g * float(chosen.lr) / total.data.sqrt())


class Adadelta(RuleOptimizer):
    """Adadelta (Zeiler 2012)."""

    def __init__(
        self, params: Any, learning_rate: Any = 1.0, rho: float = 0.9, epsilon: float = 1e-6, loss_scale: float = 1.0,
        weight_decay: Any = 0.0,
    ) -> None:  # fmt: skip
        super().__init__(learning_rate, params, weight_decay, loss_scale)
        if not 0.0 <= a_float("Adadelta", "rho", rho) <= 1.0:
            raise ValueError(f"Adadelta: rho must lie in [0, 1], got {rho}")
        not_negative_float("Adadelta", "epsilon", epsilon)
        self.rho, self.epsilon = _f32(rho), _f32(epsilon)
        self.accum = self._state("accum")
        self.accum_update = self._state("accum_update")

    def _step(self, chosen: _Chosen) -> None:
        chosen.update(accumulating.adadelta, self.accum, self.accum_update, lr=chosen.lr, rho=self.rho,
                      eps=self.epsilon)  # fmt: skip


class RMSProp(RuleOptimizer):
    """RMSprop with `epsilon` below the root and the rate in the momentum; the mean square starts at 1."""

    def __init__(
        self, params: Any, learning_rate: Any = 0.1, decay: float = 0.9, momentum: float = 0.0, epsilon: float = 1e-10,
        use_locking: bool = False, centered: bool = False, loss_scale: float = 1.0, weight_decay: Any = 0.0,
    ) -> None:  # fmt: skip
        super().__init__(learning_rate, params, weight_decay, loss_scale)
        not_negative_float("RMSProp", "decay", decay)
        not_negative_float("RMSProp", "momentum", momentum)
        positive_float("RMSProp", "epsilon", epsilon)
        a_bool("RMSProp", "use_locking", use_locking)
        self.centered = a_bool("RMSProp", "centered", centered)
        self.decay, self.momentum, self.epsilon = _f32(decay), _f32(momentum), _f32(epsilon)
        self.mg = self._state("mean_grad") if centered else None
        self.ms = self._state("mean_square", 1.0)
        self.moment = self._state("moment")

    def _step(self, chosen: _Chosen) -> None:
        chosen.update(accumulating.rmsprop, self.ms, self.moment, self.mg, lr=chosen.lr, alpha=self.decay,
                      eps=self.epsilon, momentum=self.momentum, inside=True)  # fmt: skip


class FTRL(RuleOptimizer):
    """Follow the regularised leader, proximal (McMahan et al. 2013)."""

    def __init__(
        self, params: Any, initial_accum: float = 0.1, learning_rate: Any = 1e-3, lr_power: float = -0.5,
        l1: float = 0.0, l2: float = 0.0, use_locking: bool = False, loss_scale: float = 1.0, weight_decay: Any = 0.0,
    ) -> None:  # fmt: skip
        super().__init__(learning_rate, params, weight_decay, loss_scale)
        if self.dynamic_lr or self.is_group_lr:
            raise ValueError("FTRL: the learning rate must be one number for all steps and parameters")
        not_negative_float("FTRL", "initial_accum", initial_accum)
        if a_float("FTRL", "lr_power", lr_power) > 0:
            raise ValueError(f"FTRL: lr_power must be 0 or less, got {lr_power}")
        not_negative_float("FTRL", "l1", l1)
        not_negative_float("FTRL", "l2", l2)
        a_bool("FTRL", "use_locking", use_locking)
        self.lr_power, self.l1, self.l2 = _f32(lr_power), _f32(l1), _f32(l2)
        self.moments = self._state("moments", initial_accum)
        self.linear = self._state("linear")

    def _step(self, chosen: _Chosen) -> None:
        chosen.update_each(proximal.ftrl, self.moments, self.linear, lr=chosen.lr, l1=self.l1, l2=self.l2,
                           lr_power=self.lr_power)  # fmt: skip


class ProximalAdagrad(RuleOptimizer):
    """Adagrad with L1 and L2 penalties taken as proximal steps."""

    def __init__(
        self, params: Any, accum: float = 0.1, learning_rate: Any = 1e-3, l1: float = 0.0, l2: float = 0.0,
        use_locking: bool = False, loss_scale: float = 1.0, weight_decay: Any = 0.0,
    ) -> None:  # fmt: skip
        super().__init__(learning_rate, params, weight_decay, loss_scale)
        not_negative_float("ProximalAdagrad", "accum", accum)
        not_negative_float("ProximalAdagrad", "l1", l1)
        not_negative_float("ProximalAdagrad", "l2", l2)
        a_bool("ProximalAdagrad", "use_locking", use_locking)
        self.l1, self.l2 = _f32(l1), _f32(l2)
        self.accum = self._state("accum", accum)

    def _step(self, chosen: _Chosen) -> None:
        chosen.update_each(proximal.proximal_adagrad, self.accum, lr=chosen.lr, l1=self.l1, l2=self.l2)


class Lamb(RuleOptimizer):
    """LAMB (You et al. 2020): Adam's step, per parameter scaled by the norm of the parameter over the step's."""

    _decays_gradient = False

    def __init__(
        self, params: Any, learning_rate: Any, beta1: float = 0.9, beta2: float = 0.999, eps: float = 1e-6,
        weight_decay: Any = 0.0,
    ) -> None:  # fmt: skip
        super().__init__(learning_rate, params, weight_decay)
        _check_adam("Lamb", beta1, beta2, eps)
        self.beta1, self.beta2, self.eps = _f32(beta1), _f32(beta2), _f32(eps)
        self.moments1 = self._state("lamb_m")
        self.moments2 = self._state("lamb_v")

    def _step(self, chosen: _Chosen) -> None:
        chosen.update_each(
            proximal.lamb, self.moments1, self.moments2, step=bridge.count_of(self.global_step) + 1, lr=chosen.lr,
            betas=(self.beta1, self.beta2), eps=self.eps, weight_decay=chosen.weight_decay,
        )  # fmt: skip


class ASGD(RuleOptimizer):
    """Averaged gradient descent (Polyak and Juditsky 1992); `ax` holds the averages."""

    _single = True

    def __init__(
        self, params: Any, learning_rate: Any = 0.1, lambd: float = 1e-4, alpha: float = 0.75, t0: float = 1e6,
        weight_decay: Any = 0.0,
    ) -> None:  # fmt: skip
        super().__init__(learning_rate, params, weight_decay)
        for name, value in (("lambd", lambd), ("alpha", alpha), ("t0", t0)):
            a_float("ASGD", name, value)
        self.lambd, self.alpha, self.t0 = lambd, alpha, t0
        self.mu = self._state("mu", lambda p: 1.0, dot="_")
        self.eta = self._state("eta", lambda p: 0.0, dot="_")
        self.ax = self._state("ax_")

    def _step(self, chosen: _Chosen) -> None:
        step, lr = bridge.count_of(self.global_step), chosen.lr if isinstance(chosen.lr, Tensor) else float(chosen.lr)
        etas, mus = chosen.of(self.eta), chosen.of(self.mu)
        bridge.put(etas[0], lr, step == 0)
        eta = lr if isinstance(step, int) and step == 0 else bridge.count_of(etas[0])
        chosen.update(accumulating.asgd, self.ax, eta=eta, mu=bridge.count_of(mus[0]), lambd=self.lambd)
        eta, mu = accumulating.asgd_schedule(step + 1, lr, self.lambd, self.alpha, self.t0)
        for e, m in zip(etas, mus):
            bridge.put(e, eta)
            bridge.put(m, mu)


class AdaFactor(RuleOptimizer):
    """Adafactor (Shazeer and Stern 2018): the squared gradients of a matrix by the means of their rows and columns.

    relative_step: the rate is the least of 0.01 (or, where `warmup_init`, of a millionth per step) and one over the root
    of the step. scale_parameter: it is relative to the parameter's size. compression: states in half precision.
    """

    _decays_gradient = False

    def __init__(
        self, params: Any, learning_rate: Any = None, eps: tuple[float, float] = (1e-30, 1e-3),
        clip_threshold: float = 1.0, decay_rate: float = 0.8, beta1: float = 0.9, weight_decay: Any = 0.0,
        scale_parameter: bool = True, relative_step: bool = True, warmup_init: bool = False, compression: bool = False,
        loss_scale: float = 1.0,
    ) -> None:  # fmt: skip
        if learning_rate is not None and relative_step:
            raise ValueError("AdaFactor: learning_rate goes with relative_step=False only")
        if warmup_init and not relative_step:
            raise ValueError("AdaFactor: warmup_init goes with relative_step=True only")
        super().__init__(0.0 if learning_rate is None else learning_rate, params, weight_decay, loss_scale)
        for name, flag in (
            ("scale_parameter", scale_parameter), ("relative_step", relative_step), ("compression", compression),
        ):  # fmt: skip
            a_bool("AdaFactor", name, flag)
        if not isinstance(eps, (tuple, list)) or len(eps) != 2:
            raise TypeError(f"AdaFactor: eps must be two floats, got {eps!r}")
        for value in eps:
            not_negative_float("AdaFactor", "eps", value)
        positive_float("AdaFactor", "clip_threshold", clip_threshold)
        positive_float("AdaFactor", "decay_rate", decay_rate)
        not_negative_float("AdaFactor", "beta1", float(beta1) if type(beta1) is int else beta1)
        self.eps, self.clip_threshold, self.decay_rate, self.beta1 = tuple(eps), clip_threshold, decay_rate, beta1
        self.scale_parameter, self.relative_step, self.warmup_init = scale_parameter, relative_step, warmup_init
        self.exp_avg = self._state("exp_avg") if beta1 > 0 else None
        self.exp_avg_sq_row = self._sized("exp_avg_sq_row", lambda shape: shape[:-1] if len(shape) > 1 else (1,))
        self.exp_avg_sq_col = self._sized("exp_avg_sq_col", lambda shape: (*shape[:-2], *shape[-1:]) if len(shape) > 1 else (1,))
        self.exp_avg_sq = self._sized("exp_avg_sq", lambda shape: (1,) if len(shape) > 1 else shape)
        self.step = Parameter(from_array(np.zeros(1, np.int32)), name="afactor_step")

    def _sized(self, prefix: str, shape: Any) -> ParameterTuple:
        return ParameterTuple(
            Parameter(from_array(np.zeros(shape(p.shape), np.float32)), name=f"{prefix}_{p.name}") for p in self.parameters
        )

    def _begin(self) -> None:
        bridge.advance(self.step)

    def _step(self, chosen: _Chosen) -> None:
        step = int(self.step)
        rate = float(chosen.lr)
        if self.relative_step:
            rate = min(1e-6 * step if self.warmup_init else 1e-2, step**-0.5)
        for j, i in enumerate(chosen.indices):
            p, g = chosen.params[j], chosen.grads[j]
            matrix = p.ndim > 1
            bridge.update_one(
                factored.adafactor_averaged, p, g, self.exp_avg_sq_row[i] if matrix else None,
                self.exp_avg_sq_col[i] if matrix else None, None if matrix else self.exp_avg_sq[i],
                None if self.exp_avg is None else self.exp_avg[i], lr=rate, keep=1 - step**-self.decay_rate,
                eps=self.eps, d=self.clip_threshold, beta1=self.beta1, scaled=self.scale_parameter,
                weight_decay=float(chosen.weight_decay),
            )  # fmt: skip


class Rprop(RuleOptimizer):
    """Resilient propagation (Riedmiller and Braun 1993)."""

    _single = True

    def __init__(
        self, params: Any, learning_rate: Any = 0.1, etas: tuple[float, float] = (0.5, 1.2),
        step_sizes: tuple[float, float] = (1e-6, 50.0), weight_decay: Any = 0.0,
    ) -> None:  # fmt: skip
        super().__init__(learning_rate, params, weight_decay)
        for name, given in (("etas", etas), ("step_sizes", step_sizes)):
            if not isinstance(given, tuple):
                raise TypeError(f"Rprop: {name} must be a tuple, got {type(given).__name__}")
            if len(given) != 2:
                raise ValueError(f"Rprop: {name} must have two values, got {len(given)}")
            for value in given:
                a_float("Rprop", name, value)
        between("Rprop", "etas[0]", etas[0])
        if etas[1] <= 1:
            raise ValueError(f"Rprop: etas[1] must be above 1, got {etas[1]}")
        if step_sizes[0] > step_sizes[1]:
            raise ValueError(f"Rprop: the least step must not be above the largest, got {step_sizes}")
        self.etas, self.step_sizes = etas, step_sizes
        self.prev = self._state("prev")
        self.step_size = self._state("step_size")

    def _step(self, chosen: _Chosen) -> None:
        first = bridge.count_of(self.global_step) == 0
        for size in chosen.of(self.step_size):
            bridge.put(size, chosen.lr, first)
        chosen.update(accumulating.rprop, self.prev, self.step_size, etas=self.etas, step_sizes=self.step_sizes)

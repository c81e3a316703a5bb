"""The optimisers whose state is made of arrays of the parameter's shape, each over a rule of `retrograde.learn`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ....core.value import Value, dtype_of, shape_of
from ....learn import accumulating, bridge, proximal, updates
from .._tensor import from_array
from .optimizer import (
    Batch,
    Optimizer,
    check_not_negative,
    check_unit,
    counter,
    first_of,
    given,
    powers,
    refuse_master_weights,
    steps_made,
)


class SGD(Optimizer):
    """p -= lr g."""

    _decays_itself = True

    def __init__(
        self, learning_rate: Any = 0.001, parameters: Any = None, weight_decay: Any = None, grad_clip: Any = None,
        multi_precision: bool = False, name: str | None = None,
    ) -> None:  # fmt: skip
        super().__init__(learning_rate, parameters, weight_decay, grad_clip, name)
        refuse_master_weights("SGD", multi_precision, self._parameters())

    def _update(self, batch: Batch, group: dict[str, Any]) -> None:
        bridge.update(updates.sgd, batch.params, batch.grads, None, lr=batch.lr, weight_decay=batch.decay)


class Momentum(Optimizer):
    """v = momentum v + g; p -= lr v, or lr (g + momentum v) with `use_nesterov`."""

    _accumulators = ("velocity",)
    _decays_itself = True

    def __init__(
        self, learning_rate: Any = 0.001, momentum: float = 0.9, parameters: Any = None, use_nesterov: bool = False,
        weight_decay: Any = None, grad_clip: Any = None, multi_precision: bool = False, rescale_grad: float = 1.0,
        use_multi_tensor: bool = False, name: str | None = None,
    ) -> None:  # fmt: skip
        given("Momentum", momentum=momentum)
        super().__init__(learning_rate, parameters, weight_decay, grad_clip, name)
        refuse_master_weights("Momentum", multi_precision, self._parameters())
        self._momentum, self._use_nesterov, self._rescale_grad = momentum, bool(use_nesterov), rescale_grad

    def _update(self, batch: Batch, group: dict[str, Any]) -> None:
        scale = self._option("rescale_grad", group)
        grads = batch.grads if scale == 1.0 else [g * scale for g in batch.grads]
        bridge.update(
            updates.sgd, batch.params, grads, self._column("velocity", batch), lr=batch.lr,
            momentum=self._option("momentum", group), nesterov=self._option("use_nesterov", group),
            weight_decay=batch.decay,
        )  # fmt: skip


class _Counting(Optimizer):
    """Optimisers that need the number of steps, which powers of the betas stand for in the state."""

    _beta1: float
    _beta2: float
    _powers: tuple[str, ...] = ()

    def _initial(self, name: str, p: Any) -> Any:
        if name in self._powers:
            return powers(p, self._beta1 if name == self._powers[0] else self._beta2)
        return super()._initial(name, p)

    def _loaded(self, state: dict[str, Any]) -> None:
        state["step"] = counter(max(steps_made(state[self._powers[0]], self._beta1) - 1, 0))

    def _advance(self, p: Any) -> Any:
        """Count one more step of a parameter; returns the count (see `bridge.advance`)."""
        state = self._state(p)
        step = bridge.advance(state["step"])
        for name, beta in zip(self._powers, (self._beta1, self._beta2)):
            bridge.put(state[name], beta ** (step + 1))
        return step

    def _counted(self, batch: Batch) -> list[tuple[Any, Batch]]:
        """The batch by the number of steps made; there is mostly one."""
        made: dict[Any, Batch] = {}
        for p, g in zip(batch.params, batch.grads):
            step = self._advance(p)
            part = made.setdefault(step, Batch(batch.lr, batch.decay))
            part.params.append(p)
            part.grads.append(g)
        return list(made.items())


class Adam(_Counting):
    """Adam (Kingma and Ba 2015); AMSGrad (Reddi et al. 2018) where `amsgrad`."""

    _decays_itself = True
    _decoupled = False
    _powers = ("beta1_pow_acc", "beta2_pow_acc")

    def __init__(
        self, learning_rate: Any = 0.001, beta1: Any = 0.9, beta2: Any = 0.999, epsilon: Any = 1e-8,
        parameters: Any = None, weight_decay: Any = None, grad_clip: Any = None, lazy_mode: bool = False,
        multi_precision: bool = False, use_multi_tensor: bool = False, amsgrad: bool = False, name: str | None = None,
    ) -> None:  # fmt: skip
        own = type(self).__name__
        self._beta1, self._beta2 = check_unit(own, "beta1", beta1), check_unit(own, "beta2", beta2)
        self._epsilon, self._amsgrad = check_not_negative(own, "epsilon", epsilon), amsgrad
        most = ("moment2_max",) if amsgrad else ()
        self._accumulators = ("moment1", "moment2", *most, *self._powers)
        super().__init__(learning_rate, parameters, weight_decay, grad_clip, name)
        refuse_master_weights(own, multi_precision, self._parameters())

    def _update(self, batch: Batch, group: dict[str, Any]) -> None:
        for step, part in self._counted(batch):
            bridge.update(
                updates.adam, part.params, part.grads, self._column("moment1", part), self._column("moment2", part),
                self._column("moment2_max", part) if self._amsgrad else None, step=step, lr=part.lr,
                betas=(self._option("beta1", group), self._option("beta2", group)),
                eps=self._option("epsilon", group), weight_decay=part.decay, decoupled=self._decoupled,
            )  # fmt: skip


class AdamW(Adam):
    """Adam whose weights decay by themselves (Loshchilov and Hutter 2019).

    apply_decay_param_fun: says by its name whether a parameter decays.
    """

    _decoupled = True

    def __init__(
        self, learning_rate: Any = 0.001, beta1: Any = 0.9, beta2: Any = 0.999, epsilon: Any = 1e-8,
        parameters: Any = None, weight_decay: Any = 0.01, use_lowprecision_moment: bool = False,
        lr_ratio: Callable[[Any], float] | None = None,
        apply_decay_param_fun: Callable[[str], bool] | None = None, grad_clip: Any = None, lazy_mode: bool = False,
        multi_precision: bool = False, amsgrad: bool = False, name: str | None = None,
    ) -> None:  # fmt: skip
        self._coeff = self._number(weight_decay)
        if lr_ratio is not None:
            raise NotImplementedError(
                "AdamW: lr_ratio works on GPUs only; use parameter groups with rates of their own"
            )
        self._apply_decay_param_fun = apply_decay_param_fun
        super().__init__(
            learning_rate, beta1, beta2, epsilon, parameters, None, grad_clip, lazy_mode, multi_precision, False,
            amsgrad, name,
        )  # fmt: skip

    def _number(self, decay: Any) -> float:
        if isinstance(decay, Value):
            return float(decay.item())
        if not isinstance(decay, (float, int)):
            raise TypeError(f"AdamW: weight_decay must be a number or a Tensor, got {type(decay).__name__}")
        return float(decay)

    def _group_decay(self, decay: Any) -> Any:
        return self._number(decay)

    def _penalised(self, p: Any, g: Any, group: dict[str, Any]) -> tuple[float, Any]:
        applies = self._apply_decay_param_fun is None or self._apply_decay_param_fun(p.name)
        return (group.get("weight_decay", self._coeff) if applies else 0.0), g


class Adamax(_Counting):
    """Adamax (Kingma and Ba 2015, section 7): the scale is a decaying maximum of the gradient's magnitude."""

    _powers = ("beta1_pow_acc",)
    _accumulators = ("moment", "inf_norm", "beta1_pow_acc")

    def __init__(
        self, learning_rate: Any = 0.001, beta1: Any = 0.9, beta2: Any = 0.999, epsilon: Any = 1e-8,
        parameters: Any = None, weight_decay: Any = None, grad_clip: Any = None, name: str | None = None,
    ) -> None:  # fmt: skip
        self._beta1, self._beta2 = check_unit("Adamax", "beta1", beta1), check_unit("Adamax", "beta2", beta2)
        self._epsilon = check_not_negative("Adamax", "epsilon", epsilon)
        super().__init__(learning_rate, parameters, weight_decay, grad_clip, name)

    def _update(self, batch: Batch, group: dict[str, Any]) -> None:
        beta1, beta2 = self._option("beta1", group), self._option("beta2", group)
        for step, part in self._counted(batch):
            bridge.update(
                updates.adamax, part.params, part.grads, self._column("moment", part),
                self._column("inf_norm", part), step=step, lr=part.lr, betas=(beta1, beta2),
                eps=self._option("epsilon", group), eps_at=updates.DECAYED,
            )  # fmt: skip


class Adagrad(Optimizer):
    """Adagrad (Duchi, Hazan and Singer 2011): the scale is the root of the sum of squares."""

    _accumulators = ("moment",)
    _decays_itself = True

    def __init__(
        self, learning_rate: Any, epsilon: float = 1e-6, parameters: Any = None, weight_decay: Any = None,
        grad_clip: Any = None, initial_accumulator_value: float = 0.0, name: str | None = None,
    ) -> None:  # fmt: skip
        self._epsilon = check_not_negative("Adagrad", "epsilon", epsilon)
        self.initial_accumulator_value = initial_accumulator_value
        super().__init__(learning_rate, parameters, weight_decay, grad_clip, name)

    def _initial(self, name: str, p: Any) -> Any:
        return bridge.full_like(p, self.initial_accumulator_value)

    def _update(self, batch: Batch, group: dict[str, Any]) -> None:
        bridge.update(
            accumulating.adagrad, batch.params, batch.grads, self._column("moment", batch), step=1, lr=batch.lr,
            eps=self._option("epsilon", group), weight_decay=batch.decay,
        )  # fmt: skip


class Adadelta(Optimizer):
    """Adadelta (Zeiler 2012), its step times the learning rate."""

    _accumulators = ("_avg_squared_grad", "_avg_squared_update")
    _decays_itself = True

    def __init__(
        self, learning_rate: Any = 0.001, epsilon: float = 1e-6, rho: float = 0.95, parameters: Any = None,
        weight_decay: Any = None, grad_clip: Any = None, name: str | None = None,
    ) -> None:  # fmt: skip
        given("Adadelta", epsilon=epsilon, rho=rho)
        self._epsilon, self._rho = epsilon, rho
        super().__init__(learning_rate, parameters, weight_decay, grad_clip, name)

    def _update(self, batch: Batch, group: dict[str, Any]) -> None:
        bridge.update(
            accumulating.adadelta, batch.params, batch.grads, self._column("_avg_squared_grad", batch),
            self._column("_avg_squared_update", batch), lr=batch.lr, rho=self._option("rho", group),
            eps=self._option("epsilon", group), weight_decay=batch.decay,
        )  # fmt: skip


class RMSProp(Optimizer):
    """RMSprop (Hinton, lecture 6e) with epsilon below the root and the rate in the momentum."""

    _accumulators = ("momentum", "mean_square", "mean_grad")

    def __init__(
        self, learning_rate: Any, rho: float = 0.95, epsilon: float = 1e-6, momentum: float = 0.0,
        centered: bool = False, parameters: Any = None, weight_decay: Any = None, grad_clip: Any = None,
        name: str | None = None,
    ) -> None:  # fmt: skip
        given("RMSProp", rho=rho, epsilon=epsilon, momentum=momentum)
        for what, value in (("epsilon", epsilon), ("momentum", momentum), ("rho", rho)):
            if not value >= 0.0:
                raise ValueError(f"RMSProp: {what} must not be negative, got {value}")
        self._rho, self._epsilon, self._momentum, self._centered = rho, epsilon, momentum, bool(centered)
        super().__init__(learning_rate, parameters, weight_decay, grad_clip, name)

    def _update(self, batch: Batch, group: dict[str, Any]) -> None:
        bridge.update(
            accumulating.rmsprop, batch.params, batch.grads, self._column("mean_square", batch),
            self._column("momentum", batch),
            self._column("mean_grad", batch) if self._option("centered", group) else None, lr=batch.lr,
            alpha=self._option("rho", group), eps=self._option("epsilon", group),
            momentum=self._option("momentum", group), inside=True,
        )  # fmt: skip


class Lamb(_Counting):
    """LAMB (You et al. 2020): Adam's direction with weight decay, scaled to the norm of the parameter.

    exclude_from_weight_decay_fn: says of a parameter whether it does not decay.
    """

    _powers = ("beta1_pow_acc", "beta2_pow_acc")
    _accumulators = ("moment1", "moment2", "beta1_pow_acc", "beta2_pow_acc")

    def __init__(
        self, learning_rate: Any = 0.001, lamb_weight_decay: float = 0.01, beta1: float = 0.9, beta2: float = 0.999,
        epsilon: float = 1e-6, parameters: Any = None, grad_clip: Any = None,
        exclude_from_weight_decay_fn: Callable[[Any], bool] | None = None, multi_precision: bool = False,
        always_adapt: bool = False, name: str | None = None,
    ) -> None:  # fmt: skip
        for what, value in (("lamb_weight_decay", lamb_weight_decay), ("beta1", beta1), ("beta2", beta2),
                            ("epsilon", epsilon)):  # fmt: skip
            if value is None:
                raise AssertionError(f"Lamb: {what} is missing")
        self._beta1, self._beta2, self._epsilon = beta1, beta2, epsilon
        self._lamb_weight_decay, self._exclude, self._always_adapt = (
            lamb_weight_decay, exclude_from_weight_decay_fn, always_adapt)  # fmt: skip
        super().__init__(learning_rate, parameters, None, grad_clip, name)
        refuse_master_weights("Lamb", multi_precision, self._parameters())

    def _update(self, batch: Batch, group: dict[str, Any]) -> None:
        for p, g in zip(batch.params, batch.grads):
            excluded = self._exclude is not None and self._exclude(p)
            decay = 0.0 if excluded else self._option("lamb_weight_decay", group)
            state = self._state(p)
            bridge.update_one(
                proximal.lamb, p, g, state["moment1"], state["moment2"], step=self._advance(p), lr=batch.lr,
                betas=(self._option("beta1", group), self._option("beta2", group)),
                eps=self._option("epsilon", group), weight_decay=decay, adapt=self._always_adapt or decay != 0,
            )  # fmt: skip


def _check_rate(optimizer: str, rate: Any) -> None:
    if isinstance(rate, (float, int)) and not rate >= 0:
        raise ValueError(f"{optimizer}: learning_rate must not be negative, got {rate}")


class NAdam(Optimizer):
    """NAdam (Dozat 2016): Adam with Nesterov momentum."""

    _accumulators = ("momentum_decay_pow", "beta2_pow", "mu_product", "moment1", "moment2")
    _decays_itself = True

    def __init__(
        self, learning_rate: Any = 0.002, beta1: float = 0.9, beta2: float = 0.999, epsilon: float = 1e-8,
        momentum_decay: float = 0.004, parameters: Any = None, weight_decay: Any = None, grad_clip: Any = None,
        name: str | None = None,
    ) -> None:  # fmt: skip
        _check_rate("NAdam", learning_rate)
        self._beta1, self._beta2 = check_unit("NAdam", "beta1", beta1), check_unit("NAdam", "beta2", beta2)
        self._epsilon = check_not_negative("NAdam", "epsilon", epsilon)
        self._momentum_decay = check_not_negative("NAdam", "momentum_decay", momentum_decay)
        super().__init__(learning_rate, parameters, weight_decay, grad_clip, name)

    def _initial(self, name: str, p: Any) -> Any:
        return bridge.full_like(p, 0.0 if name.startswith("moment") and name[6].isdigit() else 1.0)

    def _loaded(self, state: dict[str, Any]) -> None:
        state["step"] = counter(steps_made(state["beta2_pow"], self._beta2))
        state["mu"] = from_array(np.array(first_of(state["mu_product"])))

    def _update(self, batch: Batch, group: dict[str, Any]) -> None:
        beta1, beta2 = self._option("beta1", group), self._option("beta2", group)
        for p, g in zip(batch.params, batch.grads):
            state = self._state(p)
            step = bridge.advance(state["step"])
            mu, following = updates.nadam_schedule(step, beta1, self._option("momentum_decay", group))
            bridge.scale(state["mu"], mu)
            product = bridge.count_of(state["mu"])
            for name, value in (("momentum_decay_pow", 0.96**step), ("beta2_pow", beta2**step), ("mu_product", product)):
                bridge.put(state[name], value)
            bridge.update(
                updates.nadam, [p], [g], [state["moment1"]], [state["moment2"]], step=step, mu=mu, mu_next=following,
                mu_product=product, lr=batch.lr, betas=(beta1, beta2), eps=self._option("epsilon", group),
                weight_decay=batch.decay,
            )  # fmt: skip


class RAdam(Optimizer):
    """RAdam (Liu et al. 2020): Adam whose adaptive step waits until its variance is bounded."""

    _accumulators = ("beta1_pow", "beta2_pow", "rho", "moment1", "moment2")
    _decays_itself = True

    def __init__(
        self, learning_rate: Any = 0.001, beta1: float = 0.9, beta2: float = 0.999, epsilon: float = 1e-8,
        parameters: Any = None, weight_decay: Any = None, grad_clip: Any = None, name: str | None = None,
    ) -> None:  # fmt: skip
        _check_rate("RAdam", learning_rate)
        self._beta1, self._beta2 = check_unit("RAdam", "beta1", beta1), check_unit("RAdam", "beta2", beta2)
        self._epsilon = check_not_negative("RAdam", "epsilon", epsilon)
        super().__init__(learning_rate, parameters, weight_decay, grad_clip, name)

    def _initial(self, name: str, p: Any) -> Any:
        return bridge.full_like(p, 1.0 if name.endswith("_pow") else 0.0)

    def _loaded(self, state: dict[str, Any]) -> None:
        state["step"] = counter(steps_made(state["beta2_pow"], self._beta2))

    def _update(self, batch: Batch, group: dict[str, Any]) -> None:
        beta1, beta2 = self._option("beta1", group), self._option("beta2", group)
        for p, g in zip(batch.params, batch.grads):
            state = self._state(p)
            step = bridge.advance(state["step"])
            first, second = beta1**step, beta2**step
            for name, value in (("beta1_pow", first), ("beta2_pow", second), ("rho", step * second / (1 - second))):
                bridge.put(state[name], value)
            bridge.update(
                updates.radam, [p], [g], [state["moment1"]], [state["moment2"]], step=step, lr=batch.lr,
                betas=(beta1, beta2), eps=self._option("epsilon", group), weight_decay=batch.decay,
            )  # fmt: skip


class ASGD(Optimizer):
    """Averaged gradients: p -= lr times the mean of the last gradients of `batch_num` batches in turn."""

    _accumulators = ("d", "y", "m")

    def __init__(
        self, learning_rate: Any = 0.001, batch_num: int = 1, parameters: Any = None, weight_decay: Any = None,
        grad_clip: Any = None, multi_precision: bool = False, name: str | None = None,
    ) -> None:  # fmt: skip
        given("ASGD", learning_rate=learning_rate, batch_num=batch_num)
        if not batch_num > 0:
            raise ValueError(f"ASGD: batch_num must be positive, got {batch_num}")
        self._n = batch_num
        super().__init__(learning_rate, parameters, weight_decay, grad_clip, name)
        refuse_master_weights("ASGD", multi_precision, self._parameters())

    def _initial(self, name: str, p: Any) -> Any:
        if name == "m":
            return from_array(np.zeros((1,), np.int64))
        return bridge.zeros_like(p) if name == "d" else from_array(np.zeros((self._n, *shape_of(p)), dtype_of(p)))

    def _update(self, batch: Batch, group: dict[str, Any]) -> None:
        for p, g in zip(batch.params, batch.grads):
            state = self._state(p)
            bridge.update_one(
                accumulating.averaged_gradients, p, g, state["d"], state["y"], count=bridge.count_of(state["m"]),
                lr=batch.lr,
            )  # fmt: skip
            bridge.advance(state["m"])


class Rprop(Optimizer):
    """Resilient propagation (Riedmiller and Braun 1993): a step per element that grows while its sign holds."""

    _accumulators = ("prevs", "learning_rates")

    def __init__(
        self, learning_rate: Any = 0.001, learning_rate_range: tuple[float, float] = (1e-5, 50), parameters: Any = None,
        etas: tuple[float, float] = (0.5, 1.2), grad_clip: Any = None, multi_precision: bool = False,
        name: str | None = None,
    ) -> None:  # fmt: skip
        given("Rprop", learning_rate=learning_rate)
        low, high = learning_rate_range
        rate = learning_rate if isinstance(learning_rate, (float, int)) else None
        if not 0.0 < low <= (low if rate is None else rate) <= high:
            raise ValueError(
                f"Rprop: learning_rate_range must hold the learning rate and be positive, got {learning_rate_range}"
            )
        if not 0.0 < etas[0] < 1.0 < etas[1]:
            raise ValueError(f"Rprop: etas must be below and above 1, got {etas}")
        self._learning_rate_range, self._etas = (low, high), etas
        super().__init__(learning_rate, parameters, None, grad_clip, name)
        refuse_master_weights("Rprop", multi_precision, self._parameters())

    def _initial(self, name: str, p: Any) -> Any:
        return bridge.zeros_like(p) if name == "prevs" else bridge.full_like(p, self.get_lr())

    def _update(self, batch: Batch, group: dict[str, Any]) -> None:
        bridge.update(
            accumulating.rprop, batch.params, batch.grads, self._column("prevs", batch),
            self._column("learning_rates", batch), etas=self._etas, step_sizes=self._learning_rate_range,
        )  # fmt: skip

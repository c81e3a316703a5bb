"""The optimisers with `param_groups`: options and defaults over the update rules of `retrograde.learn`."""

from __future__ import annotations

from typing import Any

import numpy as np

from .....learn import accumulating, bridge, updates
from ..._parameter import Parameter
from ..._tensor import from_array
from .optimizer import Members, Optimizer, rate_of


def _check(name: str, **options: Any) -> None:
    """Raise ValueError for a negative option, or betas outside [0, 1)."""
    for key, value in options.items():
        if key == "betas":
            for i, beta in enumerate(value):
                if not 0.0 <= beta < 1.0:
                    raise ValueError(f"{name}: betas[{i}] must lie in [0, 1), got {beta}")
        elif value < 0:
            raise ValueError(f"{name}: {key} must be 0 or more, got {value}")


class _Counting(Optimizer):
    """An optimiser that counts its steps."""

    _counter = "step_t"

    def _count_from_zero(self) -> None:
        self.step_t = Parameter(from_array(np.zeros((), np.int32)), name=self._counter)

    def _begin(self) -> None:
        bridge.advance(self.step_t)

    @property
    def _number(self) -> Any:
        return bridge.count_of(self.step_t)


class SGD(Optimizer):
    """Gradient descent, with momentum."""

    def __init__(
        self, params: Any, lr: Any, momentum: float = 0, dampening: float = 0, weight_decay: float = 0.0,
        nesterov: bool = False, *, maximize: bool = False,
    ) -> None:  # fmt: skip
        _check("SGD", momentum=momentum, dampening=dampening, weight_decay=weight_decay)
        if nesterov and (momentum <= 0 or dampening != 0):
            raise ValueError("SGD: nesterov goes with a momentum above 0 and no dampening")
        super().__init__(params, {
            "lr": lr, "momentum": float(momentum), "dampening": float(dampening), "weight_decay": float(weight_decay),
            "nesterov": nesterov, "maximize": maximize, "grad_centralization": False,
        })  # fmt: skip
        self.accum, self.stat = self._state("accum"), self._state("stat", 1.0)

    def _step(self, group: dict[str, Any], members: Members) -> None:
        # Without dampening the first gradient enters as all others do.
        first = group["dampening"] != 0 and bool((self.stat[members.place.start].asnumpy() != 0).all())
        for stat in self.stat[members.place]:
            bridge.put(stat, 0)
        members.update(
            updates.sgd, self.accum if group["momentum"] else None, lr=rate_of(group), momentum=group["momentum"],
            dampening=group["dampening"], weight_decay=group["weight_decay"], nesterov=group["nesterov"],
            maximize=group["maximize"], first=first,
        )  # fmt: skip


class Adam(_Counting):
    """Adam (Kingma and Ba 2015), AMSGrad where `amsgrad`; `eps` stands beside the bare root, as in `nn.Adam`."""

    _counter = "state_step"

    def __init__(
        self, params: Any, lr: Any = 1e-3, betas: tuple[float, float] = (0.9, 0.999), eps: float = 1e-8,
        weight_decay: float = 0.0, amsgrad: bool = False, *, maximize: bool = False,
    ) -> None:  # fmt: skip
        _check(type(self).__name__, betas=betas, eps=eps, weight_decay=weight_decay)
        super().__init__(params, {
            "lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay, "amsgrad": amsgrad, "maximize": maximize,
        })  # fmt: skip
        self.exp_avg, self.exp_avg_sq = self._state("exp_avg"), self._state("exp_avg_sq")
        self.max_exp_avg_sq = self._state("max_exp_avg_sq")
        self._count_from_zero()

    def _step(self, group: dict[str, Any], members: Members) -> None:
        members.update(
            updates.adam, self.exp_avg, self.exp_avg_sq, self.max_exp_avg_sq if group["amsgrad"] else None,
            betas=group["betas"], eps=group["eps"], weight_decay=group["weight_decay"], maximize=group["maximize"],
            **self._correction(rate_of(group), *group["betas"]),
        )  # fmt: skip

    def _correction(self, lr: float, beta1: float, beta2: float) -> dict[str, Any]:
        """How the step corrects the averages for their bias."""
        return {"lr": updates.corrected_rate(lr, beta1**self._number, beta2**self._number)}


class AdamW(Adam):
    """Adam with weight decay outside of the averages (Loshchilov and Hutter 2019); `eps` beside the corrected root."""

    def __init__(
        self, params: Any, lr: Any = 1e-3, betas: tuple[float, float] = (0.9, 0.999), eps: float = 1e-8,
        weight_decay: float = 0.01, amsgrad: bool = False, *, maximize: bool = False,
    ) -> None:  # fmt: skip
        super().__init__(params, lr, betas, eps, weight_decay, amsgrad, maximize=maximize)

    def _correction(self, lr: float, beta1: float, beta2: float) -> dict[str, Any]:
        return {"lr": lr, "step": self._number, "decoupled": True}


class Adamax(_Counting):
    """Adamax (Kingma and Ba 2015, section 7)."""

    def __init__(
        self, params: Any, lr: Any = 2e-3, betas: tuple[float, float] = (0.9, 0.999), eps: float = 1e-8,
        weight_decay: float = 0.0, *, maximize: bool = False,
    ) -> None:  # fmt: skip
        _check("Adamax", betas=betas, eps=eps, weight_decay=weight_decay)
        super().__init__(params, {
            "lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay, "maximize": maximize,
        })  # fmt: skip
        self._count_from_zero()
        self.exp_avg, self.exp_inf = self._state("exp_avg"), self._state("exp_inf")

    def _step(self, group: dict[str, Any], members: Members) -> None:
        members.update(
            updates.adamax, self.exp_avg, self.exp_inf, step=self._number, lr=rate_of(group), betas=group["betas"],
            eps=group["eps"], weight_decay=group["weight_decay"], maximize=group["maximize"],
        )  # fmt: skip


class RAdam(_Counting):
    """RAdam (Liu et al. 2020)."""

    def __init__(
        self, params: Any, lr: Any = 1e-3, betas: tuple[float, float] = (0.9, 0.999), eps: float = 1e-8,
        weight_decay: float = 0.0,
    ) -> None:  # fmt: skip
        _check("RAdam", betas=betas, eps=eps, weight_decay=weight_decay)
        super().__init__(params, {"lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay})
        self._count_from_zero()
        self.exp_avg, self.exp_avg_sq = self._state("exp_avg"), self._state("exp_avg_sq")

    def _step(self, group: dict[str, Any], members: Members) -> None:
        members.update(
            updates.radam, self.exp_avg, self.exp_avg_sq, step=self._number, lr=rate_of(group),
            betas=group["betas"], eps=group["eps"], weight_decay=group["weight_decay"],
        )  # fmt: skip


class NAdam(_Counting):
    """NAdam (Dozat 2016)."""

    def __init__(
        self, params: Any, lr: Any = 2e-3, betas: tuple[float, float] = (0.9, 0.999), eps: float = 1e-8,
        weight_decay: float = 0.0, momentum_decay: float = 4e-3,
    ) -> None:  # fmt: skip
        _check("NAdam", betas=betas, eps=eps, weight_decay=weight_decay, momentum_decay=momentum_decay)
        super().__init__(params, {
            "lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay, "momentum_decay": momentum_decay,
        })  # fmt: skip
        self._count_from_zero()
        self.exp_avg, self.exp_avg_sq = self._state("exp_avg"), self._state("exp_avg_sq")
        self.__dict__["_products"] = {}

    def _step(self, group: dict[str, Any], members: Members) -> None:
        mu, following = updates.nadam_schedule(self._number, group["betas"][0], group["momentum_decay"])
        key = members.place.start
        product = self._products.setdefault(key, from_array(np.ones(())))
        bridge.scale(product, mu)
        members.update(
            updates.nadam, self.exp_avg, self.exp_avg_sq, step=self._number, mu=mu, mu_next=following,
            mu_product=bridge.count_of(product), lr=rate_of(group), betas=group["betas"], eps=group["eps"],
            weight_decay=group["weight_decay"],
        )  # fmt: skip


class Adagrad(_Counting):
    """Adagrad (Duchi, Hazan and Singer 2011)."""

    def __init__(
        self, params: Any, lr: Any = 1e-2, lr_decay: float = 0.0, weight_decay: float = 0.0,
        initial_accumulator_value: float = 0.0, eps: float = 1e-10, *, maximize: bool = False,
    ) -> None:  # fmt: skip
        _check("Adagrad", lr_decay=lr_decay, weight_decay=weight_decay, eps=eps,
               initial_accumulator_value=initial_accumulator_value)  # fmt: skip
        super().__init__(params, {
            "lr": lr, "lr_decay": lr_decay, "weight_decay": weight_decay, "eps": eps, "maximize": maximize,
            "initial_accumulator_value": initial_accumulator_value,
        })  # fmt: skip
        self.accum = self._state("accum", initial_accumulator_value)
        self._count_from_zero()

    def _step(self, group: dict[str, Any], members: Members) -> None:
        members.update(
            accumulating.adagrad, self.accum, step=self._number, lr=rate_of(group), lr_decay=group["lr_decay"],
            eps=group["eps"], weight_decay=group["weight_decay"], maximize=group["maximize"],
        )  # fmt: skip


class Adadelta(Optimizer):
    """Adadelta (Zeiler 2012)."""

    def __init__(
        self, params: Any, lr: Any = 1.0, rho: float = 0.9, eps: float = 1e-6, weight_decay: float = 0.0, *,
        maximize: bool = False,
    ) -> None:  # fmt: skip
        _check("Adadelta", rho=rho, eps=eps, weight_decay=weight_decay)
        super().__init__(params, {"lr": lr, "rho": rho, "eps": eps, "weight_decay": weight_decay, "maximize": maximize})
        self.accum, self.accum_update = self._state("accum"), self._state("accum_update")

    def _step(self, group: dict[str, Any], members: Members) -> None:
        members.update(
            accumulating.adadelta, self.accum, self.accum_update, lr=rate_of(group), rho=group["rho"],
            eps=group["eps"], weight_decay=group["weight_decay"], maximize=group["maximize"],
        )  # fmt: skip


class RMSprop(Optimizer):
    """RMSprop (Hinton, lecture 6e), centred where `centered`."""

    def __init__(
        self, params: Any, lr: Any = 1e-2, alpha: float = 0.99, eps: float = 1e-8, weight_decay: float = 0.0,
        momentum: float = 0.0, centered: bool = False, maximize: bool = False,
    ) -> None:  # fmt: skip
        _check("RMSprop", alpha=alpha, eps=eps, weight_decay=weight_decay, momentum=momentum)
        super().__init__(params, {
            "lr": lr, "alpha": alpha, "eps": eps, "weight_decay": weight_decay, "momentum": momentum,
            "centered": centered, "maximize": maximize,
        })  # fmt: skip
        self.mean_grad, self.mean_square = self._state("mean_grad"), self._state("mean_square")
        self.moment = self._state("moment")

    def _step(self, group: dict[str, Any], members: Members) -> None:
        members.update(
            accumulating.rmsprop, self.mean_square, self.moment, self.mean_grad if group["centered"] else None,
            lr=rate_of(group), alpha=group["alpha"], eps=group["eps"], momentum=group["momentum"],
            weight_decay=group["weight_decay"], maximize=group["maximize"],
        )  # fmt: skip


class ASGD(_Counting):
    """Averaged gradient descent (Polyak and Juditsky 1992)."""

    def __init__(
        self, params: Any, lr: Any = 1e-2, lambd: float = 1e-4, alpha: float = 0.75, t0: float = 1e6,
        weight_decay: float = 0.0, maximize: bool = False,
    ) -> None:  # fmt: skip
        _check("ASGD", weight_decay=weight_decay)
        super().__init__(params, {
            "lr": lr, "lambd": lambd, "alpha": alpha, "t0": t0, "weight_decay": weight_decay, "maximize": maximize,
        })  # fmt: skip
        self.ax = self._state("ax")
        self._count_from_zero()

    def _step(self, group: dict[str, Any], members: Members) -> None:
        lr = rate_of(group)
        eta, mu = accumulating.asgd_schedule(self._number - 1, lr, group["lambd"], group["alpha"], group["t0"])
        members.update(
            accumulating.asgd, self.ax, eta=eta, mu=mu, lambd=group["lambd"], weight_decay=group["weight_decay"],
            maximize=group["maximize"],
        )  # fmt: skip


class Rprop(_Counting):
    """Resilient propagation (Riedmiller and Braun 1993)."""

    def __init__(
        self, params: Any, lr: Any = 1e-2, etas: tuple[float, float] = (0.5, 1.2),
        step_sizes: tuple[float, float] = (1e-6, 50), *, maximize: bool = False,
    ) -> None:  # fmt: skip
        if not 0.0 < etas[0] < 1.0 < etas[1]:
            raise ValueError(f"Rprop: etas must be below and above 1, got {etas}")
        super().__init__(params, {
            "lr": lr, "etas": etas, "step_sizes": step_sizes, "maximize": maximize, "weight_decay": 0.0,
        })  # fmt: skip
        self.prev, self.step_size = self._state("prev"), self._state("step_size")
        self._count_from_zero()

    def _step(self, group: dict[str, Any], members: Members) -> None:
        for size in self.step_size[members.place]:
            bridge.put(size, rate_of(group), self._number == 1)
        members.update(
            accumulating.rprop, self.prev, self.step_size, etas=group["etas"], step_sizes=group["step_sizes"],
            maximize=group["maximize"],
        )  # fmt: skip

"""`Adagrad`, `Adadelta`, `RMSprop`, `Rprop` and `ASGD`."""

from __future__ import annotations

from typing import Any

from ....learn import accumulating as rules
from .._tensor import Tensor
from . import _bridge
from .optimizer import ParamsT, RuleOptimizer, check_implementation, check_lr, check_not_negative


class Adagrad(RuleOptimizer):
    """Adagrad (Duchi, Hazan and Singer 2011).

    Raises:
        ValueError: an option is out of range.
    """

    def __init__(
        self,
        params: ParamsT,
        lr: Any = 1e-2,
        lr_decay: float = 0,
        weight_decay: float = 0,
        initial_accumulator_value: float = 0,
        eps: float = 1e-10,
        foreach: bool | None = None,
        *,
        maximize: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
    ) -> None:
        check_lr(lr)
        check_not_negative("lr_decay", lr_decay)
        check_not_negative("weight_decay", weight_decay)
        check_not_negative("initial_accumulator_value", initial_accumulator_value)
        check_not_negative("eps", eps)
        check_implementation(foreach, fused, differentiable)
        defaults = {
            "lr": lr,
            "lr_decay": lr_decay,
            "eps": eps,
            "weight_decay": weight_decay,
            "initial_accumulator_value": initial_accumulator_value,
            "foreach": foreach,
            "maximize": maximize,
            "differentiable": differentiable,
            "fused": fused,
        }
        super().__init__(params, defaults)
        for group in self.param_groups:
            for p in group["params"]:
                self.state[p]["step"] = _bridge.scalar(0.0)
                self.state[p]["sum"] = _bridge.full_like(p, group["initial_accumulator_value"])

    def _update(self, group: dict[str, Any]) -> None:
        differentiable = group["differentiable"]
        options = {
            "lr": _bridge.number(group["lr"], differentiable),
            "lr_decay": group["lr_decay"],
            "eps": group["eps"],
            "weight_decay": group["weight_decay"],
            "maximize": group["maximize"],
        }
        for batch in self._batches(group):
            totals = batch.column("sum")
            _bridge.update(rules.adagrad, differentiable, batch.params, batch.grads, totals, step=batch.step, **options)


class Adadelta(RuleOptimizer):
    """Adadelta (Zeiler 2012).

    Raises:
        ValueError: an option is out of range.
    """

    def __init__(
        self,
        params: ParamsT,
        lr: Any = 1.0,
        rho: float = 0.9,
        eps: float = 1e-6,
        weight_decay: float = 0,
        foreach: bool | None = None,
        *,
        capturable: bool = False,
        maximize: bool = False,
        differentiable: bool = False,
    ) -> None:
        check_lr(lr)
        if not 0.0 <= rho <= 1.0:
            raise ValueError(f"Adadelta: rho is {rho}; wanted 0 <= rho <= 1")
        check_not_negative("eps", eps)
        check_not_negative("weight_decay", weight_decay)
        defaults = {
            "lr": lr,
            "rho": rho,
            "eps": eps,
            "weight_decay": weight_decay,
            "maximize": maximize,
            "capturable": capturable,
            "foreach": foreach,
            "differentiable": differentiable,
        }
        super().__init__(params, defaults)

    def _update(self, group: dict[str, Any]) -> None:
        differentiable = group["differentiable"]
        options = {
            "lr": _bridge.number(group["lr"], differentiable),
            "rho": group["rho"],
            "eps": group["eps"],
            "weight_decay": group["weight_decay"],
            "maximize": group["maximize"],
        }
        for batch in self._batches(group):
            squares, changes = batch.column("square_avg"), batch.column("acc_delta")
            _bridge.update(rules.adadelta, differentiable, batch.params, batch.grads, squares, changes, **options)

    def _init_state(self, p: Tensor, state: dict[str, Any], group: dict[str, Any]) -> None:
        state["step"] = _bridge.scalar(0.0)
        state["square_avg"] = _bridge.zeros_like(p)
        state["acc_delta"] = _bridge.zeros_like(p)


class RMSprop(RuleOptimizer):
    """RMSprop (Hinton, lecture 6e); centred (Graves 2013) and with momentum where asked for.

    Raises:
        ValueError: an option is out of range.
    """

    def __init__(
        self,
        params: ParamsT,
        lr: Any = 1e-2,
        alpha: float = 0.99,
        eps: float = 1e-8,
        weight_decay: float = 0,
        momentum: float = 0,
        centered: bool = False,
        capturable: bool = False,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
    ) -> None:
        check_lr(lr)
        check_not_negative("eps", eps)
        check_not_negative("momentum", momentum)
        check_not_negative("weight_decay", weight_decay)
        check_not_negative("alpha", alpha)
        defaults = {
            "lr": lr,
            "momentum": momentum,
            "alpha": alpha,
            "eps": eps,
            "centered": centered,
            "weight_decay": weight_decay,
            "capturable": capturable,
            "foreach": foreach,
            "maximize": maximize,
            "differentiable": differentiable,
        }
        super().__init__(params, defaults)

    def _update(self, group: dict[str, Any]) -> None:
        differentiable = group["differentiable"]
        options = {
            "lr": _bridge.number(group["lr"], differentiable),
            "alpha": group["alpha"],
            "eps": group["eps"],
            "weight_decay": group["weight_decay"],
            "momentum": group["momentum"],
            "maximize": group["maximize"],
        }
        for batch in self._batches(group):
            _bridge.update(
                rules.rmsprop,
                differentiable,
                batch.params,
                batch.grads,
                batch.column("square_avg"),
                batch.column("grad_avg") if group["centered"] else None,
                batch.column("momentum_buffer") if group["momentum"] > 0 else None,
                **options,
            )

    def _init_state(self, p: Tensor, state: dict[str, Any], group: dict[str, Any]) -> None:
        state["step"] = _bridge.scalar(0.0)
        state["square_avg"] = _bridge.zeros_like(p)
        if group["momentum"] > 0:
            state["momentum_buffer"] = _bridge.zeros_like(p)
        if group["centered"]:
            state["grad_avg"] = _bridge.zeros_like(p)


class Rprop(RuleOptimizer):
    """Resilient propagation (Riedmiller and Braun 1993).

    Raises:
        ValueError: an option is out of range.
    """

    def __init__(
        self,
        params: ParamsT,
        lr: Any = 1e-2,
        etas: tuple[float, float] = (0.5, 1.2),
        step_sizes: tuple[float, float] = (1e-6, 50),
        *,
        capturable: bool = False,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
    ) -> None:
        check_lr(lr)
        if not 0.0 < etas[0] < 1.0 < etas[1]:
            raise ValueError(f"Rprop: etas are {etas}; wanted 0 < first < 1 < second")
        defaults = {
            "lr": lr,
            "etas": etas,
            "step_sizes": step_sizes,
            "foreach": foreach,
            "maximize": maximize,
            "differentiable": differentiable,
            "capturable": capturable,
        }
        super().__init__(params, defaults)

    def _update(self, group: dict[str, Any]) -> None:
        differentiable = group["differentiable"]
        options = {"etas": group["etas"], "step_sizes": group["step_sizes"], "maximize": group["maximize"]}
        for batch in self._batches(group):
            previous, sizes = batch.column("prev"), batch.column("step_size")
            _bridge.update(rules.rprop, differentiable, batch.params, batch.grads, previous, sizes, **options)

    def _init_state(self, p: Tensor, state: dict[str, Any], group: dict[str, Any]) -> None:
        state["step"] = _bridge.scalar(0.0)
        state["prev"] = _bridge.zeros_like(p)
        state["step_size"] = _bridge.full_like(p, float(group["lr"]))


class ASGD(RuleOptimizer):
    """Averaged stochastic gradient descent (Polyak and Juditsky 1992); the average is `state[p]["ax"]`.

    Raises:
        ValueError: an option is out of range.
    """

    def __init__(
        self,
        params: ParamsT,
        lr: Any = 1e-2,
        lambd: float = 1e-4,
        alpha: float = 0.75,
        t0: float = 1e6,
        weight_decay: float = 0,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
        capturable: bool = False,
    ) -> None:
        check_lr(lr)
        check_not_negative("weight_decay", weight_decay)
        defaults = {
            "lr": lr,
            "lambd": lambd,
            "alpha": alpha,
            "t0": t0,
            "weight_decay": weight_decay,
            "foreach": foreach,
            "maximize": maximize,
            "differentiable": differentiable,
            "capturable": capturable,
        }
        super().__init__(params, defaults)

    def _update(self, group: dict[str, Any]) -> None:
        differentiable = group["differentiable"]
        lr, lambd = float(group["lr"]), group["lambd"]
        options = {"lambd": lambd, "weight_decay": group["weight_decay"], "maximize": group["maximize"]}
        for batch in self._batches(group, "eta", "mu"):
            eta, mu = batch.counters
            averages = batch.column("ax")
            _bridge.update(rules.asgd, differentiable, batch.params, batch.grads, averages, eta=eta, mu=mu, **options)
            eta, mu = rules.asgd_schedule(batch.step, lr, lambd, group["alpha"], group["t0"])
            for state in batch.states:
                _bridge.set_scalar(state["eta"], eta)
                _bridge.set_scalar(state["mu"], mu)

    def _init_state(self, p: Tensor, state: dict[str, Any], group: dict[str, Any]) -> None:
        state["step"] = _bridge.scalar(0.0)
        state["eta"] = _bridge.scalar(float(group["lr"]))
        state["mu"] = _bridge.scalar(1.0)
        state["ax"] = _bridge.zeros_like(p)

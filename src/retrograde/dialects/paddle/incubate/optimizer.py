"""`paddle.incubate.optimizer`: LookAhead around another optimiser, and averages of the parameters over the steps."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import numpy as np

from ...._state import grad_mode
from .._api import attributes
from .._tensor import from_array
from ..optimizer.optimizer import Optimizer

__all__ = ["LookAhead", "ModelAverage"]


class LookAhead(Optimizer):
    """LookAhead (Zhang et al. 2019): every k steps of the inner optimiser, slow weights go the share `alpha` of the way
    to its parameters, which go on from there.

    `get_lr` gives `alpha`; the learning rate is the inner optimiser's. `state_dict` holds the slow weights only.

    Raises AssertionError without an inner optimiser, for an `alpha` outside [0, 1] and a `k` that is no positive int.

    >>> from retrograde.dialects import paddle
    >>> net = paddle.nn.Linear(2, 1)
    >>> sgd = paddle.optimizer.SGD(0.1, parameters=net.parameters())
    >>> optimizer = LookAhead(sgd, alpha=0.5, k=5)
    """

    _accumulators = ("slow",)
    type = "lookahead"

    def __init__(self, inner_optimizer: Any, alpha: float = 0.5, k: int = 5, name: str | None = None) -> None:
        if inner_optimizer is None:
            raise AssertionError("LookAhead: inner_optimizer is missing")
        if not 0.0 <= alpha <= 1.0:
            raise AssertionError(f"LookAhead: alpha must lie in [0, 1], got {alpha}")
        if not isinstance(k, int) or k <= 0:
            raise AssertionError(f"LookAhead: k must be a positive int, got {k!r}")
        super().__init__(float(alpha), inner_optimizer._parameter_list, None, None, name)
        self.inner_optimizer, self.alpha, self.k = inner_optimizer, alpha, k
        self._count = 0

    def _initial(self, name: str, p: Any) -> Any:
        return p.detach().clone()

    def step(self) -> None:
        """One step of the inner optimiser; after every k-th the parameters go back to the slow weights."""
        self.inner_optimizer.step()
        self._follow()

    def minimize(
        self, loss: Any, startup_program: Any = None, parameters: Any = None, no_grad_set: Any = None
    ) -> tuple[list[Any], list[Any]]:
        """`step` by the gradients that `loss.backward()` has left; returns [] and the parameters with these."""
        found: tuple[list[Any], list[Any]] = self.inner_optimizer.minimize(
            loss, startup_program, parameters, no_grad_set
        )
        self._follow()
        return found

    def _follow(self) -> None:
        self._count += 1
        with grad_mode(False):
            for p in self._parameters():
                if p.stop_gradient or p._grad is None:
                    continue
                slow = self._state(p)["slow"]
                if self._count % self.k == 0:
                    slow.set_value(slow + (p - slow) * self.alpha)
                    p.set_value(slow)


class ModelAverage(Optimizer):
    """Averages of parameters over their last steps: `step` takes them in, `apply` puts them in the parameters' place.

    The window holds `average_window_rate` times the number of steps, but `min_average_window` steps at least and
    `max_average_window` at most. It starts anew when it is full, and the one before is kept beside it.

    >>> from retrograde.dialects import paddle
    >>> net = paddle.nn.Linear(2, 1)
    >>> average = ModelAverage(0.15, parameters=net.parameters(), min_average_window=2, max_average_window=10)
    >>> average.step()
    >>> with average.apply():
    ...     shown = net(paddle.ones([1, 2]))
    """

    _accumulators = (
        "sum_1", "sum_2", "sum_3", "restore", "num_accumulates", "old_num_accumulates", "num_updates"
    )  # fmt: skip
    type = "average_accumulates"

    def __init__(
        self, average_window_rate: float, parameters: Any = None, min_average_window: int = 10000,
        max_average_window: int = 10000, name: str | None = None,
    ) -> None:  # fmt: skip
        super().__init__(0.0, parameters, None, None, name)
        self.average_window = average_window_rate
        self.min_average_window, self.max_average_window = min_average_window, max_average_window
        self._applied: set[int] = set()

    def _initial(self, name: str, p: Any) -> Any:
        return from_array(np.zeros((1,), np.int64)) if name.startswith(("num", "old")) else super()._initial(name, p)

    def step(self) -> None:
        """Take the parameters that have gradients into their averages."""
        with grad_mode(False):
            for p in self._parameters():
                if not p.stop_gradient and p._grad is not None:
                    self._take_in(p, self._state(p))

    def _take_in(self, p: Any, state: dict[str, Any]) -> None:
        updates, count = (int(state[name].item()) + 1 for name in ("num_updates", "num_accumulates"))
        state["sum_1"].set_value(state["sum_1"] + p)
        if updates % 16384 == 0:  # sums of very many lose digits
            state["sum_2"].set_value(state["sum_2"] + state["sum_1"])
            state["sum_1"].zero_()
        window = min(self.max_average_window, int(updates * self.average_window))
        if count >= max(self.min_average_window, window):
            state["sum_3"].set_value(state["sum_1"] + state["sum_2"])
            state["sum_1"].zero_()
            state["sum_2"].zero_()
            state["old_num_accumulates"].fill_(count)
            count = 0
        state["num_accumulates"].fill_(count)
        state["num_updates"].fill_(updates)

    def minimize(  # type: ignore[override]
        self, loss: Any, startup_program: Any = None, parameters: Any = None, no_grad_set: Any = None
    ) -> None:
        """As `step`: the parameters are averaged, not changed."""
        self.step()

    @contextlib.contextmanager
    def apply(self, executor: Any = None, need_restore: bool = True) -> Iterator[None]:
        """Let the parameters be their averages in a `with` block; without `need_restore`, until `restore`."""
        with grad_mode(False):
            for p in self._parameters():
                state = self._states.get(id(p))
                count = 0 if state is None else state["num_accumulates"].item() + state["old_num_accumulates"].item()
                if state is not None and count:
                    state["restore"].set_value(p)
                    p.set_value((state["sum_1"] + state["sum_2"] + state["sum_3"]) / float(count))
                    self._applied.add(id(p))
        try:
            yield
        finally:
            if need_restore:
                self.restore()

    def restore(self, executor: Any = None) -> None:
        """Give the parameters back what they were before `apply`."""
        with grad_mode(False):
            for p in self._parameters():
                if id(p) in self._applied:
                    p.set_value(self._states[id(p)]["restore"])
        self._applied.clear()


__getattr__ = attributes(globals())

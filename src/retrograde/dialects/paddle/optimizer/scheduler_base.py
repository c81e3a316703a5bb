"""`LRScheduler`: a learning rate that changes from step to step, and `Formula`, which the rows of decay.py derive from."""

from __future__ import annotations

from typing import Any, ClassVar

from ....learn import schedules
from ..._shared.option_rows import ScheduleRow
from ..._shared.registry import near


class LRScheduler:
    """Base of the schedules: `get_lr` gives the rate of `last_epoch`; calling the scheduler gives the present one.

    Raises TypeError for a rate that is no number, ValueError for a negative one.
    """

    def __init__(self, learning_rate: float = 0.1, last_epoch: int = -1, verbose: bool = False) -> None:
        if isinstance(learning_rate, bool) or not isinstance(learning_rate, (float, int)):
            raise TypeError(
                f"{type(self).__name__}: learning_rate must be a number, got {type(learning_rate).__name__}"
            )
        if learning_rate < 0:
            raise ValueError(f"{type(self).__name__}: learning_rate must not be negative, got {learning_rate}")
        self.base_lr = float(learning_rate)
        self.last_lr = float(learning_rate)
        self.last_epoch = last_epoch
        self.verbose = verbose
        self._var_name: str | None = None
        self.step()

    def __call__(self) -> float:
        """The present learning rate."""
        return self.last_lr

    def step(self, epoch: int | None = None) -> None:
        """Go on to the next epoch, or to a given one, and compute its rate."""
        if epoch is None:
            self.last_epoch += 1
            self.last_lr = self.get_lr()
        else:
            self.last_epoch = epoch
            closed = getattr(self, "_get_closed_form_lr", None)
            self.last_lr = self.get_lr() if closed is None else closed()
        self._announce()

    def _announce(self) -> None:
        if self.verbose:
            print(f"Epoch {self.last_epoch}: {type(self).__name__} set learning rate to {self.last_lr}.")

    def get_lr(self) -> float:
        """The rate of `last_epoch`; a schedule of one's own defines it."""
        raise NotImplementedError(f"{type(self).__name__} defines no get_lr")

    def state_keys(self) -> None:
        """Name in `self.keys` the attributes that belong to the state."""
        self.keys = ["last_epoch", "last_lr"]

    def state_dict(self) -> dict[str, Any]:
        """The attributes in `keys` by name; a scheduler among them as its own state."""
        self.state_keys()
        state: dict[str, Any] = {}
        for key in self.keys:
            value = self.__dict__[key] if key in self.__dict__ else getattr(self, key, None)
            if isinstance(value, LRScheduler):
                continue
            state[key] = value
        return state

    def set_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take over what `state_dict` gave; RuntimeError where a key is missing."""
        self.state_keys()
        for key in self.keys:
            if key not in state_dict:
                raise RuntimeError(
                    f"{type(self).__name__}.set_state_dict: the state has no {key!r}{near(key, state_dict)}; it was "
                    "saved by another kind of scheduler, or is incomplete"
                )
            setattr(self, key, state_dict[key])

    set_dict = set_state_dict


class Formula(LRScheduler):
    """A schedule that is a row: the rate is a formula of the epoch, or of the rate before (decay.py)."""

    _row: ClassVar[ScheduleRow]
    _closed: ClassVar[Any]
    _chained: ClassVar[Any]

    def _set_up(self, row: ScheduleRow, options: dict[str, Any]) -> None:
        """Make the schedule of a row."""
        row.check(options)
        given = [options.pop(name, default) for name, default in _OF_ALL]
        self.__dict__.update(options)
        if row.then is not None:
            row.then(self)
        LRScheduler.__init__(self, *given)

    def get_lr(self) -> float:
        """The rate of `last_epoch`."""
        epoch, chained = self.last_epoch, self._row.chained
        if chained is None:
            return self._closed(self.base_lr, epoch)  # type: ignore[no-any-return]
        if epoch == 0 and chained not in schedules.AT_ONCE:
            return self.base_lr
        return self._chained(self.base_lr if epoch == 0 else self.last_lr, epoch, self.base_lr)  # type: ignore[no-any-return]

    def _get_closed_form_lr(self) -> float:
        row = self._row
        return self.get_lr() if row.chained is None or row.closed is None else self._closed(self.base_lr, self.last_epoch)


_OF_ALL = (("learning_rate", 0.1), ("last_epoch", -1), ("verbose", False))

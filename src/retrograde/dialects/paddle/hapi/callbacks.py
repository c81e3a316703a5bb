"""`paddle.callbacks`: what `Model.fit` calls at its stages."""

from __future__ import annotations

import os
import warnings
from typing import Any

from ..._shared.registry import defined as _defined
from ..optimizer.lr import LRScheduler as _Schedule
from ..optimizer.lr import ReduceOnPlateau as _Plateau


class Callback:
    """Base of callbacks: define what is wanted of the stages; `self.model` is the Model."""

    model: Any = None
    params: dict[str, Any] = {}  # a default that is replaced, never changed

    def set_model(self, model: Any) -> None:
        """Be told the model."""
        self.model = model

    def set_params(self, params: dict[str, Any]) -> None:
        """Be told the options of the loop."""
        self.params = params

    # The stages are made below: on_train_begin(logs), on_epoch_begin(epoch, logs), on_train_batch_begin(step, logs) and so on.


def _stage(name: str, doc: str) -> None:
    def whole(self: Callback, logs: Any = None) -> None:
        pass

    def epoch_(self: Callback, epoch: int, logs: Any = None) -> None:
        pass

    def batch(self: Callback, step: int, logs: Any = None) -> None:
        pass

    setattr(Callback, name, _defined(name, batch if "_batch_" in name else epoch_ if "epoch" in name else whole, doc))


for _name, _what in (
    ("train", "training"), ("eval", "an evaluation"), ("predict", "a prediction"), ("epoch", "an epoch"),
    ("train_batch", "a batch"), ("eval_batch", "a batch of an evaluation"), ("predict_batch", "a batch of a prediction"),
):  # fmt: skip
    _stage(f"on_{_name}_begin", f"Before {_what}.")
    _stage(f"on_{_name}_end", f"After {_what}, with what it gave.")


class ModelCheckpoint(Callback):
    """Saves the model after the first of every `save_freq` epochs, and at the end."""

    def __init__(self, save_freq: int = 1, save_dir: str | None = None) -> None:
        self.save_freq, self.save_dir = save_freq, save_dir

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        """Save under the number of the epoch."""
        if epoch % self.save_freq == 0:
            self._save(str(epoch))

    def on_train_end(self, logs: Any = None) -> None:
        """Save as "final"."""
        self._save("final")

    def _save(self, name: str) -> None:
        if self.save_dir is not None:
            path = os.path.abspath(os.path.join(self.save_dir, name))
            print(f"save checkpoint at {path}")
            self.model.save(path)


class LRScheduler(Callback):
    """Moves the optimizer's schedule on after every batch, or every epoch."""

    def __init__(self, by_step: bool = True, by_epoch: bool = False) -> None:
        if by_step and by_epoch:
            raise ValueError("LRScheduler: by_step and by_epoch exclude each other")
        self.by_step, self.by_epoch = by_step, by_epoch

    def _move(self) -> None:
        rate = self.model._optimizer._learning_rate
        if isinstance(rate, _Schedule) and not isinstance(rate, _Plateau):
            rate.step()

    def on_train_batch_end(self, step: int, logs: Any = None) -> None:
        """Move on, if by steps."""
        if self.by_step:
            self._move()

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        """Move on, if by epochs."""
        if self.by_epoch:
            self._move()


class EarlyStopping(Callback):
    """Stops training when a result of the evaluations has not improved for `patience` of them."""

    def __init__(
        self, monitor: str = "loss", mode: str = "auto", patience: int = 0, verbose: int = 1, min_delta: float = 0,
        baseline: float | None = None, save_best_model: bool = True,
    ) -> None:  # fmt: skip
        if mode not in ("auto", "min", "max"):
            raise ValueError(f"EarlyStopping: mode must be 'auto', 'min' or 'max', got {mode!r}")
        larger = mode == "max" or (mode == "auto" and "acc" in monitor)
        self.monitor, self.patience, self.verbose = monitor, patience, verbose
        self.sign, self.min_delta = (-1 if larger else 1), abs(min_delta)
        self.baseline, self.save_best_model = baseline, save_best_model
        self.save_dir: str | None = None

    def on_train_begin(self, logs: Any = None) -> None:
        """Forget the best result."""
        self.wait, self.evaluations = 0, 0
        self.best: float | None = self.baseline

    def on_eval_end(self, logs: Any = None) -> None:
        """Compare the result with the best one."""
        if self.monitor not in (logs or {}):
            warnings.warn(
                f"EarlyStopping: the evaluation has no {self.monitor!r}, it has {list(logs or {})}", stacklevel=2
            )
            return
        value = logs[self.monitor]
        current = float(value[0] if isinstance(value, (list, tuple)) else value)
        self.evaluations += 1
        if self.best is None or self.sign * current < self.sign * self.best - self.min_delta:
            self.best, self.wait = current, 0
            if self.save_best_model and self.save_dir is not None:
                self.model.save(os.path.join(self.save_dir, "best_model"))
            return
        self.wait += 1
        if self.wait >= self.patience:
            self.model.stop_training = True
            if self.verbose:
                print(f"Epoch {self.evaluations}: Early stopping.")

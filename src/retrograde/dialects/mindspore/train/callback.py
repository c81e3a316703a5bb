"""Callbacks of `Model`: what happens when a training or an evaluation begins, steps and ends."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from ..._shared.checks import check
from ..._shared.registry import defined
from .._paths import offer_paths
from .._tensor import Tensor
from ..nn.cell import Cell
from .serialization import save_checkpoint


class _InternalCallbackParam(dict[str, Any]):
    """What is known of a run, as items and as attributes."""

    def __getattr__(self, name: str) -> Any:
        if name in self:
            return self[name]
        raise AttributeError(f"the run has no {name!r}; it has {', '.join(sorted(self))}")

    def __setattr__(self, name: str, value: Any) -> None:
        self[name] = value


class RunContext:
    """What a callback is given: `original_args()` is what is known of the run, `request_stop()` ends it."""

    def __init__(self, original_args: _InternalCallbackParam) -> None:
        if not isinstance(original_args, _InternalCallbackParam):
            raise TypeError(f"RunContext: wanted the parameters of a run, got {type(original_args).__name__}")
        self._args, self._stop = original_args, False

    def original_args(self) -> _InternalCallbackParam:
        """What is known of the run."""
        return self._args

    def request_stop(self) -> None:
        """End the run after this step."""
        self._stop = True

    def get_stop_requested(self) -> bool:
        """Whether a callback has asked to end the run."""
        return self._stop


class Callback:
    """Base of callbacks: override what is to happen; the names without `on_train_` are the older ones."""

    def __enter__(self) -> Callback:
        return self

    def __exit__(self, *error: Any) -> None:
        return None

    # The events are made below: `begin`, and `on_train_begin` and `on_eval_begin`, which call it, and so on.


_EVENTS = {
    "begin": "begins", "epoch_begin": "begins an epoch", "epoch_end": "has ended an epoch", "step_begin": "begins a step",
    "step_end": "has ended a step", "end": "has ended",
}  # fmt: skip


def _event(name: str, older: str | None, doc: str) -> None:
    def method(self: Callback, run_context: RunContext) -> None:
        if older is not None:
            getattr(self, older)(run_context)

    setattr(Callback, name, defined(name, method, doc))


for _name, _what in _EVENTS.items():
    _event(_name, None, f"The run {_what}.")
    _event(f"on_train_{_name}", _name, f"Training {_what}.")
    _event(f"on_eval_{_name}", _name, f"Evaluation {_what}.")


class Callbacks:
    """Several callbacks as one."""

    def __init__(self, callbacks: Any) -> None:
        given = [] if callbacks is None else list(callbacks) if isinstance(callbacks, (list, tuple)) else [callbacks]
        for callback in given:
            if not isinstance(callback, Callback):
                raise TypeError(f"callbacks: wanted Callback objects, got {type(callback).__name__}")
        self._all = given

    def __call__(self, event: str, run_context: RunContext) -> None:
        for callback in self._all:
            getattr(callback, event)(run_context)


def _loss_value(outputs: Any) -> Any:
    """The loss in what a training step gave, as a number; None where there is none."""
    first = outputs[0] if isinstance(outputs, (tuple, list)) and outputs else outputs
    if isinstance(first, Tensor):
        return float(np.mean(first.asnumpy()))
    return float(first) if isinstance(first, (int, float)) else None


class LossMonitor(Callback):
    """Prints the loss every `per_print_times` steps; ends the training where it is NaN or infinite."""

    def __init__(self, per_print_times: int = 1) -> None:
        check("LossMonitor", "per_print_times: int >= 0", locals())
        self._every, self._last = per_print_times, 0

    def step_end(self, run_context: RunContext) -> None:
        """Print the loss if it is time to."""
        args = run_context.original_args()
        if args.mode != "train":
            return
        loss, step = _loss_value(args.net_outputs), (args.cur_step_num - 1) % args.batch_num + 1
        if loss is not None and not np.isfinite(loss):
            raise ValueError(f"LossMonitor: in epoch {args.cur_epoch_num}, step {step}, the loss is {loss}; training ends")
        if args.cur_step_num <= self._last:
            self._last = 0
        if self._every and args.cur_step_num - self._last >= self._every:
            self._last = args.cur_step_num
            print(f"epoch: {args.cur_epoch_num} step: {step}, loss is {loss}", flush=True)

    def on_train_epoch_end(self, run_context: RunContext) -> None:
        """Print the metrics of an evaluation, where there was one in this epoch."""
        args = run_context.original_args()
        if args.get("eval_results") is not None:
            print(f"Eval result: epoch {args.cur_epoch_num}, metrics: {args.eval_results}", flush=True)
            args.eval_results = None


class TimeMonitor(Callback):
    """Prints the time of each epoch and of its steps."""

    def __init__(self, data_size: int | None = None, data_time: bool = False) -> None:
        check("TimeMonitor", "data_time: bool", locals())
        self.data_size, self._start = data_size, 0.0

    def epoch_begin(self, run_context: RunContext) -> None:
        """Start the clock."""
        self._start = time.perf_counter()

    def epoch_end(self, run_context: RunContext) -> None:
        """Print what the clock says."""
        args = run_context.original_args()
        passed = (time.perf_counter() - self._start) * 1000
        steps = self.data_size if isinstance(self.data_size, int) and self.data_size > 0 else args.batch_num
        word = "Train" if args.mode == "train" else "Eval"
        print(f"{word} epoch time: {passed:5.3f} ms, per step time: {passed / max(steps, 1):5.3f} ms", flush=True)


class History(Callback):
    """Keeps the last output of every epoch, and the metrics: `epoch` and `history`."""

    def __init__(self) -> None:
        self.history: dict[str, list[Any]] = {}
        self.epoch: dict[str, list[Any]] = {}

    def begin(self, run_context: RunContext) -> None:
        """Start anew."""
        self.epoch, self.history = {"epoch": []}, {}

    def epoch_end(self, run_context: RunContext) -> None:
        """Keep what the epoch gave."""
        args = run_context.original_args()
        if args.mode != "train":
            return
        self.epoch.setdefault("epoch", []).append(args.cur_epoch_num)
        outputs = args.net_outputs
        kept = outputs.asnumpy().item() if isinstance(outputs, Tensor) and outputs.size == 1 else outputs
        self.history.setdefault("net_output", []).append(kept)
        for name, value in (args.get("eval_results") or {}).items():
            self.history.setdefault(name, []).append(value)


class LambdaCallback(Callback):
    """A callback made of functions."""

    def __init__(
        self, on_train_epoch_begin: Any = None, on_train_epoch_end: Any = None, on_train_step_begin: Any = None,
        on_train_step_end: Any = None, on_train_begin: Any = None, on_train_end: Any = None, on_eval_epoch_begin: Any = None,
        on_eval_epoch_end: Any = None, on_eval_step_begin: Any = None, on_eval_step_end: Any = None,
        on_eval_begin: Any = None, on_eval_end: Any = None,
    ) -> None:  # fmt: skip
        for name, f in locals().items():
            if f is not None and f is not self:
                setattr(self, name, f)


class LearningRateScheduler(Callback):
    """Sets the learning rate after every step to what a function of the rate and the step's number gives."""

    def __init__(self, learning_rate_function: Callable[[float, int], float]) -> None:
        self._function = learning_rate_function

    def step_end(self, run_context: RunContext) -> None:
        """Set the rate of the next step."""
        args = run_context.original_args()
        rate = args.optimizer.learning_rate
        rate.set_data(Tensor(float(self._function(float(rate), args.cur_step_num)), rate.dtype))


class _Watching(Callback):
    """What the callbacks that watch a metric of every epoch share."""

    def __init__(self, monitor: str, min_delta: float, patience: int, mode: str) -> None:
        check(type(self).__name__, "monitor: str; min_delta: number; patience: int >= 0; mode: str in {auto, min, max}", locals())
        self.monitor, self.min_delta, self.patience, self.mode = monitor, abs(min_delta), patience, mode
        rising = mode == "max" or (mode == "auto" and ("acc" in monitor or monitor.lower().startswith("f")))
        self._sign, self.best, self.waited = (1.0 if rising else -1.0), -np.inf, 0

    def on_train_epoch_end(self, run_context: RunContext) -> None:
        """Look at the metric."""
        args = run_context.original_args()
        value = self._value(args)
        if value is not None:
            better = self._sign * value > self.best + self.min_delta
            self._watched(run_context, args, better)
            if better:
                self.best, self.waited = self._sign * value, 0

    def _watched(self, run_context: RunContext, args: _InternalCallbackParam, better: bool) -> None:
        raise NotImplementedError

    def _value(self, args: _InternalCallbackParam) -> float | None:
        results = args.get("eval_results") or {}
        if self.monitor in results:
            return float(results[self.monitor])
        if self.monitor == "loss":
            return _loss_value(args.net_outputs)
        if self.monitor == "eval_loss":
            return results.get("loss")
        return None


class EarlyStopping(_Watching):
    """Ends the training when a metric has not become better for `patience` epochs."""

    def __init__(
        self, monitor: str = "eval_loss", min_delta: float = 0, patience: int = 0, verbose: bool = False,
        mode: str = "auto", baseline: float | None = None, restore_best_weights: bool = False,
    ) -> None:  # fmt: skip
        super().__init__(monitor, min_delta, patience, mode)
        check("EarlyStopping", "verbose: bool; restore_best_weights: bool", locals())
        self.verbose, self.restore_best_weights, self._weights = verbose, restore_best_weights, None
        if baseline is not None:
            self.best = self._sign * baseline
        self.stopped_epoch = 0

    def _watched(self, run_context: RunContext, args: _InternalCallbackParam, better: bool) -> None:
        if better:
            if self.restore_best_weights:
                self._weights = {p.name: p.clone() for p in args.train_network.get_parameters()}
            return
        self.waited += 1
        if self.waited >= self.patience:
            self.stopped_epoch = args.cur_epoch_num
            run_context.request_stop()
            if self.restore_best_weights and self._weights is not None:
                for p in args.train_network.get_parameters():
                    p.set_data(self._weights[p.name])

    def on_train_end(self, run_context: RunContext) -> None:
        """Say when training was ended, if it was and `verbose`."""
        if self.stopped_epoch and self.verbose:
            print(f"Epoch {self.stopped_epoch:05d}: early stopping")


class ReduceLROnPlateau(_Watching):
    """Multiplies the learning rate with `factor` when a metric has not become better for `patience` epochs."""

    def __init__(
        self, monitor: str = "eval_loss", factor: float = 0.1, patience: int = 10, verbose: bool = False,
        mode: str = "auto", min_delta: float = 1e-4, cooldown: int = 0, min_lr: float = 0,
    ) -> None:  # fmt: skip
        super().__init__(monitor, min_delta, patience, mode)
        check("ReduceLROnPlateau", "factor: float in (0, 1); verbose: bool; cooldown: int >= 0; min_lr: number", locals())
        self.factor, self.verbose, self.cooldown, self.min_lr = factor, verbose, cooldown, min_lr
        self._cooling = 0

    def _watched(self, run_context: RunContext, args: _InternalCallbackParam, better: bool) -> None:
        if self._cooling:
            self._cooling -= 1
            self.waited = 0
        if not better and not self._cooling:
            self.waited += 1
            rate = args.optimizer.learning_rate
            if self.waited >= self.patience and float(rate) > self.min_lr:
                new = max(float(rate) * self.factor, self.min_lr)
                rate.set_data(Tensor(new, rate.dtype))
                self._cooling, self.waited = self.cooldown, 0
                if self.verbose:
                    print(f"Epoch {args.cur_epoch_num:05d}: ReduceLROnPlateau reducing learning rate to {float(rate):.6g}.")


class CheckpointConfig:
    """When `ModelCheckpoint` writes, and how many files it keeps (0: all)."""

    def __init__(
        self, save_checkpoint_steps: int = 1, save_checkpoint_seconds: int = 0, keep_checkpoint_max: int = 5,
        keep_checkpoint_per_n_minutes: int = 0, integrated_save: bool = True, async_save: bool = False, saved_network:
        Any = None, append_info: Any = None, enc_key: Any = None, enc_mode: str = "AES-GCM", exception_save: bool =
        False, crc_check: bool = False, remove_redundancy: bool = False, format: str = "ckpt", **kwargs: Any,
    ) -> None:  # fmt: skip
        if not any((save_checkpoint_steps, save_checkpoint_seconds, keep_checkpoint_max, keep_checkpoint_per_n_minutes)):
            raise ValueError("CheckpointConfig: say by steps or seconds when to save, and how many files to keep")
        counts = ("save_checkpoint_steps", "save_checkpoint_seconds", "keep_checkpoint_max", "keep_checkpoint_per_n_minutes")
        check("CheckpointConfig", "; ".join(f"{name}: int | None >= 0" for name in counts), locals())
        check("CheckpointConfig", "integrated_save: bool; append_info: list | None", locals())
        if saved_network is not None and not isinstance(saved_network, Cell):
            raise TypeError(f"CheckpointConfig: saved_network must be a Cell, got {type(saved_network).__name__}")
        if not isinstance(crc_check, bool):
            raise ValueError(f"CheckpointConfig: crc_check must be a bool, got {type(crc_check).__name__}")
        self.save_checkpoint_steps = save_checkpoint_steps or 0
        self.save_checkpoint_seconds = 0 if self.save_checkpoint_steps else save_checkpoint_seconds or 0
        self.keep_checkpoint_max = keep_checkpoint_max or 0
        self.saved_network, self.append_info, self.enc_key = saved_network, append_info, enc_key
        self.crc_check, self.format = crc_check, format


class ModelCheckpoint(Callback):
    """Writes the network's parameters to `directory/prefix-EPOCH_STEP.ckpt` as the config says, and at the end."""

    def __init__(self, prefix: Any = "CKP", directory: Any = None, config: CheckpointConfig | None = None) -> None:
        if not callable(prefix) and (not isinstance(prefix, str) or os.sep in prefix):
            raise ValueError(f"ModelCheckpoint: prefix must be a string without {os.sep!r} or a function, got {prefix!r}")
        if directory is not None and not isinstance(directory, str) and not callable(directory):
            raise TypeError(f"ModelCheckpoint: directory must be a string or a function, got {type(directory).__name__}")
        if config is not None and not isinstance(config, CheckpointConfig):
            raise TypeError(f"ModelCheckpoint: config must be a CheckpointConfig, got {type(config).__name__}")
        self._prefix, self._directory = prefix, directory
        self._config = config or CheckpointConfig()
        self._written: list[str] = []
        self._last_step, self._last_time = 0, time.monotonic()
        self.latest_ckpt_file_name = ""

    def step_end(self, run_context: RunContext) -> None:
        """Write a file if it is time to."""
        args, config = run_context.original_args(), self._config
        due = (
            args.cur_step_num - self._last_step >= config.save_checkpoint_steps
            if config.save_checkpoint_steps
            else config.save_checkpoint_seconds and time.monotonic() - self._last_time >= config.save_checkpoint_seconds
        )
        if due and args.mode == "train":
            self._write(args)

    def end(self, run_context: RunContext) -> None:
        """Write a file at the end, unless the last step has."""
        args = run_context.original_args()
        if args.mode == "train" and args.cur_step_num != self._last_step:
            self._write(args)

    def _write(self, args: _InternalCallbackParam) -> None:
        prefix = self._prefix(args) if callable(self._prefix) else self._prefix
        folder = self._directory(args) if callable(self._directory) else self._directory
        folder = os.path.realpath(folder or os.getcwd())
        os.makedirs(folder, exist_ok=True)
        step = (args.cur_step_num - 1) % args.batch_num + 1
        name = os.path.join(folder, f"{prefix}-{args.cur_epoch_num}_{step}.{self._config.format}")
        save_checkpoint(
            self._config.saved_network or args.train_network, name, crc_check=self._config.crc_check,
            format=self._config.format, enc_key=self._config.enc_key,
        )  # fmt: skip
        self._last_step, self._last_time, self.latest_ckpt_file_name = args.cur_step_num, time.monotonic(), name
        self._written = [path for path in self._written if path != name] + [name]
        while self._config.keep_checkpoint_max and len(self._written) > self._config.keep_checkpoint_max:
            oldest = self._written.pop(0)
            if os.path.exists(oldest):
                os.remove(oldest)


offer_paths(__name__)

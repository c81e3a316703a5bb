"""`paddle.Model`: a network with the loop that trains, evaluates and applies it."""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from ...._state import grad_mode
from ....core.value import Value
from .._creation import to_tensor
from .._save_load import load, save
from ..io import DataLoader, Dataset
from ..metric import Metric
from ..nn import Layer
from .callbacks import Callback, EarlyStopping, LRScheduler, ModelCheckpoint
from .summary import summary


def _listed(x: Any) -> list[Any]:
    return [] if x is None else list(x) if isinstance(x, (list, tuple)) else [x]


def _tensors(x: Any) -> list[Any]:
    return [v if isinstance(v, Value) else to_tensor(v) for v in _listed(x)]


def _length(loader: Iterable[Any]) -> int | None:
    try:
        return len(loader)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return None


_HEADER = (
    "The loss value printed in the log is the current step, and the metric is the average value of previous steps."
)


class Model:
    """A network with the loop that trains, evaluates and applies it.

    Batches are made in this process, whatever `num_workers` says.
    """

    def __init__(self, network: Any, inputs: Any = None, labels: Any = None) -> None:
        if not isinstance(network, Layer):
            raise AttributeError(f"Model: network must be a Layer, got {type(network).__name__}")
        self.network = network
        self._inputs, self._labels = _listed(inputs), _listed(labels)
        self._optimizer: Any = None
        self._loss: Any = None
        self._metrics: list[Metric] = []
        self._logs: dict[str, Any] = {}  # the last results, which the callbacks are shown
        self.stop_training = False

    def prepare(self, optimizer: Any = None, loss: Any = None, metrics: Any = None, amp_configs: Any = None) -> None:
        """Say what to train with: an optimizer, a loss function, metrics."""
        if loss is not None and not callable(loss):
            raise TypeError(f"Model.prepare: loss must be a function or a layer, got {type(loss).__name__}")
        for metric in _listed(metrics):
            if not isinstance(metric, Metric):
                raise AssertionError(f"Model.prepare: metrics must be Metrics, got {type(metric).__name__}")
        if amp_configs not in (None, "O0"):
            raise NotImplementedError(
                "Model.prepare: mixed precision works on accelerators only; leave amp_configs out"
            )
        self._optimizer, self._loss, self._metrics = optimizer, loss, _listed(metrics)

    def parameters(self, *args: Any, **kwargs: Any) -> list[Any]:
        """The parameters of the network."""
        return self.network.parameters(*args, **kwargs)  # type: ignore[no-any-return]

    def summary(self, input_size: Any = None, dtype: Any = None) -> dict[str, Any]:
        """`paddle.summary` of the network."""
        return summary(self.network, input_size, dtype)

    # -------------------------------------------------------------------- one batch

    def _losses(self, outputs: Any, labels: list[Any]) -> list[Any]:
        if self._loss is None:
            raise RuntimeError("Model: prepare() was given no loss")
        return _listed(self._loss(*_listed(outputs), *labels))

    def _updated(self, outputs: Any, labels: list[Any]) -> list[Any]:
        return [m.update(*_listed(m.compute(*_listed(outputs), *labels))) for m in self._metrics]

    def _result(self, losses: list[Any], metrics: list[Any]) -> Any:
        values = [np.asarray(loss.numpy()) for loss in losses]
        return (values, metrics) if metrics else values

    def train_batch(self, inputs: Any, labels: Any = None, update: bool = True) -> Any:
        """Train on a batch; the losses, and the metrics if there are any."""
        if self._optimizer is None:
            raise RuntimeError("Model: prepare() was given no optimizer")
        self.network.train()
        targets = _tensors(labels)
        outputs = self.network(*_tensors(inputs))
        losses = self._losses(outputs, targets)
        total = losses[0]
        for loss in losses[1:]:
            total = total + loss
        total.backward()
        if update:
            self._optimizer.step()
            self._optimizer.clear_grad()
        with grad_mode(False):
            return self._result(losses, self._updated(outputs, targets))

    def eval_batch(self, inputs: Any, labels: Any = None) -> Any:
        """Evaluate a batch; the losses (if there is a loss function) and the metrics."""
        self.network.eval()
        targets = _tensors(labels)
        with grad_mode(False):
            outputs = self.network(*_tensors(inputs))
            losses = self._losses(outputs, targets) if self._loss is not None else []
            return self._result(losses, self._updated(outputs, targets))

    def predict_batch(self, inputs: Any) -> list[np.ndarray]:
        """What the network gives for a batch, as arrays."""
        self.network.eval()
        with grad_mode(False):
            return [np.asarray(x.numpy()) for x in _listed(self.network(*_tensors(inputs)))]

    # -------------------------------------------------------------------- loops

    def _loader(self, data: Any, batch_size: int, shuffle: bool, drop_last: bool) -> Any:
        if isinstance(data, Dataset):
            return DataLoader(data, batch_size=batch_size, shuffle=shuffle, drop_last=drop_last)
        return data

    def _split(self, batch: Any) -> tuple[list[Any], list[Any]]:
        """A batch as inputs and labels: as many inputs as were declared, else all but the last field."""
        fields = _listed(batch)
        n = len(self._inputs) or max(len(fields) - 1, 1)
        return fields[:n], fields[n:]

    def _result_names(self) -> list[str]:
        return ["loss", *(name for metric in self._metrics for name in _listed(metric.name()))]

    def _note(self, step: int, batch: list[Any], losses: list[Any]) -> dict[str, Any]:
        """Put the results of a batch into the logs; returns those to show."""
        results: dict[str, Any] = {"loss": [float(v) for v in losses]} if losses else {}
        for metric in self._metrics:
            results.update(zip(_listed(metric.name()), _listed(metric.accumulate())))
        self._logs.update(results, step=step, batch_size=len(batch[0]))
        return results

    def _hooks(self, callbacks: Any, **params: Any) -> Callable[..., None]:
        """A function that calls a stage of the callbacks."""
        hooks = _listed(callbacks)
        for hook in hooks:
            if not isinstance(hook, Callback):
                raise TypeError(f"Model: callbacks must be Callbacks, got {type(hook).__name__}")
            hook.set_model(self)
            hook.set_params(params)

        def call(stage: str, *arguments: Any) -> None:
            for hook in hooks:
                getattr(hook, "on_" + stage)(*arguments)

        return call

    def _reset(self) -> None:
        for metric in self._metrics:
            metric.reset()

    def fit(
        self, train_data: Any = None, eval_data: Any = None, batch_size: int = 1, epochs: int = 1, eval_freq: int = 1,
        log_freq: int = 10, save_dir: str | None = None, save_freq: int = 1, verbose: int = 2, drop_last: bool = False,
        shuffle: bool = True, num_workers: int = 0, callbacks: Any = None, accumulate_grad_batches: int = 1,
        num_iters: int | None = None,
    ) -> None:  # fmt: skip
        """Train for some epochs, evaluating after every `eval_freq` of them.

        The optimizer's schedule moves on after every batch, unless `callbacks` say it otherwise (LRScheduler).
        """
        if train_data is None:
            raise AssertionError("Model.fit: train_data is needed")
        loader = self._loader(train_data, batch_size, shuffle, drop_last)
        evaluated = self._loader(eval_data, batch_size, False, False)
        hooks = _listed(callbacks)
        if not any(isinstance(hook, LRScheduler) for hook in hooks):
            hooks.append(LRScheduler())
        if save_dir is not None and not any(isinstance(hook, ModelCheckpoint) for hook in hooks):
            hooks.append(ModelCheckpoint(save_freq, save_dir))
        for hook in hooks:
            if isinstance(hook, EarlyStopping):
                hook.save_dir = save_dir
        params = {"epochs": epochs, "steps": _length(loader), "verbose": verbose, "metrics": self._result_names()}
        call = self._hooks(hooks, batch_size=None, **params)
        self.stop_training, left = False, num_iters
        call("train_begin", None)
        if verbose:
            print(_HEADER)
        for epoch in range(epochs):
            if verbose:
                print(f"Epoch {epoch + 1}/{epochs}")
            call("epoch_begin", epoch, None)
            left = self._epoch(loader, call, _Progress(loader, log_freq, verbose), accumulate_grad_batches, left)
            call("epoch_end", epoch, self._logs)
            self._reset()
            if evaluated is not None and (epoch + 1) % eval_freq == 0:
                self._evaluate(evaluated, call, log_freq, verbose, None)
            if self.stop_training:
                break
        call("train_end", self._logs)

    def _epoch(self, loader: Any, call: Callable[..., None], progress: _Progress, every: int, left: int | None) -> Any:
        """Train on all batches, or `left` of them; returns how many of those are left."""
        for step, batch in enumerate(loader):
            call("train_batch_begin", step, self._logs)
            inputs, labels = self._split(batch)
            update = (step + 1) % every == 0 or step + 1 == progress.steps
            result = self.train_batch(inputs, labels, update=update)
            results = self._note(step, inputs, result[0] if self._metrics else result)
            call("train_batch_end", step, self._logs)
            progress.show(step + 1, results)
            if left is not None:
                left -= 1
                if left <= 0:
                    self.stop_training = True
                    break
        return left

    def evaluate(
        self, eval_data: Any, batch_size: int = 1, log_freq: int = 10, verbose: int = 2, num_workers: int = 0,
        callbacks: Any = None, num_iters: int | None = None,
    ) -> dict[str, Any]:  # fmt: skip
        """The loss of the last batch and the metrics over all."""
        loader = self._loader(eval_data, batch_size, False, False)
        return self._evaluate(loader, self._hooks(callbacks, verbose=verbose), log_freq, verbose, num_iters)

    def _evaluate(
        self, loader: Any, call: Callable[..., None], log_freq: int, verbose: int, num_iters: int | None
    ) -> dict[str, Any]:
        call("eval_begin", {"steps": _length(loader), "metrics": self._result_names()})
        if verbose:
            print("Eval begin...")
        progress, samples = _Progress(loader, log_freq, verbose), 0
        results: dict[str, Any] = {}
        for step, batch in enumerate(loader):
            call("eval_batch_begin", step, self._logs)
            inputs, labels = self._split(batch)
            result = self.eval_batch(inputs, labels)
            results = self._note(step, inputs, result[0] if self._metrics else result)
            samples += len(inputs[0])
            call("eval_batch_end", step, self._logs)
            progress.show(step + 1, results)
            if num_iters is not None and step + 1 >= num_iters:
                break
        call("eval_end", self._logs)
        if verbose:
            print(f"Eval samples: {samples}")
        self._reset()
        return results

    def predict(
        self, test_data: Any, batch_size: int = 1, num_workers: int = 0, stack_outputs: bool = False, verbose: int = 1,
        callbacks: Any = None,
    ) -> list[Any]:  # fmt: skip
        """For each output of the network the arrays of all batches, or one array with `stack_outputs`."""
        loader, call = self._loader(test_data, batch_size, False, False), self._hooks(callbacks, verbose=verbose)
        call("predict_begin", {"steps": _length(loader)})
        if verbose:
            print("Predict begin...")
        columns: list[list[np.ndarray]] = []
        progress, samples = _Progress(loader, 1, verbose), 0
        for step, batch in enumerate(loader):
            call("predict_batch_begin", step, self._logs)
            inputs = self._split(batch)[0]
            outputs = self.predict_batch(inputs)
            columns = columns or [[] for _ in outputs]
            for column, out in zip(columns, outputs):
                column.append(out)
            samples += len(inputs[0])
            self._logs.update(step=step, batch_size=len(inputs[0]))
            call("predict_batch_end", step, self._logs)
            progress.show(step + 1, {})
        call("predict_end", self._logs)
        if verbose:
            print(f"Predict samples: {samples}")
        return [np.vstack(column) if stack_outputs else column for column in columns]

    # -------------------------------------------------------------------- files

    def save(self, path: str, training: bool = True) -> None:
        """Write `path.pdparams`, and `path.pdopt` if there is an optimizer."""
        if not training:
            raise NotImplementedError("Model.save: programs for inference cannot be written; use training=True")
        save(self.network.state_dict(), path + ".pdparams")
        state = self._optimizer.state_dict() if self._optimizer is not None else {}
        if state:
            save(state, path + ".pdopt")

    def load(self, path: str, skip_mismatch: bool = False, reset_optimizer: bool = False) -> None:
        """Read what `save` wrote.

        Raises ValueError where a parameter is missing or has another shape; with `skip_mismatch` it stays, with a warning.
        """
        state = load(path + ".pdparams")
        for name, own in self.network.state_dict().items():
            if name not in state:
                wrong = f"{name} is missing"
            elif list(state[name].shape) != list(own.shape):
                wrong = f"{name} has shape {list(state[name].shape)}, the network's {list(own.shape)}"
                if skip_mismatch:
                    del state[name]
            else:
                continue
            if not skip_mismatch:
                raise ValueError(f"Model.load: {wrong} in {path}.pdparams; pass skip_mismatch=True to load the others")
            warnings.warn(f"Model.load: skipped, {wrong}", stacklevel=2)
        self.network.set_state_dict(state)
        if self._optimizer is not None and not reset_optimizer and os.path.exists(path + ".pdopt"):
            self._optimizer.set_state_dict(load(path + ".pdopt"))


class _Progress:
    """The lines that say how far a loop has come."""

    def __init__(self, loader: Iterable[Any], log_freq: int, verbose: int) -> None:
        self.steps = _length(loader)
        self._log_freq, self._verbose, self._start = log_freq, verbose, time.perf_counter()

    def show(self, step: int, logs: dict[str, Any]) -> None:
        """Print a line at every `log_freq`-th step and the last."""
        if not self._verbose or (step % self._log_freq and step != self.steps):
            return
        if self._verbose == 1 and step != self.steps:
            return
        each = (time.perf_counter() - self._start) / step
        pace = f"{each:.0f}s" if each >= 1 else f"{each * 1e3:.0f}ms" if each >= 1e-3 else f"{each * 1e6:.0f}us"
        values = "".join(f" - {name}: {' '.join(f'{v:.4f}' for v in _listed(value))}" for name, value in logs.items())
        bar = f" [{'=' * 30}]" if self._verbose == 1 else ""
        print(f"step {step}/{'Unknown' if self.steps is None else self.steps}{bar}{values} - {pace}/step")

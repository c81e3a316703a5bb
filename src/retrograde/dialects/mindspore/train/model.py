"""`Model`: a network with its loss, optimiser and metrics, trained and evaluated over datasets."""

from __future__ import annotations

from typing import Any

from ..._shared.checks import check
from .._tensor import Tensor
from ..nn.cell import Cell
from ..nn.optim.optimizer import Optimizer
from ..nn.wrap import TrainOneStepCell, WithEvalCell, WithLossCell
from .callback import Callbacks, RunContext, _InternalCallbackParam
from .loss_scale_manager import LossScaleManager
from .metrics import Loss, get_metrics


class Model:
    """A network that can be trained (`train`, `fit`), evaluated (`eval`) and applied (`predict`).

    network: with `loss_fn` and `optimizer`, or by itself a cell that makes a training step. metrics: a dict of them or
    a set of names. eval_network with eval_indexes: another network for evaluation, and which of its outputs are the
    loss, the prediction and the label. amp_level: "O0" (float32), or "O2" and "O3" (float16, see `amp`).
    """

    def __init__(
        self, network: Cell, loss_fn: Any = None, optimizer: Any = None, metrics: Any = None, eval_network: Any = None,
        eval_indexes: Any = None, amp_level: str = "O0", boost_level: str = "O0", **kwargs: Any,
    ) -> None:  # fmt: skip
        if not isinstance(network, Cell):
            raise TypeError(f"Model: network must be a Cell, got {type(network).__name__}")
        if optimizer is not None and not isinstance(optimizer, Optimizer):
            raise TypeError(f"Model: optimizer must be an Optimizer, got {type(optimizer).__name__}")
        if amp_level not in ("O0", "O1", "O2", "O3", "auto"):
            raise ValueError(f"Model: amp_level must be 'O0' to 'O3' or 'auto', got {amp_level!r}")
        manager = kwargs.pop("loss_scale_manager", None)
        kwargs.pop("keep_batchnorm_fp32", None)
        if kwargs:
            raise ValueError(f"Model: unknown options {', '.join(kwargs)}")
        if manager is not None and not isinstance(manager, LossScaleManager):
            raise ValueError(f"Model: loss_scale_manager must be a LossScaleManager, got {type(manager).__name__}")
        self._network, self._loss_fn, self._optimizer = network, loss_fn, optimizer
        self._metrics = get_metrics(metrics)
        self._amp_level, self._manager = amp_level, manager
        self._train_network = self._build_train()
        self._eval_network, self._eval_indexes = self._build_eval(eval_network, eval_indexes)

    def _build_train(self) -> Cell:
        if self._optimizer is None:
            return self._network if self._loss_fn is None else WithLossCell(self._network, self._loss_fn)
        if self._amp_level != "O0" or self._manager is not None:
            from .amp import build_train_network

            return build_train_network(
                self._network, self._optimizer, self._loss_fn, self._amp_level, loss_scale_manager=self._manager
            )
        network = self._network if self._loss_fn is None else WithLossCell(self._network, self._loss_fn)
        return TrainOneStepCell(network, self._optimizer)

    def _build_eval(self, network: Any, indexes: Any) -> tuple[Any, Any]:
        if network is not None:
            if indexes is not None and (not isinstance(indexes, list) or len(indexes) != 3):
                raise ValueError(f"Model: eval_indexes must be a list of three ints, got {indexes!r}")
            return network, indexes
        if self._loss_fn is None:
            return None, None
        return WithEvalCell(self._network, self._loss_fn, self._amp_level in ("O2", "O3", "auto")), [0, 1, 2]

    @property
    def train_network(self) -> Cell:
        """The cell that makes a training step."""
        return self._train_network

    @property
    def predict_network(self) -> Cell:
        """The network itself."""
        return self._network

    @property
    def eval_network(self) -> Any:
        """The cell that evaluates a batch; None where there is no loss."""
        return self._eval_network

    # -------------------------------------------------------------------- running

    def train(
        self, epoch: int, train_dataset: Any, callbacks: Any = None, dataset_sink_mode: bool = False,
        sink_size: int = -1, initial_epoch: int = 0,
    ) -> None:  # fmt: skip
        """Train for `epoch` epochs. `dataset_sink_mode` and `sink_size` say how devices are fed; there are none here."""
        self._train("Model.train", epoch, train_dataset, callbacks, initial_epoch)

    def fit(
        self, epoch: int, train_dataset: Any, valid_dataset: Any = None, valid_frequency: Any = 1, callbacks: Any = None,
        dataset_sink_mode: bool = False, valid_dataset_sink_mode: bool = False, sink_size: int = -1,
        initial_epoch: int = 0,
    ) -> None:  # fmt: skip
        """Train, and evaluate every `valid_frequency` epochs, or after the epochs that it names."""
        if valid_dataset is not None and not self._metrics:
            raise ValueError("Model.fit: evaluation needs metrics; give them to Model")
        wanted = None if valid_dataset is None else (valid_dataset, valid_frequency)
        self._train("Model.fit", epoch, train_dataset, callbacks, initial_epoch, wanted)

    def _train(
        self, op: str, epoch: int, dataset: Any, callbacks: Any, initial_epoch: int, evaluation: Any = None
    ) -> None:  # fmt: skip
        check(op, "epoch: int > 0; initial_epoch: int", locals())
        if not 0 <= initial_epoch < epoch:
            raise ValueError(f"{op}: initial_epoch must lie in [0, {epoch}), got {initial_epoch!r}")
        _check_dataset(op, dataset)
        events, network = Callbacks(callbacks), self._train_network
        network.set_train()
        args = _InternalCallbackParam(
            train_network=network, epoch_num=epoch - initial_epoch, batch_num=dataset.get_dataset_size(), mode="train",
            loss_fn=self._loss_fn, optimizer=self._optimizer, parallel_mode="stand_alone", device_number=1,
            train_dataset=dataset, list_callback=callbacks, train_dataset_element=None, network=self._network,
            cur_step_num=0, dataset_sink_mode=False, initial_step=0, last_save_ckpt_step=None, latest_ckpt_file=None,
            loss_scale_mananger=self._manager,
        )  # fmt: skip
        run = RunContext(args)
        events("on_train_begin", run)
        rows = dataset.create_tuple_iterator(num_epochs=epoch - initial_epoch)
        for number in range(initial_epoch + 1, epoch + 1):
            args.cur_epoch_num = number
            events("on_train_epoch_begin", run)
            for row in rows:
                args.cur_step_num += 1
                args.train_dataset_element = tuple(row)
                events("on_train_step_begin", run)
                args.net_outputs = network(*row)
                events("on_train_step_end", run)
                if run.get_stop_requested():
                    break
            if evaluation is not None and not run.get_stop_requested() and _due(number, evaluation[1]):
                args.eval_results = self.eval(evaluation[0])
                network.set_train()
            events("on_train_epoch_end", run)
            if run.get_stop_requested():
                break
        events("on_train_end", run)

    def eval(self, valid_dataset: Any, callbacks: Any = None, dataset_sink_mode: bool = False) -> dict[str, Any]:
        """The metrics over a dataset, by name."""
        if not self._metrics:
            raise ValueError("Model.eval: there are no metrics; give them to Model")
        if self._eval_network is None:
            raise ValueError("Model.eval: evaluation needs a loss_fn or an eval_network; give it to Model")
        _check_dataset("Model.eval", valid_dataset)
        events, network = Callbacks(callbacks), self._eval_network
        for metric in self._metrics.values():
            metric.clear()
        network.set_train(False)
        args = _InternalCallbackParam(
            eval_network=network, valid_dataset=valid_dataset, batch_num=valid_dataset.get_dataset_size(), mode="eval",
            cur_step_num=0, list_callback=callbacks, network=self._network, dataset_sink_mode=False,
        )  # fmt: skip
        run = RunContext(args)
        events("on_eval_begin", run)
        events("on_eval_epoch_begin", run)
        for row in valid_dataset.create_tuple_iterator(num_epochs=1):
            args.cur_step_num += 1
            events("on_eval_step_begin", run)
            outputs = network(*row)
            args.net_outputs = outputs
            events("on_eval_step_end", run)
            self._update_metrics(outputs)
            if run.get_stop_requested():
                break
        events("on_eval_epoch_end", run)
        args.metrics = {name: metric.eval() for name, metric in self._metrics.items()}
        events("on_eval_end", run)
        return dict(args.metrics)

    def _update_metrics(self, outputs: Any) -> None:
        given = outputs if isinstance(outputs, (tuple, list)) else (outputs,)
        for metric in self._metrics.values():
            if metric.indexes is not None or self._eval_indexes is None:
                metric.update(*given)
            elif isinstance(metric, Loss):
                metric.update(given[self._eval_indexes[0]])
            else:
                metric.update(given[self._eval_indexes[1]], given[self._eval_indexes[2]])

    def predict(self, *predict_data: Any, backend: Any = None, config: Any = None) -> Any:
        """The network's output."""
        for x in predict_data:
            if not isinstance(x, Tensor):
                raise TypeError(f"Model.predict: wanted tensors, got {type(x).__name__}")
        self._network.set_train(False)
        return self._network(*predict_data)

    def build(
        self, train_dataset: Any = None, valid_dataset: Any = None, sink_size: int = -1, epoch: int = 1,
        sink_mode: bool = True,
    ) -> None:  # fmt: skip
        """Would compile the networks; nothing is to be done where they run as they are."""


def _due(epoch: int, frequency: Any) -> bool:
    return epoch % frequency == 0 if isinstance(frequency, int) else epoch in frequency


def _check_dataset(op: str, dataset: Any) -> None:
    for name in ("get_dataset_size", "create_tuple_iterator"):
        if not hasattr(dataset, name):
            raise AttributeError(
                f"{op}: wanted a dataset of mindspore.dataset, got {type(dataset).__name__}, which has no {name}()"
            )



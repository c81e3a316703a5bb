"""paddle.Model, paddle.summary and the callbacks, with what PaddlePaddle 3.3.1 prints and gives."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import retrograde.dialects.paddle as paddle
from retrograde.dialects.paddle import nn
from retrograde.dialects.paddle.hapi import callbacks
from retrograde.dialects.paddle.hapi.model import Model
from retrograde.dialects.paddle.io import Dataset

SUMMARY = """\
---------------------------------------------------------------------------
 Layer (type)       Input Shape          Output Shape         Param #
===========================================================================
   Conv2D-1        [[1, 1, 8, 8]]        [1, 4, 8, 8]           40
 BatchNorm2D-1     [[1, 4, 8, 8]]        [1, 4, 8, 8]           16
    ReLU-1         [[1, 4, 8, 8]]        [1, 4, 8, 8]            0
  MaxPool2D-1      [[1, 4, 8, 8]]        [1, 4, 4, 4]            0
   Flatten-1       [[1, 4, 4, 4]]          [1, 64]               0
   Linear-1          [[1, 64]]              [1, 3]              195
===========================================================================
Total params: 251
Trainable params: 243
Non-trainable params: 8
---------------------------------------------------------------------------
Input size (MB): 0.00
Forward/backward pass size (MB): 0.01
Params size (MB): 0.00
Estimated Total Size (MB): 0.01
---------------------------------------------------------------------------

"""


class Points(Dataset):
    """Points on a line, the first three of them in a class of their own."""

    def __init__(self, n: int = 8) -> None:
        self.n = n

    def __getitem__(self, i: int) -> Any:
        return np.array([i / 8.0, 1 - i / 8.0], "float32"), np.array([int(i < 3)], "int64")

    def __len__(self) -> int:
        return self.n


class Log(callbacks.Callback):
    """Writes down the stages."""

    def __init__(self) -> None:
        self.stages: list[Any] = []

    def on_epoch_begin(self, epoch: int, logs: Any = None) -> None:
        """Note it."""
        self.stages.append(("epoch", epoch))

    def on_train_batch_end(self, step: int, logs: Any = None) -> None:
        """Note it."""
        self.stages.append((step, logs["loss"][0], float(logs["acc"]), logs["batch_size"]))

    def on_eval_end(self, logs: Any = None) -> None:
        """Note it."""
        self.stages.append(("evaluated", float(logs["acc"])))


def model(rate: Any = 0.001) -> Any:
    net = nn.Linear(2, 2)
    net.weight.set_value(np.array([[0.5, -0.2], [0.1, 0.3]], "float32"))
    made = Model(net)
    optimizer = paddle.optimizer.SGD(rate, parameters=net.parameters())
    made.prepare(optimizer, nn.CrossEntropyLoss(), paddle.metric.Accuracy())
    return made


def test_summary(capsys: Any) -> None:
    net = nn.Sequential(
        nn.Conv2D(1, 4, 3, padding=1), nn.BatchNorm2D(4), nn.ReLU(), nn.MaxPool2D(2, 2), nn.Flatten(), nn.Linear(64, 3)
    )
    assert paddle.summary(net, (1, 1, 8, 8)) == {"total_params": 251, "trainable_params": 243}
    text = capsys.readouterr().out
    text = re.sub(r"-\d+ ", "-1 ", text)  # the layers are numbered through the process
    assert [line.split() for line in text.splitlines()] == [line.split() for line in SUMMARY.splitlines()]
    with pytest.raises(ValueError, match="input_size"):
        paddle.summary(net)


def test_fit_calls_the_stages() -> None:
    log, m = Log(), model()
    m.fit(Points(), Points(4), epochs=2, batch_size=3, verbose=0, shuffle=False, callbacks=log)
    wanted = [
        ("epoch", 0), (0, 0.65141, 2 / 3, 3), (1, 0.57761, 5 / 6, 3), (2, 0.46273, 0.875, 2), ("evaluated", 0.75),
        ("epoch", 1), (0, 0.65167, 2 / 3, 3), (1, 0.57718, 5 / 6, 3), (2, 0.46223, 0.875, 2), ("evaluated", 0.75),
    ]  # fmt: skip
    assert [type(s[0]) for s in log.stages] == [type(s[0]) for s in wanted]
    for stage, (first, *numbers) in zip(log.stages, wanted):
        assert stage == (first, *(pytest.approx(x, abs=2e-5) for x in numbers))


def test_evaluate_and_predict() -> None:
    m = model()
    result = m.evaluate(Points(5), batch_size=3, verbose=0)
    assert list(result) == ["loss", "acc"]
    assert float(result["acc"]) == pytest.approx(0.8)
    parts = m.predict(Points(5), batch_size=3, verbose=0)
    assert [x.shape for x in parts[0]] == [(3, 2), (2, 2)]
    (whole,) = m.predict(Points(5), batch_size=3, stack_outputs=True, verbose=0)
    np.testing.assert_array_equal(whole, np.concatenate(parts[0]))


def test_schedule_moves_by_batches_or_epochs() -> None:
    schedule = paddle.optimizer.lr.StepDecay(0.1, 2)
    m = model(schedule)
    m.fit(Points(), epochs=2, batch_size=3, verbose=0)
    assert schedule.last_epoch == 6
    m.fit(Points(), epochs=1, batch_size=3, verbose=0, callbacks=callbacks.LRScheduler(by_step=False, by_epoch=True))
    assert schedule.last_epoch == 7


def test_early_stopping_and_files(tmp_path: Any, capsys: Any) -> None:
    m, log = model(), Log()
    stop = callbacks.EarlyStopping("acc", patience=1)
    m.fit(Points(), Points(4), epochs=5, batch_size=3, verbose=0, shuffle=False, callbacks=[stop, log],
          save_dir=str(tmp_path))  # fmt: skip
    assert [s for s in log.stages if s[0] == "epoch"] == [("epoch", 0), ("epoch", 1)]
    assert "Epoch 2: Early stopping." in capsys.readouterr().out
    assert sorted(p.name for p in tmp_path.iterdir()) == [f"{n}.pdparams" for n in ("0", "1", "best_model", "final")]
    other = model()
    other.load(str(tmp_path / "final"))
    np.testing.assert_array_equal(other.network.weight.numpy(), m.network.weight.numpy())


def test_progress_lines(capsys: Any) -> None:
    model().fit(Points(), epochs=1, batch_size=4, verbose=2, shuffle=False, log_freq=1)
    lines = capsys.readouterr().out.splitlines()
    assert lines[1] == "Epoch 1/1"
    assert [line.rpartition(" - ")[0].partition(" - loss")[0] for line in lines[2:]] == ["step 1/2", "step 2/2"]


def test_errors() -> None:
    with pytest.raises(AssertionError, match="train_data"):
        model().fit()
    with pytest.raises(AttributeError, match="Layer"):
        Model(5)
    with pytest.raises(RuntimeError, match="no optimizer"):
        Model(nn.Linear(2, 2)).fit(Points(), verbose=0)
    with pytest.raises(NotImplementedError, match="training=True"):
        model().save("x", training=False)

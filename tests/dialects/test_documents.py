"""Docstrings that are put together from rows and tables: what `help` shows, and every example that they show."""

from __future__ import annotations

import doctest
import importlib
import inspect
import pydoc
import subprocess
import sys
from types import FunctionType
from typing import Any

import pytest

from retrograde.dialects._shared import documents, vocabulary

PACKAGES = [
    "torch.nn", "torch.optim", "torch.optim.lr_scheduler", "paddle.nn", "paddle.optimizer", "paddle.optimizer.lr",
    "mindspore.nn", "mindspore.mint.nn", "mindspore.experimental.optim", "mindspore.experimental.optim.lr_scheduler",
]  # fmt: skip
FUNCTIONS = ["torch.nn.functional", "paddle.nn.functional", "mindspore.ops", "mindspore.mint.nn.functional"]
# What a user does not call by itself, and what takes a network, a closure or sparse gradients.
WITHOUT = {
    "CellDict", "CellList", "DynamicLossScaleUpdateCell", "FixedLossScaleUpdateCell", "ForwardValueAndGrad", "GraphCell", "Jvp",
    "LARS", "LBFGS", "LayerDict", "LayerList", "LearningRateSchedule", "LossBase", "ModuleDict", "ModuleList", "Optimizer",
    "ParameterDict", "ParameterList", "ParameterUpdate", "RNNBase", "RNNCellBase", "SparseAdam", "TrainOneStepCell",
    "TrainOneStepWithLossScaleCell", "Vjp", "WithGradCell",
}  # fmt: skip


def module(place: str) -> Any:
    return importlib.import_module(f"retrograde.dialects.{place}")


def classes(place: str) -> list[Any]:
    """The layers, losses, optimisers and schedules of a package under their own names."""
    there = module(place)
    found = [getattr(there, name) for name in dir(there) if name[0].isupper()]
    return [cls for cls in found if isinstance(cls, type) and isinstance(vars(cls).get("__doc__"), documents.Document)]


CLASSES = [(place, name) for place in PACKAGES for name in dir(module(place)) if getattr(module(place), name) in classes(place)]


def run(name: str, text: str) -> int:
    """Run the examples of a text; returns how many there are."""
    test = doctest.DocTestParser().get_doctest(text, {}, name, None, 0)
    said: list[str] = []
    failed, tried = doctest.DocTestRunner().run(test, out=said.append)
    assert not failed, "".join(said)
    return tried


@pytest.mark.parametrize("place, name", CLASSES)
def test_a_class(place: str, name: str) -> None:
    text = inspect.getdoc(getattr(module(place), name))
    assert text
    assert text.count("Options:") <= 1
    assert text.count("Example") <= 1
    assert (run(f"{place}.{name}", text) > 0) == (name not in WITHOUT)


@pytest.mark.parametrize("place", FUNCTIONS)
def test_functions(place: str) -> None:
    there = vars(module(place))
    shown = [name for name, f in there.items() if isinstance(f, FunctionType) and "\n    Example:\n" in (f.__doc__ or "")]
    assert len(shown) > 50
    for name in shown:
        assert run(f"{place}.{name}", inspect.getdoc(there[name]) or "") > 1


@pytest.mark.parametrize("place, name, said", [
    ("torch.nn", "Conv2d", ["kernel_size: the size of the windows", "torch.nn.Conv2d(3, 8, 3)", "torch.Size([2, 8, 6, 6])"]),
    ("torch.optim", "Adam", ["`retrograde.learn.updates.adam`", "Raises ValueError unless lr is at least 0, betas is a pair in"]),
    ("torch.optim.lr_scheduler", "StepLR", ["`retrograde.learn.schedules.step`", "step_size: after how many epochs"]),
    ("torch.nn.functional", "mse_loss", ['reduction: "mean" of all elements', "torch.nn.functional.mse_loss(torch.ones(4, 3)"]),
    ("paddle.nn", "Linear", ["weight_attr: a ParamAttr", "paddle.Size([2, 8])"]),
    ("mindspore.nn", "Conv2d", ['pad_mode: "same"', "(2, 8, 8, 8)"]),
    ("mindspore.mint.nn", "Conv2d", ["mindspore.mint.nn.Conv2d(3, 8, 3)", "(2, 8, 6, 6)"]),
])  # fmt: skip
def test_help(place: str, name: str, said: list[str]) -> None:
    text = pydoc.plain(pydoc.render_doc(getattr(module(place), name)))
    assert not [part for part in said if part not in text]


def test_every_row_of_the_tables_is_used() -> None:
    """A row that no dialect reads is a slip in a name."""
    names = {name.lower() for _, name in CLASSES}
    for table in (vocabulary._LAYERS, vocabulary._SCHEDULES):
        for name in vocabulary._table(table):
            assert name.rpartition(".")[2] in names
    offered = {name for place in FUNCTIONS for name in vars(module(place))}
    for name in vocabulary._table(vocabulary._FUNCTIONS):
        assert name.rpartition(".")[2] in offered
    taken = {p for place, name in CLASSES for p in inspect.signature(getattr(module(place), name)).parameters}
    assert not set(vocabulary._options()) - taken


def test_a_subclass_has_a_docstring_of_its_own() -> None:
    nn = module("torch.nn")

    class Mine(nn.Linear):
        pass

    class Told(nn.Linear):
        """Mine."""

    assert Mine.__doc__ is None
    assert inspect.getdoc(Mine) == inspect.getdoc(nn.Linear)
    assert Told.__doc__ == "Mine."
    assert nn.Linear(1, 1).__doc__ == nn.Linear.__doc__


def test_docstrings_cost_nothing_until_they_are_read() -> None:
    code = (
        "from retrograde.dialects.torch import nn\n"
        "doc = vars(nn.Conv2d)['__doc__']\n"
        "assert doc._text == ''\n"
        "assert nn.Conv2d.__doc__ == doc._text != ''"
    )
    subprocess.run([sys.executable, "-c", code], check=True)

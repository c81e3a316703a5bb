"""Layers that are made of rows are classes like those that are written by hand."""

from __future__ import annotations

import copy
import inspect
import pickle
import pydoc
import subprocess
import sys

import pytest

from retrograde.dialects import torch
from retrograde.dialects._shared import layers as rows
from retrograde.dialects._shared.layers import Layers
from retrograde.dialects.mindspore import mint
from retrograde.dialects.mindspore import nn as mindspore_nn
from retrograde.dialects.paddle import nn as paddle_nn
from retrograde.dialects.torch import nn

_ = mint.nn.ReLU, mindspore_nn.ReLU, paddle_nn.ReLU  # all rows are there now
ROWS = [pytest.param(row, id=f"{cls.__module__.removeprefix('retrograde.dialects.')}.{cls.__name__}")
        for cls, row in rows._ROWS.items() if cls.__module__ != __name__]  # fmt: skip
X = torch.tensor([[-1.0, 2.0]])


@pytest.mark.parametrize("row", ROWS)
def test_every_row_can_be_written(row: rows._Row) -> None:
    """What a row says of its function fits it: the methods compile and the function takes the options by name."""
    cls, kind = row.cls, row.kind
    parameters = inspect.signature(cls).parameters
    assert list(parameters) == row.names
    assert "self" not in parameters
    forward = inspect.signature(getattr(cls, kind.forward))
    assert cls.__doc__
    assert getattr(sys.modules[cls.__module__], cls.__name__) is cls, "pickles do not find it"
    assert cls.__qualname__ == cls.__name__
    if cls.__dict__.get(kind.forward) is not None and row.f is not getattr(cls, kind.forward):
        taken = inspect.signature(row.f).parameters
        if not any(p.kind is p.VAR_KEYWORD for p in taken.values()):
            own = {n for n in row.names if n not in row.spent and n != kind.named}
            assert own <= set(taken), f"{row.f.__name__} does not take {own - set(taken)}"
            required = {n for n, p in taken.items() if p.default is p.empty and p.kind is not p.VAR_POSITIONAL}
            if not any(p.kind is p.VAR_POSITIONAL for p in forward.parameters.values()):
                inputs = len([p for p in forward.parameters.values() if p.default is p.empty]) - 1
                assert len(required - own - {"training"}) <= inputs <= len(taken)


def test_a_row_is_a_class() -> None:
    assert str(inspect.signature(nn.Threshold)) == "(threshold: 'float', value: 'float', inplace: 'bool' = False) -> 'None'"
    assert str(inspect.signature(nn.Threshold.forward)) == "(self, input: 'Tensor') -> 'Tensor'"
    threshold = nn.Threshold(0.5, value=7.0)
    assert repr(threshold) == "Threshold(threshold=0.5, value=7.0)"
    assert repr(nn.Threshold(0.5, 7.0, True)) == "Threshold(threshold=0.5, value=7.0, inplace=True)"
    assert threshold(X).tolist() == [[7.0, 2.0]]
    for other in (pickle.loads(pickle.dumps(threshold)), copy.deepcopy(threshold)):
        assert type(other) is nn.Threshold
        assert repr(other) == repr(threshold)
    assert "x where it is above the threshold" in pydoc.render_doc(nn.Threshold)
    assert inspect.getsource(nn.Threshold.forward).splitlines()[1] == (
        "    return _functions.threshold(input, threshold=self.threshold, value=self.value, inplace=self.inplace)"
    )
    with pytest.raises(TypeError, match=r"Threshold\.__init__\(\) missing 1 required positional argument: 'value'"):
        nn.Threshold(1.0)


def test_users_subclass_rows() -> None:
    class Scaled(nn.LeakyReLU):
        def __init__(self, scale: float) -> None:
            super().__init__(0.5)
            self.scale = scale

        def forward(self, input: torch.Tensor) -> torch.Tensor:
            return super().forward(input) * self.scale

    assert str(inspect.signature(Scaled)) == "(scale: 'float') -> 'None'"
    assert Scaled(10.0)(X).tolist() == [[-5.0, 20.0]]

    class Mixed(nn.ReLU, nn.Tanh):
        pass

    assert Mixed(inplace=True).inplace is True

    class Sized(paddle_nn.MaxPool2D):
        def __init__(self) -> None:
            super().__init__(2, stride=1)

    assert not inspect.signature(Sized).parameters
    assert repr(Sized()) == "Sized(kernel_size=2, stride=1, padding=0)"


def test_a_replaced_function_is_the_one_that_is_called(monkeypatch: pytest.MonkeyPatch) -> None:
    layer = nn.ReLU()
    assert layer(X).tolist() == [[0.0, 2.0]]
    monkeypatch.setattr(nn.functional, "relu", lambda input, inplace: input + 1)
    assert layer(X).tolist() == [[0.0, 3.0]]


def test_options_and_bases() -> None:
    class Base:
        def __init__(self, size: int) -> None:
            self.size, self.training = size, True

    made = []
    layer = Layers(Base, forward="run", text="said", private=True, named="name", listed="options")
    one = layer("One", "a, *, b=2", lambda x, a, b, training: (x, a, b, training), "one", shows="a, b?", training=True,
                base=type("Sized", (Base,), {}), fixed={"size": 3}, then=made.append)  # fmt: skip
    made_one = one(1, name="n")
    assert vars(made_one) == {"size": 3, "training": True, "_a": 1, "_b": 2, "_name": "n"}
    assert made == [made_one]
    assert made_one.run("x") == ("x", 1, 2, True)
    assert made_one.said() == "a=1, name=n"
    assert one(1, b=3).said() == "a=1, b=3"
    assert one.options == ["a", "b", "name"]
    assert one.__module__ == __name__
    two = layer("Two", None, lambda self, x: -x, "made as its base", base=one)
    assert two(5).run(4) == -4
    assert two(5).said() == "a=5"
    assert inspect.signature(two) == inspect.signature(one)


def test_an_import_writes_no_method() -> None:
    """Two compiled functions for each layer would be a tenth of the import of a dialect."""
    code = (
        "from retrograde.dialects.torch import nn; from retrograde.dialects.paddle import nn as p;"
        "from retrograde.dialects.mindspore import nn as m; from retrograde.dialects._shared.layers import _ROWS, Unwritten;"
        "print(sum(not isinstance(c.__dict__.get('__init__', r), (Unwritten, type(r))) for c, r in _ROWS.items()), len(_ROWS))"
    )
    written, all_rows = map(int, subprocess.check_output([sys.executable, "-c", code], text=True).split())
    assert written == 0
    assert all_rows > 150

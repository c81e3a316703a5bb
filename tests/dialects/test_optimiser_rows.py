"""Optimisers and schedules that are made of rows are classes like those that are written by hand."""

from __future__ import annotations

import copy
import inspect
import pickle
import pydoc
import re
import subprocess
import sys

import pytest

from retrograde.dialects import mindspore, paddle, torch
from retrograde.dialects._shared import checks
from retrograde.dialects._shared import option_rows as rows
from retrograde.dialects._shared.option_rows import Optimisers
from retrograde.dialects.mindspore.experimental import optim as experimental
from retrograde.dialects.paddle.fluid.dygraph import learning_rate_scheduler as old
from retrograde.learn import accumulating, updates

_ = torch.optim.lr_scheduler, paddle.optimizer.lr, mindspore.nn, experimental.lr_scheduler, old  # all rows are there now
ROWS = [
    pytest.param(row, id=f"{cls.__module__.removeprefix('retrograde.dialects.')}.{cls.__name__}")
    for cls, row in rows.ROWS.items()
    if cls.__module__ != __name__
]


@pytest.mark.parametrize("row", ROWS)
def test_every_row_can_be_written(row: rows.Row) -> None:
    """What a row says fits its function: the methods that are written compile and hand over what it takes."""
    cls = row.cls
    assert list(inspect.signature(cls).parameters)[: len(row.names)] == row.names
    assert cls.__doc__
    assert cls.__qualname__ == cls.__name__
    assert getattr(sys.modules[cls.__module__], cls.__name__) is cls, "pickles do not find it"
    own = {c.name for text in (row.checks, row.asserts) for c in checks.clauses(text)}
    assert own <= set(row.names), "a check of no option"
    if isinstance(row, rows.OptimiserRow):
        assert set(row.kept) <= set(row.names)
        assert len(row.kept) >= len(row.names) - 1, "an option is not kept"
        assert {s.start for s in row.states if isinstance(s.start, str)} <= set(row.names)
        assert {s.condition for s in row.states} <= {"", *row.names}
        assert set(row.fixed) <= set(inspect.signature(row.rule).parameters)
        for method in ("_options", "_columns"):
            assert callable(getattr(cls, method))
        return
    if cls.__module__.endswith("nn.learning_rate_schedule"):
        return  # these compute in float32, and give their formulas all options
    for formula in (row.function,) if isinstance(row, rows.CallRow) else filter(None, (row.closed, row.chained)):
        takes = inspect.signature(formula).parameters.values()
        assert {p.name for p in takes if p.kind is p.KEYWORD_ONLY and p.default is p.empty} <= set(row.handed(formula))


def parameter(module):
    """A parameter of a dialect."""
    if module is torch:
        return torch.nn.Parameter(torch.ones(2))
    if module is paddle:
        return paddle.create_parameter([2], "float32")
    return mindspore.Parameter(mindspore.Tensor([1.0, 1.0]), name="p")


def test_a_row_is_a_class() -> None:
    assert str(inspect.signature(torch.optim.SparseAdam)) == (
        "(params: 'ParamsT', lr: 'Any' = 0.001, betas: 'tuple[float, ...]' = (0.9, 0.999), eps: 'float' = 1e-08, "
        "maximize: 'bool' = False) -> 'None'"
    )
    adam = torch.optim.Adam([parameter(torch)], amsgrad=True)
    for other in (pickle.loads(pickle.dumps(adam)), copy.deepcopy(adam)):
        assert type(other) is torch.optim.Adam
        assert repr(other) == repr(adam)
    assert "AMSGrad" in pydoc.render_doc(torch.optim.Adam)
    with pytest.raises(TypeError, match=re.escape("Adam.__init__() got an unexpected keyword argument 'momentum'")):
        torch.optim.Adam([parameter(torch)], momentum=0.9)


@pytest.mark.parametrize("module", [torch.optim, paddle.optimizer, mindspore.nn.optim, experimental], ids=lambda m: m.__name__)
def test_optimisers_are_pickled_and_copied(module) -> None:
    """All of them, with what they keep for the parameters; the copy's parameters are copies."""
    dialect = {"torch": torch, "paddle": paddle}.get(module.__name__.split(".")[2], mindspore)
    for name in module.__all__:
        cls = getattr(module, name)
        if cls not in rows.ROWS or name in ("Muon", "SparseAdam"):
            continue
        p = parameter(dialect)
        options = {"momentum": 0.9} if name == "Momentum" else {}
        rate = {"lr": 0.1} if module in (torch.optim, experimental) else {} if name == "AdaFactor" else {"learning_rate": 0.1}
        optimizer = cls(**rate, **options, **{"parameters" if dialect is paddle else "params": [p]})
        if dialect is mindspore:
            optimizer((mindspore.Tensor([1.0, 1.0]),))
        else:
            p.sum().backward()
            optimizer.step()
        for other in (pickle.loads(pickle.dumps(optimizer)), copy.deepcopy(optimizer)):
            assert type(other) is cls, name
            if dialect is torch:
                assert repr(other.state_dict()) == repr(optimizer.state_dict())


def test_users_derive_from_rows() -> None:
    class Halving(torch.optim.SGD):
        def __init__(self, params, lr):
            super().__init__(params, lr=lr / 2, momentum=0.5)

        def step(self, closure=None):
            self.made = getattr(self, "made", 0) + 1
            return super().step(closure)

    p = parameter(torch)
    p.grad = torch.ones(2)
    optimizer = Halving([p], 1.0)
    optimizer.step()
    assert (optimizer.made, p.tolist(), optimizer.defaults["lr"]) == (1, [0.5, 0.5], 0.5)

    class Warmer(torch.optim.lr_scheduler.StepLR):
        def get_lr(self):
            return [2 * rate for rate in super().get_lr()]

    schedule = Warmer(torch.optim.SGD([p], lr=1.0), step_size=3)
    assert schedule.get_last_lr() == [2.0]


@pytest.mark.parametrize(
    ("make", "error", "text"),
    [
        (lambda: torch.optim.Adadelta([parameter(torch)], rho=1.5), ValueError, "Adadelta: rho is 1.5; wanted in [0, 1]"),
        (lambda: torch.optim.Adam([parameter(torch)], betas=(0.9, 1.0)), ValueError, "Adam: betas[1] is 1.0; wanted in [0, 1)"),
        (lambda: torch.optim.Adam([parameter(torch)], betas=0.9), TypeError, "Adam: betas must be a pair, got float"),
        (lambda: torch.optim.Adam([parameter(torch)], eps="x"), TypeError, "Adam: eps must be a number, got str"),
        (lambda: torch.optim.Rprop([parameter(torch)], etas=(2, 3)), ValueError,
         "Rprop: etas is (2, 3); wanted 0 < first < 1 < second"),
        (lambda: paddle.optimizer.Adam(0.1, beta1=None, parameters=[parameter(paddle)]), AssertionError, "Adam: beta1 is None"),
        (lambda: paddle.optimizer.lr.StepDecay(0.1, 0), AssertionError, "StepDecay: step_size is 0; wanted above 0"),
        (lambda: paddle.optimizer.lr.PolynomialDecay(0.1, 2.0), AssertionError,
         "PolynomialDecay: decay_steps must be an int, got float"),
        (lambda: paddle.optimizer.lr.MultiStepDecay(0.1, [4, 2]), ValueError, "milestones is [4, 2]; wanted rising values"),
        (lambda: mindspore.nn.Adam([parameter(mindspore)], beta1=1), TypeError, "Adam: beta1 must be a float, got int"),
        (lambda: mindspore.nn.FTRL([parameter(mindspore)], lr_power=0.5), ValueError, "FTRL: lr_power is 0.5; wanted at most 0"),
        (lambda: torch.optim.lr_scheduler.ReduceLROnPlateau(torch.optim.SGD([parameter(torch)], 0.1), mode="x"), ValueError,
         "ReduceLROnPlateau: mode is 'x'; wanted 'min' or 'max'"),
    ],
)  # fmt: skip
def test_options_out_of_range(make, error, text) -> None:
    with pytest.raises(error, match=re.escape(text)):
        make()


def test_a_dialect_of_its_own() -> None:
    class Base:
        def _set_up(self, row, options):
            row.check(options)
            self.options, self.states = options, [s.name for s in row.states]

    optimiser = Optimisers(
        Base, called={"eps": "epsilon"}, checks="epsilon > 0", reads="self.options['{}']", texts={"lr": "batch"}, column="'{}'",
        beside="count",
    )  # fmt: skip
    rule = accumulating.adagrad
    one = optimiser("One", "lr, epsilon=1e-3, wide=False", rule, "an optimiser", state="count, sums if wide", fixed={"step": 1})
    made = one(0.5)
    assert made.options == {"lr": 0.5, "epsilon": 1e-3, "wide": False}
    assert made.states == ["count", "sums"]
    assert made._options(None, 7) == {"step": 1, "lr": 7, "eps": 1e-3}
    assert made._columns(None, None) == [None]
    assert one(0.5, wide=True)._columns(None, None) == ["sums"]
    with pytest.raises(ValueError, match="One: epsilon is 0; wanted above 0"):
        one(0.5, epsilon=0)
    two = optimiser("Two", "lr, betas=(0.9, 0.99)", updates.adam, "another", base=one, state="m, v")
    assert issubclass(two, one)
    assert two(1)._options(None, 2) == {"lr": 2, "betas": (0.9, 0.99)}


def test_an_import_writes_no_method() -> None:
    """A compiled function takes ten times as long as a class."""
    code = (
        "from retrograde.dialects.torch import optim; from retrograde.dialects.paddle import optimizer;"
        "from retrograde.dialects.mindspore import nn;"
        "from retrograde.dialects._shared.option_rows import ROWS, CallRow, Unwritten;"
        "rows = [c for c, row in ROWS.items() if not isinstance(row, CallRow)];"
        "print(sum(type(c.__dict__['__init__']) is not Unwritten for c in rows), len(rows))"
    )
    written, all_rows = map(int, subprocess.check_output([sys.executable, "-c", code], text=True).split())
    assert written == 0
    assert all_rows > 60

"""Learning-rate schedules of the dialect against what PyTorch set (record_optim.py)."""

import json
import warnings
from pathlib import Path

import pytest
from dialects.torch import schedule_cases

from retrograde.dialects import torch

RECORD = json.loads((Path(__file__).parent / "data" / "optim.json").read_text())["schedules"]
S = torch.optim.lr_scheduler


def sgd(lr=1.0, **options):
    return torch.optim.SGD([torch.ones(1, requires_grad=True)], lr=lr, **options)


def flat(history):
    return [x for groups in history for group in groups for x in group]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("resume_at", [None, 12])
@pytest.mark.parametrize("label", schedule_cases.CASES)
def test_schedule(label, resume_at):
    history, state, keys = schedule_cases.run(torch, label, resume_at)
    wanted = RECORD[label]
    assert flat(history) == pytest.approx(flat(wanted["history"]), rel=1e-12, abs=1e-15)
    # Loading a state dict puts the parameters last.
    assert [sorted(k) for k in keys] == [sorted(k) for k in wanted["keys"]]
    assert resume_at or keys == wanted["keys"]
    assert json.dumps(state) == json.dumps(wanted["state"])


# From PyTorch 2.13: the rates after going on from epoch 4 with rate 0.37 and base rate 1, and after six more steps.
RESUMED = {
    "LambdaLR": (lambda o: S.LambdaLR(o, lambda e: 0.9**e, last_epoch=4), 0.5904900000000001, 0.31381059609000006),
    "MultiplicativeLR": (lambda o: S.MultiplicativeLR(o, lambda e: 0.9, last_epoch=4), 0.37, 0.19663317000000002),
    "StepLR": (lambda o: S.StepLR(o, 5, last_epoch=4), 0.037, 0.0037),
    "MultiStepLR": (lambda o: S.MultiStepLR(o, [3, 5, 7], last_epoch=4), 0.037, 0.0037),
    "ConstantLR": (lambda o: S.ConstantLR(o, last_epoch=4), 1.11, 1.11),
    "LinearLR": (lambda o: S.LinearLR(o, last_epoch=4, total_iters=9), 0.37, 0.5257894736842106),
    "ExponentialLR": (lambda o: S.ExponentialLR(o, 0.9, last_epoch=4), 0.37, 0.19663317000000002),
    "PolynomialLR": (lambda o: S.PolynomialLR(o, last_epoch=4, total_iters=9), 0.37, 0.0),
    "CosineAnnealingLR": (lambda o: S.CosineAnnealingLR(o, 10, last_epoch=4), 0.37, 0.024471741852423234),
    "WarmRestarts": (lambda o: S.CosineAnnealingWarmRestarts(o, 3, 2, last_epoch=4), 0.75, 0.9330127018922194),
    "CyclicLR": (lambda o: S.CyclicLR(o, 0.1, 1.0, 4, last_epoch=4), 1.0, 0.775),
    "SWALR": (lambda o: torch.optim.swa_utils.SWALR(o, 0.05, last_epoch=4), 0.37, 0.16055728090000843),
}


@pytest.mark.parametrize("label", RESUMED)
def test_going_on_from_an_epoch(label):
    make, at_once, later = RESUMED[label]
    optimizer = sgd(0.37, momentum=0.9)
    optimizer.param_groups[0].update(initial_lr=1.0, max_momentum=0.9, base_momentum=0.8)
    scheduler = make(optimizer)
    assert scheduler.get_last_lr() == pytest.approx([at_once])
    for _ in range(6):
        optimizer.step()
        scheduler.step()
    assert scheduler.get_last_lr() == pytest.approx([later], abs=1e-15)


# From PyTorch 2.13: the rates at epochs 3, 1 and 7, asked for by number.
BY_EPOCH = {
    "StepLR": (lambda o: S.StepLR(o, 5), [1.0, 1.0, 0.1]),
    "MultiStepLR": (lambda o: S.MultiStepLR(o, [3, 5, 7]), [0.1, 1.0, 0.001]),
    "ConstantLR": (S.ConstantLR, [1 / 3, 1 / 3, 1.0]),
    "LinearLR": (lambda o: S.LinearLR(o, total_iters=9), [0.5555555555555556, 0.4074074074074074, 0.8518518518518519]),
    "ExponentialLR": (lambda o: S.ExponentialLR(o, 0.9), [0.729, 0.9, 0.4782969]),
    "PolynomialLR": (S.PolynomialLR, [0.4, 0.8, 0.0]),
    "CosineAnnealingLR": (
        lambda o: S.CosineAnnealingLR(o, 10),
        [0.7938926261462366, 0.9755282581475768, 0.2061073738537635],
    ),
    "WarmRestarts": (lambda o: S.CosineAnnealingWarmRestarts(o, 3, 2), [1.0, 0.75, 0.25]),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("label", BY_EPOCH)
def test_epoch_by_number(label):
    make, wanted = BY_EPOCH[label]
    scheduler = make(sgd())
    got = []
    for epoch in (3, 1, 7):
        scheduler.step(epoch)
        got += scheduler.get_last_lr()
    assert got == pytest.approx(wanted, abs=1e-15)


BAD = {
    "optimizer": (lambda: S.StepLR(3, 1), TypeError),
    "initial_lr": (lambda: S.StepLR(sgd(), 1, last_epoch=2), KeyError),
    "lambdas": (lambda: S.LambdaLR(sgd(), [lambda e: 1, lambda e: 2]), ValueError),
    "factor": (lambda: S.ConstantLR(sgd(), factor=2), ValueError),
    "start_factor": (lambda: S.LinearLR(sgd(), start_factor=0), ValueError),
    "end_factor": (lambda: S.LinearLR(sgd(), end_factor=2), ValueError),
    "plateau factor": (lambda: S.ReduceLROnPlateau(sgd(), factor=1.0), ValueError),
    "plateau mode": (lambda: S.ReduceLROnPlateau(sgd(), mode="x"), ValueError),
    "plateau optimizer": (lambda: S.ReduceLROnPlateau(3), TypeError),
    "plateau min_lr": (lambda: S.ReduceLROnPlateau(sgd(), min_lr=[1, 2]), ValueError),
    "cyclic mode": (lambda: S.CyclicLR(sgd(), 1, 2, mode="x"), ValueError),
    "cyclic momentum": (lambda: S.CyclicLR(torch.optim.Rprop([torch.ones(1, requires_grad=True)]), 1, 2), ValueError),
    "cycle steps": (lambda: S.OneCycleLR(sgd(), 1), ValueError),
    "cycle total": (lambda: S.OneCycleLR(sgd(), 1, total_steps=10.5), ValueError),
    "cycle strategy": (lambda: S.OneCycleLR(sgd(), 1, 10, anneal_strategy="x"), ValueError),
    "T_0": (lambda: S.CosineAnnealingWarmRestarts(sgd(), 0), ValueError),
    "T_mult": (lambda: S.CosineAnnealingWarmRestarts(sgd(), 1, 0), ValueError),
    "epoch": (lambda: S.CosineAnnealingWarmRestarts(sgd(), 1).step(-1), ValueError),
    "chain empty": (lambda: S.ChainedScheduler([]), ValueError),
    "chain of two": (lambda: S.ChainedScheduler([S.StepLR(sgd(), 1), S.StepLR(sgd(), 1)]), ValueError),
    "sequence empty": (lambda: S.SequentialLR(sgd(), [], []), ValueError),
    "sequence of another": (lambda: S.SequentialLR(sgd(), [S.StepLR(sgd(), 1)], []), ValueError),
    "metric": (lambda: (lambda o: S.ChainedScheduler([S.ReduceLROnPlateau(o)]))(sgd()), ValueError),
    "swa": (lambda: torch.optim.swa_utils.SWALR(sgd(), 1, anneal_strategy="x"), ValueError),
    "swa epochs": (lambda: torch.optim.swa_utils.SWALR(sgd(), 1, anneal_epochs=-1), ValueError),
    "base": (lambda: S.LRScheduler(sgd()), NotImplementedError),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_arguments(case):
    act, error = BAD[case]
    with pytest.raises(error):
        act()


def test_a_cycle_has_an_end():
    optimizer = sgd(momentum=0.9)
    scheduler = S.OneCycleLR(optimizer, 1.0, 3)
    for _ in range(3):
        optimizer.step()
        scheduler.step()
    with pytest.raises(ValueError, match="3 steps"):
        scheduler.step()


def test_wrong_order_warns_once():
    optimizer = sgd()
    scheduler = S.StepLR(optimizer, 1)
    with pytest.warns(UserWarning, match="before optimizer.step"):
        scheduler.step()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        scheduler.step()


def test_replaced_step_warns():
    optimizer = sgd()
    scheduler = S.StepLR(optimizer, 1)
    optimizer.step = lambda: None
    with pytest.warns(UserWarning, match="replaced"):
        scheduler.step()


def test_get_lr_outside_of_step_and_epoch_numbers_warn():
    optimizer = sgd()
    scheduler = S.StepLR(optimizer, 1)
    optimizer.step()
    with pytest.warns(UserWarning, match="get_last_lr"):
        scheduler.get_lr()
    with pytest.warns(UserWarning, match="no longer needed"):
        scheduler.step(3)


def test_a_rate_that_is_a_tensor_is_changed_in_place():
    lr = torch.tensor(1.0)
    optimizer = torch.optim.SGD([torch.ones(1, requires_grad=True)], lr=lr)
    scheduler = S.StepLR(optimizer, 1)
    optimizer.step()
    scheduler.step()
    assert optimizer.param_groups[0]["lr"] is lr
    assert lr.item() == pytest.approx(0.1)
    assert scheduler.base_lrs[0].item() == 1.0
    assert scheduler.get_last_lr()[0] is not lr


def test_subclasses_of_users():
    class Inverse(S._LRScheduler):
        def get_lr(self):
            return [base / (self.last_epoch + 1) for base in self.base_lrs]

    optimizer = sgd()
    scheduler = Inverse(optimizer)
    for _ in range(3):
        optimizer.step()
        scheduler.step()
    assert scheduler.get_last_lr() == [0.25]

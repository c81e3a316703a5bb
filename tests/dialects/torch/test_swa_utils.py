"""Averaged models of the dialect against those of PyTorch (record_optim.py)."""

import json
from pathlib import Path

import pytest
from dialects.torch import optim_cases

from retrograde.dialects import torch

RECORD = json.loads((Path(__file__).parent / "data" / "optim.json").read_text())["averages"]
W = torch.optim.swa_utils


def flat(x):
    return [z for y in x for z in flat(y)] if isinstance(x, list) else [x]


@pytest.mark.parametrize("label", RECORD)
def test_average(label):
    got, wanted = optim_cases.run_average(torch, label), RECORD[label]
    assert list(got["state"]) == list(wanted["state"])
    for key, value in wanted["state"].items():
        assert flat(got["state"][key]) == pytest.approx(flat(value), rel=1e-9)
    assert flat(got["statistics"]) == pytest.approx(flat(wanted["statistics"]), rel=1e-9)
    assert got["momentum"] == wanted["momentum"]


def test_the_average_is_a_model_of_its_own():
    model = torch.nn.Linear(2, 1)
    averaged = W.AveragedModel(model)
    assert averaged.module is not model
    x = torch.ones(1, 2)
    assert torch.equal(averaged(x), model(x))
    with torch.no_grad():
        model.weight.add_(1.0)
    assert not torch.equal(averaged(x), model(x))
    averaged.update_parameters(model)
    assert torch.equal(averaged(x), model(x))
    assert averaged.n_averaged.item() == 1


def test_bad_arguments():
    with pytest.raises(ValueError):
        W.get_ema_avg_fn(2)
    with pytest.raises(ValueError):
        W.get_ema_multi_avg_fn(-1)
    with pytest.raises(AssertionError):
        W.AveragedModel(torch.nn.Linear(1, 1), avg_fn=W.get_swa_avg_fn(), multi_avg_fn=W.get_swa_multi_avg_fn())


def test_update_bn_keeps_the_mode_and_leaves_models_without_statistics_alone():
    model = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.BatchNorm1d(3)).eval()
    W.update_bn([torch.ones(4, 2)], model)
    assert not model.training
    assert model[1].num_batches_tracked.item() == 1
    W.update_bn([object()], torch.nn.Linear(2, 1))

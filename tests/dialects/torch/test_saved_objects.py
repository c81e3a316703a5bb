"""Objects of any class in files: whole modules, what a program vouches for, and what is refused."""

import io
import pickle

import pytest

import retrograde.dialects.torch as torch
from retrograde.dialects.torch import nn, serialization


class Point:
    def __init__(self, x):
        self.x = x


class Counted(Point):
    def __getstate__(self):
        return {"x": self.x}

    def __setstate__(self, state):
        self.x, self.restored = state["x"], True


def saved(obj):
    file = io.BytesIO()
    torch.save(obj, file)
    file.seek(0)
    return file


def roundtrip(obj, **options):
    return torch.load(saved(obj), **options)


def test_whole_modules_of_classes_that_a_program_vouches_for():
    model = nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3), nn.ReLU(), nn.LSTM(3, 2, batch_first=True)).eval()
    for options in ({}, {"weights_only": False}):
        with pytest.raises(pickle.UnpicklingError, match="Sequential"):
            roundtrip(model, **options)
        with serialization.safe_globals([type(module) for module in model.modules()]):
            again = roundtrip(model, **options)
        assert repr(again) == repr(model)
        assert not again.training
        assert all(torch.equal(a, b) for a, b in zip(model.state_dict().values(), again.state_dict().values()))
        assert all(isinstance(p, nn.Parameter) and p.requires_grad for p in again.parameters())


def test_shared_tensors_stay_shared():
    x = torch.ones(3)
    with serialization.safe_globals([Point]):
        a, b, c = roundtrip([x, x[1:], Point(x)])
    a[1] = 5.0
    assert b.tolist() == [5.0, 1.0]
    assert c.x is a


@pytest.mark.parametrize("weights_only", [None, True, False])
def test_code_is_not_run(weights_only, tmp_path):
    class Touch:
        def __reduce__(self):
            return open, (str(tmp_path / "made"), "w")

    with pytest.raises(pickle.UnpicklingError, match="open"):
        roundtrip(Touch(), weights_only=weights_only)
    assert not (tmp_path / "made").exists()


def test_a_program_vouches_for_classes():
    file = saved(Counted(torch.ones(1)))
    assert [name.rpartition(".")[2] for name in serialization.get_unsafe_globals_in_checkpoint(file)] == ["Counted"]
    file.seek(0)
    with serialization.safe_globals([Counted]):
        found = torch.load(file)
    assert (found.x.tolist(), found.restored) == ([1.0], True)
    assert serialization.get_safe_globals() == []
    with pytest.raises(pickle.UnpicklingError, match="Counted"):
        roundtrip(Counted(1))
    serialization.add_safe_globals([Point])
    try:
        assert roundtrip(Point(2)).x == 2
        with pytest.raises(pickle.UnpicklingError):
            roundtrip(Counted(1))
    finally:
        serialization.clear_safe_globals()


def test_what_no_name_leads_to_is_refused():
    class Local:
        pass

    with pytest.raises(AttributeError, match="inside a function"):
        torch.save(Local(), io.BytesIO())
    nameless = eval("lambda: 1", {"__name__": __name__})
    with pytest.raises(pickle.PicklingError):
        torch.save(nameless, io.BytesIO())

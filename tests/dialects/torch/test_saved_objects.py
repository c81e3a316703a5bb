"""Objects of any class in files: whole modules, what a program vouches for or trusts, and what is refused."""

import copy
import io
import pickle
from multiprocessing.reduction import ForkingPickler
from pathlib import Path

import numpy as np
import pytest

import retrograde.dialects.torch as torch
from retrograde.dialects.torch import _function_protocol, nn, serialization

DATA = Path(__file__).parent / "data"


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


def same_modules(again, model):
    assert repr(again) == repr(model)
    assert all(torch.equal(a, b) for a, b in zip(model.state_dict().values(), again.state_dict().values()))
    assert all(isinstance(p, nn.Parameter) and p.requires_grad for p in again.parameters())


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(2, 1)


def test_layers_load_without_weights_only():
    model = nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3), nn.ReLU(), nn.LSTM(3, 2, batch_first=True)).eval()
    for options in ({}, {"weights_only": True}):
        with pytest.raises(pickle.UnpicklingError, match=r"torch.nn.*Sequential.*weights_only=False.*state_dict"):
            roundtrip(model, **options)
    again = roundtrip({"net": model}, weights_only=False)["net"]
    same_modules(again, model)
    assert not any(module.training for module in again.modules())
    attention = nn.TransformerEncoderLayer(2, 1, 2, activation=nn.functional.gelu)
    assert roundtrip(attention, weights_only=False).activation is nn.functional.gelu


class Marked(torch.Tensor):
    pass


def test_objects_of_the_programs_own_classes_in_files_that_it_trusts(tmp_path):
    model = Net()
    model.points = [Point(model.layer.weight), Counted(2)]
    for options in ({"weights_only": False}, {"pickle_module": pickle}):
        again = roundtrip(model, **options)
        same_modules(again, model)
        assert again.points[0].x is again.layer.weight
        assert again.points[1].restored
    optimizer = torch.optim.Adam(model.parameters())
    assert roundtrip(optimizer, weights_only=False).param_groups[0]["lr"] == 1e-3
    marked = torch.arange(3.0).as_subclass(Marked)
    marked.note = "own"
    again = roundtrip([marked, marked], weights_only=False)
    assert (type(again[0]), again[0].note, again[0].tolist(), again[0] is again[1]) == (Marked, "own", [0, 1, 2], True)
    with serialization.safe_globals([Marked]):
        assert type(roundtrip(marked)) is Marked
    for kept in (np.float64(2.0), range(3), slice(1, 2), torch.strided, torch.sparse_csr, torch.float32, Net, nn.functional.gelu):
        assert roundtrip(kept, weights_only=False) == kept
    torch.save(model, tmp_path / "net.pt")
    same_modules(torch.load(tmp_path / "net.pt", weights_only=False), model)


@pytest.mark.parametrize("options", [{}, {"weights_only": None}, {"weights_only": True}])
@pytest.mark.parametrize("thing", [Point(1), torch.ones(2).as_subclass(Marked), Net()], ids=["object", "tensor", "module"])
def test_nothing_is_trusted_that_the_program_does_not_say(options, thing):
    with pytest.raises(pickle.UnpicklingError, match="Point|Marked|Net"):
        roundtrip(thing, **options)
    with pytest.raises(RuntimeError, match="pickle_module"):
        torch.load(saved(thing), weights_only=True, pickle_module=pickle)


def test_modules_of_the_programs_own_classes_are_vouched_for():
    model = Net()
    with serialization.safe_globals([Net]), pytest.raises(pickle.UnpicklingError, match="Linear"):
        roundtrip(model)
    with serialization.safe_globals([Net, nn.Linear]):
        same_modules(roundtrip(model), model)


@pytest.mark.parametrize("source", ["bytes", "path"])
def test_layers_of_pytorchs_files_compute_what_they_did_there(source):
    path = DATA / "layers.pt"
    found = torch.load(path if source == "path" else io.BytesIO(path.read_bytes()), weights_only=False)
    assert len(found) == 6
    for module, x, wanted in found.values():
        if x is not None:
            got = module(x)
            torch.testing.assert_close((got[0] if isinstance(got, tuple) else got).detach(), wanted)


def test_a_layer_in_an_old_file_that_is_trusted():
    model, x, wanted = torch.load(DATA / "layer_legacy.pt", weights_only=False)
    torch.testing.assert_close(model(x).detach(), wanted)
    with pytest.raises(pickle.UnpicklingError):
        torch.load(DATA / "layer_legacy.pt")


def test_layers_are_written_under_pytorchs_names():
    file = saved(nn.Sequential(nn.ChannelShuffle(2)))
    names = {"torch.nn.modules.container.Sequential", "torch.nn.modules.channelshuffle.ChannelShuffle"}
    assert names <= set(serialization.get_unsafe_globals_in_checkpoint(file))


def layer_with(**state):
    """A file of a Linear with other attributes, or with such as it has not."""
    layer = nn.Linear(2, 1)
    vars(layer).update(state)
    return saved(layer)


def test_a_function_taken_before_subclasses_are_asked(monkeypatch):
    taken = nn.functional.gelu
    monkeypatch.setattr(nn.functional, "gelu", _function_protocol._asking(taken, "gelu"))
    loaded = torch.load(layer_with(activation=taken), weights_only=False)
    assert loaded.activation is nn.functional.gelu


def test_names_in_damaged_files():
    for data in (b"", b"PK\x03\x04", b"text"):
        with pytest.raises(RuntimeError, match="damaged"):
            serialization.get_unsafe_globals_in_checkpoint(io.BytesIO(data))


def test_shared_tensors_stay_shared():
    x = torch.ones(3)
    with serialization.safe_globals([Point]):
        a, b, c = roundtrip([x, x[1:], Point(x)])
    a[1] = 5.0
    assert b.tolist() == [5.0, 1.0]
    assert c.x is a


class Touch:
    def __init__(self, path):
        self.path = str(path)

    def __reduce__(self):
        return open, (self.path, "w")


@pytest.mark.parametrize("weights_only", [None, True])
def test_code_is_run_only_where_the_program_says_so(weights_only, tmp_path):
    file = saved(Touch(tmp_path / "made"))
    with pytest.raises(pickle.UnpicklingError, match="open"):
        torch.load(file, weights_only=weights_only)
    assert not (tmp_path / "made").exists()
    file.seek(0)
    torch.load(file, weights_only=False).close()
    assert (tmp_path / "made").exists()


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


def test_computed_tensors_are_pickled_as_leaves_and_not_sent_to_processes():
    x = torch.ones(2, requires_grad=True)
    y = x * 2
    for found in (pickle.loads(pickle.dumps(y)), roundtrip(y)):
        assert found.is_leaf
        assert found.requires_grad
        assert found.tolist() == [2.0, 2.0]
    with pytest.raises(RuntimeError, match="leaf"):
        copy.deepcopy(y)
    assert torch.multiprocessing.get_all_sharing_strategies()
    for sent in (x, nn.Parameter(x), y.detach()):
        assert pickle.loads(ForkingPickler.dumps(sent)).requires_grad == sent.requires_grad
    with pytest.raises(RuntimeError, match=r"detach\(\)"):
        ForkingPickler.dumps(y)


def test_a_number_that_was_loaded_can_be_saved_again():
    def through(thing):
        buffer = io.BytesIO()
        torch.save(thing, buffer)
        buffer.seek(0)
        return torch.load(buffer)

    again = through(through({"step": torch.tensor(3.0), "count": torch.tensor(7)}))
    assert again["step"].shape == again["count"].shape == ()
    assert (again["step"].item(), again["count"].item()) == (3.0, 7)

"""Files that were damaged or made on purpose: they load or raise what is documented, in time and memory of their size."""

import contextlib
import io
import pickle
import struct
import zipfile

import numpy as np
import pytest
import safetensors
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import retrograde as rg
import retrograde.dialects.mindspore as mindspore
import retrograde.dialects.paddle as paddle
import retrograde.dialects.torch as torch
from retrograde.dialects._shared import file_budget
from retrograde.dialects.mindspore.train import _checkpoint_format


def archive(data, *records, compression=zipfile.ZIP_STORED):
    """A zip archive around a pickle."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", compression) as found:
        for name, content in (("data.pkl", data), ("version", b"3\n"), *records):
            found.writestr(f"archive/{name}", content)
    return stream.getvalue()


def load_torch(data, **options):
    return torch.load(io.BytesIO(data), **options)


def load_archived(data):
    return load_torch(archive(data))


def load_paddle(data):
    return paddle.load(io.BytesIO(data))


LOADERS = [load_archived, load_paddle]


def nested_tuples(levels, start=b")"):
    """Each tuple holds the one before it twice: few bytes, and 2 ** levels ways through."""
    steps = (b"0h" + bytes([i]) + b"h" + bytes([i]) + b"\x86q" + bytes([i + 1]) for i in range(levels))
    return start + b"q\x00" + b"".join(steps)


@pytest.mark.parametrize("load", LOADERS)
@pytest.mark.timeout(20)
def test_shared_containers_take_the_time_of_their_size(load):
    value = load(b"\x80\x02" + nested_tuples(100) + b".")
    assert value[0] is value[1]


def test_what_a_paddle_file_shares_stays_shared():
    file = io.BytesIO()
    x = paddle.ones([2])
    inner = [x, (x, 1)]
    paddle.save([inner, inner, {"a": (inner, x)}], file)
    file.seek(0)
    first, second, table = paddle.load(file)
    assert first is second is table["a"][0]
    assert all(isinstance(tensor, paddle.Tensor) for tensor in (first[0], first[1][0], table["a"][1]))


@pytest.mark.parametrize("load", LOADERS)
def test_containers_that_hold_themselves(load):
    value = load(b"\x80\x02]q\x00h\x00a.")
    assert value[0] is value
    value = load(b"\x80\x02]q\x00h\x00\x85a.")
    assert value[0][0] is value
    value = load(b"\x80\x02}q\x00K\x01h\x00s.")
    assert value[1] is value


@pytest.mark.parametrize("load", LOADERS)
def test_deep_containers(load):
    value, depth = load(b"\x80\x02" + b"]" * 5000 + b"a" * 4999 + b"."), 0
    while value:
        value, depth = value[0], depth + 1
    assert depth == 4999


@pytest.mark.parametrize("load", LOADERS)
@pytest.mark.timeout(20)
@pytest.mark.parametrize(
    "key", [nested_tuples(100), b")" + b"\x85" * 10_000], ids=["shared tuples", "tuples nested deep"]
)
@pytest.mark.parametrize(
    "use", [b"0}h\x63K\x01s", b"0(h\x63\x91", b"0cbuiltins\nset\n]h\x63a\x85R"], ids=["dict", "frozenset", "call"]
)
def test_keys_that_take_long_to_hash(load, key, use):
    with pytest.raises(pickle.UnpicklingError, match="more than"):
        load(b"\x80\x04" + key + b"q\x63" + use + b".")


@pytest.mark.parametrize("load", LOADERS)
@pytest.mark.timeout(20)
def test_copies_of_what_a_file_remembers(load):
    many = b"](" + b"K\x01" * 10_000 + b"eq\x00"
    calls = b"cbuiltins\nset\nh\x00\x85R0" * 20_000
    with pytest.raises(pickle.UnpicklingError, match="file asks for more than .* RETROGRADE_FILE_MEMORY"):
        load(b"\x80\x02" + many + calls + b".")


@pytest.mark.parametrize("load", LOADERS)
@pytest.mark.parametrize("name", [b"items", b"values", b"keys"])
def test_attributes_do_not_hide_methods(load, name):
    pair = b"X" + struct.pack("<I", len(name)) + name + b"K\x01"
    with pytest.raises(pickle.UnpicklingError, match=name.decode()):
        load(b"\x80\x02ccollections\nOrderedDict\n)R}" + pair + b"sb.")


@pytest.mark.parametrize("load", LOADERS)
@pytest.mark.parametrize("code", [b"\x8e", b"\x8d", b"\x96"])
def test_lengths_are_held_against_the_file(load, code):
    with pytest.raises(pickle.UnpicklingError, match="cut short"):
        load(b"\x80\x04" + code + struct.pack("<Q", 3 << 30) + b"abc.")


@pytest.mark.parametrize("record", ["data.pkl", "byteorder", "data/0"])
def test_records_are_inflated_within_the_limit(record, monkeypatch):
    monkeypatch.setattr(file_budget, "_BASE", 2**20)
    records = {"data.pkl": pickled_tensor(2**20), "data/0": bytes(2**22)}
    small = load_torch(archive(records["data.pkl"], ("data/0", records["data/0"])))
    assert small.shape == (2**20,)
    records[record] = records.get(record, b"") + bytes(2**22)
    data = archive(records.pop("data.pkl"), *records.items(), compression=zipfile.ZIP_DEFLATED)
    with pytest.raises((pickle.UnpicklingError, RuntimeError), match="more than .* bytes of memory|byte order"):
        load_torch(data)


def pickled_tensor(count):
    """The pickle of a float32 tensor of `count` elements in storage 0."""
    length = struct.pack("<i", count)
    identity = (
        b"(X\x07\x00\x00\x00storagectorch\nFloatStorage\nX\x01\x00\x00\x000X\x03\x00\x00\x00cpuJ" + length + b"tQ"
    )
    return (
        b"\x80\x02ctorch._utils\n_rebuild_tensor_v2\n(" + identity + b"K\x00J" + length + b"\x85K\x01\x85\x89"
        b"ccollections\nOrderedDict\n)RtR."
    )


def test_the_user_raises_the_limit(monkeypatch):
    data = archive(pickled_tensor(2**20), ("data/0", bytes(2**22)), compression=zipfile.ZIP_DEFLATED)
    monkeypatch.setenv("RETROGRADE_FILE_MEMORY", "1000000")
    with pytest.raises(pickle.UnpicklingError, match="more than 1000000 bytes"):
        load_torch(data)
    monkeypatch.setenv("RETROGRADE_FILE_MEMORY", "10000000")
    assert load_torch(data).shape == (2**20,)
    monkeypatch.setenv("RETROGRADE_FILE_MEMORY", "plenty")
    with pytest.raises(ValueError, match="number of bytes"):
        load_torch(data)


def test_a_record_that_is_longer_than_it_says(monkeypatch):
    data = archive(b"\x80\x02K\x01.", ("byteorder", b"little" + bytes(2**22)), compression=zipfile.ZIP_DEFLATED)
    said = struct.pack("<I", 2**22 + 6)
    with pytest.raises(RuntimeError):
        load_torch(data.replace(said, struct.pack("<I", 6)))


def test_storages_declared_over_and_over():
    identity = (
        b"(X\x07\x00\x00\x00storagectorch\nFloatStorage\nX\x03\x00\x00\x00%03dX\x03\x00\x00\x00cpuJ\x00\x08\x00\x00tQ0"
    )
    head = b"".join(pickle.dumps(part, 2) for part in (0x1950A86A20F9469CFC6C, 1001, {"little_endian": True}))
    body = b"\x80\x02" + b"".join(identity % i for i in range(200)) + b"N."
    with pytest.raises(RuntimeError, match="ends before"):
        load_torch(head + body)


def test_a_conjugate_that_repeats_one_element():
    meta = b"}X\x04\x00\x00\x00conj\x88s"
    data = (
        pickled_tensor(1).replace(b"\x85K\x01\x85\x89", b"\x85K\x00\x85\x89").replace(b")RtR.", b")R" + meta + b"tR.")
    )
    data = data.replace(b"K\x00J\x01\x00\x00\x00", b"K\x00J\xff\xff\xff\x7f")
    with pytest.raises(pickle.UnpicklingError, match="more than"):
        load_torch(archive(data, ("data/0", bytes(4))))


# Files of every format, damaged


def torch_file(**options):
    file = io.BytesIO()
    x = torch.arange(6.0)
    torch.save({"a": x, "b": [x[1:], 3, "x"], "c": torch.nn.Parameter(x), "d": x.to(torch.bfloat16)}, file)
    return file.getvalue()


def paddle_file():
    file = io.BytesIO()
    paddle.save({"a": paddle.ones([2]), "b": [paddle.zeros([3]), ("x", 1)]}, file)
    return file.getvalue()


def layer_file():
    file = io.BytesIO()
    torch.save(torch.nn.Sequential(torch.nn.Linear(2, 1), torch.nn.ReLU()), file)
    return file.getvalue()


def native_file():
    file = io.BytesIO()
    rg.save(file, {"a": np.ones((2, 3)), "b": np.arange(3)})
    return file.getvalue()


UNREAD = (pickle.UnpicklingError, RuntimeError, EOFError)
FORMATS = {
    "torch": (torch_file(), load_torch, UNREAD),
    "layers": (layer_file(), lambda data: load_torch(data, weights_only=False), UNREAD),
    "paddle": (paddle_file(), load_paddle, (pickle.UnpicklingError,)),
    "mindspore": (
        _checkpoint_format.encode([("w", np.ones((2, 3), np.float32)), ("t", "text")], True),
        _checkpoint_format.decode,
        (ValueError,),
    ),
    "safetensors": (native_file(), lambda data: rg.load(io.BytesIO(data)), (safetensors.SafetensorError, TypeError)),
}


def test_the_formats_are_read():
    for data, load, _ in FORMATS.values():
        assert load(data)


@st.composite
def damage(draw, data):
    """The file cut short, or with a few bytes changed, left out or put in."""
    found = bytearray(data)
    for _ in range(draw(st.integers(1, 3))):
        at = draw(st.integers(0, len(found)))
        how = draw(st.sampled_from(["cut", "change", "remove", "insert"]))
        new = draw(
            st.sampled_from([b"\xff" * 8, bytes(8), b"(", b".", b"R", b"b", b"\x81"])
            | st.binary(min_size=1, max_size=4)
        )
        if how == "cut":
            del found[at:]
        elif how == "remove":
            del found[at : at + len(new)]
        else:
            found[at : at + len(new) * (how == "change")] = new
    return bytes(found)


@pytest.mark.parametrize("name", FORMATS)
@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_damaged_files_raise_what_is_documented(name, data):
    content, load, documented = FORMATS[name]
    damaged = data.draw(damage(content))
    with contextlib.suppress(documented):
        load(damaged)


def test_a_checkpoint_with_sizes_beyond_any_integer(tmp_path):
    sizes = b"\x08" + b"\xff" * 8 + b"\x7f"
    tensor = sizes * 3 + b"\x12\x07Float32\x1a\x04" + bytes(4)
    entry = b"\x0a\x01w\x12" + bytes([len(tensor)]) + tensor
    path = tmp_path / "w.ckpt"
    path.write_bytes(b"\x0a" + bytes([len(entry)]) + entry)
    with pytest.raises(ValueError, match="holds 1 elements"):
        mindspore.load_checkpoint(str(path))

"""Files of `torch.save`, against files that PyTorch wrote (data/*.pt, written by record_serialization.py)."""

import contextlib
import io
import json
import pickle
import struct
import zipfile
from collections import Counter, OrderedDict
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrograde.dialects.torch._files import (
    TensorRecord,
    Trust,
    read,
    read_safetensors,
    write_safetensors,
    write_zip,
)
from retrograde.dialects.torch._files._objects import resolver

DATA = Path(__file__).parent / "data"
SAVED = json.loads((DATA / "saved.json").read_text())


class Tensor:
    """What a dialect's tensor is to the readers: something rebuilt from a record."""

    def __init__(self, *fields):
        self.record = TensorRecord(*fields)

    @property
    def data(self):
        """The elements, in order, as bytes."""
        storage = self.record.storage
        size = storage.itemsize
        raw = storage.view(np.uint8).reshape(-1, size)[self.record.offset :]
        strides = (*(stride * size for stride in self.record.strides), 1)
        return np.lib.stride_tricks.as_strided(raw, (*self.record.shape, size), strides).tobytes()


class Size(tuple):
    """The dialect's torch.Size."""


class Named:
    """A constant of the dialect, such as a dtype or a device."""

    def __init__(self, *parts):
        self.parts = parts


CONSTANTS = {"torch.float32": Named("torch.float32")}
FUNCTIONS = {"torch.Size": Size, "torch.device": lambda *parts: Named("torch.device", *parts)}


def describe(obj):
    if not isinstance(obj, Tensor):
        return None
    return obj.record._replace(attributes={name: value for name, value in vars(obj).items() if name != "record"})


def reduce(obj):
    if isinstance(obj, Size):
        return "torch.Size", (tuple(obj),)
    if isinstance(obj, Named):
        return obj.parts[0] if len(obj.parts) == 1 else (obj.parts[0], obj.parts[1:])
    return None


def load(data, **options):
    return read(io.BytesIO(data), Tensor, constants=CONSTANTS, functions=FUNCTIONS, **options)


def load_recorded(name):
    return load((DATA / name).read_bytes())


def save(obj):
    stream = io.BytesIO()
    write_zip(stream, obj, describe, reduce=reduce)
    return stream.getvalue()


def make(values, *, requires_grad=False, is_parameter=False):
    array = np.asarray(values)
    strides = tuple(stride // array.itemsize for stride in array.strides)
    return Tensor(array.reshape(-1), array.dtype.name, 0, array.shape, strides, requires_grad, is_parameter)


def repacked(data, *, compression=zipfile.ZIP_STORED, **changed):
    """The archive with records changed: name of the record, with _ for other signs, to a function of its bytes."""
    stream = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(stream, "w", compression) as new:
        for name in old.namelist():
            change = changed.get(name.partition("/")[2].replace("/", "_").replace(".", "_"), lambda content: content)
            content = change(old.read(name))
            if content is not None:
                new.writestr(name, content)
    return stream.getvalue()


def with_pickle(content):
    """An archive whose data.pkl is `content`."""
    return repacked(save(1), data_pkl=lambda _: content)


def check(found, expected):
    groups = {}
    for key, want in expected.items():
        record = found[key].record
        assert record.dtype_name == want["dtype"], key
        assert record.shape == tuple(want["shape"]), key
        assert found[key].data.hex() == want["data"], key
        assert (record.requires_grad, record.is_parameter) == (want["requires_grad"], want["is_parameter"]), key
        if want["strides"] is not None:
            assert (record.offset, record.strides) == (want["offset"], tuple(want["strides"])), key
        if want["storage"] is not None:
            assert groups.setdefault(want["storage"], record.storage) is record.storage, key
    assert len({id(storage) for storage in groups.values()}) == len(groups)


# Files of PyTorch


@pytest.mark.parametrize("name", ["dtypes", "views", "lazy"])
def test_tensors_load_bit_for_bit(name):
    found = load_recorded(f"{name}.pt")
    assert list(found) == list(SAVED[name])
    check(found, SAVED[name])


@pytest.mark.parametrize("name", ["views", "lazy"])
@pytest.mark.parametrize("trust", [None, Trust(resolver("retrograde.dialects.torch"))], ids=["weights", "trusted"])
def test_the_format_before_1_6_loads(name, trust):
    check(load((DATA / f"{name}_legacy.pt").read_bytes(), trust=trust), SAVED[name])


def test_a_checkpoint_loads():
    found = load_recorded("checkpoint.pt")
    check(found["model"], SAVED["checkpoint"])
    assert type(found["model"]) is OrderedDict
    assert found["model"]._metadata["1"] == {"version": 2}
    assert found["optimizer"]["param_groups"][0]["lr"] == 1e-3
    assert (found["epoch"], found["loss"]) == (3, 0.5)


def test_plain_data_loads():
    found = load_recorded("plain.pt")
    numbers = [None, True, False, 0, 255, 256, 65536, -1, 2**31, -(2**70), 1.5, float("inf"), 1 + 2j]
    assert found["numbers"] == numbers
    assert [type(number) for number in found["numbers"]] == [type(number) for number in numbers]
    assert found["text"] == ["", "abc", "é\U0001f600", b"a\xff", bytearray(b"xy"), bytearray()]
    containers = [(), (1,), (1, 2), (1, 2, 3), (1, 2, 3, 4), {1}, {}, [[]], Counter("aab")]
    assert found["containers"] == containers
    assert [type(item) for item in found["containers"]] == [type(item) for item in containers]
    assert list(found["ordered"].items()) == [("b", 1), ("a", 2)]
    assert found["ordered"]._metadata == {"version": 1}
    assert found["twice"][0] is found["twice"][1]
    size, dtype, *devices = found["torch"]
    assert (type(size), size, dtype) == (Size, (2, 3), CONSTANTS["torch.float32"])
    assert [device.parts[1:] for device in devices] == [("cpu",), ("cuda", 1)]


@pytest.mark.parametrize("name", ["dtypes", "views", "checkpoint"])
def test_what_was_loaded_is_written_as_pytorch_wrote_it(name):
    original = (DATA / f"{name}.pt").read_bytes()
    written = save(load(original))
    with zipfile.ZipFile(io.BytesIO(original)) as old, zipfile.ZipFile(io.BytesIO(written)) as new:
        contents = [
            {record.partition("/")[2]: archive.read(record) for record in archive.namelist()} for archive in (old, new)
        ]
    for content in contents:
        assert len(content.pop(".data/serialization_id")) == 40
    assert list(contents[0]) == list(contents[1])
    assert contents[0] == contents[1]


# Archives written here


def test_records_are_aligned():
    data = save([make(np.arange(n)) for n in range(5)])
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        for info in archive.infolist():
            name_length, extra_length = struct.unpack_from("<HH", data, info.header_offset + 26)
            assert (info.header_offset + 30 + name_length + extra_length) % 64 == 0


def test_equal_objects_give_equal_files():
    assert save([make([1.0, 2.0]), "a"]) == save([make([1.0, 2.0]), "a"])


def test_parameters_and_attributes_survive():
    weight = make(np.ones(2, np.float32), requires_grad=True, is_parameter=True)
    weight.tag = ["kept"]
    plain = make(np.ones(2, np.float32))
    plain.tag = 3
    found = load(save([weight, plain]))
    assert (found[0].record.is_parameter, found[0].record.requires_grad, found[0].tag) == (True, True, ["kept"])
    assert (found[1].record.is_parameter, found[1].tag) == (False, 3)


def test_one_tensor_in_two_places_stays_one():
    tensor = make([1.0])
    found = load(save({"a": tensor, "b": [tensor]}))
    assert found["a"] is found["b"][0]


def test_containers_that_hold_themselves():
    items = []
    items.append((items, 1, 2, 3))
    items.append((items,))
    found = load(save(items))
    assert found[0][0] is found
    assert found[1][0] is found
    cycle = ([],)
    cycle[0].append(cycle)
    found = load(save(cycle))
    assert found[0][0] is found


def test_long_containers_and_many_objects():
    content = {"list": [f"item {n}" for n in range(2500)], "dict": {n: str(n) for n in range(2001)}}
    assert load(save(content)) == content


PLAIN = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.text(max_size=5)
    | st.binary(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.lists(inner, max_size=4).map(tuple)
        | st.dictionaries(st.text(max_size=3), inner, max_size=4)
        | st.dictionaries(st.text(max_size=3), inner, max_size=4).map(OrderedDict)
        | st.frozensets(st.integers(), max_size=1)  # the order of a larger one is anybody's
    ),
    max_leaves=20,
)


@given(PLAIN)
def test_plain_data_survives(content):
    found = load(save(content))
    assert found == content
    assert repr(found) == repr(content)


def test_numpy_values_need_the_callers_consent():
    content = [np.float32(1.5), np.bool_(True), np.arange(6).reshape(2, 3).T, np.array("ab"), np.dtype("int16")]
    data = save(content)
    with pytest.raises(pickle.UnpicklingError, match=r"numpy\._core\.multiarray\.scalar"):
        load(data)
    found = load(data, trust=Trust(resolver("retrograde.dialects.torch")))
    for got, want in zip(found, content, strict=True):
        assert type(got) is type(want)
        np.testing.assert_array_equal(got, want)
    assert found[2].dtype == content[2].dtype
    with pytest.raises(TypeError, match="object"):
        save(np.array([{}], object))


@pytest.mark.parametrize("value", [object(), int, len, range(3), [1, {2: Path("x")}]])
def test_what_is_not_plain_data_is_not_written(value, tmp_path):
    path = tmp_path / "kept.pt"
    path.write_bytes(b"before")
    with pytest.raises(pickle.PicklingError, match=r"builtins\.|pathlib"):
        write_zip(path, [make([1.0]), value], describe)
    assert path.read_bytes() == b"before"


def test_one_storage_with_two_dtypes_is_refused():
    array = np.ones(4, np.float32)
    with pytest.raises(RuntimeError, match="float32 and as int32"):
        save([make(array), make(array.view(np.int32))])


@pytest.mark.parametrize(
    "change",
    [{"shape": (5,)}, {"offset": 1}, {"strides": (2,)}, {"strides": (-1,)}, {"storage": np.ones((2, 2))}],
)
def test_a_tensor_that_leaves_its_storage_is_not_written(change):
    record = make(np.ones(4)).record._replace(**change)
    with pytest.raises(ValueError, match=r"torch\.save"):
        save(Tensor(*record[:7]))


# Paths, streams, places


@pytest.mark.parametrize("kind", [str, Path])
def test_paths(kind, tmp_path):
    path = kind(tmp_path / "my.model.pt")
    write_zip(path, {"w": make([1.0, 2.0])}, describe)
    with zipfile.ZipFile(path) as archive:
        assert archive.namelist()[0] == "my.model/data.pkl"
    found = read(path, Tensor)
    np.testing.assert_array_equal(found["w"].record.storage, [1.0, 2.0])
    assert found["w"].record.storage.flags.writeable


def test_streams_need_not_start_at_zero_nor_seek_while_written(tmp_path):
    class WriteOnly:
        def __init__(self):
            self.parts = []

        def write(self, data):
            self.parts.append(bytes(data))

    sink = WriteOnly()
    write_zip(sink, [make([3.0])], describe)
    with open(tmp_path / "file", "wb+") as stream:
        stream.write(b"head")
        stream.write(b"".join(sink.parts))
        stream.seek(4)
        assert read(stream, Tensor)[0].record.storage == [3.0]


def test_mapped_storages_do_not_change_the_file(tmp_path):
    path = tmp_path / "w.pt"
    write_zip(path, [make([1.0, 2.0]), make(np.zeros(0))], describe)
    found, empty = read(path, Tensor, mmap=True)
    found.record.storage[0] = 9.0
    assert empty.record.storage.size == 0
    assert list(read(path, Tensor)[0].record.storage) == [1.0, 2.0]
    with pytest.raises(ValueError, match="path"):
        read(io.BytesIO(path.read_bytes()), Tensor, mmap=True)
    with pytest.raises(RuntimeError, match="zip"):
        read(DATA / "views_legacy.pt", Tensor, mmap=True)


def test_wrong_files(tmp_path):
    with pytest.raises(FileNotFoundError):
        read(tmp_path / "absent.pt", Tensor)
    with pytest.raises(RuntimeError, match="no folder"):
        write_zip(tmp_path / "absent" / "x.pt", 1, describe)
    with pytest.raises(AttributeError, match="int"):
        read(3, Tensor)
    with pytest.raises(AttributeError, match="int"):
        write_zip(3, 1, describe)


def test_storages_of_other_devices():
    data = repacked(
        save([make([1.0])]), data_pkl=lambda content: content.replace(b"\x03\0\0\0cpu", b"\x06\0\0\0cuda:0")
    )
    for map_location in ("cpu", {"cuda:0": "cpu"}, lambda storage, location: storage):
        assert load(data, map_location=map_location)[0].record.storage == [1.0]
    for map_location in (None, "cuda", {"cuda:1": "cpu"}, lambda storage, location: None):
        with pytest.raises(RuntimeError, match="map_location"):
            load(data, map_location=map_location)


@pytest.mark.parametrize("dtype", ["int16", "float32", "complex64", "complex128", "bool", "bfloat16", "uint32"])
def test_the_other_byte_order(dtype):
    array = np.arange(4).astype(getattr(ml_dtypes, dtype, dtype))
    unit = array.itemsize // 2 if array.dtype.kind == "c" else array.itemsize
    data = repacked(
        save(make(array)),
        byteorder=lambda _: b"big",
        data_0=lambda content: np.frombuffer(content, f"u{unit}").byteswap().tobytes(),
    )
    np.testing.assert_array_equal(load(data).record.storage, array)


# What is refused


class Malicious:
    def __reduce__(self):
        return eval, ("print('run')",)


@pytest.mark.parametrize("protocol", [2, 4])
def test_code_is_refused_by_name(protocol):
    with pytest.raises(pickle.UnpicklingError, match=r"builtin\w*\.eval"):
        load(with_pickle(pickle.dumps([1, Malicious()], protocol)))


@pytest.mark.parametrize(
    "text",
    [
        b"cos\nsystem\n(X\x02\0\0\0lstR.",
        b"ctorch._utils\n_rebuild_sparse_tensor\n)R.",
        b"ctorch.storage\n_load_from_bytes\n)R.",
        b"ctorch\nTensor\n)R.",
        b"c__builtin__\ngetattr\n.",
        b"ccollections\nOrderedDict\n.",
        b"(ccollections\nOrderedDict\nl.",
        b"]ctorch\nFloatStorage\na.",
        b"}K\x01ctorch._utils\n_rebuild_tensor_v2\ns.",
        b"(itorch\nTensor\n.",
        b"(K\x01ctorch.nn.modules.linear\nLinear\no.",
        b"ctorch.nn.modules.linear\nLinear\n)\x81.",
        b"]}b.",
        b"ccollections\nOrderedDict\n)R}X\x09\0\0\0__class__K\x01sb.",
        b"c__builtin__\nbytearray\nJ\0\0\0\x40\x85R.",
        b"c_codecs\nencode\nX\x01\0\0\0aX\x03\0\0\0rot\x86R.",
        b"\x82\x01.",
        b"Pstorage\n.",
        b"X\x07\0\0\0storageQ.",
    ],
)
def test_hostile_pickles_are_refused(text):
    with pytest.raises(pickle.UnpicklingError, match=r"torch\.load"):
        load(with_pickle(b"\x80\x02" + text))


def test_a_bare_storage_is_refused():
    storage = b"(X\x07\0\0\0storagectorch\nFloatStorage\nX\x01\0\0\x000X\x03\0\0\0cpuK\x01tQ"
    data = save(make(np.ones(1, np.float32)))
    with pytest.raises(pickle.UnpicklingError, match="a storage outside a tensor"):
        load(repacked(data, data_pkl=lambda _: b"\x80\x02" + storage + b"."))


@pytest.mark.parametrize(
    ("view", "error"),
    [
        (b"K\x00K\x02\x85K\x01\x85", "leave a storage"),
        (b"K\x01K\x01\x85K\x01\x85", "leave a storage"),
        (b"J\xff\xff\xff\xffK\x01\x85K\x01\x85", "leave a storage"),
        (b"K\x00K\x01\x85J\xff\xff\xff\xff\x85", "leave a storage"),
        (b"K\x00K\x01\x85K\x01K\x01\x86", "leave a storage"),
        (b"NK\x01\x85K\x01\x85", "no integers"),
    ],
)
def test_views_that_leave_their_storage_are_refused(view, error):
    storage = b"(X\x07\0\0\0storagectorch\nFloatStorage\nX\x01\0\0\x000X\x03\0\0\0cpuK\x01tQ"
    text = b"\x80\x02ctorch._utils\n_rebuild_tensor_v2\n(" + storage + view + b"\x89NtR."
    with pytest.raises(pickle.UnpicklingError, match=error):
        load(repacked(save(make(np.ones(1, np.float32))), data_pkl=lambda _: text))


def test_a_storage_of_another_size_is_refused():
    data = save(make(np.ones(4, np.float32)))
    with pytest.raises(pickle.UnpicklingError, match="12 bytes"):
        load(repacked(data, data_0=lambda content: content[:12]))
    with pytest.raises(RuntimeError, match="lacks the record"):
        load(repacked(data, data_0=lambda content: None))


def test_an_error_of_the_callback_does_not_pass_for_a_damaged_file():
    def rebuild(*fields):
        raise ValueError("no such tensor here")

    with pytest.raises(RuntimeError, match="no such tensor here"):
        read(io.BytesIO(save(make([1.0]))), rebuild)


@pytest.mark.parametrize("name", ["checkpoint.pt", "views_legacy.pt"])
def test_truncated_files_say_so(name):
    data = (DATA / name).read_bytes()
    for length in [*range(40), *range(40, len(data), 97), len(data) - 1]:
        with pytest.raises((RuntimeError, EOFError, pickle.UnpicklingError), match=r"torch\.load: "):
            load(data[:length])


@given(st.sampled_from(["views.pt", "plain.pt", "views_legacy.pt"]), st.data())
def test_damaged_files_give_nothing_but_the_documented_errors(name, draw):
    data = bytearray((DATA / name).read_bytes())
    for _ in range(draw.draw(st.integers(1, 4))):
        data[draw.draw(st.integers(0, len(data) - 1))] = draw.draw(st.integers(0, 255))
    with contextlib.suppress(RuntimeError, EOFError, pickle.UnpicklingError):
        load(bytes(data))


def test_damage_in_a_storage_is_found():
    data = bytearray(save(make(np.full(100, 0.125))))
    data[data.index(np.full(2, 0.125).tobytes())] ^= 1
    with pytest.raises(RuntimeError, match="checksum"):
        load(bytes(data))


def test_other_files_are_told_apart():
    with pytest.raises(EOFError):
        load(b"")
    with pytest.raises(pickle.UnpicklingError, match="not written by"):
        load(b"hello world")
    with pytest.raises(pickle.UnpicklingError, match="not written by"):
        load(pickle.dumps({"a": 1}, 2))
    with pytest.raises(RuntimeError, match="tar"):
        load(b"\0" * 257 + b"ustar" + b"\0" * 250)
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr("readme", "x")
    with pytest.raises(RuntimeError, match=r"data\.pkl"):
        load(stream.getvalue())
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr("net/data.pkl", "x")
        archive.writestr("net/constants.pkl", "x")
    with pytest.raises(RuntimeError, match="TorchScript"):
        load(stream.getvalue())


def test_compressed_archives_load():
    data = repacked(save(make(np.zeros(1000))), compression=zipfile.ZIP_DEFLATED)
    assert load(data).record.storage.size == 1000


# safetensors


def test_safetensors_round_trip(tmp_path):
    names = [
        "float32",
        "float64",
        "float16",
        "bfloat16",
        "int64",
        "uint8",
        "bool",
        "float8_e5m2",
        "complex64",
        "uint16",
    ]
    tensors = {name: np.arange(4).astype(getattr(ml_dtypes, name, name)).reshape(2, 2).T for name in names}
    tensors |= {"scalar": np.array(2.5), "empty": np.zeros((2, 0), np.float32)}
    path = tmp_path / "weights.safetensors"
    write_safetensors(path, tensors, {"format": "pt"})
    found, metadata = read_safetensors(path)
    assert metadata == {"format": "pt"}
    assert set(found) == set(tensors)
    for name, array in tensors.items():
        assert found[name].dtype == array.dtype
        assert found[name].flags.writeable
        np.testing.assert_array_equal(found[name], array)
    stream = io.BytesIO()
    write_safetensors(stream, tensors)
    stream.seek(0)
    assert read_safetensors(stream)[1] == {}


def test_safetensors_refuses_other_dtypes():
    with pytest.raises(TypeError, match="'a' is of dtype complex128"):
        write_safetensors(io.BytesIO(), {"a": np.zeros(1, complex)})

"""`mindspore.dataset`: sources, steps, iterators; figures recorded from MindSpore 2.10."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from retrograde.dialects import mindspore as ms
from retrograde.dialects.mindspore import Tensor
from retrograde.dialects.mindspore import dataset as ds

XS = np.arange(10, dtype=np.float32).reshape(5, 2)
YS = np.arange(5)


def both() -> Any:
    return ds.NumpySlicesDataset((XS, YS), ["x", "y"], shuffle=False)


def rows(d: Any) -> list[Any]:
    return [[x.asnumpy().tolist() for x in row] for row in d.create_tuple_iterator(num_epochs=1)]


class Squares:
    def __getitem__(self, i: int) -> Any:
        return np.float32(i), i * i

    def __len__(self) -> int:
        return 4


def test_what_a_dataset_says_of_itself() -> None:
    d = both()
    assert d.get_col_names() == ["x", "y"]
    assert (d.get_dataset_size(), d.output_shapes(), len(d)) == (5, [[2], []], 5)
    assert d.output_types() == [np.dtype(np.float32), np.dtype(np.int64)]
    b = d.batch(2)
    assert (b.get_dataset_size(), b.get_batch_size(), b.output_shapes()) == (3, 2, [[2, 2], [2]])
    assert d.batch(2, True).get_dataset_size() == 2
    assert d.repeat(2).get_repeat_count() == 2


def test_iterators() -> None:
    first = next(iter(both().create_dict_iterator()))
    assert isinstance(first["x"], Tensor)
    assert first["x"].dtype is ms.float32
    assert isinstance(next(iter(both().create_dict_iterator(output_numpy=True)))["x"], np.ndarray)
    it = both().batch(2).create_tuple_iterator(num_epochs=2)
    assert [len(list(it)) for _ in range(2)] == [3, 3]
    with pytest.raises(RuntimeError):
        next(it)
    it = both().create_dict_iterator()
    assert [int(next(it)["y"]), int(next(it)["y"])] == [0, 1]


@pytest.mark.parametrize("step, want", [
    (lambda d: d.project("y"), [[0], [1], [2], [3], [4]]),
    (lambda d: d.batch(2).project("y"), [[[0, 1]], [[2, 3]], [[4]]]),
    (lambda d: d.map(lambda v: v * 2, input_columns=["y"]).project("y"), [[0], [2], [4], [6], [8]]),
    (lambda d: d.map([lambda v: v + 1, lambda v: v * 2], "y").project("y"), [[2], [4], [6], [8], [10]]),
    (lambda d: d.map(lambda a, b: (a.sum() + b, b), ["x", "y"], ["s", "y"]).take(2), [[1.0, 0], [6.0, 1]]),
    (lambda d: d.map(lambda v: (v, v * 10), ["y"], ["y", "z"]).take(1), [[0, 0, [0.0, 1.0]]]),
    (lambda d: d.repeat(2).take(6).project("y"), [[0], [1], [2], [3], [4], [0]]),
    (lambda d: d.skip(3).project("y"), [[3], [4]]),
    (lambda d: d.rename(["y"], ["t"]).project("t").take(1), [[0]]),
    (lambda d: d.filter(lambda v: v % 2 == 0, ["y"]).project("y"), [[0], [2], [4]]),
    (lambda d: d.project("y").zip(ds.NumpySlicesDataset(YS + 10, ["z"], shuffle=False)).take(2), [[0, 10], [1, 11]]),
    (lambda d: (d + both()).project("y").skip(4).take(2), [[4], [0]]),
    (lambda d: d.split([3, 2], randomize=False)[1].project("y"), [[3], [4]]),
    (lambda d: d.split([0.6, 0.4], randomize=False)[0].project("y"), [[0], [1], [2]]),
    (lambda d: d.padded_batch(4, pad_info={"x": ([3], -1)}).take(1).project("x"),
     [[[[0.0, 1.0, -1.0], [2.0, 3.0, -1.0], [4.0, 5.0, -1.0], [6.0, 7.0, -1.0]]]]),
    (lambda d: d.batch(5, per_batch_map=lambda a, b, info: ([v * 2 for v in a], b)).project("x"), [[(XS * 2).tolist()]]),
    (lambda d: d.map(ds.transforms.OneHot(5), ["y"]).project("y").take(2), [[[1, 0, 0, 0, 0]], [[0, 1, 0, 0, 0]]]),
    (lambda d: d.map(ds.transforms.Compose([lambda v: v + 1, ds.transforms.TypeCast(ms.float32)]), ["y"])
     .project("y").take(1), [[1.0]]),
    (lambda d: ds.GeneratorDataset(Squares(), ["a", "b"], sampler=[3, 1]), [[3.0, 9], [1.0, 1]]),
    (lambda d: ds.GeneratorDataset(Squares(), ["a", "b"], shuffle=False).batch(3), [[[0.0, 1.0, 2.0], [0, 1, 4]], [[3.0], [9]]]),
    (lambda d: ds.NumpySlicesDataset(YS, ["y"], sampler=ds.SequentialSampler(1, 2)), [[1], [2]]),
    (lambda d: ds.NumpySlicesDataset({"a": [1, 2], "b": [3.0, 4.0]}, shuffle=False), [[1, 3.0], [2, 4.0]]),
    (lambda d: ds.NumpySlicesDataset(([1, 2], [3, 4]), shuffle=False), [[1, 3], [2, 4]]),
    (lambda d: ds.NumpySlicesDataset([[1, 2], [3, 4]], shuffle=False), [[[1, 2]], [[3, 4]]]),
])  # fmt: skip
def test_steps(step: Any, want: list[Any]) -> None:
    assert rows(step(both())) == want


def test_column_order_after_map() -> None:
    assert both().map(lambda v: (v, v), ["y"], ["y", "z"]).get_col_names() == ["y", "z", "x"]
    assert both().map(lambda v: v, ["y"]).get_col_names() == ["x", "y"]


def test_a_generator_is_run_anew_each_epoch() -> None:
    def source() -> Iterator[Any]:
        for i in range(3):
            yield np.array([i], np.float32), np.array(i)

    d = ds.GeneratorDataset(source, ["a", "b"], shuffle=False)
    assert rows(d) == rows(d) == [[[0.0], 0], [[1.0], 1], [[2.0], 2]]
    assert d.get_dataset_size() == 3


def test_shuffling_repeats_with_the_seed() -> None:
    ds.config.set_seed(7)
    try:
        d = ds.NumpySlicesDataset(np.arange(50), ["y"])
        assert rows(d) == rows(d)
        assert rows(d) != [[i] for i in range(50)]
        assert sorted(rows(both().project("y").shuffle(3))) == [[i] for i in range(5)]
    finally:
        ds.config._settings["seed"] = None


@pytest.mark.parametrize("kind, call", [
    (TypeError, lambda: ds.GeneratorDataset(3, ["a"])), (ValueError, lambda: ds.NumpySlicesDataset(([1, 2], [3]))),
    (ValueError, lambda: both().batch(0)), (TypeError, lambda: both().batch("a")), (ValueError, lambda: both().map(3)),
    (RuntimeError, lambda: rows(both().map(lambda v: v, ["q"]))), (ValueError, lambda: both().shuffle(1)),
    (RuntimeError, lambda: both().project(["q"])), (ValueError, lambda: both().take(0)), (ValueError, lambda: both().skip(-1)),
    (ValueError, lambda: both().repeat(0)), (RuntimeError, lambda: rows(ds.GeneratorDataset(Squares(), ["a"], shuffle=False))),
    (AttributeError, lambda: ds.VOCDataset), (ValueError, lambda: ds.MnistDataset("nowhere")),
])  # fmt: skip
def test_refusals(kind: type[Exception], call: Any) -> None:
    with pytest.raises(kind):
        call()


def test_columns_of_texts_stay_arrays() -> None:
    rows = list(ds.NumpySlicesDataset({"x": [1, 2], "y": ["a", "bc"]}, shuffle=False).create_dict_iterator())
    assert isinstance(rows[0]["x"], Tensor)
    assert repr(rows[1]["y"]) == "array('bc', dtype='<U2')"


@pytest.mark.parametrize(
    ("count", "wanted"), [(2, [[10, 12, 14], [11, 13, 10]]), (3, [[10, 13], [11, 14], [12, 10]])]
)
def test_shards_are_of_one_size(count: int, wanted: list[list[int]]) -> None:
    data = [10, 11, 12, 13, 14]
    for which, rows in enumerate(wanted):
        sampler = ds.DistributedSampler(count, which, shuffle=False)
        assert [int(r[0]) for r in ds.NumpySlicesDataset(data, sampler=sampler)] == rows
        sharded = ds.NumpySlicesDataset(data, num_shards=count, shard_id=which, shuffle=False)
        assert [int(r[0]) for r in sharded] == rows
        assert sharded.get_dataset_size() == len(rows)
    with pytest.raises(ValueError, match="together"):
        ds.NumpySlicesDataset(data, num_shards=count)


@pytest.mark.parametrize(("label", "shape"), [(1, (4,)), ([1], (4,)), ([[1]], (4,)), ([1, 2], (2, 4))])
def test_one_hot_of_a_single_label_is_a_vector(label: Any, shape: tuple[int, ...]) -> None:
    assert ds.transforms.OneHot(4)(np.array(label)).shape == shape


def test_errors_of_mapped_functions() -> None:
    with pytest.raises(RuntimeError, match="ZeroDivisionError"):
        list(ds.NumpySlicesDataset(YS, column_names="y").map(lambda y: 1 // 0, "y"))


@pytest.mark.parametrize("make, want", [
    (lambda v: v.Rescale(2.0, -1.0), [-1.0, 9.0, 19.0]),
    (lambda v: v.Normalize([1.0, 2.0, 3.0], [2.0, 4.0, 5.0]), [-0.5, 0.75, 1.4]),
    (lambda v: v.HWC2CHW(), [0, 15, 30]), (lambda v: v.HorizontalFlip(), [45, 50, 55]),
    (lambda v: v.VerticalFlip(), [180, 185, 190]),
    (lambda v: v.RandomHorizontalFlip(1.0), [45, 50, 55]), (lambda v: v.RandomVerticalFlip(0.0), [0, 5, 10]),
    (lambda v: v.CenterCrop(2), [75, 80, 85]), (lambda v: v.CenterCrop((6, 6)), [0, 0, 0]),
    (lambda v: v.Crop((1, 1), 2), [75, 80, 85]),
    (lambda v: v.Pad([1, 0, 0, 0], 7), [7, 7, 7]), (lambda v: v.Resize(2), [38, 43, 48]),
    (lambda v: v.Invert(), [255, 250, 245]),
    (lambda v: v.Resize((2, 2), v.Inter.NEAREST), [0, 5, 10]), (lambda v: v.ToTensor(), [0.0, 0.05882353, 0.11764706]),
    (lambda v: v.RandomCrop(4), [0, 5, 10]),
])  # fmt: skip
def test_images(make: Any, want: list[float]) -> None:
    from retrograde.dialects.mindspore.dataset import vision

    image = (np.arange(48).reshape(4, 4, 3) * 5).astype(np.uint8)  # recorded
    np.testing.assert_allclose(make(vision)(image).ravel()[:3], want, rtol=1e-6)
    for wrong in (3, np.zeros(3)):
        with pytest.raises((TypeError, RuntimeError)):
            make(vision)(wrong)


def test_folders_of_images_are_read(tmp_path: Path) -> None:
    images = np.arange(3 * 28 * 28, dtype=np.uint8).reshape(3, 28, 28)
    for part in ("train", "t10k"):
        head = np.array([0x0803, 3, 28, 28], ">u4").tobytes()
        (tmp_path / f"{part}-images-idx3-ubyte").write_bytes(head + images.tobytes())
        (tmp_path / f"{part}-labels-idx1-ubyte").write_bytes(np.array([0x0801, 3], ">u4").tobytes() + bytes([7, 8, 9]))
    (image, label), *_ = rows(ds.MnistDataset(str(tmp_path), "train", shuffle=False))
    assert image == images[0][..., None].tolist()
    assert label == 7
    assert len(ds.MnistDataset(str(tmp_path))) == 6
    assert ds.MnistDataset(str(tmp_path)).get_col_names() == ["image", "label"]
    with pytest.raises(RuntimeError, match="data_batch_1.bin"):
        ds.Cifar10Dataset(str(tmp_path), "train")
    pixels = np.arange(2 * 3072, dtype=np.uint8).reshape(2, 3072)
    (tmp_path / "test.bin").write_bytes(np.concatenate([np.array([[1, 2], [3, 4]], np.uint8), pixels], axis=1).tobytes())
    image, fine, coarse = rows(ds.Cifar100Dataset(str(tmp_path), "test", shuffle=False))[1]
    assert image == pixels[1].reshape(3, 32, 32).transpose(1, 2, 0).tolist()
    assert (fine, coarse) == (4, 3)
    with pytest.raises(ValueError, match="usage"):
        ds.MnistDataset(str(tmp_path), "valid")


def test_folders_named_by_classes_are_read(tmp_path: Path) -> None:
    for name, content in (("cat", b"abc"), ("dog", b"de")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "one.PNG").write_bytes(content)
        (tmp_path / name / "notes.txt").write_bytes(b"no image")
    found = ds.ImageFolderDataset(str(tmp_path), shuffle=False)
    assert found.get_class_indexing() == {"cat": 0, "dog": 1}
    assert [(bytes(image), label) for image, label in rows(found)] == [(b"abc", 0), (b"de", 1)]
    chosen = ds.ImageFolderDataset(str(tmp_path), class_indexing={"dog": 5}, shuffle=False)
    assert [label for _, label in rows(chosen)] == [5]
    with pytest.raises(ValueError, match="bird"):
        ds.ImageFolderDataset(str(tmp_path), class_indexing={"bird": 0})
    with pytest.raises(RuntimeError, match="no image"):
        ds.ImageFolderDataset(str(tmp_path), extensions=[".gif"])

"""`mindspore.dataset.vision`: transforms of images; figures recorded from MindSpore 2.10."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import pytest

from retrograde.dialects.mindspore import dataset as ds

vision = ds.vision
X = (np.arange(36).reshape(3, 4, 3) * 41 % 256).astype(np.uint8)
Y = (X / 255).astype(np.float32)
# dtype, shape, the first elements, the sum of all
CALLS: list[tuple[Any, str, tuple[int, ...], list[float], float]] = [
    (lambda: vision.AdjustBrightness(1.5)(X), "uint8", (3, 4, 3),
     [0, 62, 123, 184, 246, 255], 5834),
    (lambda: vision.AdjustContrast(0.5)(X), "uint8", (3, 4, 3),
     [57, 78, 98, 118, 139, 160], 4215),
    (lambda: vision.AdjustContrast(0.5)(Y), "float32", (3, 4, 3),
     [0.224, 0.305, 0.385, 0.465, 0.546, 0.626], 16.554),
    (lambda: vision.AdjustSaturation(1.7)(X), "uint8", (3, 4, 3),
     [0, 47, 116, 100, 170, 239], 4393),
    (lambda: vision.AdjustSharpness(0.2)(X), "uint8", (3, 4, 3),
     [0, 41, 82, 123, 164, 205], 4342),
    (lambda: vision.AdjustGamma(2.2)(X), "uint8", (3, 4, 3),
     [0, 4, 21, 51, 96, 158], 2608),
    (lambda: vision.AutoContrast(10.0)(X), "uint8", (3, 4, 3),
     [0, 49, 66, 78, 254, 255], 4569),
    (lambda: vision.AutoContrast(0.0, (41, 0))(X // 2 + 20), "uint8", (3, 4, 3),
     [0, 41, 74, 126, 170, 254], 4513),
    (lambda: vision.Equalize()(X // 2), "uint8", (3, 4, 3),
     [0, 93, 116, 139, 232, 255], 4590),
    (lambda: vision.Erase(1, 1, 2, 2, (1, 2, 3))(X), "uint8", (3, 4, 3),
     [0, 41, 82, 123, 164, 205], 2772),
    (lambda: vision.GaussianBlur((3, 5))(X), "uint8", (3, 4, 3),
     [115, 89, 130, 143, 95, 133], 4419),
    (lambda: vision.GaussianBlur(3, (1.0, 2.0))(Y), "float32", (3, 4, 3),
     [0.504, 0.375, 0.536, 0.608, 0.318, 0.479], 17.34),
    (lambda: vision.RgbToHsv(True)(Y), "float64", (3, 4, 3),
     [0.583, 1, 0.322, 0.583, 0.4, 0.804], 25.66),
    (lambda: vision.HsvToRgb()(Y.transpose(2, 0, 1)), "float64", (3, 3, 4),
     [0.322, 0.287, 0.282, 0.303, 0.243, 0.316], 12.809),
    (lambda: vision.NormalizePad([1.0, 2.0, 3.0], [2.0, 2.0, 4.0], is_hwc=False)(X.transpose(2, 0, 1)), "float32", (4, 3, 4),
     [-0.5, 61, 122.5, 56, 117.5, 51], 1780.5),
    (lambda: vision.PadToSize((4, 6), fill_value=9)(X), "uint8", (4, 6, 3),
     [9, 9, 9, 0, 41, 82], 4650),
    (lambda: vision.PadToSize((4, 6), (1, 0))(X), "uint8", (4, 6, 3),
     [0, 0, 0, 0, 0, 0], 4326),
    (lambda: vision.Posterize(3)(X), "uint8", (3, 4, 3),
     [0, 32, 64, 96, 160, 192], 3776),
    (lambda: vision.Solarize((50, 200))(X), "uint8", (3, 4, 3),
     [0, 41, 173, 132, 91, 205], 4551),
    (lambda: vision.Solarize(100)(X), "uint8", (3, 4, 3),
     [0, 41, 82, 132, 91, 50], 2421),
    (lambda: vision.ResizedCrop(0, 1, 2, 3, (3, 2), vision.Inter.NEAREST)(X), "uint8", (3, 2, 3),
     [123, 164, 205, 246, 31, 72], 2403),
    (lambda: vision.SlicePatches(2, 3)(X)[5], "uint8", (2, 2, 3),
     [0, 0, 0, 0, 0, 0], 0),
    (lambda: vision.SlicePatches(2, 3, vision.SliceMode.DROP)(X)[5], "uint8", (1, 1, 3),
     [226, 11, 52], 289),
    (lambda: vision.ConvertColor(vision.ConvertMode.COLOR_RGB2BGRA)(X), "uint8", (3, 4, 4),
     [82, 41, 0, 255, 205, 164], 7386),
    (lambda: vision.ConvertColor(vision.ConvertMode.COLOR_BGR2GRAY)(X), "uint8", (3, 4),
     [49, 172, 68, 162, 58, 152], 1321),
    (lambda: vision.ToType("int32")(X), "int32", (3, 4, 3),
     [0, 41, 82, 123, 164, 205], 4326),
    (lambda: vision.RandomInvert(1.0)(X), "uint8", (3, 4, 3),
     [255, 214, 173, 132, 91, 50], 4854),
    (lambda: vision.RandomPosterize((2, 2))(X), "uint8", (3, 4, 3),
     [0, 0, 64, 64, 128, 192], 3200),
]  # fmt: skip


@pytest.mark.parametrize("call, dtype, shape, first, total", CALLS)
def test_transforms(call: Any, dtype: str, shape: tuple[int, ...], first: list[float], total: float) -> None:
    before = X.copy(), Y.copy()
    found = np.asarray(call())
    step = 1.01 if dtype == "uint8" else 2e-3
    assert (found.dtype.name, found.shape) == (dtype, shape)
    assert np.allclose(found.ravel()[:6].astype(float), first, atol=step)
    assert found.astype(float).sum() == pytest.approx(total, abs=step * found.size / 3)
    assert np.array_equal(before[0], X)
    assert np.array_equal(before[1], Y)


def test_gamma_of_floats_is_that_of_bytes() -> None:
    """MindSpore takes (gain x) ** gamma of floats, and gain x ** gamma of bytes; here both are the latter."""
    assert np.allclose(vision.AdjustGamma(1.5, 2.0)(Y), np.clip(2 * Y**1.5, 0, 1), atol=1e-6)


def test_hues_move_around_their_circle() -> None:
    red = np.full((1, 1, 3), (200, 0, 0), np.uint8)
    assert np.argmax(vision.AdjustHue(1 / 3)(red)) == 1
    assert np.argmax(vision.AdjustHue(-1 / 3)(red)) == 2
    assert np.allclose(vision.HsvToRgb(True)(vision.RgbToHsv(True)(Y)), Y, atol=1e-6)


def test_random_transforms_follow_the_seed() -> None:
    many = [
        lambda: vision.RandomResizedCrop((4, 5)), lambda: vision.RandomColorAdjust((0.5, 1.5), 0.2, (1, 1), 0.1),
        lambda: vision.RandomSolarize((10, 200)), lambda: vision.CutOut(2, 2), lambda: vision.RandomColor(),
        lambda: vision.RandomErasing(1.0, value="random"), lambda: vision.RandomResize((2, 2)),
        lambda: vision.RandomAdjustSharpness(2.0), lambda: vision.RandomAutoContrast(), lambda: vision.RandomEqualize(),
    ]  # fmt: skip
    for make in many:
        found = []
        for _ in range(2):
            ds.config.set_seed(3)
            found.append(make()(X))
        assert np.array_equal(*found)
    assert vision.RandomResizedCrop((4, 5))(X).shape == (4, 5, 3)


def test_encoded_images_are_decoded() -> None:
    pillow = pytest.importorskip("PIL.Image")
    file = io.BytesIO()
    pillow.fromarray(X).save(file, "PNG")
    found = vision.Decode()(np.frombuffer(file.getvalue(), np.uint8))
    assert np.array_equal(found, X)
    assert np.array_equal(vision.ToNumpy()(vision.ToPIL()(X)), X)


@pytest.mark.parametrize("call, error", [
    (lambda: vision.AdjustBrightness(-1), ValueError), (lambda: vision.AdjustBrightness("a"), TypeError),
    (lambda: vision.AdjustHue(0.6), ValueError), (lambda: vision.AutoContrast(60), ValueError),
    (lambda: vision.GaussianBlur(2), ValueError), (lambda: vision.Posterize(9), ValueError),
    (lambda: vision.RandomInvert(2), ValueError), (lambda: vision.RandomPosterize((8, 2)), ValueError),
    (lambda: vision.Erase(1, 1, 9, 1)(X), RuntimeError), (lambda: vision.PadToSize((1, 1))(X), RuntimeError),
    (lambda: vision.Equalize()(Y), RuntimeError), (lambda: vision.Equalize(1), TypeError),
    (lambda: vision.ConvertColor(8)(X), RuntimeError), (lambda: vision.AutoAugment, AttributeError),
])  # fmt: skip
def test_what_is_refused(call: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        call()

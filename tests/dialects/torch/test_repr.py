"""The text of tensors, against texts that PyTorch printed (data/repr.json, written by record_repr.py)."""

import base64
import json
import threading
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from retrograde.dialects.torch import _repr

CASES: list[dict[str, Any]] = json.loads((Path(__file__).parent / "data" / "repr.json").read_text())
PREFIXES = {"subclass": "Measured("}


@pytest.fixture(autouse=True)
def default_options():
    yield
    _repr.set_printoptions(profile="default")


def plain(array, **options):
    name = array.dtype.name
    with _repr.printoptions(**options):
        return _repr.format_tensor(array, dtype_name=name, default_dtype_name=name)


@pytest.mark.parametrize("index", range(len(CASES)))
def test_recorded(index):
    case = CASES[index]
    dtype = np.dtype(getattr(ml_dtypes, case["dtype"], case["dtype"]))
    array = np.frombuffer(base64.b64decode(case["data"]), dtype).reshape(case["shape"])
    with _repr.printoptions(**case["options"]):
        text = _repr.format_tensor(
            array,
            dtype_name=case["dtype"],
            default_dtype_name=case["default"],
            suffixes=case["suffixes"],
            prefix=PREFIXES.get(case["role"], "tensor("),
        )
    if case["role"] == "parameter":
        text = _repr.format_parameter(text)
    assert text == case["text"]


def test_strided_views_print_like_their_copies():
    array = np.arange(2000.0).reshape(40, 50)
    for view in (array.T, array[::-2], array[:, 3:4], array[::7, ::11].T):
        assert plain(view) == plain(view.copy())


def test_indent_moves_every_line():
    array = np.arange(60.0).reshape(3, 20)
    narrow = plain(array, linewidth=60)
    with _repr.printoptions(linewidth=70):
        moved = _repr.format_tensor(array, dtype_name="float64", default_dtype_name="float64", indent=10)
    assert moved == narrow.replace("\n", "\n" + " " * 10)


def test_parameter_of_a_subclass():
    text = _repr.format_tensor(
        np.ones((1, 2), np.float32),
        dtype_name="float32",
        default_dtype_name="float32",
        suffixes=["requires_grad=True"],
        prefix="P(",
    )
    expected = "Parameter containing:\nParameter(P([[1., 1.]], requires_grad=True))"
    assert _repr.format_parameter(text, class_name="P") == expected


@pytest.mark.parametrize(
    ("value", "spec", "text"),
    [
        (np.array(1.5, np.float32), "", "1.5"),
        (np.array(1.5, np.float32), ".3f", "1.500"),
        (np.array(1.1, ml_dtypes.bfloat16), "", "1.1015625"),
        (np.array(3), ".3f", "3.000"),
        (np.array(3), "d", "3"),
        (np.array(True), "", "True"),
        (np.array(1 + 2j, np.complex64), ".3f", "1.000+2.000j"),
    ],
)
def test_scalars_format_as_python_numbers(value, spec, text):
    assert _repr.format_scalar(value, spec) == text


def test_scalar_refuses_a_foreign_specification():
    with pytest.raises(ValueError):
        _repr.format_scalar(np.array(1.5), "d")


def test_options_are_set_reset_and_restored():
    _repr.set_printoptions(precision=2, sci_mode=True)
    assert _repr.get_printoptions() == {
        "precision": 2,
        "threshold": 1000,
        "edgeitems": 3,
        "linewidth": 80,
        "sci_mode": True,
    }
    _repr.set_printoptions(edgeitems=5)
    assert _repr.get_printoptions()["sci_mode"] is None
    with _repr.printoptions(profile="full"):
        assert _repr.get_printoptions()["threshold"] == float("inf")
    with pytest.raises(ZeroDivisionError), _repr.printoptions(profile="full"):
        _ = 1 // 0
    assert _repr.get_printoptions()["precision"] == 2
    assert _repr.get_printoptions()["threshold"] == 1000
    _repr.set_printoptions(profile="no such profile")
    assert _repr.get_printoptions()["precision"] == 2


def test_options_hold_in_other_threads():
    seen = []
    _repr.set_printoptions(precision=1)
    thread = threading.Thread(target=lambda: seen.append(plain_text_of_a_quarter()))
    thread.start()
    thread.join()
    assert seen == ["tensor([0.2])"]


def plain_text_of_a_quarter():
    return _repr.format_tensor(np.array([0.25]), dtype_name="float64", default_dtype_name="float64")


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"precision": -1}, ValueError),
        ({"precision": 2.5}, TypeError),
        ({"edgeitems": -1}, ValueError),
        ({"edgeitems": 2.0}, TypeError),
        ({"threshold": "x"}, TypeError),
        ({"linewidth": "x"}, TypeError),
        ({"linewidth": float("inf")}, OverflowError),
    ],
)
def test_wrong_options_are_refused_and_change_nothing(options, error):
    before = _repr.get_printoptions()
    with pytest.raises(error, match=next(iter(options))), _repr.printoptions(**options):
        pass
    assert _repr.get_printoptions() == before


SHAPES = hnp.array_shapes(min_dims=0, max_dims=4, max_side=6)


@given(array=hnp.arrays(hnp.integer_dtypes(endianness="="), SHAPES), linewidth=st.integers(1, 120))
def test_integers_parse_back(array, linewidth):
    text = plain(array, threshold=float("inf"), linewidth=linewidth)
    parsed = np.array(eval(text.removeprefix("tensor(").removesuffix(")")), array.dtype)
    np.testing.assert_array_equal(parsed, array)


@given(array=hnp.arrays(np.float64, SHAPES, elements=st.floats(allow_infinity=False)), linewidth=st.integers(40, 120))
def test_floats_parse_back_to_the_printed_precision(array, linewidth):
    text = plain(array, threshold=float("inf"), linewidth=linewidth, precision=17, sci_mode=True)
    parsed = np.array(eval(text.removeprefix("tensor(").removesuffix(")"), {"nan": np.nan}))
    np.testing.assert_array_equal(parsed, array)


@given(array=hnp.arrays(np.float32, SHAPES), narrow=st.integers(1, 120), wide=st.integers(1, 120))
def test_linewidth_moves_blanks_only(array, narrow, wide):
    texts = [plain(array, linewidth=linewidth).split() for linewidth in (narrow, wide)]
    assert texts[0] == texts[1]

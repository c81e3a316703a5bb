"""The machine that reads frameworks' pickles gives what Python's does, for plain data in every protocol."""

from __future__ import annotations

import io
import pickle
import pickletools
from collections import OrderedDict
from typing import Any

import numpy as np
import pytest

from retrograde.dialects._shared.numpy_values import NUMPY_CONSTANTS, NUMPY_FUNCTIONS
from retrograde.dialects._shared.unpickling import Machine

SHARED = [1, 2]
DATA: dict[str, Any] = {
    "ints": [0, 1, -1, 255, 256, 65535, 65536, -(2**31), 2**31, 2**63, -(2**200)],
    "an int of 300 bytes": 1 << 2399,
    "numbers": [True, False, None, 1.5, float("inf"), 2.0**-1074, 1 + 2j],
    "texts": ["", "a", "ä" * 200, "b" * 70000, "\0\n\\"],
    "bytes": [b"", b"x" * 255, b"y" * 300],
    "containers": [(), (1,), (1, 2), (1, 2, 3), (1, 2, 3, 4), [[]], {}, {"a": {"b": (1, [2])}}],
    "what stands twice": [SHARED, SHARED, {"again": SHARED}],
    "many memos": [[str(k)] * 2 for k in range(300)],
    "sets": [set(), {1, 2}, frozenset((1, "a"))],
    "an ordered dict": OrderedDict(b=1, a=2),
}


@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
@pytest.mark.parametrize("optimised", [False, True])
@pytest.mark.parametrize("name", DATA)
def test_plain_data(name: str, optimised: bool, protocol: int) -> None:
    file = pickle.dumps(DATA[name], protocol)
    found = Machine(io.BytesIO(pickletools.optimize(file) if optimised else file)).load()
    assert found == DATA[name]
    assert repr(found) == repr(DATA[name])


def test_what_stands_twice_is_one_object() -> None:
    first, second, last = Machine(io.BytesIO(pickle.dumps(DATA["what stands twice"], 2))).load()
    assert first is second is last["again"]


@pytest.mark.parametrize("protocol", [2, 3, 4])
def test_numbers_of_numpy(protocol: int) -> None:
    file = io.BytesIO(pickle.dumps([np.float32(1.5), np.arange(3), np.dtype("<f8")], protocol))
    found = Machine(file, NUMPY_CONSTANTS, NUMPY_FUNCTIONS).load()
    assert found[0] == np.float32(1.5)
    assert found[0].dtype == np.float32
    assert found[1].tolist() == [0, 1, 2]
    assert found[2] == np.dtype("<f8")


@pytest.mark.parametrize("file", [
    b"\x80\x02.", b"\x80\x02]q\x00h\x05.", b"\x80\x02(K\x01K\x021.", b"\x80\x02U\x05ab.", b"Pthere\n.",
    b"\x80\x02cos\nsystem\nU\x01a\x85R.",
])  # fmt: skip
def test_damaged_ones_are_refused(file: bytes) -> None:
    with pytest.raises(pickle.UnpicklingError):
        Machine(io.BytesIO(file)).load()


def test_marks_that_are_taken_back() -> None:
    assert Machine(io.BytesIO(b"\x80\x02K\x07(K\x01K\x021.")).load() == 7

"""Update rules as generated code: NumPy's bits for every rule and option, for large arrays, on any number of threads."""

import numpy as np
import pytest

from retrograde.backend.jit import llvm, operands
from retrograde.learn import statements, update_code, updates

from ..same_bits import same_bits
from .test_updates import RECORD, RULES, Slot, label

pytestmark = pytest.mark.skipif(not llvm.available(), reason="needs llvmlite and a processor that code is generated for")

SIZE = operands.LEAST + 61
CASES = [
    case for case in RECORD["cases"] if case["optimizer"] in {*RULES, "AdamW"} and case["dtype"] in ("float32", "float64")
]


def trajectory(case, seed=1):
    """A parameter and its state after three steps."""
    rng = np.random.default_rng(seed)
    gradients = [rng.normal(size=SIZE).astype(case["dtype"]) for _ in range(4)]
    slot = Slot(case["optimizer"], gradients.pop(), case["options"])
    gradients[0][:3] = np.nan, np.inf, 0
    for g in gradients:
        with np.errstate(all="ignore"):
            slot.update(g)
    return (slot.p, *(a for states in slot.extra.values() if isinstance(states, list) for a in states))


@pytest.mark.parametrize("case", CASES, ids=label)
def test_numpys_bits(case, monkeypatch):
    done = []
    whole = update_code.updated
    monkeypatch.setattr(update_code, "updated", lambda *a: (done.append(whole(*a)), done[-1])[1])
    found = trajectory(case)
    assert done == [True] * 3
    monkeypatch.setattr(statements, "LEAST", 1 << 60)
    for a, b in zip(found, trajectory(case), strict=True):
        np.testing.assert_array_equal(a, b)
    assert len(done) == 3


def test_the_bits_do_not_depend_on_the_number_of_threads():
    for case in CASES[:: len(CASES) // 6]:
        same_bits(lambda case=case: trajectory(case))


def test_what_lies_otherwise_is_left_to_numpy():
    p = np.ones((200, 100), np.float32)
    for a in (p.T, p[:, ::2], np.frombuffer(b"\0" * (4 * SIZE + 1), np.uint8)[1:].view(np.float32)):
        m, v = np.zeros(a.shape, np.float32), np.zeros(a.shape, np.float32)
        assert not update_code.updated(updates._adam, [a, m, m, v, None], (np.float32(1),) * 10, (False,) * 6)

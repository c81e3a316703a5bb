"""Random programs do here what PyTorch did when they were recorded: values, gradients, flags, logs, exceptions."""

import random
import sys

import pytest

from fuzz.compare import differences
from fuzz.minimise import minimise
from fuzz.record import load
from fuzz.sides import Side
from fuzz.torch_programs import TorchProgram

PARTS = 1


@pytest.mark.parametrize("part", range(PARTS))
def test_recorded(part: int) -> None:
    programs = load()[part::PARTS]
    side = Side("retrograde-torch", sys.executable)
    try:
        answers = side.run([text for text, _ in programs])
    finally:
        side.close()
    wrong = [
        f"{text}\n{difference}"
        for (text, recorded), answer in zip(programs, answers)
        for difference in differences(recorded, answer, slack=10.0)[:1]
    ]
    assert not wrong, f"{len(wrong)} of {len(programs)}:\n\n" + "\n\n".join(wrong[:5])


def test_a_seed_gives_one_program() -> None:
    state = random.getstate()
    assert TorchProgram(17).text() == TorchProgram(17).text() != TorchProgram(18).text()
    assert random.getstate() == state


def test_minimising() -> None:
    program = (
        "v1 = torch.tensor([1.0, 2.0])\nwith torch.no_grad():\n    v2 = v1.sin()\nv3 = v2 * 2\nv4 = v3.cos() + v1\n"
    )
    small = minimise(program, lambda texts: min((text for text in texts if "cos" in text), key=len, default=None))
    assert small == "v1 = torch.tensor(1.0)\nv2 = v1.cos()\n" or len(small.splitlines()) == 2, small

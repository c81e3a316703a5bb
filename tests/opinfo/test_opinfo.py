"""Recorded samples of PyTorch's ops: values, first and second derivatives, Jacobian-vector products."""

import pytest
from corpora import OPINFO, check_list, compare, replay_ops


@pytest.mark.timeout(900)
def test_ops() -> None:
    compare(replay_ops(), OPINFO)


def test_list_of_failures() -> None:
    check_list([file.stem for file in (OPINFO / "data").glob("*.json")], OPINFO)

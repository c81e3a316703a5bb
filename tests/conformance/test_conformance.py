"""Programs recorded on the three frameworks print the same here; an area of a corpus is a test."""

import sys

import pytest
from corpora import CONFORMANCE, CORPORA, check_list, compare, programs_of, run_programs

# The user corpus is one area of long programs: in parts, the test processes share it evenly.
PARTS = {"torch-user": 8}

CASES = [
    (corpus, area, part)
    for corpus in CORPORA
    for area in dict.fromkeys(program["area"] for program in programs_of(corpus))
    for part in range(PARTS.get(corpus, 1))
]


@pytest.mark.timeout(900)
@pytest.mark.parametrize(("corpus", "area", "part"), CASES)
def test_area(corpus: str, area: str, part: int) -> None:
    programs = [program for program in programs_of(corpus) if program["area"] == area]
    if sys.version_info >= (3, 12):  # they were recorded with Python 3.11, whose OrderedDict prints pairs
        programs = [program for program in programs if "OrderedDict([(" not in program["stdout"]]
    compare(run_programs(corpus, programs[part :: PARTS.get(corpus, 1)]), CONFORMANCE)


def test_list_of_failures() -> None:
    check_list([program["id"] for corpus in CORPORA for program in programs_of(corpus)], CONFORMANCE)

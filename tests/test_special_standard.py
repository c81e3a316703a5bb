"""Special functions in functions of the array-API standard, against SciPy's: digits, poles, infinities and nan."""

import numpy as np
import pytest
import scipy.special

from retrograde.ops import special_standard

EDGES = [0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -1.0, 2.0, -2.0, 0.5, 1e-8, -1e-8]
LINE = np.concatenate([np.linspace(-30, 30, 1201) + 1e-3, EDGES])
UNIT = np.concatenate([np.linspace(0, 1, 501), [1e-10, 1e-100, 1 - 1e-12, np.nan, -1.0, 2.0]])
FUNCTIONS = [
    *((name, (LINE,)) for name in ("expit", "erf", "erfc", "erfcx", "ndtr", "log_ndtr", "gammaln", "digamma", "entr")),
    *((name, (UNIT,)) for name in ("logit", "ndtri", "erfinv")),
    *((name, (LINE, np.roll(LINE, 7))) for name in ("xlogy", "xlog1py")),
    *(("zeta", (np.full(200, s), np.linspace(0.01, 30, 200))) for s in (1.5, 3.0, 25.0)),
]


@pytest.mark.parametrize("name,operands", FUNCTIONS)
def test_digits(name, operands):
    with np.errstate(all="ignore"):
        expected = getattr(scipy.special, name)(*operands)
        found = getattr(special_standard, name)(np, *operands)
    if name == "gammaln":
        expected = np.where(operands[0] == -np.inf, np.inf, expected)
        found = np.where(operands[0] == -np.inf, np.inf, found)
    np.testing.assert_allclose(found, expected, rtol=1e-11, atol=1e-14)


def test_a_number_for_the_order_of_zeta():
    q = np.linspace(0.5, 3, 5)
    np.testing.assert_allclose(special_standard.zeta(np, 2, q), scipy.special.zeta(2, q), rtol=1e-13)

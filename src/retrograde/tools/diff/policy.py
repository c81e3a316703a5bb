"""What counts as the same: every tolerance of a comparison, with its reason. Limits of searches stand where the search is."""

from __future__ import annotations

import functools
from dataclasses import dataclass

_EPSILONS = {"float16": 2.0**-10, "bfloat16": 2.0**-7, "float32": 2.0**-23, "complex64": 2.0**-23}


@functools.cache
def rounding(*dtypes: str) -> float:
    """What counts as rounding for values of these dtypes: `units` in the last place of the coarsest, or `double`."""
    return max(Policy.units * _EPSILONS.get(name, 0.0) for name in dtypes) or Policy.double


@dataclass(frozen=True)
class Policy:
    """The tolerances of one comparison; relative differences are of a tensor's largest element."""

    rtol: float | None = None
    """What the user has said that counts as rounding; what the dtypes suggest if None."""
    slack: float = 1.0
    """How many times that, where nothing but gradients is known: how rounding grows from step to step cannot be followed then."""

    alone = 50.0
    """That many."""

    # --- one value beside another
    units: float = 24.0
    """Rounding in units of the last place: less than what an epsilon of 1e-5 on the wrong side of a root makes of float32, more
    than what another order of summation does."""
    double: float = 1e-10
    """Rounding in float64: what is left of a difference in single precision, whatever it was, is far above."""
    masked: float = -1e8
    """What is below counts as minus infinity: both are written to mean that a position is masked."""
    closer: float = 0.1
    """A layout that is not a value's own is believed where it brings the other so many times closer."""

    # --- what rounding becomes
    grown: float = 1e-2
    """What rounding may grow to where one program does with its values what the other does: Adam's first step makes a whole step
    of a gradient that is nothing but rounding."""
    follows: float = 4.0
    """How many times the drift of what it was made of a value may be apart that was made in another way."""
    pulled: float = 16.0
    """The same of gradients, of the drift of all that is between them and the loss."""
    rates: float = 4 * 2.0**-23
    """A step's length where a dialect computes the rate, or its moments' correction, in float32."""
    noise: float = 4.0
    """A gradient of so many times the rounding of what it is a sum of is nothing but rounding: of a bias before a norm."""
    astray: float = 1e-4
    """How far steps along such gradients take parameters before anybody has to be told."""
    buffers: float = 5e-2
    """How far running means may be apart of what such parameters are added to; in any case as far as these, which they follow."""
    arriving: float = 4.0
    """How many times the rounding gradients on their way may differ that agree: those that both have are not all compared."""

    # --- searches by content
    window: float = 0.1
    """Norms are not looked for farther away than this, however much rounding has grown."""
    inside: float = 4.0
    """How many times the rounding a value may be apart from the same inside of an operation, which is computed in another way."""
    near: float = 1e-3
    """How far the norms of values may be apart that are looked at inside of operations."""
    met: float = 8e-6
    """How far a value may be apart that both have computed where B goes on from a value of A; half of that for their norms."""
    put: float = 1e-6
    """A value that is as close as this to what is there already changes nothing."""
    condition: float = 1e-5
    """Values computed anew are those of the other program within this: it takes several operations to get there."""

    # --- single precision and double
    close: float = 1e-2
    """Differences below this may be rounding that has grown, and are looked at in double precision."""
    shrinks: float = 10.0
    """A difference that becomes so many times smaller there, or as small as `double`, is rounding."""
    large: float = 1e-4
    """Above this, a difference that stays is explained by what single precision shows, which has matched more by content; and
    rounding as large as this is spoken of."""

    chance: float = 2.0**-22
    """Numbers that are farther apart there are the same by chance in single precision; what a program computes of a number that
    it has taken out of a tensor in single precision is as far from what it would be."""

    # --- options, numbers, proofs
    option: float = 1e-5
    """Numbers this close are the same option, given as float32 by one dialect."""
    digits: int = 7
    """Of a number that somebody wrote: one that takes more to be told apart in float32 was computed."""
    exact: float = 1e-12
    """Layouts are compared within this where it is asked by how much values differ, and not whether."""
    cancelled: float = 1e-9
    """What is left of a coefficient in a proof when its terms cancel, beside them."""
    lost: float = 1e-13
    """A coefficient this small beside the largest of a sum is what rounding has left of one."""
    checked: float = 1e-6
    """Two numbers of a proof's equation are the same within this: coefficients have seven digits."""

    def tolerance(self, p: str, q: str, working: float) -> float:
        """What counts as rounding between values of two dtypes, where the coarsest parameter has `working`."""
        if self.rtol is not None:
            return self.rtol
        return self.slack * (rounding(p, q) if p == q else min(rounding(p, q), working))


POLICY = Policy()
"""For what is the same in every comparison."""

"""Whether what generated code computes has the same bits whatever the number of threads."""

import numpy as np

from retrograde.backend.jit import threads


def same_bits(call):
    """The arrays that call() returns with one thread; those with two, three and five are asserted to equal them."""
    before, worth = threads.count(), threads.WORTH
    found = []
    try:
        threads.WORTH = 0  # everything is shared out, in tiles as small as they come
        for count in (1, 2, 3, 5):
            threads.set_count(count)
            result = call()
            found.append([np.asarray(x) for x in (result if isinstance(result, tuple) else (result,)) if x is not None])
    finally:
        threads.set_count(before)
        threads.WORTH = worth
    for other in found[1:]:
        for x, y in zip(found[0], other, strict=True):
            assert x.dtype == y.dtype
            assert x.shape == y.shape
            assert x.tobytes() == y.tobytes()
    return found[0]

"""retrograde: automatic differentiation for NumPy and other arrays, with the gradient APIs of three frameworks."""

from __future__ import annotations

import warnings as _warnings

from ._version import __version__

# Kernels run in modules of this package; what they meet (a logarithm of zero, say) is a value, not a warning.
_warnings.filterwarnings("ignore", category=RuntimeWarning, module=r"retrograde(\.|$)")

from .tensor import Tensor, asarray  # noqa: E402 - the filter comes first


def activate(*dialects: str) -> None:
    """Make `import torch` (or another framework's name) resolve to retrograde's dialect, in this process.

    Raises ValueError for a dialect that does not exist.
    """
    from ._activate import activate as _activate

    _activate(*dialects)


__all__ = ["Tensor", "activate", "asarray", "__version__"]

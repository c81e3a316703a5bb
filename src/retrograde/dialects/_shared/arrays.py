"""What every dialect's tensor says about its array in the same words."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from ...core.value import dtype_of, shape_of


class ArrayFacts:
    """Properties of a tensor's array; a base beside `Value`."""

    __slots__ = ()

    _a: Any
    _dtypes: ClassVar[dict[np.dtype, Any]]
    """The dialect's dtypes by NumPy's."""

    @property
    def dtype(self) -> Any:
        """The dtype of the elements."""
        a = self._a
        return self._dtypes[a.dtype if type(a) is np.ndarray else dtype_of(a)]

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(shape_of(self._a))

    @property
    def itemsize(self) -> int:
        """The bytes of one element."""
        return dtype_of(self._a).itemsize

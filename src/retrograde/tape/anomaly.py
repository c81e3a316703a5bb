"""Anomaly mode: nodes remember where they were made, and nan in a backward pass is an error that says where."""

from __future__ import annotations

from .._state import refresh, state


class set_detect_anomaly:
    """Switch anomaly mode on or off, at once; as a context manager until its end.

    mode: whether each operation that is recorded notes the lines from which it was called, which takes some 10 us.
    check_nan: whether a backward pass raises GradError (in a dialect: its error) where a derivative gives nan.
    """

    def __init__(self, mode: bool, check_nan: bool = True) -> None:
        self._before = (state.anomaly, state.check_nan)
        state.anomaly, state.check_nan = bool(mode), bool(check_nan)
        refresh()

    def __enter__(self) -> None:
        pass

    def __exit__(self, *exception: object) -> None:
        state.anomaly, state.check_nan = self._before
        refresh()


class detect_anomaly:
    """Anomaly mode inside a `with` block: where a derivative gives nan, the error says where the operation was recorded.

    check_nan: False to note the lines only, for `explain_nan`.

    Examples
    --------
    >>> import retrograde as rg
    >>> x = rg.asarray([4.0, 0.0], requires_grad=True)
    >>> with rg.autograd.detect_anomaly():  # doctest: +IGNORE_EXCEPTION_DETAIL
    ...     rg.sum(rg.where(x > 0, rg.sqrt(x), 0.0)).backward()
    Traceback (most recent call last):
    retrograde.GradError: the derivative of sqrt (operation 2) gave nan for operand 0; the operation was recorded here:
    """

    def __init__(self, check_nan: bool = True) -> None:
        self._check_nan = check_nan

    def __enter__(self) -> None:
        self._switch = set_detect_anomaly(True, self._check_nan)

    def __exit__(self, *exception: object) -> None:
        self._switch.__exit__(*exception)

"""`TapePolicy`: what a dialect's tape does where the frameworks differ.

The engine, changes in place and `bind` ask the policy of a value's class (`Value._policy`), and hold no dialect's case
themselves. A dialect makes one object of this class, or of a subclass where an answer is computed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from .. import _errors
from .scattered import Scattered


@dataclass(frozen=True)
class TapePolicy:
    """The native API's answers, of which a dialect states those that differ."""

    errors: Mapping[type, type] = field(default_factory=dict)
    """What an exception of the engine (_errors.py) becomes for users; itself where it is not listed."""
    kernel_errors: Mapping[type, type] = field(
        default_factory=lambda: {ValueError: _errors.ShapeError, TypeError: TypeError}
    )
    """What an exception raised inside a kernel becomes for users."""
    captures_hooked: bool = False
    """Whether the gradient that is asked for of a value is what its hooks make of it, while leaves' hooks are left out of
    passes that fill no `.grad`."""
    serves_second_first: bool = False
    """Whether of two leaves that meet in an operation the second gets its gradient first."""
    frees_all: bool = False
    """Whether a backward pass frees operations that saved nothing too, so that a second pass is refused."""
    flat_is_unused: bool = False
    """Whether a derivative that is flat in a value (that of relu, of abs) counts as not depending on it, not as having
    the derivative zero (`Primitive.regional` says in which values one is)."""
    changes_leaf_views: bool = False
    """Whether a view of a leaf may be changed in place while recording: the leaf stays one, with other elements, and the
    change is the view's history alone."""
    changes_arguments: bool = False
    """Whether an in-place change of an argument inside `jvp` or `vmap` is one of the tensor that was given, too."""
    shows_missing_gradients: bool = False
    """Whether hooks on one of several results of an operation are called, with None, where only others have a gradient."""
    fills_missing_gradients: bool = False
    """Whether the gradient of one of several results of an operation is zeros, to hooks and to who asks for it, where only others
    have one."""
    values_outlive_levels: bool = False
    """Whether a value of reverse or forward mode's level is one without its derivatives once that has ended; where it is not,
    using it is refused."""
    keeps_restricted_views: bool = True
    """Whether a view that may not be changed itself (one of several, or made under no_grad) gets its history anew when its base
    is changed; where it does not, using it is refused from then on."""
    detaches_silent_views: bool = False
    """Whether what is made under no_grad of a value that wants a gradient only shares its memory, as `detach()` does."""
    copies_saved_before_writing: bool = False
    """Whether what an operation saved of its own result is copied before the result is written, so that the write is no
    error (docs/decisions/0009)."""
    fills_stopped: bool = False
    """Whether a leaf that no longer wants a gradient gets that of operations recorded while it did."""
    same_gradients_are_one: bool = False
    """Whether `grad` hands out gradients that are one array (of both operands of a sum, say) as one value, and a cotangent
    that was given, where it arrives as it is, as itself."""
    joint_gradients: Mapping[str, tuple[bool, tuple[int, ...]]] = field(default_factory=dict)
    """Operations of which the gradients of some operands, where they are differentiated again, count as depending on each of
    these: by name, whether that of one operand alone does, too, and which operands they are."""

    def error(self, kind: type[Exception]) -> type[Exception]:
        """The exception type that users expect where the engine means `kind`."""
        for base in kind.__mro__:
            if base in self.errors:
                return self.errors[base]
        return kind

    def renews_gradient(self, target: Any) -> bool:
        """Whether the gradient that arrives at a leaf now takes the place of the one that is there. Asked once for each that
        arrives: what the answer rests on may be used up by it."""
        return False

    def check_change(self, op: str, target: Any) -> None:
        """Raise where a value may not be changed in place for a reason of the dialect's own."""

    def together(self, op: str, operands: list[Any]) -> list[Any]:
        """The operands of an operation of which some are no arrays of NumPy's, as it is to have them: where they are on devices
        that do not go together, this raises."""
        return operands

    def viewed(self, out: Any, x: Any) -> None:
        """`out` has just become a view of `x`: asked where the dialect marks values (`_state.SAVE_CHECKS` says so)."""

    def from_scattered(self, x: Scattered) -> Any:
        """A gradient of which only a few elements are kept, as users see it: a tensor, or an array with all elements."""
        return x.dense()

"""`mindspore.boost`: gradients added up over several batches before the optimiser steps."""

from .grad_accumulation import GradientAccumulation

__all__ = ["GradientAccumulation"]

"""`mindspore.nn.probability`: distributions, and the maps between what they describe."""

from . import bijector, distribution

__all__ = ["bijector", "distribution"]

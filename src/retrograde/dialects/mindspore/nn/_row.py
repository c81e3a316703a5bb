"""What makes cells out of rows."""

from __future__ import annotations

from ..._shared.layers import Layers
from .cell import Cell

layer = Layers(Cell, forward="construct", text="extend_repr", inputs="x")

"""The layers by topic."""

from __future__ import annotations

from .layers import Layer as Layer

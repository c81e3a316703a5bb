"""`torch.utils.data._utils.collate`: the functions of `torch.utils.data` that make batches."""

from __future__ import annotations

from ..collate import default_collate, default_collate_fn_map, default_convert, np_str_obj_array_pattern

__all__ = ["default_collate", "default_collate_fn_map", "default_convert", "np_str_obj_array_pattern"]

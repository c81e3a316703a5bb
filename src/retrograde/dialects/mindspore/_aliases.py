"""Second names: older spellings of functions of `ops`, methods and in-place forms of functions that stand elsewhere."""

from __future__ import annotations

from ._api import FUNCTIONS, METHODS, in_place_form

for _alias, _name in (
    ("tensor_add", "add"), ("tensor_sub", "sub"), ("tensor_mul", "mul"), ("tensor_div", "div"), ("tensor_mod", "floor_mod"),
    ("tensor_pow", "pow"), ("tensor_floordiv", "floor_div"), ("floordiv", "floor_div"), ("floormod", "floor_mod"),
    ("tensor_lt", "less"), ("tensor_le", "less_equal"), ("tensor_gt", "greater"), ("tensor_ge", "greater_equal"),
    ("pows", "pow"), ("tensor_muls", "mul"), ("hyper_add", "add"),
):  # fmt: skip
    FUNCTIONS[_alias] = FUNCTIONS[_name]

for _name in ("mul", "remainder", "floor_divide", "index_add", "index_put", "index_fill", "masked_scatter", "scatter",
              "scatter_add", "addmm", "sigmoid", "sign"):  # fmt: skip
    METHODS[_name + "_"] = in_place_form(_name + "_", METHODS[_name])

METHODS["storage_offset"] = lambda self: 0
METHODS["is_shared"] = METHODS["is_pinned"] = lambda self: False
METHODS["is_init"] = lambda self: False
METHODS["inv"] = FUNCTIONS["inv"]
METHODS["fills"] = FUNCTIONS["fills"]
METHODS["pin_memory"] = METHODS["set_const_arg"] = METHODS["move_to"] = METHODS["data_sync"] = lambda self, *_, **__: self

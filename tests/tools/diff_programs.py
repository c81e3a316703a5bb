"""Which programs in diff_pairs make a pair: NAME_a.py and NAME_b.py, or the same program of another pair."""

from pathlib import Path

PAIRS = Path(__file__).parent / "diff_pairs"
SEVERAL = Path(__file__).parent / "diff_several"
"""Pairs with two or three mistakes; `# parts 1` stands at the lines of the first."""
SAME = {
    "attention_scale_a": "attention_axis_a",
    "equal_data_assign_a": "equal_data_a",
    "equal_functional_a": "equal_data_a",
    "equal_paddle_mindspore_a": "equal_torch_paddle_b",
    "equal_torch_mindspore_a": "equal_torch_paddle_a",
    "equal_torch_mindspore_b": "equal_paddle_mindspore_b",
    "functional_lr_a": "equal_data_a",
    "mask_direction_a": "attention_axis_a",
    "nograd_torch_paddle_a": "detach_torch_paddle_a",
    "norm_after_residual_a": "equal_language_model_a",
    "queries_and_keys_a": "attention_axis_a",
    "stop_flag_torch_paddle_a": "detach_torch_paddle_a",
    "warmup_from_zero_a": "equal_language_model_a",
}
NAMES = sorted({stem[:-2] for stem in (*SAME, *(path.stem for path in PAIRS.glob("*_[ab].py")))})
SEVERAL_NAMES = sorted({path.stem[:-2] for path in SEVERAL.glob("*_b.py")})


def program(name: str, side: str) -> Path:
    """The program on one side, "a" or "b", of a pair."""
    stem = f"{name}_{side}"
    if name in SEVERAL_NAMES:
        return SEVERAL / f"{stem}.py"
    return PAIRS / f"{SAME.get(stem, stem)}.py"

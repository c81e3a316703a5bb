"""`paddle.version`: the version of PaddlePaddle whose behaviour this dialect has."""

from __future__ import annotations

full_version = "3.3.1"
major, minor, patch = "3", "3", "1"
rc = "0"
istaged = True
cuda_version = cudnn_version = xpu_version = "False"


def cuda() -> str:
    """The version of CUDA: "False", there is none."""
    return cuda_version


def cudnn() -> str:
    """The version of cuDNN: "False", there is none."""
    return cudnn_version


def show() -> None:
    """Print the version."""
    print(f"full_version: {full_version}\nmajor: {major}\nminor: {minor}\npatch: {patch}\ncuda: {cuda_version}")

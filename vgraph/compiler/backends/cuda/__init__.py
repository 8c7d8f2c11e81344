"""CUDA C++: kernel IR to a readable kernel for NVIDIA GPUs."""

from vgraph.compiler.backends.cuda.backend import INCLUDE, CUDABackend

__all__ = ["INCLUDE", "CUDABackend"]

"""CUDA C++: kernel IR to a readable kernel for NVIDIA GPUs."""

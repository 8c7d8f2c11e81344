"""CUDA C++: kernel IR to a readable kernel for NVIDIA GPUs (`backend`), and that to machine code (`nvrtc`).

Nothing is imported here: a run whose machine code is in the cache needs neither.
"""

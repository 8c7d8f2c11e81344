"""The CPU backend: kernel IR to LLVM IR text, loaded in-process."""

from __future__ import annotations

from vgraph.compiler.backends.llvm.backend import LLVMBackend

__all__ = ["LLVMBackend"]

"""The hand-made kernels of `tests/llvm`, on a GPU: arithmetic, reductions, loops and frontiers.

The test functions are those of the CPU; `llvm_harness.on` has them run here. Kernels for one thread (`threads=1`) whose
vertices write the same places are not for a GPU.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from typing import Any

import pytest
from cuda_harness import CUDA
from emulated_device import EmulatedDevice
from hypothesis import given, settings
from hypothesis import strategies as st
from llvm_harness import on
from test_llvm_arithmetic import (  # noqa: F401
    test_a_scalar_cast_to_a_vector_is_repeated,
    test_binary_operators,
    test_casts,
    test_constants,
    test_dot_sum_and_elements,
    test_float_functions,
    test_integer_functions,
    test_only_the_chosen_side_is_evaluated,
    test_vector_operators_work_element_by_element,
)
from test_llvm_frontiers import (  # noqa: F401
    test_all_in_either_layout,
    test_clearing_a_list,
    test_convert,
    test_copy_and_swap,
    test_deduplication,
    test_lists,
    test_membership_and_words_of_one_thread,
    test_push_and_walk,
    test_set,
    test_single_prepares_a_frontier,
)
from test_llvm_loops import (  # noqa: F401
    test_common_neighbors_each_once,
    test_continue_in_a_parallel_loop_and_array_parameters,
    test_fill,
    test_neighbor_loops_degrees_and_neighbors,
    test_range_loops,
    test_while_break_continue_and_scopes,
)
from test_llvm_random import check, kernels
from test_llvm_reductions import (  # noqa: F401
    test_compare_and_swap_has_one_winner,
    test_global_reduction_is_the_same_in_every_thread,
    test_nan_is_propagated_and_stays,
    test_reduction_into_few_places,
    test_single_reduces_once_and_everybody_sees_it,
    test_vector_reduction,
)

from vgraph.compiler import ir

pytestmark = pytest.mark.covering


@pytest.fixture(autouse=True)
def machine(gpu: Any, request: pytest.FixtureRequest) -> Iterator[None]:
    """The GPU as the machine of the harness; the emulated one has an interleaving for each test."""
    if isinstance(gpu, EmulatedDevice):
        gpu.multiprocessors, gpu.seed = 4, zlib.crc32(request.node.name.encode())
    with on(CUDA(gpu)):
        yield


@given(kernel=kernels(), seed=st.integers(0, 100))
@settings(max_examples=8)
def test_random_kernels(kernel: ir.Program, seed: int) -> None:
    check(kernel, seed)


@pytest.mark.slow
@given(kernel=kernels(), seed=st.integers(0, 100))
@settings(max_examples=150)
def test_many_random_kernels(kernel: ir.Program, seed: int) -> None:
    check(kernel, seed)

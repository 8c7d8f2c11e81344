// What generated kernels call. Every thread of the grid runs the whole program; see docs/internals/cuda.md.
#pragma once

#include "types.cuh"
#include "arithmetic.cuh"
#include "random.cuh"
#include "words.cuh"
#include "atomics.cuh"
#include "grid.cuh"
#include "frontier.cuh"
#include "pool.cuh"
#include "slices.cuh"
#include "balance.cuh"
#include "stages.cuh"
#include "lists.cuh"
#include "buckets.cuh"
#include "local.cuh"
#include "graph.cuh"
#include "marks.cuh"

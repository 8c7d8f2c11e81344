/* PageRank's gather by hand, in each form that the compiler emits: incoming[dst] += part[src] over all arcs.
 *
 * gcc -O3 -march=native. Float sums keep their order but in `pull_vector`; with -ffast-math gcc gathers 16 values by
 * moves of single ones, which is slower.
 */
#include <immintrin.h>
#include <stdint.h>

/* One thread's share of a pull: destinations begin .. end of the transpose. */
void pull(uint32_t begin, uint32_t end, const uint32_t *row_offsets, const uint32_t *column_indices,
          const float *part, float *incoming) {
    for (uint32_t dst = begin; dst < end; dst++) {
        float sum = incoming[dst];
        for (uint32_t arc = row_offsets[dst], stop = row_offsets[dst + 1]; arc < stop; arc++) sum += part[column_indices[arc]];
        incoming[dst] = sum;
    }
}

/* The same, asking for the value that is needed 32 arcs later. `last` is the number of arcs less one. */
void pull_prefetch(uint32_t begin, uint32_t end, uint64_t last, const uint32_t *row_offsets,
                   const uint32_t *column_indices, const float *part, float *incoming) {
    for (uint32_t dst = begin; dst < end; dst++) {
        float sum = incoming[dst];
        for (uint64_t arc = row_offsets[dst], stop = row_offsets[dst + 1]; arc < stop; arc++) {
            __builtin_prefetch(&part[column_indices[arc + 32 < last ? arc + 32 : last]], 0, 3);
            sum += part[column_indices[arc]];
        }
        incoming[dst] = sum;
    }
}

/* The same with 16 arcs at a time, the last of them under a mask. */
void pull_vector(uint32_t begin, uint32_t end, const uint32_t *row_offsets, const uint32_t *column_indices,
                 const float *part, float *incoming) {
    for (uint32_t dst = begin; dst < end; dst++) {
        uint32_t arc = row_offsets[dst], stop = row_offsets[dst + 1];
        if (stop - arc < 6) {
            float sum = incoming[dst];
            for (; arc < stop; arc++) sum += part[column_indices[arc]];
            incoming[dst] = sum;
            continue;
        }
        __m512 sum = _mm512_setzero_ps();
        for (; arc + 16 <= stop; arc += 16)
            sum = _mm512_add_ps(sum, _mm512_i32gather_ps(_mm512_loadu_si512(column_indices + arc), part, 4));
        if (arc < stop) {
            __mmask16 mask = (1u << (stop - arc)) - 1;
            __m512i sources = _mm512_maskz_loadu_epi32(mask, column_indices + arc);
            sum = _mm512_add_ps(sum, _mm512_mask_i32gather_ps(_mm512_setzero_ps(), mask, sources, part, 4));
        }
        incoming[dst] += _mm512_reduce_add_ps(sum);
    }
}

/* Rows begin .. end of one segment. */
void pull_segment(uint64_t begin, uint64_t end, const uint32_t *vertices, const uint32_t *row_offsets,
                  const uint32_t *column_indices, const float *part, float *incoming) {
    for (uint64_t row = begin; row < end; row++) {
        float sum = incoming[vertices[row]];
        for (uint32_t arc = row_offsets[row], stop = row_offsets[row + 1]; arc < stop; arc++) sum += part[column_indices[arc]];
        incoming[vertices[row]] = sum;
    }
}

/* One thread's share of a push, alone: sources begin .. end. */
void push(uint32_t begin, uint32_t end, const uint32_t *row_offsets, const uint32_t *column_indices,
          const float *part, float *incoming) {
    for (uint32_t src = begin; src < end; src++) {
        float own = part[src];
        for (uint32_t arc = row_offsets[src], stop = row_offsets[src + 1]; arc < stop; arc++)
            incoming[column_indices[arc]] += own;
    }
}

/* A push that meets other threads: x86 has no atomic float addition, so it is a compare-and-swap loop. */
void push_atomic(uint32_t begin, uint32_t end, const uint32_t *row_offsets, const uint32_t *column_indices,
                 const float *part, float *incoming) {
    for (uint32_t src = begin; src < end; src++) {
        float own = part[src];
        for (uint32_t arc = row_offsets[src], stop = row_offsets[src + 1]; arc < stop; arc++) {
            float *place = &incoming[column_indices[arc]], old, new;
            __atomic_load(place, &old, __ATOMIC_RELAXED);
            do new = old + own;
            while (!__atomic_compare_exchange(place, &old, &new, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
        }
    }
}

/* Gather-apply, first loop: what each arc of the transpose brings. */
void gather(uint32_t begin, uint32_t end, const uint32_t *row_offsets, const uint32_t *column_indices,
            const float *part, float *brought) {
    for (uint32_t dst = begin; dst < end; dst++)
        for (uint32_t arc = row_offsets[dst], stop = row_offsets[dst + 1]; arc < stop; arc++)
            brought[arc] = part[column_indices[arc]];
}

/* Gather-apply, second loop: each destination adds up what its arcs brought, in their order. */
void apply(uint32_t begin, uint32_t end, const uint32_t *row_offsets, const float *brought, float *incoming) {
    for (uint32_t dst = begin; dst < end; dst++) {
        float sum = incoming[dst];
        for (uint32_t arc = row_offsets[dst], stop = row_offsets[dst + 1]; arc < stop; arc++) sum += brought[arc];
        incoming[dst] = sum;
    }
}

/* Apply-scatter, second loop: the first has left an element per source. One thread. */
void scatter(uint32_t begin, uint32_t end, const uint32_t *row_offsets, const uint32_t *column_indices,
             const float *left, float *incoming) {
    for (uint32_t src = begin; src < end; src++) {
        float own = left[src];
        for (uint32_t arc = row_offsets[src], stop = row_offsets[src + 1]; arc < stop; arc++)
            incoming[column_indices[arc]] += own;
    }
}

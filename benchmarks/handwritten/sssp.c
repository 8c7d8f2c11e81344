/* The relaxation of SSSP by hand: dist[dst] = min(dist[dst], dist[src] + weight), and who changed.
 *
 * gcc -O3 -march=native. Whoever changes enters the next queue once: a byte per vertex holds the epoch of its last
 * entry; a thread collects ids in a buffer of 1024 and flushes it elsewhere.
 */
#include <stdint.h>

uint32_t *flush(uint32_t *buffer, uint32_t *next); /* empties the buffer, gives its beginning */

/* Push from a queue, one thread. */
void push(const uint32_t *queue, uint64_t begin, uint64_t end, const uint32_t *row_offsets,
          const uint32_t *column_indices, const int32_t *weight, int32_t *dist, uint8_t *flags, uint8_t epoch,
          uint32_t *buffer) {
    uint32_t *next = buffer;
    for (uint64_t i = begin; i < end; i++) {
        uint32_t src = queue[i];
        int32_t own = dist[src];
        for (uint32_t arc = row_offsets[src], stop = row_offsets[src + 1]; arc < stop; arc++) {
            uint32_t dst = column_indices[arc];
            int32_t found = own + weight[arc];
            if (found < dist[dst]) {
                dist[dst] = found;
                if (flags[dst] != epoch) {
                    flags[dst] = epoch;
                    *next++ = dst;
                    if (next == buffer + 1024) next = flush(buffer, next);
                }
            }
        }
    }
    flush(buffer, next);
}

/* The same among other threads. */
void push_atomic(const uint32_t *queue, uint64_t begin, uint64_t end, const uint32_t *row_offsets,
                 const uint32_t *column_indices, const int32_t *weight, int32_t *dist, uint8_t *flags,
                 uint8_t epoch, uint32_t *buffer) {
    uint32_t *next = buffer;
    for (uint64_t i = begin; i < end; i++) {
        uint32_t src = queue[i];
        int32_t own = __atomic_load_n(&dist[src], __ATOMIC_RELAXED);
        for (uint32_t arc = row_offsets[src], stop = row_offsets[src + 1]; arc < stop; arc++) {
            uint32_t dst = column_indices[arc];
            int32_t found = own + weight[arc], old = __atomic_load_n(&dist[dst], __ATOMIC_RELAXED);
            while (found < old)
                if (__atomic_compare_exchange_n(&dist[dst], &old, found, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
                    if (__atomic_load_n(&flags[dst], __ATOMIC_RELAXED) != epoch &&
                        __atomic_exchange_n(&flags[dst], epoch, __ATOMIC_RELAXED) != epoch) {
                        *next++ = dst;
                        if (next == buffer + 1024) next = flush(buffer, next);
                    }
                    break;
                }
        }
    }
    flush(buffer, next);
}

/* Pull over all vertices from a frontier in a bitmap; whole words of the next bitmap belong to one thread. */
void pull(uint32_t begin, uint32_t end, const uint32_t *row_offsets, const uint32_t *column_indices,
          const int32_t *weight, int32_t *dist, const uint64_t *active, uint64_t *changed) {
    for (uint32_t dst = begin; dst < end; dst++) {
        int32_t least = dist[dst], before = least;
        for (uint32_t arc = row_offsets[dst], stop = row_offsets[dst + 1]; arc < stop; arc++) {
            uint32_t src = column_indices[arc];
            if (active[src >> 6] >> (src & 63) & 1) {
                int32_t found = dist[src] + weight[arc];
                if (found < least) least = found;
            }
        }
        if (least != before) {
            dist[dst] = least;
            changed[dst >> 6] |= 1ull << (dst & 63);
        }
    }
}

/* Gather-apply over all vertices, first loop: the distance that each arc of the transpose brings from an active source. */
void gather(uint32_t begin, uint32_t end, const uint32_t *row_offsets, const uint32_t *column_indices,
            const int32_t *weight, const int32_t *dist, const uint64_t *active, int32_t *brought) {
    for (uint32_t dst = begin; dst < end; dst++)
        for (uint32_t arc = row_offsets[dst], stop = row_offsets[dst + 1]; arc < stop; arc++) {
            uint32_t src = column_indices[arc];
            int32_t found = INT32_MAX;
            if (active[src >> 6] >> (src & 63) & 1) found = dist[src] + weight[arc];
            brought[arc] = found;
        }
}

/* Gather-apply over all vertices, second loop: the least of what the arcs brought. */
void apply(uint32_t begin, uint32_t end, const uint32_t *row_offsets, const int32_t *brought, int32_t *dist,
           uint64_t *changed) {
    for (uint32_t dst = begin; dst < end; dst++) {
        int32_t least = dist[dst], before = least;
        for (uint32_t arc = row_offsets[dst], stop = row_offsets[dst + 1]; arc < stop; arc++)
            if (brought[arc] < least) least = brought[arc];
        if (least != before) {
            dist[dst] = least;
            changed[dst >> 6] |= 1ull << (dst & 63);
        }
    }
}

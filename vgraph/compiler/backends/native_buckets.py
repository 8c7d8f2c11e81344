"""The part of the native runtime that allocates for buckets; see `native.py` for the notation."""

from __future__ import annotations

from typing import Final

TEXT: Final = """
declare ptr @aligned_alloc(i64, i64) nounwind

; More blocks of %size bytes, a power of two, for a worker: twice as many each time, at most 4 MiB at once.
; The first block's place of a slab holds the link to the slab before it.
define i1 @vg_buckets_grow(ptr %ctx, ptr %worker, i64 %size) nounwind {
  %capacity.p = WORKER.capacity(%worker)
  %slabs.p = WORKER.slabs(%worker)
  %table.p = WORKER.table(%worker)
  %fresh.p = WORKER.fresh(%worker)
  %end.p = WORKER.fresh_end(%worker)
  %capacity = load i64, ptr %capacity.p
  %most = udiv i64 4194304, %size
  %least = call i64 @llvm.umax.i64(i64 %capacity, i64 31)
  %count = call i64 @llvm.umin.i64(i64 %least, i64 %most)
  %places = add i64 %count, 1
  %bytes = mul i64 %places, %size
  %slab = call ptr @aligned_alloc(i64 %size, i64 %bytes)
  %failed = icmp eq ptr %slab, null
  br i1 %failed, label %fail, label %link
link:
  %before = load ptr, ptr %slabs.p
  store ptr %before, ptr %slab
  store ptr %slab, ptr %slabs.p
  %total = add i64 %capacity, %count
  %table.bytes = shl i64 %total, 3
  %table = load ptr, ptr %table.p
  %table.new = call ptr @realloc(ptr %table, i64 %table.bytes)
  %table.failed = icmp eq ptr %table.new, null
  br i1 %table.failed, label %fail, label %ok
ok:
  store ptr %table.new, ptr %table.p
  store i64 %total, ptr %capacity.p
  %fresh = getelementptr i8, ptr %slab, i64 %size
  %end = getelementptr i8, ptr %slab, i64 %bytes
  store ptr %fresh, ptr %fresh.p
  store ptr %end, ptr %end.p
  ret i1 true
fail:
  call void @vg_fail(ptr %ctx, i32 <OUT_OF_MEMORY>, i64 %bytes)
  ret i1 false
}
declare i64 @llvm.umin.i64(i64, i64)

; Room for twice as many pairs of 16 bytes in a worker's heap.
define i1 @vg_heap_grow(ptr %ctx, ptr %worker) nounwind {
  %heap.p = WORKER.heap(%worker)
  %capacity.p = WORKER.heap_capacity(%worker)
  %capacity = load i64, ptr %capacity.p
  %need = add i64 %capacity, 1
  %ok = call i1 @reserve(ptr %ctx, ptr %heap.p, ptr %capacity.p, i64 %need, i64 16)
  ret i1 %ok
}
"""

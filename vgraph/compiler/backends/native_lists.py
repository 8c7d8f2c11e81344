"""The part of the native runtime that keeps growable lists of frontiers; see `native.py` for the notation."""

from __future__ import annotations

from typing import Final

TEXT: Final = """
; Make room for %need elements of %size bytes in the array at *buffer; false and a failure when memory is out.
define internal i1 @reserve(ptr %ctx, ptr %buffer, ptr %capacity.p, i64 %need, i64 %size) nounwind {
  %capacity = load i64, ptr %capacity.p
  %fits = icmp ule i64 %need, %capacity
  br i1 %fits, label %ok, label %grow
grow:
  %twice = shl i64 %capacity, 1
  %least = call i64 @llvm.umax.i64(i64 %need, i64 64)
  %wanted = call i64 @llvm.umax.i64(i64 %least, i64 %twice)
  %bytes = mul i64 %wanted, %size
  %old = load ptr, ptr %buffer
  %new = call ptr @realloc(ptr %old, i64 %bytes)
  %failed = icmp eq ptr %new, null
  br i1 %failed, label %fail, label %grown
grown:
  store ptr %new, ptr %buffer
  store i64 %wanted, ptr %capacity.p
  br label %ok
ok:
  ret i1 true
fail:
  call void @vg_fail(ptr %ctx, i32 <OUT_OF_MEMORY>, i64 %bytes)
  ret i1 false
}
declare i64 @llvm.umax.i64(i64, i64)

define void @vg_list_append(ptr %ctx, ptr %list, ptr %ids, i64 %count, i32 %id_bytes) nounwind {
  %bytes.p = LIST.id_bytes(%list)
  store i32 %id_bytes, ptr %bytes.p
  %size = zext i32 %id_bytes to i64
  %length.p = LIST.length(%list)
  %used.p = LIST.ids_length(%list)
  %length = load i64, ptr %length.p
  %used = load i64, ptr %used.p
  %entries = add i64 %length, 2
  %total = add i64 %used, %count
  %offsets.p = LIST.offsets(%list)
  %offsets.cap = LIST.offsets_capacity(%list)
  %ids.p = LIST.ids(%list)
  %ids.cap = LIST.ids_capacity(%list)
  %ok1 = call i1 @reserve(ptr %ctx, ptr %offsets.p, ptr %offsets.cap, i64 %entries, i64 8)
  br i1 %ok1, label %more, label %done
more:
  %ok2 = call i1 @reserve(ptr %ctx, ptr %ids.p, ptr %ids.cap, i64 %total, i64 %size)
  br i1 %ok2, label %copy, label %done
copy:
  %base = load ptr, ptr %ids.p
  %at = mul i64 %used, %size
  %target = getelementptr i8, ptr %base, i64 %at
  %nbytes = mul i64 %count, %size
  call void @llvm.memcpy.p0.p0.i64(ptr %target, ptr %ids, i64 %nbytes, i1 false)
  %offsets = load ptr, ptr %offsets.p
  %start = getelementptr i64, ptr %offsets, i64 %length
  %end = getelementptr i8, ptr %start, i64 8
  store i64 %used, ptr %start
  store i64 %total, ptr %end
  %length.new = add i64 %length, 1
  store i64 %length.new, ptr %length.p
  store i64 %total, ptr %used.p
  br label %done
done:
  ret void
}

define i64 @vg_list_length(ptr %list) nounwind {
  %length.p = LIST.length(%list)
  %length = load i64, ptr %length.p
  ret i64 %length
}

define ptr @vg_list_ids(ptr %list, i64 %k) nounwind {
  %offsets.p = LIST.offsets(%list)
  %ids.p = LIST.ids(%list)
  %bytes.p = LIST.id_bytes(%list)
  %offsets = load ptr, ptr %offsets.p
  %ids = load ptr, ptr %ids.p
  %bytes = load i32, ptr %bytes.p
  %size = zext i32 %bytes to i64
  %start.p = getelementptr i64, ptr %offsets, i64 %k
  %start = load i64, ptr %start.p
  %at = mul i64 %start, %size
  %result = getelementptr i8, ptr %ids, i64 %at
  ret ptr %result
}

define i64 @vg_list_count(ptr %list, i64 %k) nounwind {
  %offsets.p = LIST.offsets(%list)
  %offsets = load ptr, ptr %offsets.p
  %start.p = getelementptr i64, ptr %offsets, i64 %k
  %end.p = getelementptr i8, ptr %start.p, i64 8
  %start = load i64, ptr %start.p
  %end = load i64, ptr %end.p
  %count = sub i64 %end, %start
  ret i64 %count
}

define void @vg_list_pop(ptr %list) nounwind {
  %length.p = LIST.length(%list)
  %used.p = LIST.ids_length(%list)
  %length = load i64, ptr %length.p
  %empty = icmp eq i64 %length, 0
  br i1 %empty, label %done, label %pop
pop:
  %last = sub i64 %length, 1
  %count = call i64 @vg_list_count(ptr %list, i64 %last)
  %used = load i64, ptr %used.p
  %rest = sub i64 %used, %count
  store i64 %last, ptr %length.p
  store i64 %rest, ptr %used.p
  br label %done
done:
  ret void
}

define void @vg_list_clear(ptr %list) nounwind {
  %length.p = LIST.length(%list)
  %used.p = LIST.ids_length(%list)
  store i64 0, ptr %length.p
  store i64 0, ptr %used.p
  ret void
}

define void @vg_list_free(ptr %list) nounwind {
  %offsets.p = LIST.offsets(%list)
  %ids.p = LIST.ids(%list)
  %offsets.cap = LIST.offsets_capacity(%list)
  %ids.cap = LIST.ids_capacity(%list)
  %offsets = load ptr, ptr %offsets.p
  %ids = load ptr, ptr %ids.p
  call void @free(ptr %offsets)
  call void @free(ptr %ids)
  store ptr null, ptr %offsets.p
  store ptr null, ptr %ids.p
  store i64 0, ptr %offsets.cap
  store i64 0, ptr %ids.cap
  call void @vg_list_clear(ptr %list)
  ret void
}
"""

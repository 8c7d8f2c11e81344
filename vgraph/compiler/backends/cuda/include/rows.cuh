// Loops of one thread over a row of arcs: from CSR, or from differences (see vgraph/graph/layouts/deltas.py).
#pragma once

namespace vg {

constexpr u32 BATCH = 4;  // arcs whose values are read before the first is added: as many as a word of differences has

// `add(value(e, u))` for the arcs from `at` up to `end`, in their order.
template <class Offset, class Id, class Value, class Add>
VG_DEVICE void sum_row(const Id* columns, Offset at, Offset end, Value value, Add add) {
  using T = decltype(value(at, Id()));
  Id u[BATCH];
  T x[BATCH];
  for (; end - at >= BATCH; at += BATCH) {
    for (u32 k = 0; k < BATCH; ++k) u[k] = fixed(&columns[at + k]);
    for (u32 k = 0; k < BATCH; ++k) x[k] = value((Offset)(at + k), u[k]);
    for (u32 k = 0; k < BATCH; ++k) add(x[k]);
  }
  Offset left = end - at;
  if (left == 0) return;
  for (u32 k = 0; k < BATCH; ++k) u[k] = fixed(&columns[k < left ? at + k : at]);
  for (u32 k = 0; k < BATCH; ++k) x[k] = value((Offset)(k < left ? at + k : at), u[k]);
  for (u32 k = 0; k < BATCH; ++k)
    if (k < left) add(x[k]);
}

// A row as differences to its vertex, four of 16 bits in a word; what does not fit is read from CSR.
template <class Offset>
struct DeltaRow {
  static constexpr u32 SLOTS = 4;
  static constexpr i32 REST = -32768;
  u64 word;
  const Offset* rows;
  u64 v;
  bool rest;  // whether arcs stand in CSR only
  u32 near;   // arcs in the word

  VG_DEVICE DeltaRow(u64 word, const Offset* rows, u64 v) : word(word), rows(rows), v(v), rest(at(SLOTS - 1) == REST) {
    near = 0;
    for (u32 k = 0; k < SLOTS; ++k) near += at(k) != 0;
    near -= rest;
  }
  VG_DEVICE i32 at(u32 k) const { return (i32)(short)(word >> (16 * k)); }
  VG_DEVICE Offset begin() const { return fixed(&rows[v]); }
  VG_DEVICE Offset end() const { return fixed(&rows[v + 1]); }
  VG_DEVICE Offset count() const { return rest ? end() - begin() : near; }
  template <class Id>
  VG_DEVICE Id neighbor(const Id* columns, Offset k) const {
    return k < near ? (Id)(v + at(k)) : fixed(&columns[begin() + k]);
  }
};

template <class Offset, class Id, class Value, class Add>
VG_DEVICE void sum_row(const Id* columns, const DeltaRow<Offset>& row, Value value, Add add) {
  static_assert(BATCH == DeltaRow<Offset>::SLOTS, "a word is a batch");
  using T = decltype(value(Offset(), Id()));
  if (row.near > 0) {
    T x[BATCH];
    for (u32 k = 0; k < BATCH; ++k) {
      u32 arc = k < row.near ? k : 0;
      x[k] = value((Offset)(row.begin() + arc), (Id)(row.v + row.at(arc)));
    }
    for (u32 k = 0; k < BATCH; ++k)
      if (k < row.near) add(x[k]);
  }
  if (row.rest) sum_row(columns, (Offset)(row.begin() + row.near), row.end(), value, add);
}

}  // namespace vg

// Numbers, vectors of them, and the lanes of a warp.
#pragma once

#ifdef __CUDA_ARCH__
#define VG_DEVICE __device__ __forceinline__
#else
#define VG_DEVICE __device__ inline
#endif

namespace vg {

using u8 = unsigned char;
using u16 = unsigned short;
using i16 = short;
using u32 = unsigned int;
using u64 = unsigned long long;
using u128 = unsigned __int128;
using i32 = int;
using i64 = long long;
using f32 = float;
using f64 = double;

// How properties are stored. A GPU converts by an instruction, the host by integers.
struct f16 {
  u16 bits;
  f16() = default;
  VG_DEVICE explicit f16(f32 x);
  VG_DEVICE explicit operator f32() const;
};

constexpr u32 BLOCK = VG_BLOCK;  // threads of a block
constexpr u32 WARPS = BLOCK / 32;
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ == 750
constexpr u32 RESIDENT = 1024;  // threads that a multiprocessor should hold at a time: limits the registers of each
#else
constexpr u32 RESIDENT = 1536;
#endif
constexpr u32 FEW_RESIDENT = 1024;  // the same on deep graphs, for which fewer blocks are launched (CUDA_DEEP_BLOCKS)
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900 && defined(VG_CLUSTERS)
constexpr bool CLUSTERS = true;
#define VG_CLUSTER __cluster_dims__(CREW_BLOCKS, 1, 1)
#else
constexpr bool CLUSTERS = false;
#define VG_CLUSTER
#endif
constexpr u32 CREW_BLOCKS = 16;  // of the cluster that runs a kernel
constexpr u32 ALL = 0xffffffffu;  // all lanes of a warp

static_assert(sizeof(u64) == 8 && BLOCK % 32 == 0, "a block is made of whole warps");

VG_DEVICE u32 lane() { return threadIdx.x & 31; }
VG_DEVICE u32 warp() { return threadIdx.x / 32; }
VG_DEVICE u32 lanes_below() { return (1u << lane()) - 1; }

// Threads and warps of the grid, numbered so that a few of them are spread over all blocks.
VG_DEVICE i64 warp_number() { return blockIdx.x + (i64)gridDim.x * warp(); }
VG_DEVICE i64 num_warps() { return (i64)gridDim.x * WARPS; }
VG_DEVICE i64 thread_number() { return 32 * warp_number() + lane(); }
VG_DEVICE i64 num_threads();
// The same counted from the other end: threads that have less to do elsewhere.
VG_DEVICE i64 thread_from_last() { return num_threads() - 1 - thread_number(); }
VG_DEVICE i64 num_threads() { return (i64)gridDim.x * BLOCK; }

// N numbers side by side in memory.
template <class T, int N>
struct Vec {
  T x[N];
  VG_DEVICE T& operator[](i64 k) { return x[k]; }
  VG_DEVICE const T& operator[](i64 k) const { return x[k]; }
};

template <class T>
struct Element { using type = T; };
template <class T, int N>
struct Element<Vec<T, N>> { using type = T; };

template <class V, class T>
VG_DEVICE V splat(T value) {
  V result;
  for (auto& x : result.x) x = value;
  return result;
}

template <class T, int N>
VG_DEVICE void fill_elements(Vec<T, N>& place, T value) {
  for (int k = 0; k < N; ++k) place.x[k] = value;
}

template <class T, int N>
VG_DEVICE void copy_elements(Vec<T, N>& place, const Vec<T, N>& from) {
  for (int k = 0; k < N; ++k) place.x[k] = from.x[k];
}

// f on each element.
template <class R, class T, int N, class F>
VG_DEVICE R each(const Vec<T, N>& a, F f) {
  R result;
  for (int k = 0; k < N; ++k) result.x[k] = f(a.x[k]);
  return result;
}

template <class R, class T, int N, class F>
VG_DEVICE R each(const Vec<T, N>& a, const Vec<T, N>& b, F f) {
  R result;
  for (int k = 0; k < N; ++k) result.x[k] = f(a.x[k], b.x[k]);
  return result;
}

// The same but for one element.
template <class T, int N>
VG_DEVICE Vec<T, N> with_element(Vec<T, N> a, i64 k, T value) {
  a.x[k] = value;
  return a;
}

template <class R, class T, int N>
VG_DEVICE R sum(const Vec<T, N>& a) {
  R total = (R)a.x[0];
  for (int k = 1; k < N; ++k) total += (R)a.x[k];
  return total;
}

// The bits of a number as an unsigned integer of its size, and back.
template <int SIZE>
struct BitsOf;
template <>
struct BitsOf<1> { using type = u8; };
template <>
struct BitsOf<2> { using type = u16; };
template <>
struct BitsOf<4> { using type = u32; };
template <>
struct BitsOf<8> { using type = u64; };
template <>
struct BitsOf<16> { using type = u128; };
template <class T>
using Bits = typename BitsOf<sizeof(T)>::type;

template <class R, class T>
VG_DEVICE R bit_cast(T value) {
  static_assert(sizeof(R) == sizeof(T), "bits are kept");
  R result;
  memcpy(&result, &value, sizeof(R));
  return result;
}

VG_DEVICE f16::f16(f32 x) {
#ifdef __CUDA_ARCH__
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(x));
#else
  u32 whole = bit_cast<u32>(x), size = whole & 0x7fffffffu, kept = 0;
  if (size < 0x38800000u) kept = bit_cast<u32>(bit_cast<f32>(size) + 0.5f) - 0x3f000000u;  // 0.5 has the smallest's last bit
  else if (size < 0x477ff000u) kept = (size + (size >> 13 & 1) + 0xc8000fffu) >> 13;
  else kept = size > 0x7f800000u ? 0x7e00u | (size >> 13 & 0x3ffu) : 0x7c00u;
  bits = (u16)(kept | (whole >> 16 & 0x8000u));
#endif
}
VG_DEVICE f16::operator f32() const {
#ifdef __CUDA_ARCH__
  f32 x;
  asm("cvt.f32.f16 %0, %1;" : "=f"(x) : "h"(bits));
  return x;
#else
  u32 size = (u32)(bits & 0x7fff) << 13;
  u32 kept = size < 0x7c00u << 13 ? bit_cast<u32>(bit_cast<f32>(size) * bit_cast<f32>(0x77800000u)) : size | 0x7f800000u;
  return bit_cast<f32>(kept | (u32)(bits & 0x8000) << 16);
#endif
}

template <class T>
VG_DEVICE T shuffle(T value, u32 source, u32 mask = ALL) {
  if constexpr (sizeof(T) < 4) return bit_cast<T>((Bits<T>)__shfl_sync(mask, (u32)bit_cast<Bits<T>>(value), source));
  else if constexpr (sizeof(T) == 16)
    return (T)__shfl_sync(mask, (u64)(value >> 64), source) << 64 | __shfl_sync(mask, (u64)value, source);
  else return bit_cast<T>(__shfl_sync(mask, bit_cast<Bits<T>>(value), source));
}

template <class T, int N>
VG_DEVICE Vec<T, N> shuffle(Vec<T, N> value, u32 source, u32 mask = ALL) {
  for (int k = 0; k < N; ++k) value.x[k] = shuffle(value.x[k], source, mask);
  return value;
}

template <class T>
VG_DEVICE T shuffle_xor(T value, u32 distance, u32 mask = ALL) {
  if constexpr (sizeof(T) < 4) return bit_cast<T>((Bits<T>)__shfl_xor_sync(mask, (u32)bit_cast<Bits<T>>(value), distance));
  else if constexpr (sizeof(T) == 16)
    return (T)__shfl_xor_sync(mask, (u64)(value >> 64), distance) << 64 | __shfl_xor_sync(mask, (u64)value, distance);
  else return bit_cast<T>(__shfl_xor_sync(mask, bit_cast<Bits<T>>(value), distance));
}

}  // namespace vg

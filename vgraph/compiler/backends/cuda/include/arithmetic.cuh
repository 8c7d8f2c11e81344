// What every operation of the language gives: as on the CPU and in the reference interpreter.
#pragma once

namespace vg {

VG_DEVICE f32 infinity(f32) { return bit_cast<f32>(0x7f800000u); }
VG_DEVICE f64 infinity(f64) { return bit_cast<f64>(0x7ff0000000000000ull); }

template <class T>
VG_DEVICE T not_a_number() { return infinity(T()) - infinity(T()); }

// The smallest and the largest number of a type.
template <class T>
struct Limits {
  static constexpr bool real = (T)0.5 != (T)0 && sizeof(T) > 1;
  static constexpr bool with_sign = (T)-1 < (T)0;
  static constexpr u64 top = 1ull << (8 * sizeof(T) - 1);
  static VG_DEVICE T most() {
    if constexpr (sizeof(T) == 1) return true;
    else if constexpr (real) return infinity(T());
    else return with_sign ? (T)(top - 1) : (T)(2 * top - 1);
  }
  static VG_DEVICE T least() {
    if constexpr (sizeof(T) == 1) return false;
    else if constexpr (real) return -infinity(T());
    else return with_sign ? (T)top : (T)0;
  }
};

template <>
struct Limits<u128> {
  static constexpr bool real = false;
  static constexpr bool with_sign = false;
  static VG_DEVICE u128 most() { return ~(u128)0; }
  static VG_DEVICE u128 least() { return 0; }
};

// Functions of floats, in both widths.
namespace math {
VG_DEVICE f32 sqrt(f32 x) { return ::sqrtf(x); }
VG_DEVICE f64 sqrt(f64 x) { return ::sqrt(x); }
VG_DEVICE f32 exp(f32 x) { return ::expf(x); }
VG_DEVICE f64 exp(f64 x) { return ::exp(x); }
VG_DEVICE f32 log(f32 x) { return ::logf(x); }
VG_DEVICE f64 log(f64 x) { return ::log(x); }
VG_DEVICE f32 floor(f32 x) { return ::floorf(x); }
VG_DEVICE f64 floor(f64 x) { return ::floor(x); }
VG_DEVICE f32 ceil(f32 x) { return ::ceilf(x); }
VG_DEVICE f64 ceil(f64 x) { return ::ceil(x); }
VG_DEVICE f32 abs(f32 x) { return ::fabsf(x); }
VG_DEVICE f64 abs(f64 x) { return ::fabs(x); }
VG_DEVICE f32 mod(f32 x, f32 y) { return ::fmodf(x, y); }
VG_DEVICE f64 mod(f64 x, f64 y) { return ::fmod(x, y); }
VG_DEVICE f32 pow(f32 x, f32 y) { return ::powf(x, y); }
VG_DEVICE f64 pow(f64 x, f64 y) { return ::pow(x, y); }
VG_DEVICE f32 copysign(f32 x, f32 y) { return ::copysignf(x, y); }
VG_DEVICE f64 copysign(f64 x, f64 y) { return ::copysign(x, y); }
}  // namespace math

template <class T>
VG_DEVICE constexpr bool is_signed() { return Limits<T>::with_sign; }

// Integers wrap.
template <class T>
VG_DEVICE T add(T a, T b) {
  if constexpr (Limits<T>::real) return a + b;
  else return (T)((Bits<T>)a + (Bits<T>)b);
}
template <class T>
VG_DEVICE T sub(T a, T b) {
  if constexpr (Limits<T>::real) return a - b;
  else return (T)((Bits<T>)a - (Bits<T>)b);
}
template <class T>
VG_DEVICE T mul(T a, T b) {
  if constexpr (Limits<T>::real) return a * b;
  else return (T)((Bits<T>)a * (Bits<T>)b);
}
template <>
VG_DEVICE bool add(bool a, bool b) { return a || b; }
template <>
VG_DEVICE bool mul(bool a, bool b) { return a && b; }

// NaN if one of them is.
template <class T>
VG_DEVICE T min(T a, T b) { return (a < b || a != a) ? a : b; }
template <class T>
VG_DEVICE T max(T a, T b) { return (a > b || a != a) ? a : b; }

// Division floors; 0 where an integer is divided by 0.
template <class T>
VG_DEVICE T floor_mod(T a, T b);
template <class T>
VG_DEVICE T floor_div(T a, T b) {
  if constexpr (Limits<T>::real) {
    T rest = math::mod(a, b);
    bool below = rest != 0 && (b < 0) != (rest < 0);
    T near = (a - rest) / b - (below ? 1 : 0);
    if (b == 0) return a / b;
    if (near == 0) return math::copysign((T)0, a / b);
    T whole = math::floor(near);
    return near - whole > (T)0.5 ? whole + 1 : whole;
  } else if constexpr (is_signed<T>()) {
    if (b == 0) return 0;
    if (b == -1) return sub((T)0, a);
    T q = a / b;
    return (a % b != 0 && ((a ^ b) < 0)) ? q - 1 : q;
  } else {
    return b == 0 ? 0 : a / b;
  }
}
template <class T>
VG_DEVICE T floor_mod(T a, T b) {
  if constexpr (Limits<T>::real) {
    T rest = math::mod(a, b);
    if (rest == 0) return math::copysign((T)0, b);
    return (b < 0) != (rest < 0) ? rest + b : rest;
  } else if constexpr (is_signed<T>()) {
    if (b == 0 || b == -1) return 0;
    T rest = a % b;
    return (rest != 0 && ((rest ^ b) < 0)) ? rest + b : rest;
  } else {
    return b == 0 ? 0 : a % b;
  }
}

// Integer powers by squaring; a negative exponent gives the whole part of the fraction.
template <class T>
VG_DEVICE T power(T base, T exponent) {
  if constexpr (Limits<T>::real) {
    return math::pow(base, exponent);
  } else {
    if constexpr (is_signed<T>()) {
      if (exponent < 0) return base == 1 ? 1 : base == -1 ? ((exponent & 1) ? -1 : 1) : 0;
    }
    T result = 1;
    for (auto e = (Bits<T>)exponent; e; e >>= 1) {
      if (e & 1) result = mul(result, base);
      base = mul(base, base);
    }
    return result;
  }
}

// Shifts take the count modulo the width.
template <class T>
VG_DEVICE T shift_left(T a, T b) { return (T)((Bits<T>)a << ((Bits<T>)b & (8 * sizeof(T) - 1))); }
template <class T>
VG_DEVICE T shift_right(T a, T b) { return a >> ((Bits<T>)b & (8 * sizeof(T) - 1)); }

// Bits that are 1, bits below the lowest and above the highest of them; of 0 all bits.
template <class T>
VG_DEVICE T popcount(T a) {
  if constexpr (sizeof(T) == 8) return (T)__popcll((u64)a);
  else return (T)__popc((u32)a);
}
template <class T>
VG_DEVICE T ctz(T a) {
  Bits<T> bits = (Bits<T>)a;
  return (T)popcount(~bits & (bits - 1));
}
template <class T>
VG_DEVICE T clz(T a) {
  if constexpr (sizeof(T) == 8) return (T)__clzll((i64)a);
  else return (T)__clz((i32)a);
}

template <class T>
VG_DEVICE T negate(T a) {
  if constexpr (Limits<T>::real) return -a;
  else return sub((T)0, a);
}
template <class T>
VG_DEVICE T absolute(T a) {
  if constexpr (Limits<T>::real) return math::abs(a);
  else if constexpr (is_signed<T>()) return a < 0 ? sub((T)0, a) : a;
  else return a;
}

// Floats truncate toward zero and saturate, NaN gives 0; integers wrap; to bool is `!= 0`.
template <class R, class T>
VG_DEVICE R to(T value) {
  if constexpr (sizeof(R) == 1) {
    return value != (T)0;
  } else if constexpr (Limits<T>::real && !Limits<R>::real) {
    if (value != value) return 0;
    const T above = (T)(Limits<R>::most() / 2 + 1) * 2;  // exact: a power of two
    if (value >= above) return Limits<R>::most();
    if (value <= (T)Limits<R>::least()) return Limits<R>::least();
    return (R)value;
  } else {
    return (R)value;
  }
}

template <class T>
VG_DEVICE bool is_nan(T a) { return a != a; }
template <class T>
VG_DEVICE bool is_inf(T a) {
  if constexpr (Limits<T>::real) return a == Limits<T>::most() || a == Limits<T>::least();
  else return false;
}

// How many numbers a range has.
VG_DEVICE i64 rounds(i64 start, i64 stop, i64 step) {
  if (step > 0) return start < stop ? (i64)(((u64)stop - (u64)start - 1) / (u64)step + 1) : 0;
  if (step < 0) return start > stop ? (i64)(((u64)start - (u64)stop - 1) / (0 - (u64)step) + 1) : 0;
  return 0;
}

// --- reductions: what is combined, whether it changed anything ----------------------------

struct Sum {
  static constexpr bool monotone = false;
  template <class T>
  static VG_DEVICE T apply(T a, T b) { return add(a, b); }
};
struct Product {
  static constexpr bool monotone = false;
  template <class T>
  static VG_DEVICE T apply(T a, T b) { return mul(a, b); }
};
struct Min {
  static constexpr bool monotone = true;
  template <class T>
  static VG_DEVICE T apply(T a, T b) { return min(a, b); }
  template <class T>  // a NaN in memory stays, a NaN that comes is put there
  static VG_DEVICE bool better(T value, T old) { return !(value >= old) && old == old; }
};
struct Max {
  static constexpr bool monotone = true;
  template <class T>
  static VG_DEVICE T apply(T a, T b) { return max(a, b); }
  template <class T>
  static VG_DEVICE bool better(T value, T old) { return !(value <= old) && old == old; }
};
struct Or {
  static constexpr bool monotone = true;
  template <class T>
  static VG_DEVICE T apply(T a, T b) { return (T)(a | b); }
  template <class T>
  static VG_DEVICE bool better(T value, T old) { return (T)(old | value) != old; }
};
struct And {
  static constexpr bool monotone = true;
  template <class T>
  static VG_DEVICE T apply(T a, T b) { return (T)(a & b); }
  template <class T>
  static VG_DEVICE bool better(T value, T old) { return (T)(old & value) != old; }
};

template <class Op, class T>
VG_DEVICE T combine(T a, T b) { return Op::apply(a, b); }
template <class Op, class T, int N>
VG_DEVICE Vec<T, N> combine(Vec<T, N> a, Vec<T, N> b) {
  for (int k = 0; k < N; ++k) a.x[k] = Op::apply(a.x[k], b.x[k]);
  return a;
}

}  // namespace vg

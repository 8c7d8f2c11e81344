// Bits, numbers and vectors of CUDA C++: part of emulation.hpp. No header of the C library is read, which keeps the
// compilation of a kernel short.
#pragma once

EMU_INLINE int __popc(unsigned x) { return __builtin_popcount(x); }
EMU_INLINE int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
EMU_INLINE int __ffs(int x) { return __builtin_ffs(x); }
EMU_INLINE int __ffsll(long long x) { return __builtin_ffsll(x); }
EMU_INLINE int __clz(int x) { return x ? __builtin_clz(x) : 32; }
EMU_INLINE int __clzll(long long x) { return x ? __builtin_clzll(x) : 64; }
inline unsigned __brev(unsigned x) {
    unsigned reversed = 0;
    for (int i = 0; i < 32; ++i) reversed |= (x >> i & 1u) << (31 - i);
    return reversed;
}
EMU_INLINE unsigned long long __brevll(unsigned long long x) {
    return (unsigned long long)__brev(x) << 32 | __brev(x >> 32);
}
EMU_INLINE unsigned __umulhi(unsigned a, unsigned b) { return (unsigned long long)a * b >> 32; }
EMU_INLINE unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
    return (unsigned __int128)a * b >> 64;
}

EMU_INLINE int __float_as_int(float x) { return emu::cast<int>(x); }
EMU_INLINE unsigned __float_as_uint(float x) { return emu::cast<unsigned>(x); }
EMU_INLINE float __int_as_float(int x) { return emu::cast<float>(x); }
EMU_INLINE float __uint_as_float(unsigned x) { return emu::cast<float>(x); }
EMU_INLINE long long __double_as_longlong(double x) { return emu::cast<long long>(x); }
EMU_INLINE double __longlong_as_double(long long x) { return emu::cast<double>(x); }

// Loads and stores with hints: plain accesses.
#define EMU_HINT(load) template <class T> EMU_INLINE T load(const T *address) { return *address; }
EMU_HINT(__ldg)
EMU_HINT(__ldca)
EMU_HINT(__ldcg)
EMU_HINT(__ldcs)
EMU_HINT(__ldlu)
EMU_HINT(__ldcv)
#undef EMU_HINT
#define EMU_HINT(store) template <class T> EMU_INLINE void store(T *address, T value) { *address = value; }
EMU_HINT(__stwb)
EMU_HINT(__stcg)
EMU_HINT(__stcs)
EMU_HINT(__stwt)
#undef EMU_HINT

#define EMU_MATH1(name)                                                                                             \
    extern "C" double name(double) noexcept;                                                                        \
    extern "C" float name##f(float) noexcept;                                                                       \
    EMU_INLINE float name(float x) { return __builtin_##name##f(x); }
#define EMU_MATH2(name)                                                                                             \
    extern "C" double name(double, double) noexcept;                                                                \
    extern "C" float name##f(float, float) noexcept;                                                                \
    EMU_INLINE float name(float x, float y) { return __builtin_##name##f(x, y); }
EMU_MATH1(sqrt)
EMU_MATH1(cbrt)
EMU_MATH1(exp)
EMU_MATH1(exp2)
EMU_MATH1(expm1)
EMU_MATH1(log)
EMU_MATH1(log2)
EMU_MATH1(log10)
EMU_MATH1(log1p)
EMU_MATH1(sin)
EMU_MATH1(cos)
EMU_MATH1(tan)
EMU_MATH1(asin)
EMU_MATH1(acos)
EMU_MATH1(atan)
EMU_MATH1(sinh)
EMU_MATH1(cosh)
EMU_MATH1(tanh)
EMU_MATH1(asinh)
EMU_MATH1(acosh)
EMU_MATH1(atanh)
EMU_MATH1(erf)
EMU_MATH1(erfc)
EMU_MATH1(tgamma)
EMU_MATH1(lgamma)
EMU_MATH1(floor)
EMU_MATH1(ceil)
EMU_MATH1(trunc)
EMU_MATH1(round)
EMU_MATH1(rint)
EMU_MATH1(nearbyint)
EMU_MATH1(fabs)
EMU_MATH2(pow)
EMU_MATH2(atan2)
EMU_MATH2(fmod)
EMU_MATH2(remainder)
EMU_MATH2(hypot)
EMU_MATH2(copysign)
EMU_MATH2(nextafter)
EMU_MATH2(fmin)
EMU_MATH2(fmax)
EMU_MATH2(fdim)
#undef EMU_MATH1
#undef EMU_MATH2
extern "C" double fma(double, double, double) noexcept;
extern "C" float fmaf(float, float, float) noexcept;
EMU_INLINE float fma(float x, float y, float z) { return __builtin_fmaf(x, y, z); }
EMU_INLINE double rsqrt(double x) { return 1.0 / __builtin_sqrt(x); }
EMU_INLINE float rsqrtf(float x) { return 1.0f / __builtin_sqrtf(x); }
EMU_INLINE float rsqrt(float x) { return rsqrtf(x); }
EMU_INLINE float __fdividef(float x, float y) { return x / y; }
EMU_INLINE float __expf(float x) { return __builtin_expf(x); }
EMU_INLINE float __logf(float x) { return __builtin_logf(x); }
EMU_INLINE float __powf(float x, float y) { return __builtin_powf(x, y); }

extern "C" int abs(int) noexcept;
extern "C" long labs(long) noexcept;
extern "C" long long llabs(long long) noexcept;
EMU_INLINE long abs(long x) { return x < 0 ? -x : x; }
EMU_INLINE long long abs(long long x) { return x < 0 ? -x : x; }
EMU_INLINE float abs(float x) { return __builtin_fabsf(x); }
EMU_INLINE double abs(double x) { return __builtin_fabs(x); }

#define EMU_CLASSIFY(T)                                                                                             \
    EMU_INLINE bool isnan(T x) { return __builtin_isnan(x); }                                                       \
    EMU_INLINE bool isinf(T x) { return __builtin_isinf(x); }                                                       \
    EMU_INLINE bool isfinite(T x) { return __builtin_isfinite(x); }                                                 \
    EMU_INLINE bool signbit(T x) { return __builtin_signbit(x); }
EMU_CLASSIFY(float)
EMU_CLASSIFY(double)
#undef EMU_CLASSIFY

#define EMU_MINMAX(R, A, B)                                                                                         \
    EMU_INLINE R min(A a, B b) { return (R)a < (R)b ? (R)a : (R)b; }                                                \
    EMU_INLINE R max(A a, B b) { return (R)a < (R)b ? (R)b : (R)a; }
#define EMU_MINMAXES(S, U)                                                                                          \
    EMU_MINMAX(S, S, S)                                                                                             \
    EMU_MINMAX(U, U, U)                                                                                             \
    EMU_MINMAX(U, S, U)                                                                                             \
    EMU_MINMAX(U, U, S)
EMU_MINMAXES(int, unsigned)
EMU_MINMAXES(long, unsigned long)
EMU_MINMAXES(long long, unsigned long long)
#undef EMU_MINMAX
#undef EMU_MINMAXES
EMU_INLINE float min(float a, float b) { return __builtin_fminf(a, b); }
EMU_INLINE float max(float a, float b) { return __builtin_fmaxf(a, b); }
EMU_INLINE double min(double a, double b) { return __builtin_fmin(a, b); }
EMU_INLINE double max(double a, double b) { return __builtin_fmax(a, b); }
EMU_INLINE double min(float a, double b) { return __builtin_fmin(a, b); }
EMU_INLINE double max(float a, double b) { return __builtin_fmax(a, b); }
EMU_INLINE double min(double a, float b) { return __builtin_fmin(a, b); }
EMU_INLINE double max(double a, float b) { return __builtin_fmax(a, b); }

#define EMU_VECTOR(T, name)                                                                                         \
    struct __attribute__((aligned(2 * sizeof(T)))) name##2 { T x, y; };                                             \
    struct __attribute__((aligned(sizeof(T) < 8 ? 4 * sizeof(T) : 16))) name##4 { T x, y, z, w; };                  \
    EMU_INLINE name##2 make_##name##2(T x, T y) { return {x, y}; }                                                  \
    EMU_INLINE name##4 make_##name##4(T x, T y, T z, T w) { return {x, y, z, w}; }
EMU_VECTOR(int, int)
EMU_VECTOR(unsigned, uint)
EMU_VECTOR(float, float)
EMU_VECTOR(double, double)
EMU_VECTOR(long long, longlong)
EMU_VECTOR(unsigned long long, ulonglong)
#undef EMU_VECTOR

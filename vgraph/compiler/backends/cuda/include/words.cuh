// Several scalars packed into one unsigned integer, ordered as they are: the first stands in the highest bits.
#pragma once

namespace vg {

// The bits of a scalar, larger the larger it is: NaN above infinity, -0.0 below 0.0.
template <class T>
VG_DEVICE Bits<T> ordered(T value) {
  using B = Bits<T>;
  constexpr B SIGN = (B)((B)1 << (8 * sizeof(T) - 1));
  B bits = bit_cast<B>(value);
  if constexpr (Limits<T>::real) {
    if (value != value) bits = (B)(bit_cast<B>(infinity(T())) | (B)1 << (sizeof(T) == 4 ? 22 : 51));
    return bits & SIGN ? (B)~bits : (B)(bits | SIGN);
  } else {
    return sizeof(T) > 1 && Limits<T>::with_sign ? (B)(bits ^ SIGN) : bits;
  }
}

template <class T>
VG_DEVICE T in_order(Bits<T> found) {
  using B = Bits<T>;
  constexpr B SIGN = (B)((B)1 << (8 * sizeof(T) - 1));
  if constexpr (Limits<T>::real) return bit_cast<T>(found & SIGN ? (B)(found ^ SIGN) : (B)~found);
  else return bit_cast<T>(sizeof(T) > 1 && Limits<T>::with_sign ? (B)(found ^ SIGN) : found);
}

template <int K, class... T>
struct Nth;
template <class F, class... T>
struct Nth<0, F, T...> {
  using type = F;
  static constexpr int below = (0 + ... + (int)(8 * sizeof(T)));
};
template <int K, class F, class... T>
struct Nth<K, F, T...> : Nth<K - 1, T...> {};

template <bool NARROW>
struct WordOf { using type = u64; };
template <>
struct WordOf<false> { using type = u128; };

template <class... T>
struct Pack {
  using Word = typename WordOf<(0 + ... + sizeof(T)) <= 8>::type;

  static VG_DEVICE Word of(T... values) {
    Word word = 0;
    ((word = (Word)(word << (8 * sizeof(T))) | (Word)ordered(values)), ...);
    return word;
  }
  template <int K>
  static VG_DEVICE auto field(Word word) {
    using F = typename Nth<K, T...>::type;
    return in_order<F>((Bits<F>)(word >> Nth<K, T...>::below));
  }
};

}  // namespace vg

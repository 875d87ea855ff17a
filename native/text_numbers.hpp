// Numbers in text: exactly the doubles that Python's float makes of the same digits.
//
// All text handed to these functions ends with a newline, which belongs to no number: it is the
// sentinel that stops every loop, so that none of them looks for the end of the text.
#pragma once
#include <cfloat>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <locale.h>
#include <string>
#if defined(__APPLE__)
#include <xlocale.h>
#endif

namespace graphkm {

inline bool is_digit(char c) { return static_cast<unsigned char>(c - '0') < 10; }
inline char lower(char c) { return c >= 'A' && c <= 'Z' ? char(c + ('a' - 'A')) : c; }

// Moves p over a word, whatever its case, if it comes next.
inline bool skip_word(const char*& p, const char* word) {
  const char* q = p;
  for (; *word; ++word, ++q)
    if (lower(*q) != *word) return false;
  p = q;
  return true;
}

// strtod as in the C locale, where the decimal point is no comma, whichever locale the program has
// set. It rounds any number of digits correctly.
inline double strtod_in_c(const std::string& digits) {
#if defined(_WIN32)
  static const _locale_t c_locale = _create_locale(LC_ALL, "C");
  return _strtod_l(digits.c_str(), nullptr, c_locale);
#else
  static const locale_t c_locale = newlocale(LC_ALL_MASK, "C", nullptr);
  return strtod_l(digits.c_str(), nullptr, c_locale);
#endif
}

// The digits of [begin, end), already known to be a number without a sign.
inline double convert_digits(const char* begin, const char* end) {
#if defined(__cpp_lib_to_chars) && __cpp_lib_to_chars >= 201611L && !defined(GRAPHKM_STRTOD)
  double value = 0.0;
  // It leaves the value alone if the digits overflow or underflow; strtod tells which.
  if (std::from_chars(begin, end, value).ec == std::errc()) return value;
#endif
  return strtod_in_c({begin, end});
}

// Reads [+-] digits [. digits] [e [+-] digits], inf, infinity or nan, and moves p behind it.
inline bool read_number(const char*& p, double& value) {
  static constexpr double power[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                     1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                     1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
  const char* q = p;
  const bool negative = *q == '-';
  if (*q == '-' || *q == '+') ++q;
  const char* begin = q;
  std::uint64_t mantissa = 0;
  while (is_digit(*q)) mantissa = 10 * mantissa + std::uint64_t(*q++ - '0');
  std::int64_t n_digits = q - begin, exponent = 0;
  if (*q == '.') {
    const char* point = q++;
    while (is_digit(*q)) mantissa = 10 * mantissa + std::uint64_t(*q++ - '0');
    exponent = point + 1 - q;
    n_digits -= exponent;
  }
  if (n_digits == 0) {
    q = begin;
    if (skip_word(q, "nan")) {
      value = std::numeric_limits<double>::quiet_NaN();
    } else if (skip_word(q, "inf")) {
      skip_word(q, "inity");
      value = std::numeric_limits<double>::infinity();
    } else {
      return false;
    }
  } else {
    if (*q == 'e' || *q == 'E') {
      const char* r = q + 1;
      const bool minus = *r == '-';
      if (*r == '-' || *r == '+') ++r;
      if (!is_digit(*r)) return false;
      std::int64_t written = 0;
      for (; is_digit(*r); ++r) written = written < 100000 ? 10 * written + (*r - '0') : written;
      exponent += minus ? -written : written;
      q = r;
    }
    // Clinger's fast path: both factors are exact doubles, so there is one rounding only.
    // Nineteen digits cannot have overflown the mantissa.
    const bool exact = n_digits <= 19 && mantissa <= (std::uint64_t(1) << 53) &&
                       exponent >= -22 && exponent <= 22 && FLT_EVAL_METHOD == 0;
    if (!exact)
      value = convert_digits(begin, q);
    else if (exponent < 0)
      value = double(mantissa) / power[-exponent];
    else
      value = double(mantissa) * power[exponent];
  }
  if (negative) value = -value;
  p = q;
  return true;
}

}  // namespace graphkm

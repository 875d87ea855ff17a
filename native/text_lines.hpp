// What the parsers of text share: where they are, what is wrong with a line, and the loop over
// lines, which ends at the end of the text or behind the first bad line.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "text_numbers.hpp"

namespace graphkm {

// The order is that of the messages in src/graphkm/io/text.py.
enum class Complaint : int {
  none,
  label_is_no_number,
  label_is_infinite,
  no_colon,
  index_is_no_number,
  index_is_too_large,
  index_is_zero,
  index_beyond_features,
  index_does_not_increase,
  value_is_no_number,
  value_is_not_finite,
  query_is_no_number,
  wrong_number_of_fields,
  value_is_missing,
  bad_quotes,
};

struct Progress {
  std::size_t offset;  // of the first line that was not looked at
  std::size_t n_lines;  // looked at in this call, blank and bad ones included
  std::size_t row;      // rows in the arrays
  Complaint complaint;
  std::size_t begin, end;  // what the complaint is about
};

struct Verdict {
  Complaint complaint;
  const char *begin, *end;
  bool is_row;  // and not blank
};

inline bool is_space(char c) {
  return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f';
}

inline std::size_t complete_lines(const char* text, std::size_t size) {
  while (size > 0 && text[size - 1] != '\n') --size;
  return size;
}

// `read(p, row)` reads the line at p into a row; whatever it moved p to, lines end at newlines.
template <class Read>
Progress read_lines(const char* text, std::size_t size, std::size_t offset, std::size_t row,
                    Read&& read) {
  const std::size_t limit = complete_lines(text, size);
  std::size_t n_lines = 0;
  while (offset < limit) {
    const char* p = text + offset;
    const Verdict verdict = read(p, row);
    const void* newline = std::memchr(p, '\n', std::size_t(text + limit - p));
    offset = std::size_t(static_cast<const char*>(newline) - text) + 1;
    ++n_lines;
    if (verdict.complaint != Complaint::none)
      return {offset, n_lines, row, verdict.complaint, std::size_t(verdict.begin - text),
              std::size_t(verdict.end - text)};
    row += verdict.is_row;
  }
  return {offset, n_lines, row, Complaint::none, 0, 0};
}

}  // namespace graphkm

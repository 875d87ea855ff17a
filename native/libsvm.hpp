// One line of LIBSVM's format: label [qid:number] index:value ... [# comment]. Dropped features are
// skipped, whatever their values look like; those behind them move up.
#pragma once
#include <limits>
#include <stdexcept>

#include "text_lines.hpp"

namespace graphkm {

struct LibsvmRows {
  double* labels;
  std::int32_t* indptr;  // one longer than labels; starts with 0
  std::int32_t* indices;
  double* values;
  std::size_t row_capacity, value_capacity;
};

struct LibsvmLine {
  const LibsvmRows& rows;
  std::int64_t first, last;  // the index of the first feature, and of the last one
  const std::int32_t* dropped;  // indices of features to skip; they increase
  std::size_t n_dropped;

  static bool ends(char c) { return c == '\n' || c == '#' || is_space(c); }

  static Verdict wrong(Complaint complaint, const char* begin) {
    const char* end = begin;
    while (!ends(*end)) ++end;
    return {complaint, begin, end, false};
  }

  Complaint label(const char*& p, double& value) const {
    if (*p == '?') {
      ++p;
      value = std::numeric_limits<double>::quiet_NaN();
    } else if (!read_number(p, value)) {
      return Complaint::label_is_no_number;
    }
    if (!ends(*p)) return Complaint::label_is_no_number;
    return std::isinf(value) ? Complaint::label_is_infinite : Complaint::none;
  }

  Complaint query(const char* p) const {
    p += 4;
    if (*p == '-') ++p;
    if (!is_digit(*p)) return Complaint::query_is_no_number;
    while (is_digit(*p)) ++p;
    return ends(*p) ? Complaint::none : Complaint::query_is_no_number;
  }

  // Reads an index and its colon.
  Complaint next_index(const char*& p, std::int64_t& index) const {
    const char* begin = p;
    const std::int64_t previous = index;
    for (index = 0; is_digit(*p); ++p)
      if (index <= std::numeric_limits<std::int32_t>::max()) index = 10 * index + (*p - '0');
    if (*p != ':') {
      while (!ends(*p) && *p != ':') ++p;
      return *p == ':' ? Complaint::index_is_no_number : Complaint::no_colon;
    }
    if (p == begin) return Complaint::index_is_no_number;
    if (index > std::numeric_limits<std::int32_t>::max()) return Complaint::index_is_too_large;
    if (index < first) return Complaint::index_is_zero;
    if (index > last) return Complaint::index_beyond_features;
    if (index <= previous) return Complaint::index_does_not_increase;
    ++p;
    return Complaint::none;
  }

  Complaint next_value(const char*& p, double& value) const {
    if (!read_number(p, value) || !ends(*p)) return Complaint::value_is_no_number;
    return std::isfinite(value) ? Complaint::none : Complaint::value_is_not_finite;
  }

  Verdict operator()(const char*& p, std::size_t row) const {
    while (is_space(*p)) ++p;
    if (ends(*p)) return {Complaint::none, p, p, false};
    if (row >= rows.row_capacity) throw std::invalid_argument("there are more rows than room");
    const char* begin = p;
    Complaint complaint = label(p, rows.labels[row]);
    std::size_t n = std::size_t(rows.indptr[row]);
    std::size_t n_below = 0;  // dropped features below the present one
    std::int64_t index = -1;
    for (bool at_start = true; complaint == Complaint::none; at_start = false) {
      while (is_space(*p)) ++p;
      if (*p == '\n' || *p == '#') break;
      begin = p;
      if (at_start && *p == 'q' && p[1] == 'i' && p[2] == 'd' && p[3] == ':') {
        complaint = query(p);
        while (!ends(*p)) ++p;
        continue;
      }
      complaint = next_index(p, index);
      if (complaint != Complaint::none) break;
      while (n_below < n_dropped && dropped[n_below] < index) ++n_below;
      if (n_below < n_dropped && dropped[n_below] == index) {
        while (!ends(*p)) ++p;
        continue;
      }
      double value = 0.0;
      complaint = next_value(p, value);
      if (complaint != Complaint::none) break;
      if (n >= rows.value_capacity) throw std::invalid_argument("there are more values than room");
      rows.indices[n] = std::int32_t(index - first - std::int64_t(n_below));
      rows.values[n++] = value;
    }
    if (complaint != Complaint::none) return wrong(complaint, begin);
    rows.indptr[row + 1] = std::int32_t(n);
    return {Complaint::none, p, p, true};
  }
};

}  // namespace graphkm

// One line of comma-separated fields: numbers, a label that is a number, a word or nothing, and
// fields to skip. Quotes may surround a field; a field never extends over several lines:
// io/records.py writes newlines inside quotes as another byte.
#pragma once
#include <limits>
#include <stdexcept>
#include <string_view>
#include <vector>

#include "text_lines.hpp"

namespace graphkm {

enum LabelKind : std::uint8_t { number_label, missing_label, text_label };

// Where the value of a column goes: to this feature, or to none of them.
enum Place : std::int32_t { label_place = -2, skipped = -1 };

struct CsvRows {
  double* values;         // row_capacity x n_features
  double* labels;         // NaN unless a number
  std::uint8_t* kinds;    // what the label is
  std::int64_t* spans;    // where its text begins and ends, without quotes
  std::size_t row_capacity, n_features;
};

struct Field {
  const char *begin, *end;  // without quotes and the spaces around
  bool ok;
};

struct CsvLine {
  const CsvRows& rows;
  const char* text;
  const std::int32_t* places;  // of every column
  std::int64_t n_columns;
  char delimiter;
  const std::vector<std::string_view>& markers;  // stand for a missing label, as "?" and nothing do
  bool text_labels;  // whether labels may be words

  bool is_blank(char c) const { return is_space(c) && c != delimiter; }
  bool ends(char c) const { return c == delimiter || c == '\n'; }

  Field next_field(const char*& p) const {
    while (is_blank(*p)) ++p;
    const char* begin = p;
    if (*p == '"') {
      bool closed = false;
      for (++begin, ++p; *p != '\n' && !closed; ++p) {
        const bool doubled = *p == '"' && p[1] == '"';  // stands for one quote
        closed = *p == '"' && !doubled;
        p += doubled;
      }
      const char* end = p - closed;
      while (is_blank(*p)) ++p;
      return {begin, end, closed && ends(*p)};
    }
    while (!ends(*p)) ++p;
    const char* end = p;
    while (end > begin && is_blank(end[-1])) --end;
    return {begin, end, true};
  }

  // A field to skip may be any text whose quotes close on its line.
  Complaint skip(const char*& p, Field& field) const {
    field = next_field(p);
    if (!field.ok && *p == '\n') return Complaint::bad_quotes;
    while (!ends(*p)) ++p;
    return Complaint::none;
  }

  Complaint label(const char*& p, Field& field, std::size_t row) const {
    field = next_field(p);
    if (!field.ok) return Complaint::bad_quotes;
    const std::size_t size = std::size_t(field.end - field.begin);
    double value = std::numeric_limits<double>::quiet_NaN();
    bool marked = false;
    for (const std::string_view marker : markers)
      marked = marked || marker == std::string_view(field.begin, size);
    const char* q = field.begin;
    LabelKind kind = text_label;
    if (marked || size == 0 || (size == 1 && *q == '?'))
      kind = missing_label;
    else if (read_number(q, value) && q == field.end)
      kind = std::isnan(value) ? missing_label : number_label;
    else
      value = std::numeric_limits<double>::quiet_NaN();
    if (!text_labels && kind == text_label) return Complaint::label_is_no_number;
    if (!text_labels && std::isinf(value)) return Complaint::label_is_infinite;
    rows.labels[row] = value;
    rows.kinds[row] = kind;
    rows.spans[2 * row] = field.begin - text;
    rows.spans[2 * row + 1] = field.end - text;
    return Complaint::none;
  }

  // Most fields are plain numbers, read without looking for their end first.
  Complaint value(const char*& p, double& out, Field& field) const {
    while (is_blank(*p)) ++p;
    const char* begin = p;
    if (read_number(p, out)) {
      const char* end = p;
      while (is_blank(*p)) ++p;
      field = {begin, end, true};
      if (ends(*p)) return std::isfinite(out) ? Complaint::none : Complaint::value_is_not_finite;
    }
    p = begin;
    field = next_field(p);
    if (!field.ok) return Complaint::bad_quotes;
    if (field.begin == field.end || (field.end == field.begin + 1 && *field.begin == '?'))
      return Complaint::value_is_missing;
    const char* q = field.begin;
    if (!read_number(q, out) || q != field.end) return Complaint::value_is_no_number;
    return std::isfinite(out) ? Complaint::none : Complaint::value_is_not_finite;
  }

  Verdict wrong_width(const char* line) const {
    const char* end = line;
    while (*end != '\n') ++end;
    return {Complaint::wrong_number_of_fields, line, end, false};
  }

  Verdict operator()(const char*& p, std::size_t row) const {
    const char* line = p;
    while (is_blank(*p)) ++p;
    if (*p == '\n') return {Complaint::none, p, p, false};
    if (row >= rows.row_capacity) throw std::invalid_argument("there are more rows than room");
    double* out = rows.values + row * rows.n_features;
    rows.labels[row] = std::numeric_limits<double>::quiet_NaN();
    rows.kinds[row] = missing_label;  // unless a column holds the label
    Verdict first_wrong{Complaint::none, p, p, true};
    for (std::int64_t column = 0; column < n_columns; ++column) {
      Field field{};
      const std::int32_t place = places[column];
      const Complaint complaint = place == skipped       ? skip(p, field)
                                  : place == label_place ? label(p, field, row)
                                                         : value(p, out[place], field);
      if (complaint != Complaint::none && first_wrong.complaint == Complaint::none)
        first_wrong = {complaint, field.begin, field.end, false};
      if (complaint == Complaint::bad_quotes) return first_wrong;
      // A line that is too short or too long is reported rather than one of its fields.
      if ((column + 1 < n_columns) != (*p == delimiter)) return wrong_width(line);
      p += column + 1 < n_columns;
    }
    return first_wrong;
  }
};

}  // namespace graphkm

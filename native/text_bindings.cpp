// What Python sees of the parsers of text: functions that fill arrays from the complete lines of a
// block, and say where they stopped and why. Python allocates, words the errors and goes on.
#include <nanobind/stl/tuple.h>

#include <string_view>
#include <tuple>
#include <vector>

#include "arguments.hpp"
#include "csv.hpp"
#include "libsvm.hpp"

namespace graphkm {
namespace {

using Answer = std::tuple<std::size_t, std::size_t, std::size_t, int, std::size_t, std::size_t>;

template <class Line>
Answer parsed(const nb::bytes& text, std::size_t offset, std::size_t row, const Line& line) {
  const char* data = text.c_str();
  const std::size_t size = text.size();
  const nb::gil_scoped_release release;
  const Progress done = read_lines(data, size, offset, row, line);
  return {done.offset, done.n_lines, done.row, int(done.complaint), done.begin, done.end};
}

// Positions and numbers of values are 32-bit integers.
void require_place(const nb::bytes& text, std::size_t offset, std::size_t row,
                   std::size_t row_capacity) {
  require(text.size() < std::size_t(1) << 31, "the text is longer than 32-bit integers count");
  require(offset <= text.size(), "the offset lies behind the text");
  require(row <= row_capacity, "the row lies behind the arrays");
}

Answer parse_libsvm(nb::bytes text, std::size_t offset, std::size_t row, Out<double, 1> labels,
                    Out<std::int32_t, 1> indptr, Out<std::int32_t, 1> indices,
                    Out<double, 1> values, std::int64_t first, std::int64_t last,
                    In<std::int32_t, 1> dropped) {
  require_place(text, offset, row, labels.shape(0));
  require_shape(indptr, "indptr", {labels.shape(0) + 1});
  require_shape(indices, "indices", {values.shape(0)});
  require(first == 0 || first == 1, "columns are counted from 0 or from 1");
  require(indptr(row) >= 0 && std::size_t(indptr(row)) <= values.shape(0),
          "indptr points behind the values");
  for (std::size_t k = 0; k < dropped.shape(0); ++k)
    require(dropped(k) >= first && (k == 0 || dropped(k) > dropped(k - 1)),
            "indices of dropped features must increase, and none lies before the first feature");
  const LibsvmRows rows{labels.data(), indptr.data(),   indices.data(),
                        values.data(), labels.shape(0), values.shape(0)};
  return parsed(text, offset, row, LibsvmLine{rows, first, last, dropped.data(), dropped.shape(0)});
}

// Words of a text in which each ends with a newline.
std::vector<std::string_view> words(const nb::bytes& text) {
  const std::string_view whole(text.c_str(), text.size());
  std::vector<std::string_view> found;
  for (std::size_t begin = 0; begin < whole.size();) {
    const std::size_t end = whole.find('\n', begin);
    require(end != std::string_view::npos, "a marker does not end with a newline");
    found.push_back(whole.substr(begin, end - begin));
    begin = end + 1;
  }
  return found;
}

// Every feature has one column, the label at most one; other columns are skipped.
void require_places(In<std::int32_t, 1> places, std::size_t n_features) {
  require(n_features >= 1, "there are no features");
  std::vector<int> columns(n_features, 0);
  std::size_t n_labels = 0;
  for (std::size_t column = 0; column < places.shape(0); ++column) {
    const std::int32_t place = places(column);
    require(place >= label_place && place < std::int64_t(n_features),
            "a column has no place among the features");
    n_labels += place == label_place;
    if (place >= 0) ++columns[std::size_t(place)];
  }
  require(n_labels <= 1, "there are several label columns");
  for (const int count : columns) require(count == 1, "a feature must have exactly one column");
}

Answer parse_csv(nb::bytes text, std::size_t offset, std::size_t row, Out<double, 2> values,
                 Out<double, 1> labels, Out<std::uint8_t, 1> kinds, Out<std::int64_t, 2> spans,
                 In<std::int32_t, 1> places, nb::bytes delimiter, nb::bytes markers,
                 bool text_labels) {
  const std::size_t capacity = values.shape(0), n_features = values.shape(1);
  require_place(text, offset, row, capacity);
  require_shape(labels, "labels", {capacity});
  require_shape(kinds, "kinds", {capacity});
  require_shape(spans, "spans", {capacity, 2});
  require_places(places, n_features);
  require(delimiter.size() == 1, "the delimiter must be one byte");
  const char separator = delimiter.c_str()[0];
  require(separator == ',' || separator == ';' || separator == '\t' || separator == ' ' ||
              separator == '|',
          "the delimiter is none of comma, semicolon, tab, space and bar");
  const CsvRows rows{values.data(), labels.data(), kinds.data(),
                     spans.data(),  capacity,      n_features};
  const std::vector<std::string_view> marks = words(markers);
  const CsvLine line{rows,      text.c_str(), places.data(), std::int64_t(places.shape(0)),
                     separator, marks,        text_labels};
  return parsed(text, offset, row, line);
}

}  // namespace

void bind_text(nb::module_& m) {
  m.def("parse_libsvm", &parse_libsvm, nb::arg("text"), nb::arg("offset"), nb::arg("row"),
        nb::arg("labels").noconvert(), nb::arg("indptr").noconvert(),
        nb::arg("indices").noconvert(), nb::arg("values").noconvert(), nb::arg("first"),
        nb::arg("last"), nb::arg("dropped").noconvert());
  m.def("parse_csv", &parse_csv, nb::arg("text"), nb::arg("offset"), nb::arg("row"),
        nb::arg("values").noconvert(), nb::arg("labels").noconvert(),
        nb::arg("kinds").noconvert(), nb::arg("spans").noconvert(), nb::arg("places").noconvert(),
        nb::arg("delimiter"), nb::arg("markers"), nb::arg("text_labels"));
}

}  // namespace graphkm

#include "engine/csv.h"

#include <fmt/format.h>

#include "base/split.h"

namespace capstan::engine {

Result<Csv> Csv::parse(std::string_view text, std::string file) {
  Csv csv;
  csv.file_ = std::move(file);
  std::uint32_t number = 0;
  while (!text.empty()) {
    ++number;
    const std::size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.empty()) continue;
    const std::size_t bad = line.find_first_of(std::string_view("\0\"", 2));
    if (bad != std::string_view::npos) {
      return std::unexpected(
          Error{.file = csv.file_,
                .line = number,
                .column = static_cast<std::uint32_t>(bad + 1),
                .message = "found a quote or a NUL byte, expected plain fields separated by commas"});
    }
    std::vector<std::string_view> fields = split(line, ',');
    if (csv.columns_.empty()) {
      csv.columns_ = std::move(fields);
      continue;
    }
    if (fields.size() != csv.columns_.size()) {
      return std::unexpected(Error{.file = csv.file_,
                                   .line = number,
                                   .message = fmt::format("the row has {} fields, expected {} as in the header",
                                                          fields.size(), csv.columns_.size())});
    }
    csv.fields_.insert(csv.fields_.end(), fields.begin(), fields.end());
    csv.lines_.push_back(number);
  }
  if (csv.columns_.empty()) {
    return std::unexpected(Error{.file = csv.file_, .line = 1, .message = "the file is empty, expected a header line"});
  }
  return csv;
}

Result<std::size_t> Csv::column(std::string_view name) const {
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    if (columns_[i] == name) return i;
  }
  return std::unexpected(
      Error{.file = file_, .line = 1, .message = fmt::format("the header has no column '{}'", name)});
}

Error Csv::error_at(std::size_t row, std::size_t column, std::string message) const {
  const char* line_start = fields_[row * columns_.size()].data();
  const auto offset = static_cast<std::uint32_t>(field(row, column).data() - line_start);
  return {.file = file_, .line = lines_[row], .column = offset + 1, .message = std::move(message)};
}

Result<std::int64_t> Csv::scaled(std::size_t row, std::size_t column, int decimals) const {
  constexpr std::int64_t kLimit = 900'000'000'000'000'000;
  const std::string_view text = field(row, column);
  std::int64_t value = 0;
  int digits = 0;
  int fraction = -1;  // digits after the point; -1 before it
  bool round_up = false;
  bool is_valid = true;
  for (const char c : text) {
    if (c == '.' && fraction < 0) {
      fraction = 0;
      continue;
    }
    if (c < '0' || c > '9') {
      is_valid = false;
      break;
    }
    ++digits;
    if (fraction >= 0 && fraction++ >= decimals) {
      if (fraction == decimals + 1) round_up = c >= '5';
      continue;
    }
    is_valid = value < kLimit / 10;
    if (!is_valid) break;
    value = value * 10 + (c - '0');
  }
  for (int i = std::max(fraction, 0); is_valid && i < decimals; ++i) {
    is_valid = value < kLimit / 10;
    if (is_valid) value *= 10;
  }
  if (!is_valid || digits == 0) {
    return std::unexpected(
        error_at(row, column, fmt::format("{} is '{}', expected a number >= 0", columns_[column], text.substr(0, 40))));
  }
  return value + (round_up ? 1 : 0);
}

}  // namespace capstan::engine

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>
#include <vector>

#include "workload/scan.h"
#include "workload/trace.h"

namespace capstan::workload {
namespace {

constexpr std::ptrdiff_t kMaxColumns = 64;
constexpr std::int64_t kMaxClient = 0xffff'fffe;  // the reader adds 1, because client 0 means unknown

enum class Role : std::uint8_t { skip, timestamp, seconds, milliseconds, input, output, client_number, client_text };

struct Column {
  std::string_view name;
  Role role;
  bool required;
};

/// A known CSV format. The first entry of `columns` is the time column; a file that has this column has this format.
struct Format {
  std::array<Column, 4> columns;
  std::string_view header;  ///< a header that is accepted: the published one, or its necessary columns
};

constexpr Format kFormats[] = {
    {{{{"TIMESTAMP", Role::timestamp, true},
       {"ContextTokens", Role::input, true},
       {"GeneratedTokens", Role::output, true},
       {"", Role::skip, false}}},
     "TIMESTAMP,ContextTokens,GeneratedTokens"},
    {{{{"Timestamp", Role::seconds, true},
       {"Request tokens", Role::input, true},
       {"Response tokens", Role::output, true},
       {"Session ID", Role::client_text, false}}},
     "Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type"},
    {{{{"arrival_s", Role::seconds, true},
       {"input_tokens", Role::input, true},
       {"output_tokens", Role::output, true},
       {"client_id", Role::client_number, false}}},
     "arrival_s,input_tokens,output_tokens"},
    {{{{"arrival_ms", Role::milliseconds, true},
       {"input_tokens", Role::input, true},
       {"output_tokens", Role::output, true},
       {"client_id", Role::client_number, false}}},
     "arrival_ms,input_tokens,output_tokens"},
};

/// Takes a text field up to its comma and returns it without the quotes around it. A quoted field may contain commas. A
/// doubled quote does not end the field, and stays doubled in the result.
std::string_view take_text(Cursor& cursor) {
  const char* start = cursor.at;
  if (!cursor.take('"')) {
    const void* comma = std::memchr(start, ',', static_cast<std::size_t>(cursor.end - start));
    cursor.at = comma == nullptr ? cursor.end : static_cast<const char*>(comma);
    return {start, static_cast<std::size_t>(cursor.at - start)};
  }
  do {
    while (!cursor.done() && *cursor.at != '"') ++cursor.at;
  } while (cursor.take('"') && cursor.take('"'));
  const bool closed = cursor.at - start > 1 && cursor.at[-1] == '"';
  return {start + 1, static_cast<std::size_t>(cursor.at - start) - (closed ? 2 : 1)};
}

std::vector<std::string_view> column_names(std::string_view header) {
  std::vector<std::string_view> names;
  Cursor cursor{header.data(), header.data() + header.size()};
  do names.push_back(take_text(cursor));
  while (cursor.take(','));
  return names;
}

/// Returns the client number of a text id: 0 for an empty one, otherwise never 0.
std::uint32_t client_of(std::string_view text) {
  if (text.empty()) return 0;
  return std::max<std::uint32_t>(1, static_cast<std::uint32_t>(hash_text(text)));
}

class CsvTrace final : public Source {
 public:
  struct Field {
    Role role = Role::skip;
    std::string name;
  };

  CsvTrace(LineReader lines, std::vector<Field> fields) : lines_(std::move(lines)), fields_(std::move(fields)) {}

  bool next(Request& request) override {
    std::string_view line;
    if (!lines_.next(line)) {
      if (!lines_.error() && !times_.has_rows()) lines_.fail(1, std::string(kNoTraceRows));
      return false;
    }
    return row(line, request);
  }

  std::size_t fill(std::span<Request> out) override {
    std::size_t count = 0;
    while (count < out.size() && CsvTrace::next(out[count])) ++count;
    return count;
  }

  std::optional<Error> error() const override { return lines_.error(); }
  double progress() const override { return lines_.progress(); }

 private:
  bool row(std::string_view line, Request& request) {
    Cursor cursor{line.data(), line.data() + line.size()};
    Request result;
    const char* time_at = cursor.at;
    Duration time{};
    for (std::size_t i = 0;; ++i) {
      const Field& field = fields_[i];
      const char* start = cursor.at;
      if (is_time(field.role)) time_at = start;
      if (!field_value(field, cursor, result, time) || (!cursor.done() && *cursor.at != ',')) {
        return wrong_value(field, line, start);
      }
      if (i + 1 == fields_.size()) break;
      if (!cursor.take(',')) {
        return lines_.fail(line.size() + 1,
                           fmt::format("the row has {} columns, expected {} as in the header", i + 1, fields_.size()));
      }
    }
    if (!cursor.done()) {
      return lines_.fail(static_cast<std::size_t>(cursor.at - line.data()) + 1,
                         fmt::format("the row has more columns than the header, expected {}", fields_.size()));
    }
    if (!times_.take(time, result.arrival)) {
      return lines_.fail(static_cast<std::size_t>(time_at - line.data()) + 1, times_.fault(time));
    }
    request = result;
    return true;
  }

  /// Reads a field with or without quotes, because some programs put every field in quotes.
  static bool field_value(const Field& field, Cursor& cursor, Request& result, Duration& time) {
    const bool is_text = field.role == Role::skip || field.role == Role::client_text;
    const bool quoted = !is_text && cursor.take('"');
    return value(field, cursor, result, time) && (!quoted || cursor.take('"'));
  }

  static bool is_time(Role role) {
    return role == Role::timestamp || role == Role::seconds || role == Role::milliseconds;
  }

  static bool value(const Field& field, Cursor& cursor, Request& result, Duration& time) {
    std::int64_t number = 0;
    switch (field.role) {
      case Role::skip:
        take_text(cursor);
        return true;
      case Role::timestamp:
        return scan_timestamp(cursor, time);
      case Role::seconds:
        return scan_time(cursor, 9, time);
      case Role::milliseconds:
        return scan_time(cursor, 6, time);
      case Role::input:
        if (!scan_whole(cursor, kMaxTokens, number)) return false;
        result.input_tokens = std::max<std::int32_t>(1, static_cast<std::int32_t>(number));
        return true;
      case Role::output:
        if (!scan_whole(cursor, kMaxTokens, number)) return false;
        result.output_tokens = std::max<std::int32_t>(1, static_cast<std::int32_t>(number));
        return true;
      case Role::client_number:
        if (!scan_whole(cursor, kMaxClient, number)) return false;
        result.client = static_cast<std::uint32_t>(number) + 1;
        return true;
      case Role::client_text:
        result.client = client_of(take_text(cursor));
        return true;
    }
    return false;
  }

  bool wrong_value(const Field& field, std::string_view line, const char* start) {
    const std::size_t column = static_cast<std::size_t>(start - line.data());
    Cursor cursor{start, line.data() + line.size()};
    const std::string found = printable(take_text(cursor));
    std::string expected;
    switch (field.role) {
      case Role::timestamp:
        expected = "a time like 2023-11-16 18:15:46.6805900";
        break;
      case Role::seconds:
        expected = fmt::format("seconds from 0 to {}", kMaxSeconds);
        break;
      case Role::milliseconds:
        expected = fmt::format("milliseconds from 0 to {}", 1000 * kMaxSeconds);
        break;
      case Role::client_number:
        expected = fmt::format("a whole number from 0 to {}", kMaxClient);
        break;
      default:
        expected = fmt::format("a whole number of tokens from 0 to {}", kMaxTokens);
    }
    return lines_.fail(column + 1, fmt::format("{} is '{}', expected {}", field.name, found, expected));
  }

  LineReader lines_;
  std::vector<Field> fields_;
  RowTimes times_;
};

}  // namespace

Result<std::unique_ptr<Source>> open_csv_trace(LineReader lines, std::string header) {
  const auto header_error = [&](std::string message) {
    lines.fail(1, std::move(message));
    return std::unexpected(*lines.error());
  };
  if (std::ranges::count(header, ',') >= kMaxColumns) {
    return header_error(fmt::format("the header has more than {} columns, expected at most that many", kMaxColumns));
  }
  const std::vector<std::string_view> names = column_names(header);
  const auto has = [&](std::string_view name) { return std::ranges::find(names, name) != names.end(); };
  const Format* format = std::ranges::find_if(kFormats, [&](const Format& f) { return has(f.columns[0].name); });
  if (format == std::end(kFormats)) {
    return header_error(
        fmt::format("the first line is '{}', expected the header of a known trace: '{}' (the simplest; ServeGen; with "
                    "arrival_ms in milliseconds), '{}' "
                    "(Azure LLM), '{}' (BurstGPT), or JSON objects with timestamp, input_length and output_length "
                    "(Mooncake)",
                    printable(header), kFormats[2].header, kFormats[0].header, kFormats[1].header));
  }
  for (const Column& column : format->columns) {
    if (column.required && !has(column.name)) {
      return header_error(fmt::format("the header has no column '{}', expected '{}'", column.name, format->header));
    }
  }
  std::vector<CsvTrace::Field> fields;
  for (std::string_view name : names) {
    const Column* column = std::ranges::find(format->columns, name, &Column::name);
    const bool known = !name.empty() && column != format->columns.end();
    if (known && std::ranges::count(names, name) > 1) {
      return header_error(fmt::format("the header has the column '{}' twice, expected it once", name));
    }
    fields.push_back({known ? column->role : Role::skip, std::string(name)});
  }
  return std::make_unique<CsvTrace>(std::move(lines), std::move(fields));
}

}  // namespace capstan::workload

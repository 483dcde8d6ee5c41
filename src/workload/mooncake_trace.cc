#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "base/quantity.h"
#include "workload/block_arena.h"
#include "workload/scan.h"
#include "workload/trace.h"

namespace capstan::workload {
namespace {

constexpr int kMaxDepth = 32;  // nesting of a value under an unknown key
constexpr std::int64_t kMaxHashId = (1LL << 62) - 1;

constexpr std::string_view kExpectedKeys = "timestamp, input_length and output_length";

void skip_space(Cursor& cursor) {
  while (!cursor.done() && (*cursor.at == ' ' || *cursor.at == '\t')) ++cursor.at;
}

/// Takes `c` with optional white space before and after it.
bool take_punctuation(Cursor& cursor, char c) {
  skip_space(cursor);
  if (!cursor.take(c)) return false;
  skip_space(cursor);
  return true;
}

/// Scans a JSON string; `text` is the content between the quotes, with escapes left as they are.
bool scan_string(Cursor& cursor, std::string_view& text) {
  if (!cursor.take('"')) return false;
  const char* start = cursor.at;
  for (; !cursor.done() && *cursor.at != '"'; ++cursor.at) {
    if (*cursor.at == '\\' && ++cursor.at == cursor.end) return false;
  }
  text = {start, static_cast<std::size_t>(cursor.at - start)};
  return cursor.take('"');
}

/// Skips a JSON value. Checks its content only as far as is needed to find its end.
bool skip_value(Cursor& cursor, int depth) {
  if (cursor.done() || depth > kMaxDepth) return false;
  std::string_view text;
  if (*cursor.at == '"') return scan_string(cursor, text);
  if (*cursor.at == '[' || *cursor.at == '{') {
    const bool object = *cursor.at == '{';
    const char close = object ? '}' : ']';
    ++cursor.at;
    if (take_punctuation(cursor, close)) return true;
    do {
      if (object && (!scan_string(cursor, text) || !take_punctuation(cursor, ':'))) return false;
      if (!skip_value(cursor, depth + 1)) return false;
    } while (take_punctuation(cursor, ','));
    return take_punctuation(cursor, close);
  }
  const char* start = cursor.at;
  while (!cursor.done() && std::strchr(",]} \t", *cursor.at) == nullptr) ++cursor.at;
  return cursor.at != start;
}

class MooncakeTrace final : public Source {
 public:
  MooncakeTrace(LineReader lines, std::string first_row) : lines_(std::move(lines)), first_row_(std::move(first_row)) {}

  /// Reads the first row, so that a file in another format is refused at once.
  bool start() { return started_ = scan_row(first_row_, first_request_); }

  bool next(Request& request) override {
    if (started_) {
      started_ = false;
      request = first_request_;
      return true;
    }
    std::string_view line;
    return lines_.next(line) && scan_row(line, request);
  }

  std::size_t fill(std::span<Request> out) override {
    std::size_t count = 0;
    while (count < out.size() && MooncakeTrace::next(out[count])) ++count;
    return count;
  }

  std::optional<Error> error() const override { return lines_.error(); }
  double progress() const override { return lines_.progress(); }

 private:
  bool fail(std::string_view line, const char* at, std::string message) {
    return lines_.fail(static_cast<std::size_t>(at - line.data()) + 1, std::move(message));
  }

  bool wrong_value(std::string_view line, const char* start, std::string_view key, std::string_view expected) {
    const std::size_t from = static_cast<std::size_t>(start - line.data());
    const std::size_t to = std::min(line.find_first_of(",]}", from), line.size());
    return fail(line, start,
                fmt::format("{} is '{}', expected {}", key, printable(line.substr(from, to - from)), expected));
  }

  bool scan_tokens(std::string_view line, Cursor& cursor, std::string_view key, std::int32_t& value) {
    const char* start = cursor.at;
    std::int64_t number = 0;
    if (!scan_whole(cursor, kMaxTokens, number) || !at_value_end(cursor)) {
      return wrong_value(line, start, key, fmt::format("a whole number of tokens from 0 to {}", kMaxTokens));
    }
    value = std::max<std::int32_t>(1, static_cast<std::int32_t>(number));
    return true;
  }

  static bool at_value_end(const Cursor& cursor) {
    return cursor.done() || std::strchr(",]} \t", *cursor.at) != nullptr;
  }

  bool scan_hashes(std::string_view line, Cursor& cursor) {
    blocks_.clear();
    if (!take_punctuation(cursor, '[')) return wrong_value(line, cursor.at, "hash_ids", "a list of whole numbers");
    if (take_punctuation(cursor, ']')) return true;
    do {
      const char* start = cursor.at;
      std::int64_t id = 0;
      if (!scan_whole(cursor, kMaxHashId, id) || !at_value_end(cursor)) {
        return wrong_value(line, start, "hash_ids", fmt::format("whole numbers from 0 to {}", kMaxHashId));
      }
      blocks_.push_back(mix64(static_cast<std::uint64_t>(id) + 1));
    } while (take_punctuation(cursor, ','));
    if (!take_punctuation(cursor, ']')) return fail(line, cursor.at, "the list is not closed, expected ']'");
    return true;
  }

  bool scan_row(std::string_view line, Request& request) {
    Cursor cursor{line.data(), line.data() + line.size()};
    Request result;
    std::optional<Duration> time;
    const char* time_at = cursor.at;
    const char* hashes_at = cursor.at;
    blocks_.clear();
    if (!take_punctuation(cursor, '{')) return fail(line, line.data(), "the line is not a JSON object, expected '{'");
    if (!take_punctuation(cursor, '}')) {
      do {
        std::string_view key;
        const char* key_at = cursor.at;
        if (!scan_string(cursor, key)) return fail(line, key_at, "found no key, expected a string in quotes");
        if (!take_punctuation(cursor, ':')) return fail(line, cursor.at, "found no value, expected ':' after the key");
        const char* start = cursor.at;
        if (key == "timestamp") {
          time_at = start;
          Duration value{};
          if (!scan_time(cursor, 6, value) || !at_value_end(cursor)) {
            return wrong_value(line, start, key, fmt::format("milliseconds from 0 to {}", kMaxSeconds * 1000));
          }
          time = value;
        } else if (key == "input_length") {
          if (!scan_tokens(line, cursor, key, result.input_tokens)) return false;
        } else if (key == "output_length") {
          if (!scan_tokens(line, cursor, key, result.output_tokens)) return false;
        } else if (key == "hash_ids") {
          hashes_at = start;
          if (!scan_hashes(line, cursor)) return false;
        } else if (!skip_value(cursor, 0)) {
          return fail(line, cursor.at,
                      fmt::format("the value of '{}' is not valid, expected a JSON value", printable(key)));
        }
      } while (take_punctuation(cursor, ','));
      if (!take_punctuation(cursor, '}')) return fail(line, cursor.at, "the object is not closed, expected ',' or '}'");
    }
    if (!cursor.done()) return fail(line, cursor.at, "found text after the object, expected the end of the line");
    for (const auto& [key, present] :
         {std::pair{"timestamp", time.has_value()}, std::pair{"input_length", result.input_tokens > 0},
          std::pair{"output_length", result.output_tokens > 0}}) {
      if (!present) return fail(line, line.data(), fmt::format("the row has no {}, expected {}", key, kExpectedKeys));
    }
    const std::int64_t blocks_of_input = ceil_div(result.input_tokens, kPrefixBlockTokens);
    if (static_cast<std::int64_t>(blocks_.size()) > blocks_of_input) {
      return fail(line, hashes_at,
                  fmt::format("hash_ids has {} blocks, expected at most {} for {} input tokens", blocks_.size(),
                              blocks_of_input, result.input_tokens));
    }
    if (!times_.take(*time, result.arrival)) return fail(line, time_at, times_.fault(*time));
    if (!blocks_.empty()) result.prefix_hashes = arena_.store(blocks_);
    request = result;
    return true;
  }

  LineReader lines_;
  std::string first_row_;
  Request first_request_;
  bool started_ = false;
  std::vector<std::uint64_t> blocks_;  // prefix blocks of the row being read
  BlockArena arena_;
  RowTimes times_;
};

}  // namespace

Result<std::unique_ptr<Source>> open_mooncake_trace(LineReader lines, std::string first_row) {
  auto trace = std::make_unique<MooncakeTrace>(std::move(lines), std::move(first_row));
  if (!trace->start()) return std::unexpected(*trace->error());
  return trace;
}

}  // namespace capstan::workload

#pragma once

#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/ids.h"
#include "base/time.h"

namespace capstan::decide {

/// Writes a memory as words apart by blanks: a version word first, then integers only, so that equal memories have
/// equal text and the text of a memory parses to an equal one.
class TextWriter {
 public:
  explicit TextWriter(std::string_view version) : text_(version) {}

  void add(std::int64_t number) {
    char digits[24];
    const auto [end, error] = std::to_chars(digits, digits + sizeof digits, number);
    text_ += ' ';
    text_.append(digits, end);
  }
  void add(Duration duration) { add(duration.count()); }
  void add(Instant instant) { add(instant.since_start); }
  template <typename Tag>
  void add(Id<Tag> id) {
    add(static_cast<std::int64_t>(id.value));
  }
  /// The number of rows, then the fields of each.
  template <typename Rows, typename Each>
  void rows(const Rows& rows, Each&& each) {
    add(static_cast<std::int64_t>(rows.size()));
    for (const auto& row : rows) each(row);
  }

  std::string take() { return std::move(text_); }

 private:
  std::string text_;
};

/// Reads what TextWriter wrote. After the first error every further read leaves its target alone.
class TextReader {
 public:
  TextReader(std::string_view text, std::string_view version);

  void read(std::int64_t& number);
  void read(bool& flag);
  void read(Duration& duration);
  void read(Instant& instant) { read(instant.since_start); }
  template <typename Tag>
  void read(Id<Tag>& id) {
    std::int64_t number = 0;
    read(number);
    if (number < 0 || number > Id<Tag>::kNone) fail("an id is outside 0..4294967295");
    if (!failed()) id.value = static_cast<std::uint32_t>(number);
  }
  template <typename Rows, typename Each>
  void rows(Rows& rows, Each&& each) {
    std::int64_t count = 0;
    read(count);
    if (count < 0) fail("a number of rows is negative");
    for (std::int64_t i = 0; i < count && !failed(); ++i) each(rows.emplace_back());
  }

  bool failed() const { return !error_.message.empty(); }
  /// Nothing may be left over.
  template <typename T>
  Result<T> finish(T value) {
    if (!failed() && next_ < text_.size()) {
      last_ = next_;
      fail("more words than expected");
    }
    if (failed()) return std::unexpected(error_);
    return value;
  }

 private:
  std::string_view word();
  void fail(std::string_view what);

  std::string_view text_;
  std::size_t next_ = 0;  // where the next word begins
  std::size_t last_ = 0;  // where the last one began
  Error error_;
};

}  // namespace capstan::decide

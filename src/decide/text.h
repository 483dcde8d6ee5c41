#pragma once

#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/ids.h"
#include "base/time.h"

namespace capstan::decide {

/// Writes a memory as words separated by spaces: a version word, then integers only. Equal memories have equal text,
/// and parsing the text returns an equal memory.
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
  /// Writes the number of rows and then each row's fields.
  template <typename Rows, typename Write>
  void rows(const Rows& rows, Write&& write) {
    add(static_cast<std::int64_t>(rows.size()));
    for (const auto& row : rows) write(row);
  }

  std::string take() { return std::move(text_); }

 private:
  std::string text_;
};

/// Reads the text of TextWriter. After the first error further reads leave their targets unchanged.
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
    if (number < 0 || number > Id<Tag>::kNone) fail("found an id outside 0..4294967295");
    if (!failed()) id.value = static_cast<std::uint32_t>(number);
  }
  template <typename Rows, typename Read>
  void rows(Rows& rows, Read&& read_row) {
    std::int64_t count = 0;
    read(count);
    if (count < 0) fail("found a negative number of rows");
    for (std::int64_t i = 0; i < count && !failed(); ++i) read_row(rows.emplace_back());
  }

  bool failed() const { return !error_.message.empty(); }
  /// Returns the value, or an error if a read failed or words are left.
  template <typename T>
  Result<T> finish(T value) {
    if (!failed() && next_ < text_.size()) {
      last_ = next_;
      fail("found more words than expected");
    }
    if (failed()) return std::unexpected(error_);
    return value;
  }

 private:
  std::string_view word();
  void fail(std::string_view what);

  std::string_view text_;
  std::size_t next_ = 0;  // position of the next word
  std::size_t last_ = 0;  // position of the word that was read last
  Error error_;
};

}  // namespace capstan::decide

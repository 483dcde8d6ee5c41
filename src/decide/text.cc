#include "decide/text.h"

namespace capstan::decide {

TextReader::TextReader(std::string_view text, std::string_view version) : text_(text) {
  if (word() != version) fail("expected a text that begins with '" + std::string(version) + "'");
}

std::string_view TextReader::word() {
  const std::size_t end = std::min(text_.find(' ', next_), text_.size());
  const std::string_view found = text_.substr(next_, end - next_);
  last_ = next_;
  next_ = end < text_.size() ? end + 1 : end;
  return found;
}

void TextReader::fail(std::string_view what) {
  if (failed()) return;
  error_.column = static_cast<std::uint32_t>(last_) + 1;
  error_.line = 1;
  error_.message = "saved memory: " + std::string(what);
}

void TextReader::read(std::int64_t& number) {
  if (failed()) return;
  const std::string_view digits = word();
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc{} || end != digits.data() + digits.size() || digits.empty()) {
    fail("found '" + std::string(digits.substr(0, 32)) + "', expected an integer");
    return;
  }
  number = value;
}

void TextReader::read(bool& flag) {
  std::int64_t number = flag ? 1 : 0;
  read(number);
  if (number != 0 && number != 1)
    fail("found a flag that is neither 0 nor 1");
  else
    flag = number == 1;
}

void TextReader::read(Duration& duration) {
  std::int64_t count = duration.count();
  read(count);
  duration = Duration(count);
}

}  // namespace capstan::decide

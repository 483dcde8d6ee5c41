#include "manifest/document.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "manifest/document_reader.h"
#include "manifest/document_storage.h"
#include "manifest/utf8.h"

namespace capstan::manifest {

const Value& Value::missing() {
  static const Value none;
  return none;
}

namespace {

template <typename Word>
bool same_word(const char* a, const char* b) {
  Word left, right;
  std::memcpy(&left, a, sizeof left);
  std::memcpy(&right, b, sizeof right);
  return left == right;
}

/// Returns true if `size` bytes, at least one, are equal. Most keys are so short that two overlapping words cover them.
bool same_bytes(const char* a, const char* b, std::size_t size) {
  if (size > 16) return std::memcmp(a, b, size) == 0;
  if (size >= 8) return same_word<std::uint64_t>(a, b) && same_word<std::uint64_t>(a + size - 8, b + size - 8);
  if (size >= 4) return same_word<std::uint32_t>(a, b) && same_word<std::uint32_t>(a + size - 4, b + size - 4);
  return a[0] == b[0] && a[size - 1] == b[size - 1] && a[size / 2] == b[size / 2];
}

}  // namespace

const Value& Value::operator[](std::string_view name) const {
  if (form != Form::mapping || name.empty()) return missing();
  for (const Value& child : children()) {
    if (child.key.size() == name.size() && same_bytes(child.key.data(), name.data(), name.size())) return child;
  }
  return missing();
}

const Value& Value::operator[](std::size_t index) const {
  return form == Form::sequence && index < count ? first[index] : missing();
}

std::optional<std::int64_t> Value::integer() const {
  // The bound keeps sums of such integers, and their products with small numbers, within 64 bits.
  constexpr std::int64_t kMaxInteger = std::int64_t{1} << 32;
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool is_number = error == std::errc() && end == text.data() + text.size();
  return form == Form::scalar && is_number && std::abs(value) <= kMaxInteger ? std::optional(value) : std::nullopt;
}

std::optional<double> Value::number() const {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (form != Form::scalar || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

LineTable::LineTable(std::string_view text) : text_(text), starts_{0} {
  for (std::size_t i = text.find('\n'); i != text.npos; i = text.find('\n', i + 1)) {
    starts_.push_back(static_cast<std::uint32_t>(i + 1));
  }
}

LineTable::Position LineTable::at(std::uint32_t offset) const {
  offset = std::min(offset, static_cast<std::uint32_t>(text_.size()));
  const auto next = std::upper_bound(starts_.begin(), starts_.end(), offset);
  const std::uint32_t start = *(next - 1);
  const auto before = text_.substr(start, offset - start);
  const auto characters = std::ranges::count_if(before, [](char c) { return (c & 0xc0) != 0x80; });
  return {static_cast<std::uint32_t>(next - starts_.begin()), static_cast<std::uint32_t>(characters + 1)};
}

std::uint32_t LineTable::offset_of_line(std::uint32_t number) const {
  return number == 0 ? 0 : number > starts_.size() ? static_cast<std::uint32_t>(text_.size()) : starts_[number - 1];
}

std::string_view LineTable::line(std::uint32_t number) const {
  const std::uint32_t begin = offset_of_line(number);
  std::string_view rest = text_.substr(begin, offset_of_line(number + 1) - begin);
  while (!rest.empty() && (rest.back() == '\n' || rest.back() == '\r')) rest.remove_suffix(1);
  return rest;
}

namespace {

/// Returns true if eight bytes are all printable ASCII. The caller checks other bytes, such as line breaks, one by one.
bool printable8(const char* bytes) {
  std::uint64_t word = 0;
  std::memcpy(&word, bytes, 8);
  constexpr std::uint64_t kHigh = 0x8080808080808080;
  const std::uint64_t below_space = (word - 0x2020202020202020) & ~word;
  const std::uint64_t is_del = ((word ^ 0x7f7f7f7f7f7f7f7f) - 0x0101010101010101) & ~(word ^ 0x7f7f7f7f7f7f7f7f);
  return ((word | below_space | is_del) & kHigh) == 0;
}

}  // namespace

std::optional<Fault> forbidden_byte(std::string_view text) {
  const auto fault = [](std::size_t at, const char* message) {
    const auto offset = static_cast<std::uint32_t>(at);
    return Fault{Fault::Kind::syntax, {offset, offset + 1}, message};
  };
  for (std::size_t i = 0; i < text.size();) {
    if (i + 8 <= text.size() && printable8(text.data() + i)) {
      i += 8;
      continue;
    }
    const auto byte = static_cast<unsigned char>(text[i]);
    if (byte == 0) return fault(i, "contains a NUL byte, expected YAML");
    if ((byte < 0x20 && byte != '\t' && byte != '\n' && byte != '\r') || byte == 0x7f) {
      return fault(i, "contains a control character, expected YAML");
    }
    const std::size_t length = byte < 0x80 ? 1 : utf8_length(text.substr(i));
    if (length == 0) return fault(i, "is not valid UTF-8, expected YAML");
    i += length;
  }
  return std::nullopt;
}

Documents::Documents() = default;
Documents::~Documents() = default;
Documents::Documents(Documents&&) noexcept = default;
Documents& Documents::operator=(Documents&&) noexcept = default;

Documents Documents::parse(std::string_view text, const DocumentLimits& limits) {
  return read_documents(text, limits, FirstReader::plain);
}

}  // namespace capstan::manifest

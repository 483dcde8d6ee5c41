#include "kube/base64.h"

namespace capstan::kube {
namespace {

constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

}  // namespace

std::string base64_encode(std::string_view bytes) {
  std::string out;
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const auto at = [&](std::size_t k) { return k < bytes.size() ? static_cast<unsigned char>(bytes[k]) : 0u; };
    const unsigned word = (at(i) << 16) | (at(i + 1) << 8) | at(i + 2);
    out += kDigits[word >> 18];
    out += kDigits[(word >> 12) & 63];
    out += i + 1 < bytes.size() ? kDigits[(word >> 6) & 63] : '=';
    out += i + 2 < bytes.size() ? kDigits[word & 63] : '=';
  }
  return out;
}

std::optional<std::string> base64_decode(std::string_view text) {
  std::string out;
  unsigned word = 0;
  int digits = 0;
  int padding = 0;
  for (const char c : text) {
    if (c == ' ' || c == '\n' || c == '\r' || c == '\t') continue;
    const std::size_t digit = kDigits.find(c);
    if (c == '=') {
      ++padding;
    } else if (digit == kDigits.npos || padding > 0) {
      return std::nullopt;
    }
    word = (word << 6) | static_cast<unsigned>(c == '=' ? 0 : digit);
    if (++digits < 4) continue;
    if (padding > 2) return std::nullopt;
    for (int i = 0; i < 3 - padding; ++i) out += static_cast<char>(word >> (16 - 8 * i));
    word = 0;
    digits = 0;
  }
  return digits == 0 ? std::optional(out) : std::nullopt;
}

}  // namespace capstan::kube

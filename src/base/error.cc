#include "base/error.h"

#include <utility>

namespace capstan {

namespace {

/// An error quotes what it found; what a terminal would obey is spelt out.
std::string harmless(const std::string& text) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x20 && byte != 0x7f) {
      out += c;
    } else {
      out += {'\\', 'x', kDigits[byte >> 4], kDigits[byte & 15]};
    }
  }
  return out;
}

}  // namespace

Error Error::about(std::string file, std::string message) {
  Error error;
  error.file = std::move(file);
  error.message = std::move(message);
  return error;
}

std::string Error::text() const {
  std::string place = file;
  if (line > 0) place += (place.empty() ? "" : ":") + std::to_string(line);
  if (line > 0 && column > 0) place += ":" + std::to_string(column);
  return harmless(place.empty() ? message : place + ": " + message);
}

}  // namespace capstan

#include "base/error.h"

#include <utility>

#include "base/control_characters.h"

namespace capstan {

namespace {

/// Escapes the characters that a terminal would interpret, because an error message quotes untrusted input.
std::string escaped(const std::string& text) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string out;
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t length = control_length(std::string_view(text).substr(i));
    if (length == 0) out += text[i++];
    for (const std::size_t end = i + length; length > 0 && i < end; ++i) {
      const auto byte = static_cast<unsigned char>(text[i]);
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
  return escaped(place.empty() ? message : place + ": " + message);
}

}  // namespace capstan

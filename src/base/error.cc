#include "base/error.h"

#include <utility>

#include "base/obeyed.h"

namespace capstan {

namespace {

/// An error quotes what it found; what a terminal would obey is spelt out.
std::string harmless(const std::string& text) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string out;
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t obeyed = obeyed_length(std::string_view(text).substr(i));
    if (obeyed == 0) out += text[i++];
    for (const std::size_t end = i + obeyed; obeyed > 0 && i < end; ++i) {
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
  return harmless(place.empty() ? message : place + ": " + message);
}

}  // namespace capstan

#include "base/input_file.h"

#include "base/file.h"

namespace capstan {

Result<std::string> read_input(const std::string& path, std::string_view expected) {
  constexpr std::size_t kMaxBytes = 64u << 20;
  std::expected<std::string, FileFault> text = read_file(path, kMaxBytes);
  if (text) return std::move(*text);
  const auto refuse = [&](const std::string& why) { return std::unexpected(Error{ErrorKind::input, path, 0, 0, why}); };
  switch (text.error()) {
    case FileFault::cannot_open:
      return refuse("cannot be opened, expected " + std::string(expected));
    case FileFault::cannot_read:
      return refuse("cannot be read, expected " + std::string(expected));
    case FileFault::too_large:
      break;
  }
  return refuse("is larger than 64 MiB, expected a smaller file");
}

}  // namespace capstan

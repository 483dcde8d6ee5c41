#include "base/file.h"

#include <array>
#include <cstdio>
#include <memory>

namespace capstan {

std::expected<std::string, FileFault> read_file(const std::string& path, std::size_t max_bytes) {
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  const std::unique_ptr<std::FILE, Close> file(std::fopen(path.c_str(), "rb"));
  if (!file) return std::unexpected(FileFault::cannot_open);
  std::string text;
  std::array<char, 65536> buffer;
  while (const std::size_t count = std::fread(buffer.data(), 1, buffer.size(), file.get())) {
    text.append(buffer.data(), count);
    if (text.size() > max_bytes) return std::unexpected(FileFault::too_large);
  }
  if (std::ferror(file.get()) != 0) return std::unexpected(FileFault::cannot_read);
  return text;
}

}  // namespace capstan

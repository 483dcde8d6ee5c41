#include "scenario/blocks.h"

#include <fmt/format.h>

#include <fstream>
#include <iterator>

namespace capstan::golden {

std::vector<Block> blocks(std::string_view page, std::string_view kind) {
  const std::string open = fmt::format("<!-- {} ", kind);
  const std::string close = fmt::format("<!-- /{} -->\n", kind);
  constexpr std::string_view kEnd = " -->\n";
  std::vector<Block> found;
  for (std::size_t at = page.find(open); at != page.npos; at = page.find(open, at + 1)) {
    const std::size_t name = at + open.size();
    const std::size_t end = page.find(kEnd, name);
    if (end == page.npos) break;
    const std::size_t to = page.find(close, end);
    if (to == page.npos) break;
    found.push_back({std::string(kind), std::string(page.substr(name, end - name)), end + kEnd.size(), to});
  }
  return found;
}

std::optional<std::string> read_text(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return std::nullopt;
  return std::string(std::istreambuf_iterator<char>(file), {});
}

bool write_text(const std::string& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file << text;
  return static_cast<bool>(file.flush());
}

}  // namespace capstan::golden

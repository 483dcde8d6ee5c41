#include "emulator/stream_reader.h"

#include <algorithm>
#include <charconv>

namespace capstan::emulator {
namespace {

constexpr std::size_t kMaxLineBytes = 1 << 20;
constexpr std::int64_t kMaxTokens = 1'000'000'000;  // a larger count is ignored, so that sums of counts cannot overflow
constexpr std::string_view kCountKey = "\"completion_tokens\":";

}  // namespace

std::int64_t StreamReader::feed(std::string_view bytes) {
  const std::int64_t before = pieces_;
  while (!bytes.empty()) {
    const std::size_t end = bytes.find('\n');
    line_.append(bytes.substr(0, end));
    if (line_.size() > kMaxLineBytes) failed_ = true;
    if (failed_ || end == bytes.npos) break;
    read_line(line_);
    line_.clear();
    bytes.remove_prefix(end + 1);
  }
  return pieces_ - before;
}

void StreamReader::read_line(std::string_view line) {
  if (line.ends_with('\r')) line.remove_suffix(1);
  if (!line.starts_with("data:")) return;
  line.remove_prefix(5);
  while (line.starts_with(' ')) line.remove_prefix(1);
  if (line == "[DONE]") {
    done_ = true;
    return;
  }
  if (line.starts_with("{\"error\"")) {
    failed_ = true;
    return;
  }
  const std::size_t count = line.find(kCountKey);
  if (count != line.npos) {
    std::string_view digits = line.substr(count + kCountKey.size());
    while (digits.starts_with(' ')) digits.remove_prefix(1);
    std::int64_t tokens = 0;
    std::from_chars(digits.data(), digits.data() + digits.size(), tokens);
    if (tokens > 0 && tokens <= kMaxTokens) reported_ = tokens;
  }
  // An event with a piece of the answer has a choice; the last event, with the usage, has none.
  if (line.find("\"choices\":[]") == line.npos && line.find("\"choices\": []") == line.npos) ++pieces_;
}

}  // namespace capstan::emulator

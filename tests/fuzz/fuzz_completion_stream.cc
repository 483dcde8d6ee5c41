// Reads any bytes as the events of a completion, whole and in two parts: the result must be the same.
#include <algorithm>
#include <string_view>

#include "base/assert.h"
#include "emulator/stream_reader.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using capstan::emulator::StreamReader;
  if (size == 0) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  const std::size_t split = std::min<std::size_t>(data[0], bytes.size());
  StreamReader whole;
  const std::int64_t pieces = whole.feed(bytes);
  StreamReader parts;
  const std::int64_t first = parts.feed(bytes.substr(0, split));
  CAPSTAN_ASSERT(first + parts.feed(bytes.substr(split)) == pieces);
  CAPSTAN_ASSERT(parts.tokens() == whole.tokens() && parts.done() == whole.done() && parts.failed() == whole.failed());
  CAPSTAN_ASSERT(pieces >= 0 && whole.tokens() >= 0);
  return 0;
}

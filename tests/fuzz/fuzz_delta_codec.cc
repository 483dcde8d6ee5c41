// Reads any bytes as the previous state of a recording, followed by the compressed next state. The first byte is the
// length of the previous state. If the next state can be decompressed, it must stay the same when it is compressed and
// decompressed again.
#include <string_view>

#include "archive/delta_codec.h"
#include "base/assert.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace capstan;
  if (size == 0) return 0;
  const std::string_view all(reinterpret_cast<const char*>(data) + 1, size - 1);
  const std::string_view before = all.substr(0, data[0]);
  const std::string_view bytes = all.substr(before.size());
  const Result<std::string> text = archive::decompress_after(before, bytes);
  if (!text) {
    CAPSTAN_ASSERT(!text.error().message.empty());
    return 0;
  }
  const Result<std::string> again = archive::decompress_after(before, archive::compress_after(before, *text));
  CAPSTAN_ASSERT(again && *again == *text);
  return 0;
}

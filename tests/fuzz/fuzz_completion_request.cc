// Reads any bytes as the body of a completion request. The first byte selects the kind of request.
#include "base/assert.h"
#include "emulator/completion_request.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace capstan::emulator;
  static CompletionReader reader;
  if (size == 0) return 0;
  const auto kind = data[0] % 2 == 0 ? CompletionKind::text : CompletionKind::chat;
  const auto request = reader.read({reinterpret_cast<const char*>(data) + 1, size - 1}, kind);
  if (request) {
    CAPSTAN_ASSERT(request->prompt.tokens >= 1);
    CAPSTAN_ASSERT(request->prompt.prefix_hashes.size() == static_cast<std::size_t>(request->prompt.tokens / 512));
    CAPSTAN_ASSERT(request->max_tokens.value_or(1) >= 1 && request->min_tokens >= 0);
  } else {
    CAPSTAN_ASSERT(request.error().status == 400 && !request.error().message.empty());
  }
  return 0;
}

// Reads any bytes as the input that an editor sends to the language server. The first byte selects whether the rest
// is a stream of frames, or one message that this target frames. A frame states its length, which the fuzzer seldom
// guesses.
#include <string>
#include <vector>

#include "base/assert.h"
#include "lint/lsp/language_server.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace capstan::lint;
  if (size == 0) return 0;
  std::string bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  if (data[0] % 2 != 0) bytes = frame(bytes);
  FrameReader reader;
  std::vector<std::string> messages;
  reader.take(bytes, messages);
  Options options;
  options.threads = 1;
  LanguageServer server(options);
  for (const std::string& message : messages) {
    for (const std::string& answer : server.take(message)) CAPSTAN_ASSERT(answer.starts_with('{'));
    if (server.ended()) break;
  }
  return 0;
}

// Reads any bytes as what an editor sends to the language server. The first byte says how the rest is sent: as a stream
// of frames, or framed as one message, so that the fuzzer reaches the server without a right length.
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

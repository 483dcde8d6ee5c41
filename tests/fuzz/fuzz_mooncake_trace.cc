// Reads any bytes as rows of a Mooncake trace after a valid row.
#include <string>

#include "read_all.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string bytes = "{\"timestamp\": 0, \"input_length\": 6, \"output_length\": 7, \"hash_ids\": [0]}\n";
  bytes.append(reinterpret_cast<const char*>(data), size);
  capstan::fuzz::read_all(bytes);
  return 0;
}

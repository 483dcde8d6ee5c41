// Reads damaged gzip and zstd data: a compressed trace that is partly overwritten by the input, or truncated.
#include <algorithm>
#include <string>

#include "read_all.h"
#include "workload/testing.h"

namespace {

std::string rows() {
  std::string text = "arrival_s,client_id,input_tokens,output_tokens\n";
  for (int i = 0; i < 400; ++i) text += std::to_string(i) + ",1," + std::to_string(i * i % 997) + ",5\n";
  return text;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const std::string packed[] = {capstan::workload::testing::gzipped(rows()),
                                       capstan::workload::testing::zstandard(rows())};
  if (size < 4) return 0;
  std::string bytes = packed[data[0] % 2];
  const std::size_t at = (data[1] | data[2] << 8) % bytes.size();
  if (data[3] % 4 == 0) bytes.resize(at);
  const std::size_t count = std::min(size - 4, bytes.size() - std::min(at, bytes.size()));
  bytes.replace(std::min(at, bytes.size()), count, reinterpret_cast<const char*>(data) + 4, size - 4);
  capstan::fuzz::read_all(bytes);
  return 0;
}

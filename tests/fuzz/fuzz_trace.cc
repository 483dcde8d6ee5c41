// Reads any bytes as a trace.
#include "read_all.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  capstan::fuzz::read_all({reinterpret_cast<const char*>(data), size});
  return 0;
}

// Reads any bytes as the result of a comparison. The place that an error names must lie inside the text.
#include <algorithm>

#include "base/assert.h"
#include "serve/result_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  (void)capstan::serve::kind_of_file(bytes);
  const capstan::Result<void> checked = capstan::serve::check_result(bytes, "result.json");
  if (checked || checked.error().line == 0) return 0;
  const auto lines = static_cast<std::uint32_t>(std::ranges::count(bytes, '\n') + 1);
  CAPSTAN_ASSERT(checked.error().line <= lines && checked.error().column >= 1 && checked.error().column <= size + 1);
  return 0;
}

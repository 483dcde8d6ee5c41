// Reads any bytes as a file of nodes. The first byte decides whether a valid header is added.
#include <string>

#include "check_error.h"
#include "scenario/node_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace capstan;
  if (size == 0) return 0;
  std::string text;
  if (data[0] % 4 != 0) text = "sn,cpu_milli,memory_mib,gpu,model\n";
  text.append(reinterpret_cast<const char*>(data) + 1, size - 1);
  const Result<std::vector<scenario::FileNodes>> nodes = scenario::read_node_file(text, "fuzz.csv");
  if (!nodes) {
    fuzz::check_error(nodes.error());
    return 0;
  }
  for (const scenario::FileNodes& group : *nodes) {
    CAPSTAN_ASSERT(!group.gpu.empty() && group.gpus > 0 && group.count > 0);
    CAPSTAN_ASSERT(group.cpu_milli >= 0 && group.memory_mib >= 0);
  }
  return 0;
}

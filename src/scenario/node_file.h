#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/quantity.h"

namespace capstan::scenario {

/// Equal nodes of a file.
struct FileNodes {
  std::string gpu;  ///< kind of GPU, as the file names it
  GpuCount gpus = 0;
  std::int64_t cpu_milli = 0;
  std::int64_t memory_mib = 0;
  std::int64_t count = 0;
};

/// Reads nodes in the form of Alibaba's cluster-trace-gpu-v2023: a CSV file with the columns `cpu_milli`, `memory_mib`,
/// `gpu` (the number of GPUs) and `model` (their kind). Other columns and rows without a GPU are skipped.
/// @param file  name of the file in errors
/// @return the nodes in the order of their first rows, or an input error with its place
Result<std::vector<FileNodes>> read_node_file(std::string_view text, const std::string& file);

}  // namespace capstan::scenario

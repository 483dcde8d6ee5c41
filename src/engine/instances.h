#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/quantity.h"

namespace capstan::engine {

/// A machine that a cloud rents out: a row of data/instances.csv, which is compiled into the program.
struct Instance {
  std::string cloud;
  std::string name;  ///< "p5.48xlarge"
  std::string gpu;   ///< "h100_sxm"
  GpuCount gpus = 0;
  Bytes gpu_memory{};  ///< memory of one GPU
  std::optional<MicroUsd> on_demand_per_hour;
  std::optional<MicroUsd> spot_per_hour;
  std::string region;               ///< region in which the prices hold
  std::int64_t vcpus = 0;           ///< 0: not in the source
  std::int64_t memory_gib = 0;      ///< main memory, GiB; 0: not in the source
  GpuCount nvlink_domain_gpus = 1;  ///< GPUs that NVLink joins
};

/// Returns all instances in the order of the file. The first call parses them.
const std::vector<Instance>& instances();

/// Returns the instance with this name; null if there is none.
const Instance* find_instance(std::string_view name);

/// Returns the text of data/instances.csv.
std::string_view bundled_instances_csv();

}  // namespace capstan::engine

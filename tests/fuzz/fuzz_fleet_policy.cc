// Reads any bytes as a FleetPolicy. Whatever its settings are, its amounts, prices and times are within their bounds,
// and each of its topologies has a name and levels.
#include <cstdint>
#include <string_view>

#include "base/assert.h"
#include "operator/view/scaler_view.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace capstan;
  kube::JsonDocument document;
  const Result<kube::Json> object = document.parse({reinterpret_cast<const char*>(data), size});
  if (!object) return 0;
  const op::FleetPolicy policy = op::read_fleet_policy(*object);
  for (const op::FleetPolicy::InstanceType& type : policy.instance_types) {
    CAPSTAN_ASSERT(type.gpus >= 1 && type.cpu_milli.value_or(1) >= 1 && type.memory_mib.value_or(1) >= 1);
    CAPSTAN_ASSERT(type.price_per_hour >= MicroUsd{});
  }
  CAPSTAN_ASSERT(policy.topology_fault.empty() || policy.topologies.empty());
  for (const model::Topology& topology : policy.topologies) {
    CAPSTAN_ASSERT(!topology.name.empty() && !topology.levels.empty());
  }
  CAPSTAN_ASSERT(policy.hold >= Duration::zero() && policy.consolidate_after >= Duration::zero());
  CAPSTAN_ASSERT(policy == op::read_fleet_policy(*object));
  return 0;
}

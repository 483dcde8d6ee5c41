#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/quantity.h"
#include "base/time.h"
#include "model/ids.h"

namespace capstan::model {

enum class CapacityType : std::uint8_t { on_demand, spot, reserved };

/// A kind of machine, wherever and however it is bought.
struct InstanceType {
  std::string name;
  // Resources that pods may use on an empty node; none: not known, so they limit no pod.
  std::optional<std::int64_t> cpu_milli{};
  std::optional<std::int64_t> memory_mib{};
  std::optional<std::int64_t> storage_mib{};  ///< ephemeral storage
  std::optional<std::int64_t> pod_slots{};
  /// Amounts by position in Catalog::extended_resources. Amounts that are missing at the end are 0.
  std::optional<std::vector<std::int64_t>> extended{};
  friend bool operator==(const InstanceType&, const InstanceType&) = default;
};

/// An instance type that can be bought in one zone at one price.
struct Offering {
  std::string instance_type;
  GpuKindId gpu;
  GpuCount gpus = 8;
  DomainId zone;
  CapacityType capacity = CapacityType::on_demand;
  MicroUsd price_per_hour;
  InstanceTypeId type{};  ///< none: only the GPUs of its nodes are known
  friend bool operator==(const Offering&, const Offering&) = default;
};

/// An offering that is bought through a pool.
struct Purchase {
  PoolId pool;
  OfferingId offering;
  friend auto operator<=>(const Purchase&, const Purchase&) = default;
};

/// Condition under which a node may be released, in Karpenter's terms.
enum class ConsolidationPolicy : std::uint8_t { when_empty, when_empty_or_underutilized };

/// Limits on the nodes of all pools together, nodes on their way included. An empty value means no limit.
struct FleetLimits {
  std::optional<GpuCount> gpus;
  std::optional<std::int64_t> nodes;
  std::optional<MicroUsd> price_per_hour;
  friend bool operator==(const FleetLimits&, const FleetLimits&) = default;
};

}  // namespace capstan::model

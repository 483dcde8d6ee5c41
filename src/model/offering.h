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

/// An instance type in one zone at one price: what can be bought.
struct Offering {
  std::string instance_type;
  GpuKindId gpu;
  GpuCount gpus = 8;
  DomainId zone;
  CapacityType capacity = CapacityType::on_demand;
  MicroUsd price_per_hour;
};

/// When a node may be given back (Karpenter's words).
enum class ConsolidationPolicy : std::uint8_t { when_empty, when_empty_or_underutilized };

/// A set of offerings with a limit and a rule for giving back (Karpenter NodePool semantics).
struct Pool {
  std::string name;
  std::vector<OfferingId> offerings;  ///< in order of preference
  GpuCount gpu_limit = 0;             ///< no launch may raise the pool's GPUs, those in transit counted, above this
};

/// What no launch may raise the nodes of all pools above, those on their way counted. Nothing: without a limit.
struct FleetLimits {
  std::optional<GpuCount> gpus;
  std::optional<std::int64_t> nodes;
  std::optional<MicroUsd> price_per_hour;
  friend bool operator==(const FleetLimits&, const FleetLimits&) = default;
};

}  // namespace capstan::model

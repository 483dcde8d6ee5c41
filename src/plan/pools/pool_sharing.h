#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "plan/result/plan_facts.h"

namespace capstan::plan {

/// Returns the kind of a tenant of the spec.
TenantSpec::Kind kind_of_tenant(const PlanSpec& spec, std::string_view name);

/// Returns the number of pods that divide each GPU of a pool by MPS; 1: pods have whole GPUs. MPS divides all GPUs of a
/// node, so it is used only if every workload of the pool may share a GPU and bounds its GPU memory, and no tenant runs
/// jobs, which need whole GPUs.
std::int64_t mps_shares(const PlanFacts& facts, std::string_view pool);

}  // namespace capstan::plan

#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "plan/plan.h"

// Figures that several parts of the plan derive from the simulations of a service.
namespace capstan::plan {

inline constexpr std::int64_t kHoursPerMonth = 730;  ///< 365 days / 12

/// Returns the cost per hour of one simulation; 0 for one of no length.
std::int64_t micro_usd_per_hour(const Trial& trial);
/// Returns the mean cost per hour of several simulations; 0 for none.
std::int64_t micro_usd_per_hour(std::span<const Trial> seeds);
inline std::int64_t micro_usd_per_hour(const ServicePlan& service) { return micro_usd_per_hour(service.seeds); }
/// Returns the lowest attainment of several simulations, millionths; 0 for none.
std::int64_t lowest_attainment_ppm(std::span<const Trial> seeds);
inline std::int64_t lowest_attainment_ppm(const ServicePlan& service) { return lowest_attainment_ppm(service.seeds); }
/// Returns the longest P99 of TTFT over the seeds.
Duration longest_ttft_p99(const ServicePlan& service);
/// Returns the highest number of replicas of all roles times their GPUs.
GpuCount gpus_at_maximum(const ServicePlan& service);

/// Returns "3 to 8 replicas of Llama-3.3-70B in fp8 on 4 H100 each"; of a disaggregated service "1 to 4 prefill
/// replicas of ... and 2 to 8 decode replicas of ...".
std::string fleet_words(const ServicePlan& service);
/// Returns "prefill", "decode" or, for replicas that do both, an empty text.
std::string role_word(model::Role role);

}  // namespace capstan::plan

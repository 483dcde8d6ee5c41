#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "plan/result/plan.h"

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
/// Returns "Capstan", "ScaledObject", "HPA" or "constant fleet".
std::string_view scaler_word(ScalerKind kind);
/// Returns the order in which the plan prefers scalers, if another scaler holds the SLO for the same cost as the chosen
/// one. Empty if none does.
std::string equal_cost_words(const ServicePlan& service);
/// Returns a scaler of the plan and what its simulations showed; null if the plan has none of this kind.
const ScalerVariant* find_variant(const ServicePlan& service, ScalerKind kind);
/// Returns the plan with the replicas and the seeds of another of its scalers.
ServicePlan with_scaler(ServicePlan service, ScalerKind kind);
/// Returns the cost per hour of a service: its share of the cost of shared nodes, or else the mean over the seeds.
std::int64_t planned_micro_usd_per_hour(const ServicePlan& service);

/// Returns the lowest and the highest cost of several simulations: "110.08 to 163.90 USD/h"; one value if
/// they are equal.
std::string cost_range_words(std::span<const Trial> seeds);
/// Returns "1 to 7 replicas" or "1 replica", for two roles "2 to 5 prefill and 1 to 4 decode replicas".
std::string range_words(const ServicePlan& service, const std::vector<RoleReplicas>& roles);

/// Returns "all nodes spot" or "half of the base and all added nodes spot".
std::string spot_base_words(const SpotBase& spot);
/// Says what follows from `ServicePlan::spot_base`, which the service must have; empty if nothing does.
/// @param is_allowed  true: the spec allows spot nodes in the base
std::string spot_base_advice(const ServicePlan& service, bool is_allowed);
/// Returns the share of the nodes of the minimum that are spot, millionths.
std::uint32_t spot_base_ppm(const ServicePlan& service);

/// Returns the minimum of `ServicePlan::zone_loss`: "4 replicas". The plan must have one.
std::string zone_loss_replicas(const ServicePlan& service);

/// Returns true if every service holds its SLO alone and, where that was simulated, together with the others. Only such
/// a plan has manifests.
bool holds_slo(const Plan& plan);

/// Returns "3 to 8 replicas of Llama-3.3-70B in fp8 on 4 H100 each"; of a disaggregated service "1 to 4 prefill
/// replicas of ... and 2 to 8 decode replicas of ...".
std::string fleet_words(const ServicePlan& service);
/// Says what shares the cluster in these simulations: "all services" or "all services and jobs".
std::string_view together_subject(const TogetherTrials& trials);
/// Returns the name of a class of jobs: "training", or "fine-tune of training" if the class has a name of its own.
std::string jobs_name(const TogetherJobs& jobs);
/// Says what a class of jobs got, as means of the simulations: "2.0 jobs arrived, 1.0 ended; ...".
std::string jobs_words(const TogetherJobs& jobs, std::int64_t seeds);

/// Returns "prefill", "decode" or, for replicas that do both, an empty text.
std::string role_word(model::Role role);

}  // namespace capstan::plan

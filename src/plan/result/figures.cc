#include "plan/result/figures.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/number_text.h"
#include "experiment/text/words.h"

namespace capstan::plan {

namespace {

constexpr std::int64_t kNanosecondsPerHour = 3'600'000'000'000;

std::string role_fleet_words(const RoleFleet& role) {
  const std::string range = role.minimum == role.maximum ? fmt::format("{}", role.minimum)
                                                         : fmt::format("{} to {}", role.minimum, role.maximum);
  const std::string word = role_word(role.role);
  return fmt::format("{} {}{} of {} in {} on {} {}{}", range, word.empty() ? "" : word + " ",
                     role.maximum == 1 ? "replica" : "replicas", engine::model_words(role.engine),
                     role.engine.weight_dtype, role.gpus_per_replica(), role.engine.gpu_name,
                     role.maximum == 1 ? "" : " each");
}

}  // namespace

std::int64_t micro_usd_per_hour(const Trial& trial) {
  if (trial.simulated.count() <= 0) return 0;
  const __int128 scaled = static_cast<__int128>(trial.micro_usd) * kNanosecondsPerHour;
  return static_cast<std::int64_t>(scaled / trial.simulated.count());
}

std::int64_t micro_usd_per_hour(std::span<const Trial> seeds) {
  if (seeds.empty()) return 0;
  std::int64_t sum = 0;
  for (const Trial& trial : seeds) sum += micro_usd_per_hour(trial);
  return sum / static_cast<std::int64_t>(seeds.size());
}

std::int64_t lowest_attainment_ppm(std::span<const Trial> seeds) {
  const auto lowest = std::ranges::min_element(seeds, {}, &Trial::attainment_ppm);
  return lowest == seeds.end() ? 0 : lowest->attainment_ppm;
}

std::string_view scaler_word(ScalerKind kind) {
  switch (kind) {
    case ScalerKind::capstan:
      return "Capstan";
    case ScalerKind::scaled_object:
      return "ScaledObject";
    case ScalerKind::hpa:
      return "HPA";
    case ScalerKind::constant:
      return "constant fleet";
  }
  return "";
}

std::string equal_cost_words(const ServicePlan& service) {
  const ScalerVariant* chosen = find_variant(service, service.scaler);
  if (chosen == nullptr || chosen->seeds.empty() || !service.holds_slo) return "";
  const std::int64_t cost = micro_usd_per_hour(chosen->seeds);
  const bool has_equal = std::ranges::any_of(service.variants, [&](const ScalerVariant& variant) {
    return variant.kind != service.scaler && variant.refusal_reason.empty() && variant.holds_slo &&
           !variant.seeds.empty() && micro_usd_per_hour(variant.seeds) == cost;
  });
  if (!has_equal) return "";
  return "At equal cost the plan prefers a constant fleet, then Capstan, the ScaledObject and the HPA.";
}

const ScalerVariant* find_variant(const ServicePlan& service, ScalerKind kind) {
  const auto found = std::ranges::find(service.variants, kind, &ScalerVariant::kind);
  return found == service.variants.end() ? nullptr : &*found;
}

ServicePlan with_scaler(ServicePlan service, ScalerKind kind) {
  const ScalerVariant* variant = find_variant(service, kind);
  if (variant == nullptr || variant->roles.size() != service.roles.size()) return service;
  for (std::size_t i = 0; i < service.roles.size(); ++i) {
    service.roles[i].minimum = variant->roles[i].minimum;
    service.roles[i].maximum = variant->roles[i].maximum;
    service.roles[i].mean_ready_milli = variant->roles[i].mean_ready_milli;
    service.roles[i].peak_ready = variant->roles[i].peak_ready;
  }
  service.scaler = kind;
  service.seeds = variant->seeds;
  service.holds_slo = variant->holds_slo;
  service.scenario = variant->scenario;
  return service;
}

std::int64_t planned_micro_usd_per_hour(const ServicePlan& service) {
  return service.shared_micro_usd_per_hour.value_or(micro_usd_per_hour(service));
}

std::string cost_range_words(std::span<const Trial> seeds) {
  if (seeds.empty()) return "not simulated";
  std::vector<std::int64_t> costs;
  for (const Trial& trial : seeds) costs.push_back(micro_usd_per_hour(trial));
  const auto [lowest, highest] = std::ranges::minmax(costs);
  const std::string high = experiment::usd(highest) + " USD/h";
  return experiment::usd(lowest) == experiment::usd(highest) ? high : experiment::usd(lowest) + " to " + high;
}

std::string range_words(const ServicePlan& service, const std::vector<RoleReplicas>& roles) {
  std::string words;
  for (std::size_t i = 0; i < roles.size(); ++i) {
    const RoleReplicas& role = roles[i];
    words += words.empty() ? "" : " and ";
    words += role.minimum == role.maximum ? fmt::format("{}", role.minimum)
                                          : fmt::format("{} to {}", role.minimum, role.maximum);
    if (roles.size() > 1) words += " " + role_word(service.roles[i].role);
  }
  return words + (words == "1" ? " replica" : " replicas");
}

std::string spot_base_words(const SpotBase& spot) {
  return spot.share_ppm >= 1'000'000 ? "all nodes spot" : "half of the base and all added nodes spot";
}

std::string spot_base_advice(const ServicePlan& service, bool is_allowed) {
  const SpotBase& spot = *service.spot_base;
  if (!spot.holds_slo) return "so the base is not spot";
  if (spot.micro_usd_per_hour >= micro_usd_per_hour(service)) return "it costs no less than the plan";
  return is_allowed ? "" : "cluster.spot_base: true allows it";
}

std::uint32_t spot_base_ppm(const ServicePlan& service) {
  if (service.roles.empty()) return 0;
  const RoleFleet& role = service.roles.front();
  return role.base == model::CapacityType::spot ? 1'000'000 : role.spot_base_ppm;
}

std::string zone_loss_replicas(const ServicePlan& service) {
  std::vector<RoleReplicas> roles = service.zone_loss->roles;
  for (RoleReplicas& role : roles) role.maximum = role.minimum;
  return range_words(service, roles);
}

std::string fleet_words(const ServicePlan& service) {
  std::string words;
  for (const RoleFleet& role : service.roles) words += (words.empty() ? "" : " and ") + role_fleet_words(role);
  return words;
}

std::string role_word(model::Role role) {
  switch (role) {
    case model::Role::both:
      return "";
    case model::Role::prefill:
      return "prefill";
    case model::Role::decode:
      return "decode";
  }
  return "";
}

std::int64_t TogetherService::lowest_ppm() const {
  return attainment_ppm.empty() ? 0 : *std::ranges::min_element(attainment_ppm);
}

bool TogetherTrials::holds_slo() const { return std::ranges::all_of(services, &TogetherService::holds_slo); }

std::string_view together_subject(const TogetherTrials& trials) {
  return trials.jobs.empty() ? "all services" : "all services and jobs";
}

std::string jobs_name(const TogetherJobs& jobs) {
  return jobs.name == jobs.tenant ? jobs.name : fmt::format("{} of {}", jobs.name, jobs.tenant);
}

std::string jobs_words(const TogetherJobs& jobs, std::int64_t seeds) {
  const auto mean = [&](std::int64_t sum) { return experiment::tenths(sum, seeds); };
  std::string words = fmt::format("{} jobs arrived, {} ended", mean(jobs.arrived), mean(jobs.ended));
  if (jobs.computing > 0) words += fmt::format(", {} still ran at the end", mean(jobs.computing));
  if (jobs.waiting > 0) words += fmt::format(", {} had not begun", mean(jobs.waiting));
  words += fmt::format("; waited {} (median) and {} (P99) in the worst simulation; {} GPU-hours for {} USD",
                       time_text(jobs.wait_p50), time_text(jobs.wait_p99), experiment::gpu_hours(jobs.gpu_ns / seeds),
                       experiment::usd(jobs.micro_usd / seeds));
  if (jobs.waiting == jobs.arrived && jobs.arrived > 0) {
    return words + "; no job got GPUs, a higher gpu_quota of the tenant adds nodes for its jobs";
  }
  words += jobs.preempted > 0 ? fmt::format("; preempted {} times", mean(jobs.preempted)) : "; never preempted";
  if (jobs.resized > 0) words += fmt::format(", changed width {} times", mean(jobs.resized));
  if (jobs.restarts > jobs.preempted) {
    words += fmt::format(", restarted {} times for another reason", mean(jobs.restarts - jobs.preempted));
  }
  if (const std::string lost = experiment::gpu_hours(jobs.lost_gpu_ns / seeds); lost != experiment::gpu_hours(0)) {
    words += fmt::format(", lost {} GPU-hours of work", lost);
  }
  return words;
}

bool holds_slo(const Plan& plan) {
  return std::ranges::all_of(plan.services, &ServicePlan::holds_slo) &&
         (!plan.together || plan.together->trials.holds_slo());
}

}  // namespace capstan::plan

#include "plan/figures.h"

#include <fmt/format.h>

#include <algorithm>

namespace capstan::plan {

namespace {

constexpr std::int64_t kNanosecondsPerHour = 3'600'000'000'000;

std::string role_fleet_words(const RoleFleet& role) {
  const std::string range = role.minimum == role.maximum ? fmt::format("{}", role.minimum)
                                                         : fmt::format("{} to {}", role.minimum, role.maximum);
  const std::string word = role_word(role.role);
  return fmt::format("{} {}{} of {} in {} on {} {}{}", range, word.empty() ? "" : word + " ",
                     role.maximum == 1 ? "replica" : "replicas", role.engine.model, role.engine.weight_dtype,
                     role.gpus_per_replica(), role.engine.gpu_name, role.maximum == 1 ? "" : " each");
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

Duration longest_ttft_p99(const ServicePlan& service) {
  const auto longest = std::ranges::max_element(service.seeds, {}, &Trial::ttft_p99);
  return longest == service.seeds.end() ? Duration{} : longest->ttft_p99;
}

GpuCount gpus_at_maximum(const ServicePlan& service) {
  GpuCount gpus = 0;
  for (const RoleFleet& role : service.roles) gpus += role.maximum * role.gpus_per_replica();
  return gpus;
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

}  // namespace capstan::plan

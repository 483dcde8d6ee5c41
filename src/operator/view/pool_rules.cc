#include "operator/view/pool_rules.h"

#include <algorithm>
#include <charconv>
#include <string_view>

namespace capstan::op {
namespace {

/// The limit of a pool that states none.
constexpr GpuCount kNoGpuLimit = 10'000'000;
constexpr std::int64_t kMaxNodes = 1'000'000;
constexpr std::int64_t kMilliOfMib = 1'000 * (std::int64_t{1} << 20);

model::PoolLimits limits_of(const kube::Resources& stated) {
  model::PoolLimits limits{.gpus = kNoGpuLimit};
  GpuCount gpus = 0;
  bool has_gpus = false;
  for (const auto& [name, milli] : stated.milli) {
    const std::int64_t amount = std::clamp<std::int64_t>(milli, 0, model::kUnlimited);
    if (name.ends_with("/gpu")) {
      gpus += std::min(amount / 1'000, kNoGpuLimit);
      has_gpus = true;
    }
    if (name == "nodes") limits.nodes = amount / 1'000;
    if (name == "cpu") limits.cpu_milli = amount;
    if (name == "memory") limits.memory_mib = amount / kMilliOfMib;
  }
  if (has_gpus) limits.gpus = std::min(gpus, kNoGpuLimit);
  return limits;
}

/// Reads "10%" or "5" into a budget.
void read_nodes(std::string_view text, model::DisruptionBudget& budget) {
  const bool is_share = text.ends_with('%');
  if (is_share) text.remove_suffix(1);
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const std::int64_t most = is_share ? 100 : kMaxNodes;
  if (error != std::errc() || end != text.data() + text.size() || number < 0) {
    budget.nodes = 0;
  } else if (is_share) {
    budget.share_ppm = std::min(number, most) * 10'000;
  } else {
    budget.nodes = std::min(number, most);
  }
}

model::DisruptionBudget budget_of(const kube::DisruptionBudget& stated) {
  model::DisruptionBudget budget;
  read_nodes(stated.nodes, budget);
  if (stated.schedule.empty() || !stated.duration) return budget;
  Result<Cron> start = Cron::parse(stated.schedule);
  // A budget that cannot be read allows no disruption at any time, because its author wanted to limit disruptions.
  if (!start) return {.nodes = 0};
  budget.start = std::move(*start);
  budget.duration = std::clamp<Duration>(*stated.duration, {}, model::DisruptionBudget::kLongest);
  return budget;
}

bool is_for_empty_nodes(const kube::DisruptionBudget& budget) {
  return budget.reasons.empty() || std::ranges::find(budget.reasons, "Empty") != budget.reasons.end();
}

}  // namespace

model::Pool pool_rules(const kube::NodePool& pool) {
  model::Pool rules;
  rules.limits = limits_of(pool.limits.value_or(kube::Resources{}));
  rules.weight = std::clamp<std::int64_t>(pool.weight, 0, 100);
  if (pool.budgets.empty()) return rules;
  rules.budgets.emplace();
  for (const kube::DisruptionBudget& budget : pool.budgets) {
    if (is_for_empty_nodes(budget) && rules.budgets->size() < model::DisruptionBudget::kMax) {
      rules.budgets->push_back(budget_of(budget));
    }
  }
  return rules;
}

}  // namespace capstan::op

#include "peers/formula/wva_optimizer.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <tuple>

namespace capstan::peers::wva {
namespace {

template <typename Before>
std::vector<std::size_t> sorted(std::size_t size, Before before) {
  std::vector<std::size_t> order(size);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, before);
  return order;
}

/// Converts a replica count from a double, clamped to a plausible range.
ReplicaCount count_of(double replicas) { return static_cast<ReplicaCount>(std::clamp(replicas, 0.0, 2147483647.0)); }

void add(std::span<const VariantCost> variants, double required, std::vector<ReplicaCount>& targets) {
  for (const std::size_t i : by_efficiency(variants)) {
    if (required <= 0) return;
    if (variants[i].capacity <= 0) continue;
    const ReplicaCount more = count_of(std::ceil(required / variants[i].capacity));
    targets[i] += more;
    required -= static_cast<double>(more) * variants[i].capacity;
  }
}

void remove(std::span<const VariantCost> variants, double spare, std::vector<ReplicaCount>& targets) {
  const std::optional<std::size_t> keeper = cheapest(variants);
  for (const std::size_t i : by_cost_descending(variants)) {
    if (variants[i].capacity <= 0) continue;
    const double capacity = variants[i].capacity;
    const ReplicaCount others = std::accumulate(targets.begin(), targets.end(), ReplicaCount{0}) - targets[i];
    const ReplicaCount least = i == keeper && others == 0 ? 1 : 0;
    const ReplicaCount removed =
        std::min(count_of(std::floor(spare / capacity)), std::max<ReplicaCount>(0, targets[i] - least));
    targets[i] -= removed;
    spare -= static_cast<double>(removed) * capacity;
  }
}

bool is_intel(std::string_view vendor) {
  const auto upper = [](char letter) { return letter >= 'a' && letter <= 'z' ? letter - 'a' + 'A' : +letter; };
  return std::ranges::equal(vendor, std::string_view("INTEL"), {}, upper);
}

std::int64_t gpus_per_replica(const ScaleUp& wish) { return std::max<std::int64_t>(1, wish.gpus_per_replica); }

}  // namespace

std::vector<std::size_t> by_efficiency(std::span<const VariantCost> variants) {
  const auto price = [&](std::size_t i) {
    if (variants[i].capacity <= 0) return std::numeric_limits<double>::infinity();
    return variants[i].cost / variants[i].capacity;
  };
  return sorted(variants.size(), [&](std::size_t a, std::size_t b) { return price(a) < price(b); });
}

std::vector<std::size_t> by_cost_descending(std::span<const VariantCost> variants) {
  return sorted(variants.size(), [&](std::size_t a, std::size_t b) { return variants[a].cost > variants[b].cost; });
}

std::optional<std::size_t> cheapest(std::span<const VariantCost> variants) {
  if (variants.empty()) return std::nullopt;
  return static_cast<std::size_t>(std::ranges::min_element(variants, {}, &VariantCost::cost) - variants.begin());
}

std::vector<ReplicaCount> optimize(double required, double spare, std::span<const VariantCost> variants) {
  std::vector<ReplicaCount> targets;
  for (const VariantCost& variant : variants) targets.push_back(variant.current);
  if (required > 0)
    add(variants, required, targets);
  else if (spare > 0)
    remove(variants, spare, targets);
  return targets;
}

std::vector<GpuGrant> limit(GpusByType& free, std::span<const ScaleUp> wishes) {
  std::vector<GpuGrant> granted(wishes.size());
  const auto first = [&](std::size_t a, std::size_t b) {
    return std::tie(wishes[a].spare, wishes[a].cost) < std::tie(wishes[b].spare, wishes[b].cost);
  };
  for (const std::size_t i : sorted(wishes.size(), first)) {
    const ScaleUp& wish = wishes[i];
    granted[i].target = wish.target;
    if (wish.target <= wish.current) continue;
    const std::int64_t gpus = gpus_per_replica(wish);
    const std::int64_t taken = take(free, wish.type, (wish.target - wish.current) * gpus);
    const ReplicaCount replicas = taken / gpus;
    granted[i] = {replicas * gpus, wish.current + replicas, wish.current + replicas < wish.target};
  }
  return granted;
}

std::int64_t take(GpusByType& free, std::string_view type, std::int64_t gpus) {
  const auto pool = free.find(type);
  if (pool == free.end() || gpus <= 0) return 0;
  const std::int64_t taken = std::min(gpus, std::max<std::int64_t>(0, pool->second));
  pool->second -= taken;
  return taken;
}

GpusByType gpus_in_use(std::span<const ScaleUp> wishes) {
  GpusByType used;
  for (const ScaleUp& wish : wishes) {
    if (!wish.type.empty()) used[wish.type] += wish.current * wish.gpus_per_replica;
  }
  return used;
}

GpusByType available(const GpusByType& limits, const GpusByType& used) {
  GpusByType free;
  for (const auto& [type, gpus] : limits) {
    const auto taken = used.find(type);
    free[type] = std::max<std::int64_t>(0, gpus - (taken == used.end() ? 0 : taken->second));
  }
  return free;
}

GpusByType least_of(std::span<const GpusByType> limits) {
  GpusByType least;
  for (const GpusByType& inventory : limits) {
    for (const auto& [type, gpus] : inventory) {
      const auto [entry, is_new] = least.try_emplace(type, gpus);
      if (!is_new) entry->second = std::min(entry->second, gpus);
    }
  }
  return least;
}

std::string_view accelerator_name(std::string_view product) {
  const std::size_t dash = product.find('-');
  if (dash == product.npos) return product;
  const std::string_view vendor = product.substr(0, dash), rest = product.substr(dash + 1);
  const std::size_t end = rest.find('-');
  return rest.substr(0, end != rest.npos && is_intel(vendor) ? rest.find('-', end + 1) : end);
}

EnforcedTargets enforce(std::optional<bool> enabled, std::optional<double> requests,
                        std::map<std::string, ReplicaCount> targets, const std::map<std::string, double>& costs) {
  constexpr double kCostUnknown = 10;
  if (enabled.value_or(false)) {
    if (!requests || *requests > 0) return {std::move(targets), false};
    for (auto& [name, target] : targets) target = 0;
    return {std::move(targets), true};
  }
  const bool some = std::ranges::any_of(targets, [](const auto& target) { return target.second > 0; });
  if (some || targets.empty()) return {std::move(targets), false};
  const auto cost = [&](const auto& target) {
    const auto known = costs.find(target.first);
    return known == costs.end() ? kCostUnknown : known->second;
  };
  std::ranges::min_element(targets, {}, cost)->second = 1;  // alphabetically first among equals
  return {std::move(targets), true};
}

}  // namespace capstan::peers::wva

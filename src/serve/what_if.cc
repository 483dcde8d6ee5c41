#include "serve/what_if.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include <nlohmann/json.hpp>

#include "manifest/path.h"

namespace capstan::serve {
namespace {

using Json = nlohmann::ordered_json;
using manifest::Node;

constexpr double kMillionthsInAPercent = 10'000;

Error wrong(std::string message) { return Error::about({}, std::move(message)); }

/// Reads a number of a request, if it is there and not null.
Result<void> read_number(const Json& json, const char* key, double low, double high, std::optional<double>& out) {
  const auto found = json.find(key);
  if (found == json.end() || found->is_null()) return {};
  const double value = found->is_number() ? found->get<double>() : NAN;
  if (value >= low && value <= high) {
    out = value;
    return {};
  }
  return std::unexpected(wrong(fmt::format("{} is {}, expected a number from {:g} to {:g}", key,
                                           found->is_number() ? fmt::format("{:g}", value) : "no number", low, high)));
}

Result<void> check_keys(const Json& json) {
  constexpr std::array<std::string_view, 4> kKeys = {"load_factor", "price_factor",
                                                     "spot_interruptions_percent_per_hour", "min_replicas"};
  for (const auto& [key, value] : json.items()) {
    if (std::ranges::find(kKeys, std::string_view(key)) == kKeys.end()) {
      return std::unexpected(wrong(
          "an unknown key, expected load_factor, price_factor, spot_interruptions_percent_per_hour or min_replicas"));
    }
  }
  return {};
}

std::string usd(double micro_usd) {
  const auto whole = static_cast<std::int64_t>(std::llround(micro_usd));
  return fmt::format("{}.{:06}", whole / 1'000'000, whole % 1'000'000);
}

/// Returns the elements of a list; none if it is missing.
const std::vector<Node>& list_at(const Node& node, std::string_view path) {
  static const std::vector<Node> none;
  const Node* found = manifest::at_path(node, path);
  return found == nullptr ? none : found->items;
}

/// Adds the assignments that multiply the price of every machine.
void add_prices(double factor, const scenario::Scenario& scenario, const Node& root, std::vector<std::string>& sets) {
  const auto add = [&](const std::string& path, model::OfferingId id) {
    const double price = static_cast<double>(scenario.catalog->offering(id).price_per_hour.count);
    sets.push_back(fmt::format("{}.usd_per_hour={}", path, usd(price * factor)));
  };
  const std::size_t zones = std::max<std::size_t>(1, list_at(root, "cluster.zones").size());
  const std::vector<Node>& pools = list_at(root, "cluster.pools");
  for (std::size_t i = 0; i < std::min(pools.size(), scenario.catalog->pools.size()); ++i) {
    const std::vector<model::OfferingId>& bought = scenario.catalog->pools[i].offerings;
    const std::vector<Node>& machines = list_at(pools[i], "offerings");
    // A machine without a zone became an offering in each zone.
    for (std::size_t j = 0, at = 0; j < machines.size() && at < bought.size(); ++j) {
      add(fmt::format("cluster.pools.{}.offerings.{}", i, j), bought[at]);
      at += machines[j].find("zone") != nullptr ? 1 : zones;
    }
  }
  // An entry of the file can give several rows of existing nodes. Its price is set once.
  std::optional<std::size_t> entry;
  for (const sim::ExistingNodes& nodes : scenario.cluster.existing) {
    if (entry != nodes.entry) add(fmt::format("cluster.existing.{}", nodes.entry), nodes.offering);
    entry = nodes.entry;
  }
}

/// Returns true if the file lists services, each with its load.
bool lists_services(const Node& root) { return manifest::at_path(root, "services") != nullptr; }

/// Adds the assignments that multiply the load of each service.
void add_load(double factor, const scenario::Scenario& scenario, const Node& root, std::vector<std::string>& sets) {
  const bool is_listed = lists_services(root);
  for (std::size_t i = 0; i < scenario.endpoints.size(); ++i) {
    const std::string load = is_listed ? fmt::format("services.{}.load", i) : "load";
    sets.push_back(fmt::format("{}.scale={:.9g}", load, scenario.endpoints[i].load.scale * factor));
  }
}

/// Adds the assignments that set the minimum replicas. The initial replicas may not be below the minimum.
void add_minimum(ReplicaCount minimum, const scenario::Scenario& scenario, const Node& root,
                 std::vector<std::string>& sets) {
  const std::string replicas = lists_services(root) ? "services.0.replicas" : "service.replicas";
  sets.push_back(fmt::format("{}.min={}", replicas, minimum));
  const bool states_start = manifest::at_path(root, replicas + ".initial") != nullptr;
  if (states_start && scenario.cluster.initial.front().replicas < minimum) {
    sets.push_back(fmt::format("{}.initial={}", replicas, minimum));
  }
}

}  // namespace

WhatIfLimits what_if_limits(const scenario::Scenario& scenario) {
  WhatIfLimits limits;
  limits.has_spot = std::ranges::any_of(scenario.catalog->offerings, [](const model::Offering& offering) {
    return offering.capacity == model::CapacityType::spot;
  });
  limits.spot_interruptions_percent_per_hour =
      static_cast<double>(scenario.cluster.provider.spot_interruptions_per_million_hours) / kMillionthsInAPercent;
  limits.has_minimum = scenario.catalog->services.size() == 1;
  if (scenario.has_only_jobs()) return limits;
  limits.min_replicas = scenario.service().min_replicas;
  limits.max_replicas = scenario.service().max_replicas;
  return limits;
}

Result<WhatIf> parse_what_if(std::string_view text, const WhatIfLimits& limits) {
  const Json json = Json::parse(text, nullptr, false);
  if (!json.is_object()) return std::unexpected(wrong("the body is no JSON object"));
  WhatIf change;
  std::optional<double> minimum;
  Result<void> read = check_keys(json);
  if (read) read = read_number(json, "load_factor", kMinFactor, kMaxFactor, change.load_factor);
  if (read) read = read_number(json, "price_factor", kMinFactor, kMaxFactor, change.price_factor);
  if (read) {
    read = read_number(json, "spot_interruptions_percent_per_hour", 0, kMaxSpotPercent,
                       change.spot_interruptions_percent_per_hour);
  }
  if (read) read = read_number(json, "min_replicas", 0, static_cast<double>(limits.max_replicas), minimum);
  if (!read) return std::unexpected(read.error());
  if (minimum && !limits.has_minimum) {
    return std::unexpected(wrong("min_replicas is given, but the scenario has several kinds of replicas"));
  }
  if (minimum && *minimum != std::floor(*minimum)) {
    return std::unexpected(wrong(fmt::format("min_replicas is {:g}, expected a whole number", *minimum)));
  }
  if (minimum) change.min_replicas = static_cast<ReplicaCount>(*minimum);
  return change;
}

std::vector<std::string> what_if_sets(const WhatIf& change, const scenario::Scenario& scenario, const Node& root) {
  std::vector<std::string> sets;
  if (change.load_factor) add_load(*change.load_factor, scenario, root, sets);
  if (change.price_factor) add_prices(*change.price_factor, scenario, root, sets);
  if (change.spot_interruptions_percent_per_hour) {
    sets.push_back(fmt::format("cluster.provider.spot_interruptions_per_hour={:.4f}%",
                               *change.spot_interruptions_percent_per_hour));
  }
  if (change.min_replicas) add_minimum(*change.min_replicas, scenario, root, sets);
  return sets;
}

}  // namespace capstan::serve

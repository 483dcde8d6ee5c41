#include "operator/status/fleet_status.h"

#include <utility>

#include <nlohmann/json.hpp>

#include "decide/place/expected_nodes.h"
#include "operator/status/condition_since.h"

namespace capstan::op {
namespace {

using Json = nlohmann::ordered_json;

std::string usd(MicroUsd price) {
  std::string digits = std::to_string(price.count % 1'000'000);
  digits.insert(0, 6 - digits.size(), '0');
  return std::to_string(price.count / 1'000'000) + "." + digits;
}

/// Returns the condition of a policy whose topologies have a defect. None of its topologies is used.
Json topologies_refused(const FleetPolicy& policy, kube::WallTime wall) {
  return {{"type", "TopologiesAccepted"},
          {"status", "False"},
          {"observedGeneration", policy.meta.generation},
          {"lastTransitionTime", condition_since(policy.conditions, "TopologiesAccepted", false, true, wall)},
          {"reason", "Invalid"},
          {"message", policy.topology_fault}};
}

}  // namespace

FleetReport fleet_report(const model::Snapshot& snapshot, std::string leader) {
  FleetReport report{.leader = std::move(leader), .gpus = 0, .price_per_hour = {}};
  const auto add = [&](model::OfferingId offering) {
    report.gpus += snapshot.catalog->offering(offering).gpus;
    report.price_per_hour += snapshot.catalog->offering(offering).price_per_hour;
  };
  snapshot.nodes.for_each([&](model::NodeId, const model::Node& node) {
    if (node.pool.valid()) add(node.offering);
  });
  snapshot.claims.for_each([&](model::ClaimId, const model::Claim& claim) {
    if (decide::place::in_transit(claim, snapshot)) add(claim.offering);
  });
  return report;
}

std::string fleet_status_json(const FleetReport& report, const FleetPolicy& policy, kube::WallTime wall) {
  const Json halted = {
      {"type", "Halted"},
      {"status", policy.halt ? "True" : "False"},
      {"observedGeneration", policy.meta.generation},
      {"lastTransitionTime", condition_since(policy.conditions, "Halted", policy.halt, !policy.halt, wall)},
      {"reason", policy.halt ? "KillSwitch" : "None"},
      {"message", policy.halt
                      ? "spec.halt is true: Capstan writes nothing except the Lease, its checkpoint, status and "
                        "Events; set spec.halt to false to resume"
                      : ""}};
  Json conditions = Json::array({halted});
  if (!policy.topology_fault.empty()) conditions.push_back(topologies_refused(policy, wall));
  const Json status = {{"observedGeneration", policy.meta.generation},
                       {"leader", report.leader},
                       {"gpus", report.gpus},
                       {"usdPerHour", usd(report.price_per_hour)},
                       {"conditions", conditions}};
  return status.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::optional<kube::ApiRequest> FleetStatusWriter::update(const FleetReport& report, const FleetPolicy& policy,
                                                          Instant now, kube::WallTime wall) {
  gate_.forget_unless([&](const std::string& uid) { return uid == policy.meta.uid; });
  if (policy.meta.name.empty() || !gate_.begin_write(policy.meta.uid, policy.meta.generation, report, now)) {
    return std::nullopt;
  }
  return kube::apply_status({kFleetPolicies, {}, policy.meta.name}, policy.meta.uid,
                            fleet_status_json(report, policy, wall));
}

}  // namespace capstan::op

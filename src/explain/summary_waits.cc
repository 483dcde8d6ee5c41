#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "base/unit_text.h"
#include "decide/place/expected_nodes.h"
#include "explain/summary.h"
#include "explain/words.h"
#include "model/reason_sentence.h"

// Limits that only need time: nodes that boot, replicas that start, and pods that do not exist yet.
namespace capstan::explain {
using model::Reason;
using model::ReasonCode;

Limit Summarizer::cold_start(Instant ready_at, std::string what) const {
  Limit limit{Layer::cold_start, std::move(what), "wait: the time is unknown, because no start has been measured yet"};
  if (ready_at.is_never()) return limit;
  const Duration left = ready_at - snapshot_.at;
  limit.change = left > Duration{} ? "wait " + time_text(left)
                                   : fmt::format("it was expected {} ago: read the log of the pod", time_text(-left));
  return limit;
}

/// Returns the limit for nodes of this GPU kind that have not appeared or booted yet, with the time until the first one
/// is expected.
Limit Summarizer::nodes_booting(model::GpuKindId gpu) const {
  std::int64_t nodes = 0;
  GpuCount gpus = 0;
  MicroUsd price;
  Instant first = Instant::never();
  snapshot_.claims.for_each([&](model::ClaimId, const model::Claim& claim) {
    const model::Offering& offering = catalog_.offering(claim.offering);
    if (offering.gpu != gpu || !decide::place::is_expected(claim, snapshot_)) return;
    ++nodes;
    gpus += offering.gpus;
    price += offering.price_per_hour;
    if (claim.expected_ready_at > snapshot_.at) first = std::min(first, claim.expected_ready_at);
  });
  if (nodes == 0) {
    return {Layer::cold_start, "nodes were ordered a moment ago and are not visible yet",
            "wait until the nodes have booted"};
  }
  std::string text = fmt::format("{} with {} on the way for {}", count_text(nodes, "node", "nodes"),
                                 fmt::format("{} {}", gpus, gpu_name(catalog_, gpu)), price_text(price));
  return first.is_never() ? Limit{Layer::cold_start, std::move(text), "wait until the nodes have booted"}
                          : Limit{Layer::cold_start, std::move(text),
                                  fmt::format("wait {}: the first one boots", time_text(first - snapshot_.at))};
}

/// Returns the limit of a gang that is nominated to a claim, with the name of the claim and the time until its node is
/// ready.
Limit Summarizer::nomination(const Reason& why) const {
  const auto& n = why.numbers;
  const std::string* known = names_.claims.find({static_cast<std::uint32_t>(n[1])});
  const std::string claim = known != nullptr ? *known : fmt::format("{}", n[1]);
  const std::optional<model::ReasonSubject> subject = subject_of(why, catalog_);
  const std::string pool = subject ? subject->name : "unknown";
  Limit limit{Layer::cold_start,
              n[0] == 1 ? fmt::format("claim {} of pool {} is on the way", claim, pool)
                        : fmt::format("{} nodes on the way, the last one is claim {} of pool {}", n[0], claim, pool),
              fmt::format("wait: the time is unknown, because no node of pool {} has started yet", pool)};
  const std::string time = time_text(std::chrono::seconds(n[3]));
  if (why.code == ReasonCode::nominated_to_claim) {
    limit.change = fmt::format("wait {}: {} then", time, n[0] == 1 ? "the node is ready" : "the nodes are ready");
  }
  if (why.code == ReasonCode::nominated_overdue) {
    limit.change = fmt::format("overdue by {}: read the conditions of NodeClaim {}", time, claim);
  }
  return limit;
}

/// Returns the limit for wanted replicas that do not exist: Capstan has not asked for them yet, or their workload is
/// creating them.
Limit Summarizer::limit_of_creation(const decide::scale::Decision& decision, ReplicaCount existing,
                                    Environment environment) const {
  const std::string service = service_name(catalog_, decision.service);
  const std::string missing = count_text(decision.desired - existing, "new replica", "new replicas");
  if (decision.current > existing) {
    return {Layer::cold_start, fmt::format("pods of the {} do not exist yet", missing),
            "wait: their workload creates them"};
  }
  switch (environment) {
    case Environment::active:
    case Environment::simulation:
      return {Layer::cold_start, fmt::format("pods of the {} do not exist yet", missing),
              "wait: this decision requests them"};
    case Environment::shadow:
      return {Layer::replicas, fmt::format("mode Shadow only shows the {} and does not request them", missing),
              fmt::format("set mode Active, or set the replicas of {} to {} yourself", service, decision.desired)};
    case Environment::cluster:
      break;
  }
  return {Layer::replicas, fmt::format("the {} are not requested yet", missing),
          fmt::format("in mode Active wait, this decision requests them; in mode Shadow set the replicas of {} to {}",
                      service, decision.desired)};
}

}  // namespace capstan::explain

#include "explain/summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "explain/words.h"
#include "model/phase_names.h"
#include "model/reason_sentence.h"
#include "model/topology_names.h"

namespace capstan::explain {
namespace {

using model::Gang;
using model::GangId;
using model::Node;
using model::NodeId;
using model::Pod;
using model::PodId;

/// Returns "8 GPUs" or "0.25 GPUs".
std::string with_noun(MilliGpu gpus) { return gpus_text(gpus) + (gpus == whole_gpus(1) ? " GPU" : " GPUs"); }

/// Returns the third line: the limit, the layer at fault and the change that would help.
std::string limit_text(const Limit& limit) {
  std::string text;
  if (limit.layer != Layer::none) text = fmt::format("{}: ", name(limit.layer));
  text += limit.text;
  if (!limit.change.empty()) text += "; " + limit.change;
  const std::string_view shown = metric(limit.layer);
  if (!shown.empty()) text += fmt::format(" (metric: {})", shown);
  if (limit.layer == Layer::queue) text += " (for a Queue of Capstan: kubectl get capq)";
  return text;
}

}  // namespace

std::string_view name(Layer layer) {
  constexpr std::array<std::string_view, 7> kNames = {"nothing",    "replicas", "queue",     "placement",
                                                      "pool limit", "capacity", "cold start"};
  return kNames[static_cast<std::size_t>(layer)];
}

std::string_view metric(Layer layer) {
  switch (layer) {
    case Layer::none:
      return {};
    case Layer::replicas:
      return R"(capstan_target_replicas{state="recommended"})";
    case Layer::queue:
      return "kai_queue_allocated_gpus";
    case Layer::placement:
      return R"(scheduler_pending_pods{queue="unschedulable"})";
    case Layer::pool_limit:
      return "karpenter_nodepools_usage";
    case Layer::capacity:
      return "karpenter_cloudprovider_errors_total";
    case Layer::cold_start:
      return R"(capstan_target_replicas{state="starting"})";
  }
  return {};
}

std::string lines(const Summary& summary) {
  constexpr std::string_view kWanted = "wanted:  ";
  constexpr std::string_view kPresent = "present: ";
  constexpr std::string_view kLimit = "limit:   ";
  return fmt::format("{}{}\n{}{}\n{}{}", kWanted, summary.wanted, kPresent, summary.present, kLimit,
                     limit_text(summary.limit));
}

std::string one_line(const Summary& summary) {
  return fmt::format("Wanted: {}. Present: {}. Limit: {}.", summary.wanted, summary.present, limit_text(summary.limit));
}

void HeldGpus::add(const HeldGpus& other) {
  if (other.gpus == MilliGpu{}) return;
  if (gpus == MilliGpu{}) kind = other.kind;
  gpus += other.gpus;
  per_hour += other.per_hour;
  unpriced += other.unpriced;
}

Summarizer::Summarizer(const model::Snapshot& snapshot, const model::Names& names, const decide::place::Decision& place,
                       const decide::provision::Decision& provision)
    : snapshot_(snapshot), catalog_(*snapshot.catalog), names_(names), place_(place), provision_(provision) {
  snapshot.gangs.for_each([&](GangId id, const Gang& gang) {
    ReplicaStates& states = states_[gang.service];
    switch (gang.phase) {
      case Gang::Phase::pending:
        ++states.pending;
        states.waiting.push_back(id);
        break;
      case Gang::Phase::starting:
        ++states.starting;
        states.next_ready = std::min(states.next_ready, gang.expected_ready_at);
        break;
      case Gang::Phase::ready:
        ++states.ready;
        break;
      case Gang::Phase::draining:
        ++states.draining;
        break;
      case Gang::Phase::sleeping:
        ++states.sleeping;
        break;
    }
    states.held.add(held_by(gang));
  });
  for (auto& [service, states] : states_) {
    std::ranges::stable_sort(states.waiting, {}, [&](GangId id) { return snapshot.gangs.at(id).created_at; });
  }
  add_free_gpus();
  for (const decide::place::PlacementResult& verdict : place.verdicts) {
    if (verdict.gang.valid()) verdicts_[verdict.gang] = &verdict;
  }
  for (const decide::place::Shortfall& lack : place.shortfalls) {
    if (lack.gang.valid()) shortfalls_[lack.gang] = &lack;
  }
}

const ReplicaStates& Summarizer::states_of(model::ServiceId service) const {
  static const ReplicaStates kNone;
  const auto found = states_.find(service);
  return found == states_.end() ? kNone : found->second;
}

/// Returns the GPUs that a pod holds, and the pod's share of the node's price. If the node has no known price, returns
/// the pod's share of the price that is stated for the replica.
HeldGpus Summarizer::held_by(const Pod& pod) const {
  HeldGpus held;
  // A running pod holds its GPUs even if its node is not in the snapshot, for example while its device plugin restarts.
  const bool running = pod.phase == Pod::Phase::starting || pod.phase == Pod::Phase::ready;
  if ((!pod.node.valid() && !running) || pod.gpus == MilliGpu{}) return held;
  held.gpus = pod.gpus;
  const Gang* gang = snapshot_.gangs.find(pod.gang);
  const Node* node = pod.node.valid() ? snapshot_.nodes.find(pod.node) : nullptr;
  held.kind = node != nullptr ? node->gpu : gang != nullptr ? gang->spec.pods.gpu : model::GpuKindId{};
  if (node != nullptr && node->offering.valid() && node->offering.value < catalog_.offerings.size()) {
    const model::Offering& offering = catalog_.offering(node->offering);
    if (offering.price_per_hour > MicroUsd{} && offering.gpus > 0) {
      held.per_hour = {offering.price_per_hour.count / offering.gpus * pod.gpus.count / 1000};
      return held;
    }
  }
  if (gang != nullptr && gang->service.valid() && gang->service.value < catalog_.services.size()) {
    const MilliGpu all =
        gang->spec.other_pods.empty() ? gang->spec.pods.gpus_per_pod * std::ssize(gang->pods) : gang->spec.gpus();
    if (all > MilliGpu{}) {
      const MicroUsd stated = catalog_.service(gang->service).workload.price_per_hour;
      held.per_hour = {stated.count / all.count * pod.gpus.count};
    }
  }
  if (held.per_hour == MicroUsd{}) held.unpriced = held.gpus;
  return held;
}

HeldGpus Summarizer::held_by(const Gang& gang) const {
  HeldGpus held;
  for (const PodId id : gang.pods) {
    if (const Pod* pod = snapshot_.pods.find(id)) held.add(held_by(*pod));
  }
  return held;
}

std::string Summarizer::held_text(const HeldGpus& held) const {
  if (held.gpus == MilliGpu{}) return "no GPUs held";
  std::string text = fmt::format("{} held ({})", with_noun(held.gpus), gpu_name(catalog_, held.kind));
  if (held.unpriced == held.gpus) return text + ", price unknown";
  text += ", " + price_text(held.per_hour);
  if (held.unpriced > MilliGpu{}) text += fmt::format(" plus {} without a known price", with_noun(held.unpriced));
  return text;
}

Summary Summarizer::service(const decide::scale::Decision& decision, Environment environment) const {
  Summary summary;
  const std::string name = service_name(catalog_, decision.service);
  summary.wanted = fmt::format(
      "{} of {}{}: {}", replicas_text(decision.desired), name,
      decision.desired == decision.current ? ", no change" : fmt::format(", {} requested so far", decision.current),
      sentence(decision.why, catalog_));
  const ReplicaStates& states = states_of(decision.service);
  summary.present = fmt::format("{} ready, {} starting, {} pending, {} draining", states.ready, states.starting,
                                states.pending, states.draining);
  if (states.sleeping > 0) summary.present += fmt::format(", {} sleeping", states.sleeping);
  const ReplicaCount existing = states.ready + states.starting + states.pending;
  if (decision.desired > existing) {
    summary.present += fmt::format(", {} not created yet", decision.desired - existing);
  }
  summary.present += "; " + held_text(states.held);
  summary.limit = limit_of_service(decision, environment);
  return summary;
}

/// Returns the pods of a gang in words: "2 pods with 8 H100 each and 1 pod without GPUs".
std::string Summarizer::pods_text(const Gang& gang) const {
  const std::size_t sets = gang.spec.sets();
  std::string text;
  for (std::size_t i = 0; i < sets; ++i) {
    const model::PodSet& set = gang.spec.set(i);
    const std::int64_t pods = sets == 1 ? std::ssize(gang.pods) : set.count;
    text += i == 0 ? "" : i + 1 == sets ? " and " : ", ";
    text += count_text(pods, "pod", "pods");
    const model::PodClass* pods_of_set = catalog_.eligibility.find(set.pod_class);
    const bool is_without = pods_of_set != nullptr && pods_of_set->unsupported == model::PodRule::no_gpus;
    text += is_without || (i > 0 && set.gpus_per_pod == MilliGpu{})
                ? " without GPUs"
                : fmt::format(" with {} {}{}", gpus_text(set.gpus_per_pod), gpu_name(catalog_, set.gpu),
                              pods > 1 ? " each" : "");
  }
  return text;
}

Summary Summarizer::gang(GangId id, const decide::scale::Decision& decision) const {
  const Gang& gang = snapshot_.gangs.at(id);
  Summary summary;
  const std::int64_t pods = std::ssize(gang.pods);
  const std::string* known = names_.gangs.find(id);
  if (gang.service.valid()) {
    summary.wanted = fmt::format("replica {} of {}{}: ", gang.ordinal, service_name(catalog_, gang.service),
                                 known != nullptr ? ", " + *known : "");
  } else if (known != nullptr) {
    summary.wanted = *known + ": ";
  }
  summary.wanted += pods_text(gang);
  const bool one_domain = pods > 1 && gang.spec.required_level != model::TopologyLevel::cluster;
  if (one_domain) summary.wanted += fmt::format(" in one {}", catalog_.level_words(gang.spec.required_level));
  if (pods > 1 && gang.spec.preferred) {
    summary.wanted += fmt::format(", preferably in one {}", catalog_.level_words(*gang.spec.preferred));
  }
  if (gang.spec.priority != 0) summary.wanted += fmt::format(", priority {}", gang.spec.priority);
  if (gang.service.valid() && decision.service == gang.service) {
    summary.wanted += fmt::format("; {} wanted: {}", replicas_text(decision.desired), sentence(decision.why, catalog_));
  }
  std::int64_t bound = 0;
  for (const PodId pod_id : gang.pods) {
    const Pod* pod = snapshot_.pods.find(pod_id);
    bound += pod != nullptr && pod->node.valid() ? 1 : 0;
  }
  summary.present = fmt::format("{}, {} of {} bound; {}", model::kGangPhaseNames[static_cast<std::size_t>(gang.phase)],
                                bound, count_text(pods, "pod", "pods"), held_text(held_by(gang)));
  switch (gang.phase) {
    case Gang::Phase::pending:
      if (const auto found = verdicts_.find(id); found != verdicts_.end() && found->second->waiting_before > 0) {
        summary.present += fmt::format("; {} with a higher priority {} served first",
                                       count_text(found->second->waiting_before, "gang", "gangs"),
                                       found->second->waiting_before == 1 ? "is" : "are");
      }
      summary.limit = limit_of(id, decision);
      break;
    case Gang::Phase::starting:
      summary.limit = cold_start(gang.expected_ready_at, "the engine loads its model");
      break;
    case Gang::Phase::draining:
      summary.limit = {.text = "nothing: the replica drains", .change = "wait until its requests are finished"};
      break;
    case Gang::Phase::ready:
    case Gang::Phase::sleeping:
      break;
  }
  return summary;
}

Summary Summarizer::pod(PodId id, const decide::scale::Decision& decision) const {
  const Pod& pod = snapshot_.pods.at(id);
  Summary summary = gang(pod.gang, decision);
  const std::string* known = names_.pods.find(id);
  summary.present =
      fmt::format("{} is {}; its replica is {}", known != nullptr ? *known : fmt::format("pod {}", id.value),
                  pod.node.valid() ? "on " + node_name(pod.node) : "not bound to a node", summary.present);
  return summary;
}

Summary Summarizer::node(NodeId id) const {
  const Node& node = snapshot_.nodes.at(id);
  Summary summary;
  const std::string name = node_name(id);
  summary.wanted = name + (node.phase == Node::Phase::ready ? " runs pods" : " takes no new pods");
  const model::Reason* ends = nullptr;
  for (const model::Action& action : provision_.plan.actions) {
    const auto* end = std::get_if<model::TerminateNode>(&action.effect);
    if (end != nullptr && end->node == id) ends = &action.why;
  }
  const model::Reason* stays = unchanged(model::Plan::NoAction::Subject::node, id.value);
  if (ends != nullptr) summary.wanted = name + " is given back: " + sentence(*ends, catalog_);
  if (ends == nullptr && stays != nullptr) summary.wanted = name + " stays: " + sentence(*stays, catalog_);

  HeldGpus held;
  std::int64_t pods = 0;
  snapshot_.pods.for_each([&](PodId, const Pod& pod) {
    if (pod.node != id) return;
    held.add(held_by(pod));
    ++pods;
  });
  const MilliGpu free = std::max(node.gpus - held.gpus, MilliGpu{});
  if (!node.gpu.valid()) {
    summary.present = "no GPUs, " + count_text(pods, "pod of a gang", "pods of gangs");
    return summary;
  }
  summary.present = fmt::format("{} {}, {} held by {}, {} free", gpus_text(node.gpus), gpu_name(catalog_, node.gpu),
                                gpus_text(held.gpus), count_text(pods, "pod", "pods"), gpus_text(free));
  const bool priced = node.offering.valid() && node.offering.value < catalog_.offerings.size() &&
                      catalog_.offering(node.offering).price_per_hour > MicroUsd{};
  const std::string price = priced ? price_text(catalog_.offering(node.offering).price_per_hour) : "price unknown";
  summary.present += "; " + price;
  if (pods == 0 && ends == nullptr) {
    summary.limit.text = "nothing: the node is empty";
    if (stays != nullptr) {
      summary.limit.change = stays->code == model::ReasonCode::pool_minimum
                                 ? "lower the minimum of its pool if the node is not needed"
                                 : "wait: the pool gives it back when it has been empty long enough";
    }
  }
  return summary;
}

std::string Summarizer::node_name(NodeId id) const {
  const std::string* known = names_.nodes.find(id);
  return known != nullptr ? *known : fmt::format("node {}", id.value);
}

const model::Reason* Summarizer::unchanged(model::Plan::NoAction::Subject subject, std::uint32_t id) const {
  for (const model::Plan::NoAction& row : provision_.plan.no_actions) {
    if (row.subject == subject && row.id == id) return &row.why;
  }
  return nullptr;
}

const model::LaunchNodes* Summarizer::launch_for(GangId id) const {
  for (const model::Action& action : provision_.plan.actions) {
    const auto* launch = std::get_if<model::LaunchNodes>(&action.effect);
    if (launch != nullptr && launch->gang.valid() && launch->gang == id) return launch;
  }
  return nullptr;
}

}  // namespace capstan::explain

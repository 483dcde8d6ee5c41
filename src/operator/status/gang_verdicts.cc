#include "operator/status/gang_verdicts.h"

#include <utility>

#include "base/unit_text.h"
#include "explain/summary.h"
#include "kube/json.h"
#include "model/reason_sentence.h"
#include "operator/status/report.h"

namespace capstan::op {
namespace {

using model::Reason;
using model::ReasonCode;

/// Largest number of pods of one gang that get the condition. All pods of a gang would have the same message.
constexpr std::size_t kMaxPods = 64;

/// The message for a pod that would wait forever, because no other component allocates its devices.
constexpr std::string_view kNoDevices =
    "the pod has resourceClaims, and Capstan does not allocate devices: leave the pod to Kubernetes' scheduler "
    "(spec.schedulerName)";

/// Returns the reason why a plan does nothing for a gang; null if the plan states no such reason.
const Reason* no_action_reason(const model::Plan& plan, model::GangId gang) {
  for (const model::Plan::NoAction& kept : plan.no_actions) {
    if (kept.subject == model::Plan::NoAction::Subject::gang && kept.id == gang.value) return &kept.why;
  }
  return nullptr;
}

/// In Shadow, a gang is reported only after this time, so that its own scheduler can bind it first.
constexpr Duration kSchedulerTime = std::chrono::seconds(10);
/// The pods of a gang are created one after another. A gang that lacks pods is reported only after this time.
constexpr Duration kPodCreationTime = std::chrono::seconds(10);

bool waits(const decide::place::PlacementResult& verdict) {
  return verdict.gang.valid() && verdict.kind != decide::place::PlacementResult::Kind::placed &&
         verdict.kind != decide::place::PlacementResult::Kind::assumed;
}

/// Returns "in mode Active, Capstan would bind the pods to gpu-1 and gpu-2", with each node once.
std::string where_words(const model::BindPods& bind, const KubeWorld& world) {
  std::set<std::string> nodes;
  for (const model::BindPods::Binding& binding : bind.bindings) {
    if (const ObjectKey* key = world.objects().node(binding.node)) nodes.insert(key->name);
  }
  constexpr std::size_t kShown = 8;
  std::string words = "in mode Active, Capstan would bind the pods to ";
  for (auto at = nodes.begin(); at != nodes.end(); ++at) {
    const auto number = static_cast<std::size_t>(std::distance(nodes.begin(), at));
    if (number == kShown) {
      return words + " and " + count_text(std::ssize(nodes) - std::int64_t{kShown}, "more node", "more nodes");
    }
    words += (number == 0 ? "" : number + 1 == nodes.size() ? " and " : ", ") + *at;
  }
  return words;
}

/// Returns a request that sets the condition PodScheduled of a pod to False. Server-side apply leaves the conditions of
/// other field managers as they are.
kube::ApiRequest pod_condition(const kube::Pod& pod, const GangVerdict& verdict, kube::WallTime wall) {
  using kube::json_quote;
  const kube::ObjectRef ref{kube::resources::kPods, pod.meta.ns, pod.meta.name};
  const std::string status = R"({"conditions":[{"type":"PodScheduled","status":"False","reason":)" +
                             json_quote(verdict.reason) + R"(,"message":)" + json_quote(verdict.message) +
                             R"(,"lastTransitionTime":")" + kube::wall_time_seconds(wall) + R"("}]})";
  return kube::apply_status(ref, pod.meta.uid, status);
}

kube::EventNote note_of(const kube::Pod& pod, const GangVerdict& verdict) {
  return {.api_version = "v1",
          .kind = "Pod",
          .ns = pod.meta.ns,
          .name = pod.meta.name,
          .uid = pod.meta.uid,
          .warning = !verdict.would_place,
          .reason = verdict.reason,
          .action = "PlaceGang",
          .note = verdict.message};
}

}  // namespace

std::vector<GangVerdict> gang_verdicts(const ClusterView& view, const KubeWorld& world,
                                       const control::Controller& controller) {
  std::vector<GangVerdict> verdicts;
  if (controller.place_decision().verdicts.empty()) return verdicts;
  const FleetPolicy& fleet = fleet_policy(view.fleet);
  const model::Names names = world.objects().names();
  const explain::Summarizer summarizer(world.snapshot(), names, controller.place_decision(),
                                       controller.provision_decision());
  std::map<std::string, const kube::Pod*> by_uid;
  view.pods.for_each([&](kube::RowId, const kube::Pod& pod) { by_uid[pod.meta.uid] = &pod; });
  for (const decide::place::PlacementResult& verdict : controller.place_decision().verdicts) {
    const model::BindPods* bind = world.would_bind(verdict.gang);
    const model::Gang* gang = waits(verdict) || bind != nullptr ? world.snapshot().gangs.find(verdict.gang) : nullptr;
    if (gang == nullptr) continue;
    const Duration age = world.snapshot().at - gang->created_at;
    if (fleet.placement == Mode::shadow && age < kSchedulerTime) continue;
    const bool lacks_pods = verdict.why.code == ReasonCode::pods_missing;
    if (lacks_pods && age < kPodCreationTime) continue;
    GangVerdict& out = verdicts.emplace_back();
    for (const model::PodId id : gang->pods) {
      const ObjectKey* key = world.objects().pod(id);
      const auto pod = key == nullptr ? by_uid.end() : by_uid.find(key->uid);
      if (pod != by_uid.end() && !pod->second->bound() && !pod->second->meta.terminating())
        out.pods.push_back(pod->second);
    }
    if (out.pods.empty()) {
      verdicts.pop_back();
      continue;
    }
    out.uid = out.pods.front()->meta.uid;
    if (out.pods.front()->spec.has_resource_claims) {
      out.reason = "ResourceClaims";
      out.message = kNoDevices;
      continue;
    }
    if (bind != nullptr) {
      out.would_place = true;
      out.reason = "WouldPlace";
      out.message = where_words(*bind, world) + ": " + sentence(verdict.why, *world.snapshot().catalog);
      continue;
    }
    const Reason* nodes = no_action_reason(controller.provision_decision().plan, verdict.gang);
    out.reason = camel_case(name((nodes != nullptr ? *nodes : verdict.why).code));
    const bool scaled = gang->service.valid() && world.snapshot().services.find(gang->service) != nullptr;
    out.message = explain::one_line(
        summarizer.gang(verdict.gang, scaled ? controller.scale_decision(gang->service) : decide::scale::Decision()));
    // A node provisioner must not buy nodes for a gang that waits for something other than room.
    const bool is_held = verdict.kind == decide::place::PlacementResult::Kind::held_by_queue;
    const bool has_rule = verdict.why.code == ReasonCode::rule_not_supported ||
                          verdict.why.code == ReasonCode::pods_gated ||
                          verdict.why.code == ReasonCode::no_gpus_requested;
    const bool room_would_help = !is_held && !lacks_pods && !has_rule;
    if (fleet.nodes == Mode::off && room_would_help) out.reason = "Unschedulable";
  }
  return verdicts;
}

GangVerdictWriter::Output GangVerdictWriter::update(const std::vector<GangVerdict>& verdicts, Mode placement,
                                                    kube::WallTime wall) {
  Output out;
  std::map<std::string, Published> now;
  for (const GangVerdict& verdict : verdicts) {
    const auto before = published_.find(verdict.uid);
    now[verdict.uid] = {verdict.reason, verdict.pods.size()};
    const bool is_known = before != published_.end() && before->second.reason == verdict.reason &&
                          before->second.pods >= verdict.pods.size();
    if (is_known) continue;
    out.notes.push_back(note_of(*verdict.pods.front(), verdict));
    if (placement != Mode::active || verdict.would_place) continue;
    for (std::size_t i = 0; i < std::min(verdict.pods.size(), kMaxPods); ++i) {
      out.writes.push_back(pod_condition(*verdict.pods[i], verdict, wall));
    }
  }
  published_ = std::move(now);
  return out;
}

}  // namespace capstan::op

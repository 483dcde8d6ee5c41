#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/unit_text.h"
#include "plan/objects/names.h"
#include "plan/objects/scheduling.h"
#include "plan/pools/pools.h"
#include "plan/queues/queues.h"
#include "plan/queues/tenant_jobs.h"
#include "plan/queues/tenant_shares.h"
#include "plan/sections/scaler_setup.h"
#include "plan/sections/sections.h"

namespace capstan::plan {

namespace {

std::string scheduler_words(GangScheduler scheduler) {
  switch (scheduler) {
    case GangScheduler::kai:
      return "KAI";
    case GangScheduler::kueue:
      return "Kueue with the default scheduler";
    case GangScheduler::none:
      break;
  }
  return "the default scheduler";
}

/// Returns "chat (2 pods of 8 GPUs)" for each service whose replicas are gangs.
std::string gang_list(const PlanFacts& facts) {
  std::string text;
  for (const auto& [service, plan] : planned_services(facts)) {
    if (service.pods_per_replica < 2 || plan.roles.empty()) continue;
    text += fmt::format("{}{} ({} pods of {})", text.empty() ? "" : ", ", service.name, service.pods_per_replica,
                        count_text(device_of(plan.roles.front()).per_pod, "GPU", "GPUs"));
  }
  return text;
}

Statement gang_statement(const PlanFacts& facts) {
  if (needs_gangs(facts.spec)) {
    return {.name = "gang scheduling",
            .value = "needed",
            .why = fmt::format("a replica of {} serves only when all its pods run; pods that start one by one can each "
                               "hold GPUs and wait for the others",
                               gang_list(facts)),
            .evidence = Evidence::none};
  }
  return {.name = "gang scheduling",
          .value = "not needed",
          .why =
              "every replica is one pod on one node, also with all GPUs of the node, and a scheduler places a pod "
              "whole or not at all; gangs matter for tensor or pipeline parallelism over several pods",
          .evidence = Evidence::none};
}

Statement scheduler_statement(const PlanSpec& spec) {
  const GangScheduler scheduler = pod_scheduler(spec);
  const Evidence named = is_default(spec, "cluster.gang_scheduler") ? Evidence::assumed : Evidence::stated;
  Statement statement{.name = "scheduler", .value = scheduler_words(scheduler), .evidence = named};
  if (scheduler == GangScheduler::none && !needs_gangs(spec)) {
    statement.why = "one tenant and no gangs need no queue";
    statement.evidence = Evidence::none;
  } else if (scheduler == GangScheduler::none) {
    statement.why =
        "the spec names no gang scheduler; LeaderWorkerSet then keeps each replica in one domain, but its pods "
        "may start one by one";
  } else {
    statement.why = fmt::format(
        "{}; it places all GPU pods, because two schedulers would give one GPU away twice",
        needs_gangs(spec)
            ? "it starts the pods of a replica together"
            : count_text(std::int64_t(spec.tenants.size()), "tenant shares", "tenants share") + " the GPUs by quota");
  }
  return statement;
}

/// Marks one queue and the topology of the scheduler that the plan uses, as examples on the page.
void mark_examples(Section& section, GangScheduler scheduler) {
  if (scheduler == GangScheduler::none) return;
  const std::string folder = scheduler == GangScheduler::kai ? "gangs/kai/" : "gangs/kueue/";
  const std::string kind = scheduler == GangScheduler::kai ? "Queue" : "ClusterQueue";
  Manifest* queue = nullptr;
  for (Manifest& manifest : section.manifests) {
    if (!manifest.file.starts_with(folder)) continue;
    const std::string& found = manifest.body["kind"].text();
    if (found == kind && (queue == nullptr || scheduler == GangScheduler::kai)) queue = &manifest;
    if (found == "Topology") manifest.is_on_page = true;
  }
  if (queue != nullptr) queue->is_on_page = true;
}

/// Returns the annotation by which a gang prefers a smaller domain if the domain has room; empty if the scheduler has
/// no such annotation.
std::string_view preferred_placement(const PlanSpec& spec) {
  switch (pod_scheduler(spec)) {
    case GangScheduler::kai:
      return "kai.scheduler/topology-preferred-placement";
    case GangScheduler::kueue:
      return "kueue.x-k8s.io/podset-preferred-topology";
    case GangScheduler::none:
      break;
  }
  return {};
}

void add_topology(Section& section, const PlanFacts& facts, const std::vector<GpuPool>& pools) {
  for (const auto& [service, plan] : planned_services(facts)) {
    if (service.pods_per_replica < 2 || plan.roles.empty()) continue;
    const std::string_view level = required_level(facts.spec, plan.roles.front());
    std::string why =
        level == kHostLabel ? "one node has the GPUs of all pods of a replica, as simulated; between nodes every token "
                              "waits for the network"
        : level == kNvlinkLabel
            ? "one NVLink domain joins all GPUs of a replica, and every token crosses them"
            : "no NVLink domain joins the nodes of a replica; between zones each token waits for the network";
    const std::vector<std::string> levels = topology_levels(facts.spec, pools);
    const std::string_view annotation = preferred_placement(facts.spec);
    if (levels.size() > 2 && level == kZoneLabel && !annotation.empty())
      why += fmt::format("; prefer one {} by the annotation {}", levels[1], annotation);
    section.statements.push_back({.name = "placement of a replica of " + service.name,
                                  .value = fmt::format("within one {}", level),
                                  .why = why,
                                  .evidence = Evidence::modelled,
                                  .visibility = Visibility::page});
  }
}

/// Says what happens to the GPUs that a tenant holds above its quota.
std::string above_quota(const PlanSpec& spec, GpuCount gpus) {
  switch (pod_scheduler(spec)) {
    case GangScheduler::kai:
      return fmt::format("KAI may reclaim the {} above the quota", gpus);
    case GangScheduler::kueue:
      return fmt::format("it borrows the {} above the quota, and Kueue may take them back", gpus);
    case GangScheduler::none:
      break;
  }
  return fmt::format("without KAI or Kueue the {} above the quota are not taken back", gpus);
}

Statement share_statement(const PlanSpec& spec, const TenantShare& share) {
  std::string value = count_text(share.quota, "GPU", "GPUs");
  if (share.limit) value += fmt::format(", at most {}", *share.limit);
  const bool jobs_only = share.is_derived && share.maximum == 0;
  std::string why = jobs_only ? std::string("the spec states no quota, so its jobs use what other tenants leave")
                    : share.is_derived
                        ? fmt::format("the spec states no quota; its services hold {} at their maximum", share.maximum)
                        : std::string("the spec states it");
  if (!share.is_derived && share.maximum > share.quota) {
    why += fmt::format("; its services hold {} at their maximum, and {}", share.maximum,
                       above_quota(spec, share.maximum - share.quota));
  }
  return {.name = "quota of " + share.tenant->name,
          .value = value,
          .why = why,
          .evidence = share.is_derived ? Evidence::modelled : Evidence::stated,
          .visibility = Visibility::page};
}

void add_preemption(Section& section, const PlanSpec& spec) {
  if (spec.tenants.size() < 2) return;
  std::string order;
  bool is_stated = true;
  std::vector<TenantSpec> tenants = spec.tenants;
  std::ranges::stable_sort(tenants, std::greater(), &TenantSpec::priority);
  for (const TenantSpec& tenant : tenants) {
    order += fmt::format("{}{} ({})", order.empty() ? "" : ", then ", tenant.name, tenant.priority);
    is_stated = is_stated && !is_default(spec, fmt::format("tenants.{}.priority", tenant.name));
  }
  const bool has_queues = pod_scheduler(spec) != GangScheduler::none;
  section.statements.push_back(
      {.name = "preemption",
       .value = order,
       .why = has_queues ? "a tenant takes its quota back from the tenants that borrowed it; in one queue a pod stops "
                           "only pods of lower priority, and a gang is stopped as a whole"
                         : "the default scheduler stops pods of lower priority one by one, whatever the quotas are",
       .evidence = is_stated ? Evidence::stated : Evidence::assumed,
       .visibility = Visibility::page});
}

Alternative queue_option(std::string option, bool is_chosen) {
  return {.choice = "queues", .option = std::move(option), .is_chosen = is_chosen};
}

/// Adds the queues that one scheduler reads, with the command that applies them.
void add_queues(Section& section, const Alternative& alternative, std::vector<Manifest> queues) {
  for (Manifest& queue : queues) {
    queue.alternative = alternative;
    section.manifests.push_back(std::move(queue));
  }
  section.apply.push_back({.step = ApplyStep::queues,
                           .command = "kubectl apply -f gangs/" + alternative.option,
                           .purpose = "the queues of the tenants",
                           .alternative = alternative});
}

void add_names_commands(Section& section, const PlanSpec& spec) {
  section.apply.push_back(
      {.step = ApplyStep::names,
       .command = fmt::format("kubectl get namespace {0} || kubectl create namespace {0}", spec.namespace_),
       .purpose = "the namespace"});
  section.apply.push_back({.step = ApplyStep::names,
                           .command = "kubectl apply -f gangs/priority-classes.yaml",
                           .purpose = "the priority classes"});
}

void add_fleet_policy(Section& section, const PlanFacts& facts, const QueueInput& input) {
  Manifest policy = fleet_policy(input);
  policy.alternative = shared_alternative(facts, "capstan");
  section.apply.push_back({.step = ApplyStep::queues,
                           .command = "kubectl apply -f " + policy.file,
                           .purpose = "the limits within which Capstan acts",
                           .alternative = policy.alternative,
                           .is_optional = is_spare_scaler(facts, "capstan")});
  section.manifests.push_back(std::move(policy));
}

void set_gangs_answer(const PlanSpec& spec, Section& section) {
  const std::string scheduler = scheduler_words(pod_scheduler(spec));
  if (needs_gangs(spec)) {
    if (pod_scheduler(spec) == GangScheduler::none)
      section.answer =
          "Replicas are gangs, but the spec names no gang scheduler. Install KAI or Kueue, or allow one of them.";
    else
      section.answer = fmt::format("{} starts the pods of a replica together, near each other.", scheduler);
  } else if (pod_scheduler(spec) == GangScheduler::none) {
    section.answer = "No gang scheduler: every replica is one pod, which is placed whole or not at all.";
  } else {
    section.answer = fmt::format("No gangs: every replica is one pod. {} shares the GPUs between {} tenants by queue.",
                                 scheduler, spec.tenants.size());
  }
  section.page_answer = section.answer;
}

}  // namespace

Section gangs_section(const PlanFacts& facts) {
  const PlanSpec& spec = facts.spec;
  const std::vector<GpuPool> pools = gpu_pools(facts);
  const std::vector<TenantShare> shares = tenant_shares(facts, pools);
  Section section{.key = "gangs", .title = "Gangs and queues"};
  set_gangs_answer(spec, section);
  section.statements.push_back(gang_statement(facts));
  section.statements.push_back(scheduler_statement(spec));
  add_topology(section, facts, pools);
  for (const TenantShare& share : shares) section.statements.push_back(share_statement(spec, share));
  add_preemption(section, spec);
  if (pod_scheduler(spec) == GangScheduler::kai && needs_gangs(spec)) {
    section.statements.push_back({.name = "pod groups",
                                  .value = "made by KAI",
                                  .why = "its pod grouper makes one PodGroup for each group of a LeaderWorkerSet, so "
                                         "the plan has no PodGroup manifests",
                                  .evidence = Evidence::none});
  }
  section.statements.push_back({.name = "Capstan's queues",
                                .value = "limits, no shares",
                                .why = "a Queue of Capstan bounds the GPUs of a tenant; quotas that tenants lend each "
                                       "other need KAI or Kueue today",
                                .evidence = Evidence::none});
  section.not_simulated = unplaced_jobs(spec, pools);
  const QueueInput input{.spec = spec, .pools = pools, .shares = shares};
  section.manifests = priority_classes(spec);
  add_names_commands(section, spec);
  add_queues(section, queue_option("kai", pod_scheduler(spec) == GangScheduler::kai), kai_queues(input));
  add_queues(section, queue_option("kueue", pod_scheduler(spec) == GangScheduler::kueue), kueue_queues(input));
  add_queues(section, queue_option("capstan", false), capstan_queues(input));
  add_fleet_policy(section, facts, input);
  mark_examples(section, pod_scheduler(spec));
  return section;
}

}  // namespace capstan::plan

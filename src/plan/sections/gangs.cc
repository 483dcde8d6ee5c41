#include <fmt/format.h>

#include <algorithm>

#include "explain/words.h"
#include "plan/names.h"
#include "plan/scheduling.h"
#include "plan/sections/pools.h"
#include "plan/sections/queues.h"
#include "plan/sections/sections.h"
#include "plan/sections/tenant_shares.h"

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
  for (std::size_t i = 0; i < facts.services.size(); ++i) {
    const ServiceSpec& service = facts.spec.services.at(i);
    if (service.pods_per_replica < 2 || facts.services[i].roles.empty()) continue;
    text += fmt::format("{}{} ({} pods of {})", text.empty() ? "" : ", ", service.name, service.pods_per_replica,
                        explain::count_text(device_of(facts.services[i].roles.front()).per_pod, "GPU", "GPUs"));
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
            .evidence = Evidence::stated};
  }
  return {.name = "gang scheduling",
          .value = "not needed",
          .why =
              "every replica is one pod on one node, also with all GPUs of the node, and a scheduler places a pod "
              "whole or not at all; gangs matter for tensor or pipeline parallelism over several pods",
          .evidence = Evidence::stated};
}

Statement scheduler_statement(const PlanSpec& spec) {
  const GangScheduler scheduler = pod_scheduler(spec);
  Statement made{.name = "scheduler", .value = scheduler_words(scheduler), .evidence = Evidence::stated};
  if (scheduler == GangScheduler::none && !needs_gangs(spec)) {
    made.why = "one tenant and no gangs need no queue";
  } else if (scheduler == GangScheduler::none) {
    made.why =
        "the spec names no gang scheduler; LeaderWorkerSet then keeps each replica in one domain, but its pods "
        "may start one by one";
  } else {
    made.why = fmt::format(
        "{}; it places all GPU pods, because two schedulers would give one GPU away twice",
        needs_gangs(spec) ? "it starts the pods of a replica together"
                          : explain::count_text(std::int64_t(spec.tenants.size()), "tenant shares", "tenants share") +
                                " the GPUs by quota");
  }
  return made;
}

/// Marks one queue and the topology of the scheduler that the plan uses, as examples on the page.
void mark_examples(Section& section, GangScheduler scheduler) {
  if (scheduler == GangScheduler::none) return;
  const std::string folder = scheduler == GangScheduler::kai ? "gangs/kai/" : "gangs/kueue/";
  const std::string kind = scheduler == GangScheduler::kai ? "Queue" : "ClusterQueue";
  Manifest* queue = nullptr;
  for (Manifest& manifest : section.manifests) {
    if (!manifest.file.starts_with(folder)) continue;
    const std::string& own = manifest.body["kind"].text();
    if (own == kind && (queue == nullptr || scheduler == GangScheduler::kai)) queue = &manifest;
    if (own == "Topology") manifest.is_on_page = true;
  }
  if (queue != nullptr) queue->is_on_page = true;
}

void add_topology(Section& section, const PlanFacts& facts, const std::vector<GpuPool>& pools) {
  for (const ServiceSpec& service : facts.spec.services) {
    if (service.pods_per_replica < 2) continue;
    const std::string_view level = required_level(facts.spec, service);
    std::string why =
        level == kNvlinkLabel
            ? "one NVLink domain joins all GPUs of a replica, and every token crosses them"
            : "no NVLink domain joins the nodes of a replica; between zones each token waits for the network";
    const std::vector<std::string> levels = topology_levels(facts.spec, pools);
    if (levels.size() > 2 && level == kZoneLabel)
      why += fmt::format("; prefer one {} by the annotation kai.scheduler/topology-preferred-placement", levels[1]);
    section.statements.push_back({.name = "placement of a replica of " + service.name,
                                  .value = fmt::format("within one {}", level),
                                  .why = why,
                                  .evidence = Evidence::modelled});
  }
}

Statement share_statement(const TenantShare& share) {
  std::string value = explain::count_text(share.quota, "GPU", "GPUs");
  if (share.limit) value += fmt::format(", at most {}", *share.limit);
  const bool jobs_only = share.is_derived && share.maximum == 0;
  std::string why = jobs_only ? std::string("the spec states no quota, so its jobs use what other tenants leave")
                    : share.is_derived
                        ? fmt::format("the spec states no quota; its services hold {} at their maximum", share.maximum)
                        : std::string("the spec states it");
  if (!share.is_derived && share.maximum > share.quota) {
    why += fmt::format("; its services hold {} at their maximum, and KAI may reclaim the {} above the quota",
                       share.maximum, share.maximum - share.quota);
  }
  return {.name = "quota of " + share.tenant->name,
          .value = value,
          .why = why,
          .evidence = share.is_derived ? Evidence::modelled : Evidence::stated};
}

void add_preemption(Section& section, const PlanSpec& spec) {
  if (spec.tenants.size() < 2) return;
  std::string order;
  std::vector<TenantSpec> tenants = spec.tenants;
  std::ranges::stable_sort(tenants, std::greater(), &TenantSpec::priority);
  for (const TenantSpec& tenant : tenants)
    order += fmt::format("{}{} ({})", order.empty() ? "" : ", then ", tenant.name, tenant.priority);
  section.statements.push_back({.name = "preemption",
                                .value = order,
                                .why = "a tenant takes its quota back from the tenants that borrowed it; in one queue "
                                       "a pod stops only pods of lower "
                                       "priority, and a gang is stopped as a whole",
                                .evidence = Evidence::stated});
}

std::string gangs_answer(const PlanFacts& facts) {
  const PlanSpec& spec = facts.spec;
  const std::string scheduler = scheduler_words(pod_scheduler(spec));
  if (needs_gangs(spec)) {
    if (pod_scheduler(spec) == GangScheduler::none)
      return "Replicas are gangs, but the spec names no gang scheduler. Install KAI or Kueue, or allow one of them.";
    return fmt::format("{} starts the pods of a replica together, near each other.", scheduler);
  }
  if (pod_scheduler(spec) == GangScheduler::none)
    return "No gang scheduler: every replica is one pod, which is placed whole or not at all.";
  return fmt::format("No gangs: every replica is one pod. {} shares the GPUs between {} tenants by queue.", scheduler,
                     spec.tenants.size());
}

}  // namespace

Section gangs_section(const PlanFacts& facts) {
  const PlanSpec& spec = facts.spec;
  const std::vector<GpuPool> pools = gpu_pools(facts);
  const std::vector<TenantShare> shares = tenant_shares(facts, pools);
  Section section{.key = "gangs", .title = "Gangs and queues", .answer = gangs_answer(facts)};
  section.statements.push_back(gang_statement(facts));
  section.statements.push_back(scheduler_statement(spec));
  add_topology(section, facts, pools);
  for (const TenantShare& share : shares) section.statements.push_back(share_statement(share));
  add_preemption(section, spec);
  if (pod_scheduler(spec) == GangScheduler::kai && needs_gangs(spec)) {
    section.statements.push_back({.name = "pod groups",
                                  .value = "made by KAI",
                                  .why = "its pod grouper makes one PodGroup for each group of a LeaderWorkerSet, so "
                                         "the plan has no PodGroup manifests",
                                  .evidence = Evidence::stated});
  }
  section.statements.push_back({.name = "Capstan's queues",
                                .value = "limits, no shares",
                                .why = "a Queue of Capstan bounds the GPUs of a tenant; quotas that tenants lend each "
                                       "other need KAI or Kueue today",
                                .evidence = Evidence::stated});
  if (spec.tenants.size() > 1) {
    section.not_simulated.emplace_back("the tenants together: each service was simulated on nodes of its own");
  }
  const bool has_jobs = std::ranges::any_of(
      spec.tenants, [](const TenantSpec& tenant) { return tenant.kind != TenantSpec::Kind::production; });
  if (has_jobs) section.not_simulated.emplace_back("training and batch jobs, and their preemption");
  const QueueInput input{.spec = spec, .pools = pools, .shares = shares};
  section.manifests = priority_classes(spec);
  std::ranges::move(kai_queues(input), std::back_inserter(section.manifests));
  std::ranges::move(kueue_queues(input), std::back_inserter(section.manifests));
  std::ranges::move(capstan_queues(input), std::back_inserter(section.manifests));
  mark_examples(section, pod_scheduler(spec));
  section.commands.push_back("kubectl create namespace " + spec.namespace_);
  section.commands.push_back("kubectl apply -f gangs/priority-classes.yaml  # the pods of the workload name them");
  section.commands.push_back("kubectl apply -f gangs/capstan  # where Capstan runs");
  if (pod_scheduler(spec) == GangScheduler::kai) section.commands.push_back("kubectl apply -f gangs/kai");
  if (pod_scheduler(spec) == GangScheduler::kueue) section.commands.push_back("kubectl apply -f gangs/kueue");
  return section;
}

}  // namespace capstan::plan

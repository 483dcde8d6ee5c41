#include <fmt/format.h>

#include "experiment/read_parts.h"

namespace capstan::experiment {

using manifest::Fields;
using manifest::Node;
using manifest::Verdict;
using namespace std::chrono_literals;

namespace {

namespace scale = decide::scale;
namespace place = decide::place;
namespace provision = decide::provision;

/// A layer is a policy's name, or a mapping with `policy:` and settings. The bare name becomes such a mapping.
Node as_mapping(const Node& node) {
  if (node.kind != Node::Kind::scalar) return node;
  Node mapping;
  mapping.kind = Node::Kind::mapping;
  mapping.place = node.place;
  mapping.entries.push_back({"policy", node.place, node});
  return mapping;
}

void read_rules(const Node& node, std::string what, scale::HpaRules& rules, Verdict& verdict) {
  Fields fields(node, std::move(what), verdict);
  fields.duration("stabilization", rules.stabilization, 0s, 1h);
  using Select = scale::HpaRules::Select;
  fields.choice<Select>("select", rules.select,
                        {{"max", Select::max}, {"min", Select::min}, {"disabled", Select::disabled}});
  const auto policies = fields.list("policies");
  if (!policies.empty()) rules.policies.clear();
  for (const Node& item : policies) {
    scale::HpaRatePolicy policy;
    Fields rate(item, fields.what() + ".policies", verdict);
    using Kind = scale::HpaRatePolicy::Kind;
    rate.choice<Kind>("kind", policy.kind, {{"pods", Kind::pods}, {"percent", Kind::percent}});
    rate.integer("value", policy.value, 1, 1'000'000);
    rate.duration("period", policy.period, 1s, 30min);
    rate.finish();
    rules.policies.push_back(policy);
  }
  fields.finish();
}

void read_hpa(Fields& fields, scale::HpaSettings& hpa, Verdict& verdict) {
  fields.duration("sync_period", hpa.sync_period, 1s, 1h);
  std::int64_t tolerance_ppm = hpa.tolerance_up_per_mille * 1000;
  fields.share_ppm("tolerance", tolerance_ppm, 0, 1'000'000);
  hpa.tolerance_up_per_mille = hpa.tolerance_down_per_mille = tolerance_ppm / 1000;
  fields.duration("downscale_stabilization", hpa.downscale_stabilization, 0s, 24h);
  if (const Node* behavior = fields.take("behavior")) {
    hpa.behavior.emplace();
    Fields rules(*behavior, fields.what() + ".behavior", verdict);
    rules.check("scale_up", [&](const Node& n, Verdict& v) {
      read_rules(n, fields.what() + ".behavior.scale_up", hpa.behavior->up, v);
    });
    rules.check("scale_down", [&](const Node& n, Verdict& v) {
      read_rules(n, fields.what() + ".behavior.scale_down", hpa.behavior->down, v);
    });
    rules.finish();
  }
}

void read_target_percent(Fields& fields, std::int64_t& percent) {
  std::int64_t ppm = percent * 10'000;
  fields.share_ppm("target", ppm, 10'000, 1'000'000);
  percent = ppm / 10'000;
}

scale::Policy read_scale(const Node& given, Verdict& verdict) {
  const Node node = as_mapping(given);
  Fields fields(node, "scale", verdict);
  enum class Kind : std::uint8_t { fixed, duty_cycle_hpa, queue_hpa, memory_hpa } kind = Kind::fixed;
  if (fields.need("policy") != nullptr) {
    fields.choice<Kind>("policy", kind,
                        {{"fixed", Kind::fixed},
                         {"duty_cycle_hpa", Kind::duty_cycle_hpa},
                         {"queue_hpa", Kind::queue_hpa},
                         {"memory_hpa", Kind::memory_hpa}});
  }
  scale::Policy policy;
  switch (kind) {
    case Kind::fixed: {
      scale::Fixed fixed;
      fields.integer("replicas", fixed.replicas, 0, 100'000);
      fields.duration("period", fixed.period, 1s, 1h);
      policy = fixed;
      break;
    }
    case Kind::duty_cycle_hpa: {
      scale::DutyCycleHpa duty;
      read_target_percent(fields, duty.target_percent);
      read_hpa(fields, duty.hpa, verdict);
      policy = duty;
      break;
    }
    case Kind::queue_hpa: {
      scale::QueueHpa queue;
      fields.integer("waiting_per_replica", queue.waiting_per_replica, 1, 1'000'000);
      if (fields.take("running_per_replica") != nullptr) {
        fields.integer("running_per_replica", queue.running_per_replica.emplace(1), 1, 1'000'000);
      }
      read_hpa(fields, queue.hpa, verdict);
      policy = queue;
      break;
    }
    case Kind::memory_hpa: {
      scale::MemoryHpa memory;
      read_target_percent(fields, memory.target_percent);
      read_hpa(fields, memory.hpa, verdict);
      policy = memory;
      break;
    }
  }
  fields.finish();
  return policy;
}

place::Policy read_place(const Node& given, Verdict& verdict) {
  const Node node = as_mapping(given);
  Fields fields(node, "place", verdict);
  place::Policy policy;
  using Kind = place::Policy::Kind;
  if (fields.need("policy") != nullptr) {
    fields.choice<Kind>("policy", policy.kind, {{"first_fit", Kind::first_fit}, {"gang", Kind::gang}});
  }
  fields.duration("period", policy.period, 10ms, 1h);
  fields.duration("assume_for", policy.assume_for, 1s, 1h);
  fields.finish();
  return policy;
}

void read_consolidation(const Node& given, provision::Consolidation& out, Verdict& verdict) {
  const Node node = as_mapping(given);
  Fields fields(node, "provision.consolidation", verdict);
  enum class Kind : std::uint8_t { never, when_empty, underutilized };
  using model::ConsolidationPolicy;
  Kind kind = !out.enabled                                                     ? Kind::never
              : out.policy == ConsolidationPolicy::when_empty_or_underutilized ? Kind::underutilized
                                                                               : Kind::when_empty;
  fields.choice<Kind>(
      "policy", kind,
      {{"never", Kind::never}, {"when_empty", Kind::when_empty}, {"when_empty_or_underutilized", Kind::underutilized}});
  out.enabled = kind != Kind::never;
  out.policy =
      kind == Kind::underutilized ? ConsolidationPolicy::when_empty_or_underutilized : ConsolidationPolicy::when_empty;
  fields.duration("after", out.after, 0s, 720h);
  fields.duration("poll", out.poll, 1s, 1h);
  fields.integer("budget_percent", out.budget_percent, 0, 100);
  fields.share_ppm("use_below", out.use_below_ppm, 0, 1'000'000);
  fields.finish();
}

/// How long a node takes under each provisioner: 90-120 s under Cluster Autoscaler with its node groups, 45-60 s under
/// Karpenter, which talks to the provider directly. The sum of decision, boot and driver.
void set_latency(sim::ProviderConfig& provider, bool node_groups) {
  using sim::Latency;
  provider.decision = node_groups ? Latency::between(33s, 46s) : Latency::between(3s, 6s);
  provider.boot = node_groups ? Latency::between(45s, 60s) : Latency::between(30s, 40s);
  provider.driver = node_groups ? Latency::between(12s, 14s) : Latency::between(12s, 14s);
}

provision::Policy read_provision(const Node& given, const Scenario& scenario, sim::ProviderConfig& provider,
                                 Verdict& verdict) {
  const Node node = as_mapping(given);
  Fields fields(node, "provision", verdict);
  enum class Kind : std::uint8_t { none, cluster_autoscaler, karpenter, group } kind = Kind::none;
  if (fields.need("policy") != nullptr) {
    fields.choice<Kind>("policy", kind,
                        {{"none", Kind::none},
                         {"cluster_autoscaler", Kind::cluster_autoscaler},
                         {"karpenter", Kind::karpenter},
                         {"group", Kind::group}});
  }
  provision::Policy policy = kind == Kind::cluster_autoscaler ? provision::cluster_autoscaler()
                             : kind == Kind::group            ? provision::whole_groups()
                                                              : provision::karpenter();
  if (kind == Kind::none) {
    policy.consolidation.enabled = false;
    if (!scenario.catalog->pools.empty()) {
      verdict.fail(given.place, "provision: none, but the cluster has pools, expected a provisioner for them");
    }
  }
  set_latency(provider, kind == Kind::cluster_autoscaler);
  if (const Node* latency = fields.take("latency")) {
    Fields parts(*latency, "provision.latency", verdict);
    read_latency(parts, "decision", provider.decision);
    read_latency(parts, "boot", provider.boot);
    read_latency(parts, "driver", provider.driver);
    parts.finish();
  }
  fields.duration("scan_interval", policy.scan_interval, 0s, 1h);
  fields.duration("batch_idle", policy.batch_idle, 0s, 1h);
  fields.duration("batch_max", policy.batch_max, 0s, 1h);
  fields.duration("hold", policy.hold, 1s, 24h);
  fields.duration("backoff", policy.backoff, 0s, 24h);
  fields.duration("backoff_max", policy.backoff_max, 0s, 24h);
  fields.integer("min_nodes", policy.min_nodes, 0, 100'000);
  if (const Node* consolidation = fields.take("consolidation")) {
    read_consolidation(*consolidation, policy.consolidation, verdict);
  }
  fields.finish();
  return policy;
}

}  // namespace

PolicySpec read_policy(const Node& node, const Scenario& scenario, Verdict& verdict) {
  PolicySpec spec;
  spec.provider = scenario.cluster.provider;
  Fields fields(node, "policies", verdict);
  if (fields.need("name") != nullptr) fields.text("name", spec.policies.name);
  if (const Node* layer = fields.need("scale")) spec.policies.scale = read_scale(*layer, verdict);
  if (const Node* layer = fields.need("place")) spec.policies.place = read_place(*layer, verdict);
  if (const Node* layer = fields.need("provision")) {
    spec.policies.provision = read_provision(*layer, scenario, spec.provider, verdict);
  }
  fields.finish();
  const control::Policies& layers = spec.policies;
  if (verdict.ok() && layers.provision.kind == provision::Policy::Kind::group &&
      layers.place.kind == place::Policy::Kind::first_fit) {
    // First fit binds pod by pod and states no shortfall: nobody would ever ask for a group.
    verdict.fail(fields.blame({"place", "provision"}),
                 fmt::format("policies: \"{}\" can never buy a node: provision group buys what place gang states as "
                             "lacking, expected place: gang, or provision: karpenter or cluster_autoscaler",
                             layers.name),
                 ErrorKind::infeasible);
  }
  return spec;
}

}  // namespace capstan::experiment

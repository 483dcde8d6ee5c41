#include <fmt/format.h>

#include "experiment/read_parts.h"
#include "settings/policy.h"

namespace capstan::experiment {

using manifest::Fields;
using manifest::Node;
using manifest::Verdict;
using settings::Provisioner;
using namespace std::chrono_literals;

namespace {

/// How long a node takes under each provisioner: 90-120 s under Cluster Autoscaler with its node groups, 45-60 s under
/// Karpenter, which talks to the provider directly. The sum of decision, boot and driver.
void set_latency(sim::ProviderConfig& provider, bool node_groups) {
  using sim::Latency;
  provider.decision = node_groups ? Latency::between(33s, 46s) : Latency::between(3s, 6s);
  provider.boot = node_groups ? Latency::between(45s, 60s) : Latency::between(30s, 40s);
  provider.driver = node_groups ? Latency::between(12s, 14s) : Latency::between(12s, 14s);
}

decide::provision::Policy read_provision(const Node& given, const Scenario& scenario, sim::ProviderConfig& provider,
                                         Verdict& verdict) {
  const Node node = settings::as_mapping(given);
  Fields fields(node, "provision", verdict);
  Provisioner which = Provisioner::none;
  decide::provision::Policy policy = settings::read_provision(fields, which, verdict);
  if (which == Provisioner::none && !scenario.catalog->pools.empty()) {
    verdict.fail(given.place, "provision: none, but the cluster has pools, expected a provisioner for them");
  }
  set_latency(provider, which == Provisioner::cluster_autoscaler);
  if (const Node* latency = which == Provisioner::none ? nullptr : fields.take("latency")) {
    Fields parts(*latency, "provision.latency", verdict);
    read_latency(parts, "decision", provider.decision);
    read_latency(parts, "boot", provider.boot);
    read_latency(parts, "driver", provider.driver);
    parts.finish();
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
  if (const Node* layer = fields.need("scale")) spec.policies.scale = {settings::read_scale(*layer, verdict)};
  if (const Node* layer = fields.need("place")) spec.policies.place = settings::read_place(*layer, verdict);
  if (const Node* layer = fields.need("provision")) {
    spec.policies.provision = read_provision(*layer, scenario, spec.provider, verdict);
  }
  fields.finish();
  const control::Policies& layers = spec.policies;
  if (verdict.ok() && layers.provision->kind == decide::provision::Policy::Kind::group &&
      layers.place->kind == decide::place::Policy::Kind::first_fit) {
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

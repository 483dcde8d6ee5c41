#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "base/ascii.h"
#include "base/similar_names.h"
#include "decide/scale/roles.h"
#include "manifest/path.h"
#include "manifest/quantity.h"
#include "peers/manifest.h"
#include "peers/read_settings.h"
#include "scenario/fit_inference_scaler.h"
#include "scenario/read_parts.h"
#include "settings/policy.h"

namespace capstan::scenario {

using manifest::ErrorList;
using manifest::Fields;
using manifest::Node;
using settings::Provisioner;
using namespace std::chrono_literals;

namespace {

/// Sets the latencies of a new node. Decision, boot and driver together take 90-120 s under Cluster Autoscaler, which
/// goes through node groups, and 45-60 s under Karpenter, which calls the provider directly.
void set_latency(sim::ProviderConfig& provider, bool node_groups) {
  using sim::Latency;
  provider.decision = node_groups ? Latency::between(33s, 46s) : Latency::between(3s, 6s);
  provider.boot = node_groups ? Latency::between(45s, 60s) : Latency::between(30s, 40s);
  provider.driver = node_groups ? Latency::between(12s, 14s) : Latency::between(12s, 14s);
}

decide::provision::Policy read_provision(const Node& given, const Scenario& scenario, sim::ProviderConfig& provider,
                                         ErrorList& errors) {
  const Node node = settings::as_mapping(given);
  Fields fields(node, "provision", errors);
  Provisioner which = Provisioner::none;
  decide::provision::Policy policy = settings::read_provision(fields, which, errors);
  if (fields.ok() && which == Provisioner::none && !scenario.catalog->pools.empty()) {
    errors.fail(given.place, "provision: none, but the cluster has pools, expected a provisioner for them");
  }
  set_latency(provider, which == Provisioner::cluster_autoscaler);
  if (const Node* latency = which == Provisioner::none ? nullptr : fields.take("latency")) {
    Fields parts(*latency, "provision.latency", errors);
    read_latency(parts, "decision", provider.decision);
    read_latency(parts, "boot", provider.boot);
    read_latency(parts, "driver", provider.driver);
    parts.finish();
  }
  fields.finish();
  return policy;
}

/// Reads facts about pods that the manifest of an autoscaler lacks: `{cpu: 8, memory: 64Gi, memory_used: 20Gi}`.
peers::PodResources read_pod(const Node& node, ErrorList& errors) {
  peers::PodResources pod;
  Fields fields(node, "scale.pod", errors);
  pod.cpu_milli = read_amount(fields, "cpu", errors);
  pod.memory_milli = read_amount(fields, "memory", errors);
  pod.memory_used_milli = read_amount(fields, "memory_used", errors);
  fields.finish();
  return pod;
}

/// The autoscaler of one service: a policy of Capstan or a peer.
struct Scaler {
  decide::scale::Policy policy;
  std::optional<PeerSpec> peer;
};

/// Returns the scaler of a peer. Its policy only states the period at which the peer runs.
Scaler peer_at(Duration period, PeerSpec peer) {
  return {decide::scale::Fixed{.replicas = 0, .period = period}, std::move(peer)};
}

/// The objects of a manifest, and the name of their file for errors.
struct ManifestDocuments {
  std::string file;
  Result<std::vector<Node>> documents;
};

/// Reads the file that the key `manifest` names. If the key holds an object instead of a name, returns this object.
ManifestDocuments manifest_documents(const Node& manifest, const std::string& scenario_file) {
  if (manifest.kind == Node::Kind::mapping) return {scenario_file, std::vector<Node>{manifest}};
  const std::string file = resolved_path(manifest, scenario_file);
  return {file, manifest::parse_documents_file(file)};
}

/// Reads `{manifest: hpa.yaml}`: the user's HPA or ScaledObject.
Scaler read_peer_manifest(const Node& node, const Scenario& scenario, ErrorList& errors) {
  Fields fields(node, "scale", errors);
  const Node* path = fields.take_required("manifest");
  PeerSpec peer;
  const auto changes = fields.list("set");
  fields.check("labels",
               [&](const Node& labels, ErrorList& v) { read_labels(labels, "scale.labels", peer.labels, v); });
  peers::PodResources pod;
  fields.check("pod", [&](const Node& stated, ErrorList& v) { pod = read_pod(stated, v); });
  fields.finish();
  if (!fields.ok()) return {};
  const auto& [file, documents] = manifest_documents(*path, scenario.file);
  if (!documents) {
    errors.fail(documents.error());
    return {};
  }
  const Node* found = peers::find_autoscaler(*documents, file, errors);
  if (found == nullptr) return {};
  Node root = *found;
  for (const Node& change : changes) {
    if (const Result<void> done = manifest::apply_set(root, change.text); !done) {
      errors.fail(change.place, "scale.set: " + done.error().message);
    }
  }
  const peers::HpaSpec read = peers::read_manifest(root, file, pod, errors);
  peer.make = [read] { return std::make_unique<peers::HpaAutoscaler>(read); };
  return peer_at(read.settings.sync_period, std::move(peer));
}

/// Returns true if a text names an HPA or a ScaledObject of KEDA, whose settings are in a manifest.
bool names_kubernetes_autoscaler(std::string_view text) {
  constexpr std::string_view kNames[] = {"hpa", "keda", "scaledobject", "scaled_object", "horizontalpodautoscaler"};
  return std::ranges::any_of(
      kNames, [&](std::string_view name) { return std::ranges::equal(text, name, {}, ascii_lower, ascii_lower); });
}

constexpr std::array<std::string_view, 6> kFirstKeys = {"decode",   "manifest", "policy", "prefill",
                                                        "services", "variants"};  ///< keys with which a scaler begins

/// Reports a scaler that states neither a policy nor a manifest. If a key resembles one of `kFirstKeys`, it is probably
/// misspelt, and the error lists these keys.
void refuse_unnamed_scaler(const Node& node, ErrorList& errors) {
  const bool is_misspelt = std::ranges::any_of(
      node.entries, [](const auto& entry) { return !similar_names(entry.key, kFirstKeys).empty(); });
  if (is_misspelt) {
    Fields fields(node, "scale", errors);
    for (const std::string_view key : kFirstKeys) fields.take(key);
    fields.finish();
    if (!fields.ok()) return;
  }
  errors.fail(
      node.place,
      "scale lacks \"policy\", expected the name of a policy, or manifest: FILE for an HPA, a ScaledObject or an "
      "InferenceScaler");
}

Scaler read_scaler(const Node& node, const Scenario& scenario, ErrorList& errors) {
  if (node.find("manifest") != nullptr) return read_peer_manifest(node, scenario, errors);
  if (node.kind == Node::Kind::mapping && node.find("policy") == nullptr) {
    refuse_unnamed_scaler(node, errors);
    return {};
  }
  const Node mapping = settings::as_mapping(node);
  const Node* policy = mapping.find("policy");
  if (policy != nullptr && std::ranges::find(peers::names(), policy->text) != peers::names().end()) {
    const peers::Choice choice = peers::read_settings(mapping, errors);
    return peer_at(choice.period, PeerSpec{choice.make, {}, choice.scrape_interval});
  }
  if (policy != nullptr && names_kubernetes_autoscaler(policy->text)) {
    errors.fail(policy->place, fmt::format("scale.policy: found {}, expected {{manifest: FILE}} for an HPA or "
                                           "ScaledObject of your own, or the name of a policy",
                                           policy->words()));
    return {};
  }
  return {settings::read_scale(node, errors, peers::names()), std::nullopt};
}

/// Reads the scalers of several variants. With `{variants: {NAME: ..., NAME: ...}}` each variant has its own scaler.
/// Otherwise Capstan's policy decides all variants together, while another policy scales only the first one and leaves
/// the others as they are.
void read_scale_of_variants(const Node& node, const EndpointSpec& endpoint, const Scenario& scenario, PolicySpec& spec,
                            ErrorList& errors) {
  const Node* apart = node.find("variants");
  const auto add = [&](Scaler scaler) {
    spec.policies.scale.push_back(std::move(scaler.policy));
    spec.peers.push_back(std::move(scaler.peer));
  };
  if (apart != nullptr) {
    Fields fields(node, "scale", errors);
    fields.take("variants");
    fields.finish();
    Fields each(*apart, "scale.variants", errors);
    for (const RoleSpec& variant : endpoint.roles) {
      const Node* given = each.take_required(variant.name);
      add(given == nullptr ? Scaler{} : read_scaler(*given, scenario, errors));
    }
    return each.finish();
  }
  add(read_scaler(node, scenario, errors));
  const decide::scale::Policy first = spec.policies.scale.back();
  for (std::size_t i = 1; i < endpoint.roles.size(); ++i) {
    if (std::holds_alternative<decide::scale::Capstan>(first)) {
      add({first, std::nullopt});
      continue;
    }
    const ReplicaCount stays = scenario.cluster.initial[endpoint.service_of(i).value].replicas;
    add({decide::scale::Fixed{.replicas = stays}, std::nullopt});
    spec.warnings.push_back(
        fmt::format("{}the policy knows only one variant: it scales {}, and {} stays at {}; to give each variant a "
                    "policy, use scale: {{variants: ...}}",
                    scenario.endpoints.size() > 1 ? endpoint.name + ": " : "", endpoint.roles.front().name,
                    endpoint.roles[i].name, stays));
  }
}

/// Reads `{manifest: FILE}` whose file has an InferenceScaler: a policy of Capstan with bounds of its own. Returns
/// false if the file has no InferenceScaler.
bool read_own_manifest(const Node& node, const EndpointSpec& endpoint, const Scenario& scenario, PolicySpec& spec,
                       ErrorList& errors) {
  const Node* path = node.find("manifest");
  if (path == nullptr) return false;
  const auto documents = manifest_documents(*path, scenario.file).documents;
  if (!documents) return false;  // `read_peer_manifest` reports it
  const Node* scaler = find_inference_scaler(*documents);
  if (scaler == nullptr) return false;
  Fields fields(node, "scale", errors);
  fields.take("manifest");
  fields.take("labels");  // labels of series that queries select; an InferenceScaler has no query
  fields.finish();
  const auto read = fit_inference_scaler(*scaler, endpoint, scenario, errors);
  for (std::size_t i = 0; i < endpoint.roles.size(); ++i) {
    spec.policies.scale.push_back(read ? read->policy : decide::scale::Policy());
    spec.peers.emplace_back();
    const std::uint32_t service = endpoint.service_of(i).value;
    if (read) spec.bounds[service] = {read->bounds[i], read->role_limits};
  }
  return true;
}

/// Reads one scaler for all replicas of a service, or one for each role: `{prefill: ..., decode: ...}`.
void read_scale_of_endpoint(const Node& node, const EndpointSpec& endpoint, const Scenario& scenario, PolicySpec& spec,
                            ErrorList& errors) {
  const auto add = [&](const Node& of_service) {
    Scaler scaler = read_scaler(of_service, scenario, errors);
    spec.policies.scale.push_back(std::move(scaler.policy));
    spec.peers.push_back(std::move(scaler.peer));
  };
  if (read_own_manifest(node, endpoint, scenario, spec, errors)) return;
  if (endpoint.has_variants()) return read_scale_of_variants(node, endpoint, scenario, spec, errors);
  const bool by_role = node.find("prefill") != nullptr || node.find("decode") != nullptr;
  if (!by_role || !endpoint.is_disaggregated()) {
    for (std::size_t i = 0; i < endpoint.roles.size(); ++i) add(node);
    return;
  }
  Fields fields(node, "scale", errors);
  const Node* prefill = fields.take_required("prefill");
  const Node* decode = fields.take_required("decode");
  fields.finish();
  if (prefill != nullptr) add(*prefill);
  if (decode != nullptr) add(*decode);
}

/// Reads the scalers of all services. With `{services: {NAME: ..., NAME: ...}}` each service has its own. Otherwise
/// each is scaled by itself with the same settings.
void read_scale(const Node& node, const Scenario& scenario, PolicySpec& spec, ErrorList& errors) {
  spec.bounds.resize(scenario.catalog->services.size());
  const Node* apart = node.find("services");
  if (apart == nullptr) {
    for (const EndpointSpec& endpoint : scenario.endpoints) {
      read_scale_of_endpoint(node, endpoint, scenario, spec, errors);
    }
    return;
  }
  Fields fields(node, "scale", errors);
  fields.take("services");
  fields.finish();
  Fields each(*apart, "scale.services", errors);
  for (const EndpointSpec& endpoint : scenario.endpoints) {
    if (const Node* given = each.take_required(endpoint.name)) {
      read_scale_of_endpoint(*given, endpoint, scenario, spec, errors);
    }
  }
  each.finish();
}

/// Refuses scalers of a scenario that has no service.
void refuse_scale(Fields& fields, ErrorList& errors) {
  for (const char* key : {"scale", "sleep"}) {
    const Node* layer = fields.take(key);
    if (layer == nullptr) continue;
    errors.fail(layer->place,
                fmt::format("policies: found {}, but the scenario has only jobs, expected only place and provision, or "
                            "a service",
                            key));
  }
}

void read_sleep(const Node& node, std::optional<SleepSpec>& sleep, ErrorList& errors) {
  Fields fields(node, "sleep", errors);
  sleep.emplace();
  fields.take_required("replicas");
  fields.integer("replicas", sleep->max_replicas, 0, 100'000);
  fields.duration("for", sleep->max_duration, 1s, 8784h);
  fields.finish();
}

/// Adds a warning for each service whose policy ignores `role_limits`: the bounds on the ratio of prefill and decode
/// replicas, and the conversion of replicas.
void warn_of_roles(const Scenario& scenario, PolicySpec& spec) {
  const std::vector<model::Service>& services = scenario.catalog->services;
  for (std::size_t i = 0; i < spec.policies.scale.size(); ++i) {
    if (services[i].role_limits == model::RoleLimits()) continue;
    const decide::scale::Policy& policy = spec.policies.scale[i];
    const bool stated = std::holds_alternative<decide::scale::Fixed>(policy);
    const bool knows = stated || decide::scale::is_paired(*scenario.catalog, {static_cast<std::uint32_t>(i)}, policy);
    if (knows && !spec.peers[i]) continue;
    spec.warnings.push_back(
        fmt::format("{} is scaled on its own: no replica changes its role, and no ratio is kept", services[i].name));
  }
}

}  // namespace

PolicySpec read_policy(const Node& node, const Scenario& scenario, ErrorList& errors) {
  PolicySpec spec;
  spec.provider = scenario.cluster.provider;
  Fields fields(node, "policies", errors);
  if (fields.take_required("name") != nullptr) fields.text("name", spec.policies.name);
  if (scenario.has_only_jobs()) {
    refuse_scale(fields, errors);
  } else if (const Node* layer = fields.take_required("scale")) {
    read_scale(*layer, scenario, spec, errors);
  }
  warn_of_roles(scenario, spec);
  if (const Node* layer = fields.take_required("place")) spec.policies.place = settings::read_place(*layer, errors);
  if (const Node* layer = fields.take_required("provision")) {
    spec.policies.provision = read_provision(*layer, scenario, spec.provider, errors);
  }
  fields.check("sleep", [&](const Node& sleep, ErrorList& found) { read_sleep(sleep, spec.sleep, found); });
  fields.take("sweep");  // scenario/sweep.h has turned it into policies
  fields.finish();
  const control::Policies& layers = spec.policies;
  if (!fields.ok()) return spec;
  if (layers.provision->kind == decide::provision::Policy::Kind::group &&
      layers.place->kind == decide::place::Policy::Kind::first_fit) {
    // First fit binds pod by pod and reports no shortfall, so no group of nodes would ever be bought.
    errors.fail(fields.place_for_error({"place", "provision"}),
                fmt::format("policies: \"{}\" can never buy a node: provision: group buys nodes only for "
                            "shortfalls, which only place: gang reports, expected place: gang, or provision: karpenter "
                            "or cluster_autoscaler",
                            layers.name),
                ErrorKind::infeasible);
  }
  const auto survives = [](const model::Service& service) { return service.survives.has_value(); };
  if (layers.place->kind == decide::place::Policy::Kind::first_fit &&
      std::ranges::any_of(scenario.catalog->services, survives)) {
    // First fit places replicas next to each other, including the replicas that are added for the spread.
    errors.fail(fields.place_for_error({"place"}),
                fmt::format("policies: \"{}\" cannot survive a loss: place: first_fit does not spread replicas, "
                            "expected place: gang because replicas.survive is stated",
                            layers.name),
                ErrorKind::infeasible);
  }
  if (spec.sleep && std::ranges::any_of(scenario.catalog->services, survives)) {
    // A replica wakes in the domain in which it fell asleep. If that domain holds too many replicas already, the
    // service would put the replica to sleep and wake it again without end.
    errors.fail(fields.place_for_error({"sleep"}),
                fmt::format("policies: \"{}\" has sleep, and the service has replicas.survive, expected only one of "
                            "them: a replica wakes in the domain in which it fell asleep, and so adds nothing to the "
                            "spread",
                            layers.name));
  }
  return spec;
}

}  // namespace capstan::scenario

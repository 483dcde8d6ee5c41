#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <utility>

#include "operator/facts/fetch_pages.h"
#include "operator/facts/gather_signals.h"
#include "operator/facts/metrics_api.h"
#include "operator/facts/prometheus_facts.h"
#include "operator/facts/signal_page.h"
#include "operator/loop/decision_loop.h"
#include "operator/loop/signal_sources.h"
#include "operator/snapshot/snapshot_builder.h"
#include "operator/view/competing_controllers.h"

namespace capstan::op {
namespace {

using namespace std::chrono_literals;

constexpr Duration kSyncMax = 30s;     // longest time until all objects are known
constexpr Duration kCallMax = 10s;     // longest time until one request to the API server is answered
constexpr std::size_t kPodsRead = 16;  // largest number of pods whose pages are read

/// A session with a cluster that ends early if the user interrupts the command.
struct ClusterSession {
  kube::Session& session;
  const std::function<bool()>& is_stopped;
};

/// Follows the cluster until all objects are known and all replicas were asked, or until `kSyncMax`.
void follow(const ClusterSession& cluster, DecisionLoop& loop) {
  kube::Session& session = cluster.session;
  const Instant end = session.clock() + kSyncMax;
  while (!cluster.is_stopped() && session.clock() < end && !loop.ready()) {
    loop.run_once();
    session.client.run_once();
    const Instant next = std::min({loop.next_deadline(), session.client.next_deadline(), end});
    session.http.run_once(std::clamp<Duration>(next - session.clock(), 0s, 100ms));
  }
}

/// Sends one request to the API server and waits for its answer.
kube::Outcome call(const ClusterSession& cluster, std::string path) {
  kube::Session& session = cluster.session;
  std::optional<kube::Outcome> outcome;
  kube::ApiRequest request;
  request.path = std::move(path);
  request.timeout = kCallMax;
  const kube::Client::CallId id =
      session.client.call(std::move(request), [&outcome](kube::Outcome answer) { outcome = std::move(answer); });
  const Instant end = session.clock() + kCallMax;
  while (!outcome && !cluster.is_stopped() && session.clock() < end) {
    session.client.run_once();
    session.http.run_once(100ms);
  }
  if (outcome) return *std::move(outcome);
  session.client.cancel(id);
  kube::Outcome none{.kind = kube::Outcome::Kind::unreachable, .error = {}, .body = {}};
  none.error.message = fmt::format("no answer in {} s", kCallMax / 1s);
  return none;
}

/// Finds a scaler by "name" or "namespace/name".
/// @param ns  namespace of the scaler; empty: any
Result<const InferenceScaler*> scaler_of(const ClusterView& view, const std::string& service, const std::string& ns) {
  std::vector<const InferenceScaler*> found;
  view.scalers.for_each([&](kube::RowId, const InferenceScaler& scaler) {
    const bool named = scaler.meta.key() == service || scaler.meta.name == service;
    if (named && (ns.empty() || scaler.meta.ns == ns)) found.push_back(&scaler);
  });
  if (found.size() == 1) return found.front();
  std::string message =
      fmt::format("{} InferenceScalers are called \"{}\", expected NAMESPACE/NAME", found.size(), service);
  if (found.empty()) {
    message = fmt::format("there is no InferenceScaler \"{}\"{}, see: kubectl get isc --all-namespaces", service,
                          ns.empty() ? "" : " in namespace " + ns);
  }
  return std::unexpected(Error{ErrorKind::usage, "capstan explain signals", 0, 0, message});
}

/// The first pod of a replica, whose engine reports for the whole replica.
struct FirstPod {
  const kube::Pod* pod = nullptr;
  bool ready = false;
};

std::vector<FirstPod> first_pods_of(const ClusterView& view, const InferenceScaler& scaler, Instant now) {
  SnapshotBuilder builder;
  const SnapshotBuilder::Output seen = builder.build(view, {}, now);
  std::map<std::string, const kube::Pod*> by_uid;
  view.pods.for_each([&](kube::RowId, const kube::Pod& pod) { by_uid[pod.meta.uid] = &pod; });
  std::vector<FirstPod> first_pods;
  seen.snapshot.gangs.for_each([&](model::GangId, const model::Gang& gang) {
    const auto origin = builder.services().find(gang.service);
    if (!gang.service.valid() || origin == builder.services().end() || gang.pods.empty()) return;
    if (origin->second.scaler_uid != scaler.meta.uid) return;
    const ObjectKey* key = builder.pod(gang.pods.front());
    const auto pod = key == nullptr ? by_uid.end() : by_uid.find(key->uid);
    if (pod == by_uid.end()) return;
    first_pods.push_back(
        {pod->second, gang.phase == model::Gang::Phase::ready || gang.phase == model::Gang::Phase::draining});
  });
  return first_pods;
}

explain::PodFacts pod_facts(const FirstPod& first_pod) {
  const kube::Pod& pod = *first_pod.pod;
  explain::PodFacts facts;
  facts.name = pod.meta.name;
  facts.ready = first_pod.ready;
  if (!first_pod.ready) facts.not_ready = !pod.bound() ? "it has no node" : pod.reason.empty() ? pod.phase : pod.reason;
  return facts;
}

std::vector<std::string> ports_of(const kube::Pod& pod) {
  std::vector<std::string> ports;
  for (const kube::Container& container : pod.spec.containers) {
    for (const kube::ContainerPort& port : container.ports) {
      ports.push_back(port.name.empty() ? std::to_string(port.port) : fmt::format("{} ({})", port.port, port.name));
    }
  }
  return ports;
}

/// Returns the limit of sequences that the pod's command states.
std::optional<std::int64_t> sequences_of(const kube::Pod& pod) {
  for (const kube::Container& container : pod.spec.containers) {
    if (container.step_limits.sequences > 0) return container.step_limits.sequences;
  }
  return std::nullopt;
}

/// Reads the pages of the pods that serve.
void read_pods(kube::Session& session, const InferenceScaler& scaler, const std::vector<FirstPod>& first_pods,
               explain::GatheredSignals& gathered) {
  std::vector<const kube::Pod*> read;
  std::vector<std::string> urls;
  for (const FirstPod& first_pod : first_pods) {
    if (!first_pod.ready || first_pod.pod->ip.empty() || read.size() == kPodsRead) {
      if (!first_pod.ready) gathered.facts.pods.push_back(pod_facts(first_pod));
      continue;
    }
    read.push_back(first_pod.pod);
    urls.push_back(page_url(scaler, *first_pod.pod));
  }
  const std::vector<FetchedPages> fetched = fetch_pages(session.http, session.clock, urls);
  for (std::size_t i = 0; i < read.size(); ++i) {
    PageFacts facts = facts_of(fetched[i], {.source = read[i]->meta.name,
                                            .model = scaler.model,
                                            .engine = scaler.engine,
                                            .pod = read[i]->meta.name,
                                            .needed = needed_signals(scaler)});
    facts.pod.declared_ports = ports_of(*read[i]);
    facts.load.max_sequences = sequences_of(*read[i]);
    gathered.loads.push_back({facts.pod.name, facts.load});
    gathered.facts.pods.push_back(std::move(facts.pod));
    std::ranges::move(facts.unusable, std::back_inserter(gathered.facts.unusable));
  }
}

/// Asks the Prometheus server of the service for its targets, and whether it has series of the service.
void read_prometheus(kube::Session& session, const InferenceScaler& scaler, const DecisionLoop& loop,
                     const std::vector<FirstPod>& first_pods, explain::GatheredSignals& gathered) {
  explain::PrometheusFacts server;
  server.url = scaler.prometheus_url;
  const std::string matchers =
      scaler.prometheus_selector.empty() ? fmt::format("namespace=\"{}\"", scaler.meta.ns) : scaler.prometheus_selector;
  server.selector = fmt::format("{{{}}}", matchers);
  const std::vector<FetchedPages> fetched =
      fetch_pages(session.http, session.clock,
                  {query_url(scaler.prometheus_url, targets_query(scaler.meta.ns)),
                   query_url(scaler.prometheus_url, series_query(matchers))});
  const FetchedPage& targets = fetched[0].answers.front();
  server.error = targets.error;
  server.http_status = targets.http_status;
  if (targets.error.empty() && targets.http_status == 200) count_targets(targets.body, server);
  const FetchedPage& series = fetched[1].answers.front();
  if (series.error.empty() && series.http_status == 200) note_series(series.body, server);
  gathered.facts.prometheus = std::move(server);
  const Readings readings = loop.sources().readings();
  const std::map<std::string, std::string> troubles = loop.sources().troubles();
  for (const FirstPod& first_pod : first_pods) {
    gathered.facts.pods.push_back(pod_facts(first_pod));
    if (const auto trouble = troubles.find(first_pod.pod->meta.uid); trouble != troubles.end()) {
      gathered.facts.unusable.push_back({first_pod.pod->meta.name, "reading", trouble->second});
    }
    const auto reading = readings.entries().find(first_pod.pod->meta.uid);
    if (reading == readings.entries().end()) continue;
    const auto value = [](const model::Signal& signal) {
      return signal.usable() ? std::optional(signal.value) : std::nullopt;
    };
    explain::ReplicaLoad load;
    load.running = value(reading->second.running);
    load.waiting = value(reading->second.waiting);
    load.kv_usage_ppm = value(reading->second.kv_usage_ppm);
    load.max_sequences = sequences_of(*first_pod.pod);
    gathered.loads.push_back({first_pod.pod->meta.name, load});
  }
}

/// Asks a Prometheus server for the queue of the gateway and for the GPU duty cycle of the pods. A fact without a
/// series stays missing, because not every cluster has a gateway or a DCGM exporter.
void read_gateway_and_gpu_load(kube::Session& session, const InferenceScaler& scaler, const std::string& server,
                               explain::GatheredSignals& gathered) {
  const std::vector<FetchedPages> fetched = fetch_pages(
      session.http, session.clock,
      {query_url(server, gateway_query(scaler.meta.ns)), query_url(server, gpu_duty_query(scaler.meta.ns))});
  const std::optional<std::int64_t> waiting = gateway_waiting(fetched[0].answers.front().body, scaler.model);
  const std::map<std::string, std::int64_t> duty = gpu_duty(fetched[1].answers.front().body);
  for (explain::PodLoad& load : gathered.loads) {
    load.load.gateway_waiting = waiting;
    if (const auto pod = duty.find(load.pod); pod != duty.end()) load.load.gpu_percent = pod->second;
  }
}

/// Asks the metrics API for one metric of an HPA.
explain::AdapterFacts read_metric(const ClusterSession& cluster, const HpaMetric& metric, const std::string& ns,
                                  const kube::StringMap& pods) {
  MetricAnswers answers;
  answers.group = call(cluster, fmt::format("/apis/{}", metric.group()));
  const std::string version = answers.group.ok() ? preferred_version(answers.group.body) : std::string();
  if (!version.empty()) answers.resources = call(cluster, "/apis/" + version);
  if (!version.empty() && answers.resources.ok()) {
    answers.values = call(cluster, values_path(metric, version, ns, pods));
  }
  return adapter_facts(metric, answers);
}

/// Asks for each metric of the HPAs that scale a workload of the service, KEDA's HPAs included. Stops at the first lost
/// metric.
void read_adapter(const ClusterSession& cluster, const ClusterView& view, const InferenceScaler& scaler,
                  explain::SignalFacts& facts) {
  const Targets targets(view);
  std::vector<std::pair<std::string, kube::StringMap>> autoscalers;  // name, labels of the pods
  view.autoscalers.for_each([&](kube::RowId, const kube::HorizontalPodAutoscaler& hpa) {
    if (hpa.meta.ns != scaler.meta.ns) return;
    for (const ScalerTarget& target : targets_of(scaler)) {
      const kube::TargetRef& ref = target.variant->target;
      if (ref.kind != hpa.target.kind || ref.name != hpa.target.name) continue;
      const kube::Workload* workload = targets.find(scaler.meta.ns, ref);
      autoscalers.emplace_back(hpa.meta.name, workload == nullptr ? kube::StringMap() : workload->selector.labels);
    }
  });
  for (const auto& [name, pods] : autoscalers) {
    const kube::Outcome hpa =
        call(cluster, kube::path_of(kube::resources::kHorizontalPodAutoscalers, scaler.meta.ns, name));
    for (const HpaMetric& metric : hpa_metrics(hpa.body)) {
      facts.adapter = read_metric(cluster, metric, scaler.meta.ns, pods);
      if (!facts.adapter->error.empty() || !facts.adapter->has_value) return;
    }
  }
}

/// Describes the objects of one kind that were not read in time.
explain::UnreadObjects unread_objects(const ClusterWatch::UnreadCollection& unread) {
  if (!unread.error) return {unread.name, 0, fmt::format("no complete answer in {} s", kSyncMax / 1s)};
  return {unread.name, unread.error->code, unread.error->text()};
}

/// Adds the workloads of the scaler to the facts, and notes the first workload that does not exist.
void read_targets(const ClusterView& view, const InferenceScaler& scaler, explain::SignalFacts& facts) {
  const Targets targets(view);
  for (const ScalerTarget& target : targets_of(scaler)) {
    const kube::TargetRef& ref = target.variant->target;
    const std::string name = fmt::format("{} {}/{}", ref.kind, scaler.meta.ns, ref.name);
    if (!facts.target.empty()) facts.target += ", ";
    facts.target += name;
    if (facts.target_missing.empty() && targets.find(scaler.meta.ns, ref) == nullptr) {
      facts.target_missing = fmt::format("{}: there is no {}", target.field, name);
    }
  }
}

}  // namespace

Result<explain::GatheredSignals> gather_from_cluster(const SignalQuestion& question,
                                                     const std::function<bool()>& is_stopped) {
  Result<std::unique_ptr<kube::Session>> opened = kube::open_session(question.cluster);
  if (!opened) return std::unexpected(opened.error());
  kube::Session& session = **opened;
  const ClusterSession cluster{session, is_stopped};
  DecisionLoop loop(session.http, session.client, session.clock, RandomStream(session.random.bits(), "loop"), nullptr);
  follow(cluster, loop);
  if (is_stopped()) return std::unexpected(Error{.file = {}, .message = "interrupted"});

  explain::GatheredSignals gathered;
  gathered.facts.service = question.service;
  if (!loop.synced()) {
    for (const ClusterWatch::UnreadCollection& unread : loop.watch().unread()) {
      gathered.facts.unread.push_back(unread_objects(unread));
    }
    return gathered;
  }
  const ClusterView view = loop.watch().view();
  const Result<const InferenceScaler*> scaler = scaler_of(view, question.service, question.cluster.ns);
  if (!scaler) return std::unexpected(scaler.error());
  gathered.facts.service = (*scaler)->meta.key();
  gathered.facts.model = (*scaler)->engine == "custom" ? std::string() : (*scaler)->model;
  read_targets(view, **scaler, gathered.facts);
  const std::vector<FirstPod> first_pods = first_pods_of(view, **scaler, session.clock());
  if ((*scaler)->prometheus_url.empty()) {
    read_pods(session, **scaler, first_pods, gathered);
  } else {
    read_prometheus(session, **scaler, loop, first_pods, gathered);
  }
  const std::string& server = question.prometheus.empty() ? (*scaler)->prometheus_url : question.prometheus;
  if (!server.empty()) read_gateway_and_gpu_load(session, **scaler, server, gathered);
  read_adapter(cluster, view, **scaler, gathered.facts);
  return gathered;
}

}  // namespace capstan::op

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <optional>
#include <utility>

#include <nlohmann/json.hpp>

#include "cli/explain_signals.h"
#include "cli/fetch_pages.h"
#include "cli/signal_page.h"
#include "cli/stop_signal.h"
#include "operator/decision_loop.h"
#include "operator/rivals.h"
#include "operator/signal_sources.h"
#include "operator/snapshot_builder.h"

namespace capstan::cli {
namespace {

using namespace std::chrono_literals;

constexpr Duration kSyncMax = 30s;     // until all objects are known
constexpr std::size_t kPodsRead = 16;  // pods whose pages are read

/// Follows the cluster until all objects are known and all replicas were asked, or until `kSyncMax`.
void follow(Session& session, op::DecisionLoop& loop) {
  const Instant end = session.clock() + kSyncMax;
  while (stop_signals() == 0 && session.clock() < end && !loop.ready()) {
    loop.turn();
    session.client.turn();
    const Instant next = std::min({loop.next_deadline(), session.client.next_deadline(), end});
    session.http.run_once(std::clamp<Duration>(next - session.clock(), 0s, 100ms));
  }
}

/// Finds a scaler by "name" or "namespace/name".
Result<const op::InferenceScaler*> scaler_of(const op::ClusterView& view, const std::string& service) {
  std::vector<const op::InferenceScaler*> found;
  view.scalers.for_each([&](kube::RowId, const op::InferenceScaler& scaler) {
    if (scaler.meta.key() == service || scaler.meta.name == service) found.push_back(&scaler);
  });
  if (found.size() == 1) return found.front();
  std::string message =
      fmt::format("{} InferenceScalers are called \"{}\", expected NAMESPACE/NAME", found.size(), service);
  if (found.empty()) {
    message = fmt::format("there is no InferenceScaler \"{}\", see: kubectl get isc --all-namespaces", service);
  }
  return std::unexpected(Error{ErrorKind::usage, "capstan explain signals", 0, 0, message});
}

/// The first pod of a replica, whose engine reports for the whole replica.
struct Speaker {
  const kube::Pod* pod = nullptr;
  bool ready = false;
};

std::vector<Speaker> speakers_of(const op::ClusterView& view, const op::InferenceScaler& scaler, Instant now) {
  op::SnapshotBuilder builder;
  const op::SnapshotBuilder::Seen seen = builder.build(view, {}, now);
  std::map<std::string, const kube::Pod*> by_uid;
  view.pods.for_each([&](kube::RowId, const kube::Pod& pod) { by_uid[pod.meta.uid] = &pod; });
  std::vector<Speaker> speakers;
  seen.snapshot.gangs.for_each([&](model::GangId, const model::Gang& gang) {
    const auto origin = builder.services().find(gang.service);
    if (!gang.service.valid() || origin == builder.services().end() || gang.pods.empty()) return;
    if (origin->second.scaler_uid != scaler.meta.uid) return;
    const op::ObjectKey* key = builder.pod(gang.pods.front());
    const auto pod = key == nullptr ? by_uid.end() : by_uid.find(key->uid);
    if (pod == by_uid.end()) return;
    speakers.push_back(
        {pod->second, gang.phase == model::Gang::Phase::ready || gang.phase == model::Gang::Phase::draining});
  });
  return speakers;
}

explain::PodFacts pod_facts(const Speaker& speaker) {
  const kube::Pod& pod = *speaker.pod;
  explain::PodFacts facts;
  facts.name = pod.meta.name;
  facts.ready = speaker.ready;
  if (!speaker.ready) facts.not_ready = !pod.bound() ? "it has no node" : pod.reason.empty() ? pod.phase : pod.reason;
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

/// The limit of sequences that the pod's command states.
std::optional<std::int64_t> sequences_of(const kube::Pod& pod) {
  for (const kube::Container& container : pod.spec.containers) {
    if (container.step_limits.sequences > 0) return container.step_limits.sequences;
  }
  return std::nullopt;
}

/// Reads the pages of the pods that serve.
void read_pods(Session& session, const op::InferenceScaler& scaler, const std::vector<Speaker>& speakers,
               GatheredSignals& gathered) {
  std::vector<const kube::Pod*> read;
  std::vector<std::string> urls;
  for (const Speaker& speaker : speakers) {
    if (!speaker.ready || speaker.pod->ip.empty() || read.size() == kPodsRead) {
      if (!speaker.ready) gathered.facts.pods.push_back(pod_facts(speaker));
      continue;
    }
    read.push_back(speaker.pod);
    urls.push_back(op::page_url(scaler, *speaker.pod));
  }
  const std::vector<FetchedPages> fetched = fetch_pages(session.http, session.clock, urls);
  for (std::size_t i = 0; i < read.size(); ++i) {
    PageFacts facts = facts_of(fetched[i], {.source = read[i]->meta.name,
                                            .model = scaler.model,
                                            .engine = scaler.engine,
                                            .pod = read[i]->meta.name,
                                            .needed = op::needed_signals(scaler)});
    facts.pod.declared_ports = ports_of(*read[i]);
    facts.load.max_sequences = sequences_of(*read[i]);
    gathered.loads.push_back({facts.pod.name, facts.load});
    gathered.facts.pods.push_back(std::move(facts.pod));
    std::ranges::move(facts.unusable, std::back_inserter(gathered.facts.unusable));
  }
}

/// Counts the targets of the namespace that a Prometheus server reports as up and as down.
void count_targets(const std::string& body, explain::PrometheusFacts& server) {
  const nlohmann::json answer = nlohmann::json::parse(body, nullptr, false);
  if (answer.is_discarded() || answer.value("status", "") != "success" || !answer.contains("data") ||
      !answer["data"].is_object() || !answer["data"].contains("result") || !answer["data"]["result"].is_array()) {
    server.no_answer = "the answer is not one of Prometheus' API";
    return;
  }
  for (const nlohmann::json& row : answer["data"]["result"]) {
    if (!row.is_object() || !row.contains("value") || !row["value"].is_array() || row["value"].size() != 2) continue;
    const bool up = row["value"][1] == "1";
    ++(up ? server.targets_up : server.targets_down);
    if (!up && row.contains("metric") && row["metric"].is_object()) {
      server.down_target = row["metric"].value("instance", "");
    }
  }
}

/// Asks the Prometheus server of the service for its targets. The replicas' own readings show whether it has series.
void read_prometheus(Session& session, const op::InferenceScaler& scaler, const op::DecisionLoop& loop,
                     const std::vector<Speaker>& speakers, GatheredSignals& gathered) {
  explain::PrometheusFacts server;
  server.url = scaler.prometheus_url;
  server.selector = scaler.prometheus_selector.empty() ? fmt::format("{{namespace=\"{}\"}}", scaler.meta.ns)
                                                       : scaler.prometheus_selector;
  const std::string query = fmt::format("/api/v1/query?query=up%7Bnamespace%3D%22{}%22%7D", scaler.meta.ns);
  const std::vector<FetchedPages> fetched = fetch_pages(session.http, session.clock, {scaler.prometheus_url + query});
  const FetchedPage& answer = fetched.front().answers.front();
  server.no_answer = answer.error;
  server.http_status = answer.http_status;
  if (answer.error.empty() && answer.http_status == 200) count_targets(answer.body, server);
  gathered.facts.prometheus = std::move(server);
  const op::Readings readings = loop.sources().readings();
  const std::map<std::string, std::string> troubles = loop.sources().troubles();
  for (const Speaker& speaker : speakers) {
    gathered.facts.pods.push_back(pod_facts(speaker));
    if (const auto trouble = troubles.find(speaker.pod->meta.uid); trouble != troubles.end()) {
      gathered.facts.unusable.push_back({speaker.pod->meta.name, "reading", trouble->second});
    }
    const auto reading = readings.find(speaker.pod->meta.uid);
    if (reading == readings.end()) continue;
    const auto value = [](const model::Signal& signal) {
      return signal.usable() ? std::optional(signal.value) : std::nullopt;
    };
    explain::ReplicaLoad load;
    load.running = value(reading->second.running);
    load.waiting = value(reading->second.waiting);
    load.kv_usage_ppm = value(reading->second.kv_usage_ppm);
    load.max_sequences = sequences_of(*speaker.pod);
    gathered.loads.push_back({speaker.pod->meta.name, load});
  }
}

/// States the workloads of the scaler, or the first one that does not exist.
void read_targets(const op::ClusterView& view, const op::InferenceScaler& scaler, explain::SignalFacts& facts) {
  const op::Targets targets(view);
  for (const op::TargetOf& target : op::targets_of(scaler)) {
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

Result<GatheredSignals> gather_from_cluster(const ExplainSignalsArguments& arguments) {
  catch_stop_signals();
  Result<std::unique_ptr<Session>> opened = open_session(arguments.cluster);
  if (!opened) return std::unexpected(opened.error());
  Session& session = **opened;
  op::DecisionLoop loop(session.http, session.client, session.clock, RandomStream(session.random.bits(), "loop"),
                        nullptr);
  follow(session, loop);
  if (stop_signals() != 0) return std::unexpected(Error{.file = {}, .message = "interrupted"});

  GatheredSignals gathered;
  gathered.facts.service = arguments.service;
  if (!loop.synced()) {
    for (const std::string& line : loop.waiting_for()) {
      gathered.facts.denied.push_back(fmt::format("not known after {} s: {}", kSyncMax / 1s, line));
    }
    return gathered;
  }
  const op::ClusterView view = loop.watch().view();
  const Result<const op::InferenceScaler*> scaler = scaler_of(view, arguments.service);
  if (!scaler) return std::unexpected(scaler.error());
  gathered.facts.service = (*scaler)->meta.key();
  gathered.facts.model = (*scaler)->engine == "custom" ? std::string() : (*scaler)->model;
  read_targets(view, **scaler, gathered.facts);
  const std::vector<Speaker> speakers = speakers_of(view, **scaler, session.clock());
  if ((*scaler)->prometheus_url.empty()) {
    read_pods(session, **scaler, speakers, gathered);
  } else {
    read_prometheus(session, **scaler, loop, speakers, gathered);
  }
  return gathered;
}

}  // namespace capstan::cli

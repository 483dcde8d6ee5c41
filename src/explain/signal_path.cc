#include "explain/signal_path.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <utility>

#include "explain/words.h"

namespace capstan::explain {
namespace {

using State = StageResult::State;

/// The result of one stage: whether it passes, what was found, and the remedy if it fails.
struct Finding {
  State state = State::passed;
  std::string text;
  std::string remedy{};
};

Finding failed(std::string text, std::string remedy) { return {State::failed, std::move(text), std::move(remedy)}; }

/// Returns "chat-0", or "chat-0 and 3 more".
template <typename Rows, typename NameOf>
std::string first_and_more(const Rows& rows, NameOf name_of) {
  if (rows.empty()) return "none";
  const std::string first = name_of(rows.front());
  return rows.size() == 1 ? first : fmt::format("{} and {} more", first, rows.size() - 1);
}

/// Returns the pods for which a condition holds.
template <typename Condition>
std::vector<const PodFacts*> pods_with(const SignalFacts& facts, Condition condition) {
  std::vector<const PodFacts*> found;
  for (const PodFacts& pod : facts.pods) {
    if (condition(pod)) found.push_back(&pod);
  }
  return found;
}

std::string pods_text(const std::vector<const PodFacts*>& pods) {
  return first_and_more(pods, [](const PodFacts* pod) { return pod->name; });
}

/// Returns the remedy for a request to the API server that failed with this status.
std::string unread_remedy(const UnreadObjects& unread) {
  switch (unread.http_status) {
    case 0:
      return "check that this machine reaches the API server, with: kubectl get --raw /readyz";
    case 401:
      return "renew the credentials of the kubeconfig: the API server does not accept them";
    case 403:
      return fmt::format(
          "give the user or service account of Capstan the rules of the chart (rbac.yaml), then check them with: "
          "kubectl auth can-i list {}",
          unread.objects);
    case 404:
      return fmt::format("install the CustomResourceDefinition of {} (Capstan's are in deploy/crds)", unread.objects);
    default:
      return "the API server is overloaded or faulty: try again, and read its logs if this lasts";
  }
}

/// Returns the finding about reads of the API server. A refusal (403) is shown before other failures, because a failure
/// may pass and a refusal does not.
Finding access_finding(const SignalFacts& facts) {
  if (facts.unread.empty()) return {State::passed, "the API server lets Capstan read all objects"};
  const auto refused = std::ranges::find(facts.unread, 403, &UnreadObjects::http_status);
  const UnreadObjects& shown = refused == facts.unread.end() ? facts.unread.front() : *refused;
  const std::string more =
      facts.unread.size() == 1
          ? std::string()
          : fmt::format("; {} failed too", count_text(std::ssize(facts.unread) - 1, "other request", "other requests"));
  return failed(fmt::format("the request for {} failed: {}{}", shown.objects, shown.error, more), unread_remedy(shown));
}

Finding target_finding(const SignalFacts& facts) {
  if (facts.target_missing.empty()) return {State::passed, facts.target};
  return failed(facts.target_missing, "correct targetRef in the InferenceScaler, or create the workload");
}

Finding pod_finding(const SignalFacts& facts) {
  const auto ready = pods_with(facts, [](const PodFacts& pod) { return pod.ready; });
  if (!ready.empty()) return {State::passed, count_text(std::ssize(ready), "pod ready", "pods ready")};
  if (facts.pods.empty()) return failed("no pod exists", "raise the replicas of the workload above 0");
  const PodFacts& first = facts.pods.front();
  return failed(fmt::format("{} is not ready{}", first.name, first.not_ready.empty() ? "" : ": " + first.not_ready),
                fmt::format("see the cause: kubectl describe pod {}", first.name));
}

/// Returns the finding about ports and paths: the addresses that answer, or the first address that does not, with the
/// ports that its pod declares.
Finding port_finding(const SignalFacts& facts) {
  const auto silent = pods_with(facts, [](const PodFacts& pod) { return pod.ready && !pod.error.empty(); });
  if (!silent.empty()) {
    const PodFacts& pod = *silent.front();
    const std::string ports = pod.declared_ports.empty()
                                  ? std::string()
                                  : fmt::format("; the pod declares port {}", fmt::join(pod.declared_ports, ", "));
    const std::string prefix = pod.name == pod.url ? std::string() : pods_text(silent) + ": ";
    return failed(fmt::format("{}{}: {}{}", prefix, pod.url, pod.error, ports),
                  "set spec.signals.pods.port to the port of the engine, and allow Capstan in its NetworkPolicy");
  }
  const auto refused = pods_with(facts, [](const PodFacts& pod) { return pod.ready && pod.http_status != 200; });
  if (!refused.empty()) {
    const PodFacts& pod = *refused.front();
    const bool auth = pod.http_status == 401 || pod.http_status == 403;
    return failed(fmt::format("{}: {} answers HTTP {}", pods_text(refused), pod.url, pod.http_status),
                  auth ? "serve the metrics without authentication on the pod network, or read them from Prometheus"
                       : "set spec.signals.pods.path to the path of the engine's metrics, and switch its metrics on");
  }
  const auto ready = pods_with(facts, [](const PodFacts& pod) { return pod.ready; });
  return {State::passed, first_and_more(ready, [](const PodFacts* pod) { return pod->url; })};
}

Finding page_finding(const SignalFacts& facts) {
  const auto bad = pods_with(facts, [](const PodFacts& pod) { return pod.ready && !pod.bad_page.empty(); });
  if (!bad.empty()) {
    return failed(fmt::format("{}: {}", pods_text(bad), bad.front()->bad_page),
                  "serve the Prometheus text format: one bad line discards the whole page");
  }
  const auto ready = pods_with(facts, [](const PodFacts& pod) { return pod.ready; });
  return {State::passed, ready.empty()
                             ? "readable"
                             : count_text(static_cast<std::int64_t>(ready.front()->metrics), "metric", "metrics")};
}

Finding names_finding(const SignalFacts& facts) {
  const auto unknown = pods_with(facts, [](const PodFacts& pod) { return pod.ready && pod.engine.empty(); });
  if (!unknown.empty()) {
    const std::string& expected = unknown.front()->expected_engine;
    return failed(
        fmt::format("{}: no metric of {} is on the page", pods_text(unknown),
                    expected.empty() ? "a known engine" : "engine " + expected),
        "switch the engine's metrics on, or scrape the engine and not a sidecar; for a server of your own set "
        "engine custom and name its metrics in spec.signals.custom");
  }
  const auto lossy = pods_with(facts, [](const PodFacts& pod) { return pod.ready && !pod.lost.empty(); });
  if (!lossy.empty()) {
    const LostMetric& lost = lossy.front()->lost.front();
    std::string found = fmt::format("{}: the page has no metric for the signal {}; Capstan knows the names {}",
                                    pods_text(lossy), lost.signal, fmt::join(lost.known, ", "));
    if (lost.similar.empty()) {
      return failed(std::move(found), "use an engine version that exports one of these metrics");
    }
    found += fmt::format("; the page has {}", lost.similar);
    const std::string custom = lost.custom_field.empty()
                                   ? ""
                                   : fmt::format(", or set engine custom and name {} in spec.signals.custom.{}",
                                                 lost.similar, lost.custom_field);
    return failed(std::move(found), "this engine version renamed the metric: update Capstan" + custom);
  }
  const auto ready = pods_with(facts, [](const PodFacts& pod) { return pod.ready; });
  return {State::passed, ready.empty() ? "all needed metrics" : ready.front()->engine + ", all needed metrics"};
}

Finding model_finding(const SignalFacts& facts) {
  const auto foreign = pods_with(facts, [](const PodFacts& pod) { return pod.ready && !pod.other_pod.empty(); });
  if (!foreign.empty()) {
    return failed(fmt::format("{}: the page names pod {}", pods_text(foreign), foreign.front()->other_pod),
                  "the address belongs to another pod now: wait for the next scrape, or correct the scrape target");
  }
  const auto other = pods_with(facts, [&](const PodFacts& pod) {
    return pod.ready && !facts.model.empty() && !pod.models.empty() &&
           std::ranges::find(pod.models, facts.model) == pod.models.end();
  });
  if (!other.empty()) {
    const std::vector<std::string>& models = other.front()->models;
    return failed(fmt::format("{}: the page is about model {}, expected {}", pods_text(other), fmt::join(models, ", "),
                              facts.model),
                  fmt::format("set spec.model to \"{}\", or start the engine with --served-model-name \"{}\"",
                              models.front(), facts.model));
  }
  const auto several =
      pods_with(facts, [&](const PodFacts& pod) { return pod.ready && facts.model.empty() && pod.models.size() > 1; });
  if (!several.empty()) {
    return failed(fmt::format("{}: the page has {}, and no model is named", pods_text(several),
                              count_text(std::ssize(several.front()->models), "model", "models")),
                  "name the model of the service in spec.model");
  }
  const auto named = pods_with(facts, [](const PodFacts& pod) { return pod.ready && !pod.models.empty(); });
  return {State::passed, named.empty() ? "no model label" : fmt::format("{}", fmt::join(named.front()->models, ", "))};
}

Finding prometheus_finding(const SignalFacts& facts) {
  const PrometheusFacts& server = *facts.prometheus;
  if (!server.error.empty()) {
    return failed(fmt::format("{}: {}", server.url, server.error),
                  "correct spec.signals.prometheus.url, and allow Capstan in the NetworkPolicy of the server");
  }
  if (server.http_status != 200) {
    const bool auth = server.http_status == 401 || server.http_status == 403;
    return failed(fmt::format("{} answers HTTP {}", server.url, server.http_status),
                  auth ? "give Capstan a token for the server" : "correct spec.signals.prometheus.url");
  }
  if (server.targets_down > 0 && server.targets_up == 0) {
    return failed(
        fmt::format("{} down: {}", count_text(server.targets_down, "target is", "targets are"), server.down_target),
        "repair the ServiceMonitor or PodMonitor: its port, path and namespace must match the pods");
  }
  if (!server.has_series) {
    return failed(fmt::format("no series for {}", server.selector),
                  server.targets_up > 0 ? "correct spec.signals.prometheus.selector: the targets are up, but their "
                                          "labels differ"
                                        : "create a ServiceMonitor or PodMonitor for the pods");
  }
  return {State::passed, fmt::format("{}, {}", server.url, count_text(server.targets_up, "target up", "targets up"))};
}

Finding adapter_finding(const SignalFacts& facts) {
  const AdapterFacts& adapter = *facts.adapter;
  const std::string error = adapter.error.empty() ? "" : ": " + adapter.error;
  if (!adapter.unread.empty()) {
    return {State::unknown, fmt::format("{} is not checked: {}", adapter.metric, adapter.unread)};
  }
  if (!adapter.api_registered) {
    return failed(fmt::format("no metrics API is registered for {}{}", adapter.metric, error),
                  "install prometheus-adapter or KEDA, and check: kubectl get apiservices | grep metrics.k8s.io");
  }
  if (!adapter.metric_served) {
    return failed(fmt::format("the metrics API does not serve {}{}", adapter.metric, error),
                  fmt::format("add a rule for {} to the adapter: its seriesQuery must match the series, and its "
                              "resource labels must name namespace and pod",
                              adapter.metric));
  }
  if (!adapter.has_value) {
    return failed(
        fmt::format("the metrics API serves {}, but has no value for the pods of the target{}", adapter.metric, error),
        "check that the series carry the namespace and the pod in the labels that the rule of the adapter "
        "names; Prometheus renames them to exported_namespace and exported_pod without honorLabels");
  }
  return {State::passed, adapter.metric};
}

Finding snapshot_finding(const SignalFacts& facts) {
  if (facts.unusable.empty()) return {State::passed, "all needed signals are fresh"};
  const UnusableSignal& signal = facts.unusable.front();
  return failed(fmt::format("{}: {}: {}", signal.pod, signal.signal, signal.why),
                "read the page of that pod; docs/guides/signals.md lists every reason");
}

/// A stage, whether it applies to the service, and how it is judged.
struct StageRule {
  SignalStage stage;
  bool (*applies)(const SignalFacts&);
  Finding (*judge)(const SignalFacts&);
};

bool reads_cluster(const SignalFacts& facts) {
  return !facts.target.empty() || !facts.unread.empty() || !facts.target_missing.empty();
}
bool reads_pages(const SignalFacts& facts) { return !facts.prometheus; }
bool reads_prometheus(const SignalFacts& facts) { return facts.prometheus.has_value(); }
bool has_adapter(const SignalFacts& facts) { return facts.adapter.has_value(); }
bool is_any_service(const SignalFacts&) { return true; }

constexpr std::array<StageRule, kSignalStages> kRules = {{
    {SignalStage::access, reads_cluster, access_finding},
    {SignalStage::target, reads_cluster, target_finding},
    {SignalStage::pod, reads_cluster, pod_finding},
    {SignalStage::prometheus, reads_prometheus, prometheus_finding},
    {SignalStage::port, reads_pages, port_finding},
    {SignalStage::page, reads_pages, page_finding},
    {SignalStage::names, reads_pages, names_finding},
    {SignalStage::model, reads_pages, model_finding},
    {SignalStage::adapter, has_adapter, adapter_finding},
    {SignalStage::snapshot, is_any_service, snapshot_finding},
}};

}  // namespace

std::string_view name(SignalStage stage) {
  constexpr std::array<std::string_view, kSignalStages> kNames = {
      "access", "target", "pod", "port", "page", "names", "model", "prometheus", "adapter", "snapshot"};
  return kNames[static_cast<std::size_t>(stage)];
}

SignalPath signal_path(const SignalFacts& facts) {
  SignalPath path;
  for (const StageRule& rule : kRules) {
    if (!rule.applies(facts)) continue;
    if (path.broken) {
      path.stages.push_back({rule.stage, State::unknown, "not reached"});
      continue;
    }
    Finding finding = rule.judge(facts);
    path.stages.push_back({rule.stage, finding.state, std::move(finding.text)});
    if (finding.state != State::failed) continue;
    path.broken = rule.stage;
    path.remedy = std::move(finding.remedy);
  }
  return path;
}

std::string text(const SignalPath& path) {
  constexpr std::array<std::string_view, 3> kMarks = {"✓", "✗", "-"};
  std::string text;
  for (const StageResult& result : path.stages) {
    text +=
        fmt::format("{} {:<10} {}\n", kMarks[static_cast<std::size_t>(result.state)], name(result.stage), result.text);
  }
  if (!path.broken) return text + "no signal is lost\n";
  return text + fmt::format("lost at stage {}: {}\n", name(*path.broken), path.remedy);
}

}  // namespace capstan::explain

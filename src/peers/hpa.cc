#include "peers/hpa.h"

#include <algorithm>
#include <cmath>

#include "decide/scale/hpa.h"
#include "promql/aggregate.h"

namespace capstan::peers {
namespace {

namespace scale = decide::scale;
using Phase = model::Gang::Phase;

constexpr double kMilli = 1000;

std::string plain(double value) {
  std::string text = std::to_string(value);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.ends_with('.')) text.pop_back();
  return text;
}

const char* word(HpaMetric::Target target) {
  if (target == HpaMetric::Target::utilization) return "utilization";
  return target == HpaMetric::Target::value ? "value" : "average value";
}

const char* bad_resource(HpaMetric::Source source) {
  return source == HpaMetric::Source::cpu
             ? "cpu shows whether an engine has any request: its loop keeps one core busy, "
               "for one request and for a full "
               "batch; scale on requests waiting and running instead"
             : "memory shows what an engine allocated when it started, not what requests "
               "use; scale on requests waiting and "
               "running instead";
}

}  // namespace

bool CronTrigger::active(Instant now) const {
  constexpr std::int64_t kDays = 366;
  return start.next(now, kDays).value_or(Instant::never()) >= end.next(now, kDays).value_or(Instant::never());
}

HpaAutoscaler::HpaAutoscaler(HpaSpec spec) : spec_(std::move(spec)), states_(spec_.metrics.size()) {}

/// Returns the answer as one number: for an HPA's metric the sum over the series, for KEDA the only series.
std::optional<double> HpaAutoscaler::ask(std::size_t index, const ClusterView& view, Instant now) {
  const HpaMetric& metric = spec_.metrics[index];
  MetricState& state = states_[index];
  if (metric.source == HpaMetric::Source::cron) {
    state.ever_found = true;
    return static_cast<double>(metric.cron.active(now) ? metric.cron.replicas : 1);
  }
  const Result<promql::Value> answer = metric.query.ask(view.series, series_ms(now));
  if (!answer) {
    state.last_error = answer.error().text();
    return std::nullopt;
  }
  state.ever_found = state.ever_found || answer->type == promql::ValueType::scalar || !answer->vector.empty();
  if (!spec_.keda) {
    if (answer->type == promql::ValueType::scalar) return answer->scalar;
    if (answer->vector.empty()) return std::nullopt;
    double sum = 0;
    for (const promql::Sample& sample : answer->vector) sum += sample.value;
    return std::isfinite(sum) ? std::optional(sum) : std::nullopt;
  }
  std::vector<std::string> texts;  // values as in the server's JSON
  if (answer->type == promql::ValueType::scalar) texts.push_back(promql::value_text(answer->scalar));
  for (const promql::Sample& sample : answer->vector) texts.push_back(promql::value_text(sample.value));
  std::vector<keda::Series> series;
  for (const std::string& text : texts) series.push_back({2, text});
  return keda::prometheus_value(series, true, metric.ignore_null_values);
}

/// Returns the value that the HPA receives: the answer, or KEDA's fallback for it.
std::optional<double> HpaAutoscaler::metric_value(std::size_t index, const ClusterView& view, Instant now) {
  const HpaMetric& metric = spec_.metrics[index];
  const std::optional<double> answer = ask(index, view, now);
  if (!spec_.keda) return answer;
  const keda::MetricType type =
      metric.target == HpaMetric::Target::value ? keda::MetricType::value : keda::MetricType::average_value;
  return keda::with_fallback(spec_.keda->fallback, states_[index].health, answer,
                             static_cast<double>(metric.target_milli) / kMilli, type, existing_replicas(view.role),
                             ready_replicas(view.role))
      .value;
}

/// Returns the HPA's classification of a pod; empty if the pod is being deleted. The HPA leaves out the CPU of a
/// starting pod but counts its other metrics in full.
std::optional<scale::HpaPod> HpaAutoscaler::pod_of(const HpaMetric& metric, const promql::Value& answer,
                                                   const scale::WorkloadView::Replica& replica) const {
  using Group = scale::HpaPod::Group;
  if (replica.phase == Phase::draining) return std::nullopt;
  const bool is_starting = metric.source == HpaMetric::Source::cpu && replica.phase == Phase::starting;
  if (replica.phase == Phase::pending || is_starting) return scale::HpaPod{Group::unready, 0, metric.request_milli};
  if (metric.source == HpaMetric::Source::memory) {
    return scale::HpaPod{Group::ready, metric.used_milli, metric.request_milli};
  }
  const std::string pod = pod_name(replica.id);
  const auto sample = std::ranges::find_if(
      answer.vector, [&](const promql::Sample& sample) { return promql::get(sample.labels, "pod") == pod; });
  if (sample == answer.vector.end()) return scale::HpaPod{Group::missing, 0, metric.request_milli};
  return scale::HpaPod{Group::ready, keda::quantity_milli(sample->value), metric.request_milli};
}

scale::HpaProposal HpaAutoscaler::propose_by_pods(std::size_t index, const ClusterView& view, Instant now) {
  const HpaMetric& metric = spec_.metrics[index];
  const Result<promql::Value> answer =
      metric.source == HpaMetric::Source::memory ? promql::Value{} : metric.query.ask(view.series, series_ms(now));
  if (!answer) {
    states_[index].last_error = answer.error().text();
    return {};
  }
  std::vector<scale::HpaPod> pods;
  for (const scale::WorkloadView::Replica& replica : view.role.replicas) {
    const std::optional<scale::HpaPod> pod = pod_of(metric, *answer, replica);
    if (!pod) continue;
    states_[index].ever_found = states_[index].ever_found || pod->group == scale::HpaPod::Group::ready;
    pods.push_back(*pod);
  }
  if (metric.target == HpaMetric::Target::utilization) {
    return scale::propose_by_utilization(pods, metric.target_milli / 1000, view.role.current, spec_.settings);
  }
  return scale::propose_by_pods(pods, metric.target_milli, view.role.current, spec_.settings);
}

scale::HpaProposal HpaAutoscaler::propose(std::size_t index, const ClusterView& view, Instant now) {
  const HpaMetric& metric = spec_.metrics[index];
  if (metric.source == HpaMetric::Source::pods || metric.is_resource()) return propose_by_pods(index, view, now);
  const std::optional<double> value = metric_value(index, view, now);
  if (!value) return {};
  const std::int64_t milli = keda::quantity_milli(*value);
  if (metric.target == HpaMetric::Target::average_value) {
    return scale::propose_by_average_value(milli, metric.target_milli, existing_replicas(view.role), spec_.settings);
  }
  const bool any_pod = existing_replicas(view.role) > 0;
  return scale::propose_by_value(milli, metric.target_milli, view.role.current,
                                 any_pod ? std::optional(ready_replicas(view.role)) : std::nullopt, spec_.settings);
}

/// Implements reconcileAutoscaler.
Recommendation HpaAutoscaler::sync(const ClusterView& view, Instant now) {
  const ReplicaCount current = view.role.current;
  if (!memory_.has_decided) {
    memory_.has_decided = true;
    memory_.recommendations.push_back({now, current});
  }
  const ReplicaCount min = spec_.keda ? keda::hpa_minimum(spec_.min_replicas) : spec_.min_replicas;
  if (current == 0 && min != 0) return {0, "at 0 replicas the HPA is disabled"};
  if (current > spec_.max_replicas || current < min) {
    const ReplicaCount bound = std::clamp(current, min, spec_.max_replicas);
    scale::record_change(memory_, spec_.settings, current, bound, now);
    return {bound, std::to_string(current) + " replicas are outside the bounds"};
  }
  std::optional<ReplicaCount> wanted;
  std::string why;
  bool failed = false;
  for (std::size_t i = 0; i < spec_.metrics.size(); ++i) {
    const scale::HpaProposal proposal = propose(i, view, now);
    if (!proposal.valid) {
      failed = true;
    } else if (!wanted || proposal.replicas > *wanted) {
      const HpaMetric& metric = spec_.metrics[i];
      wanted = proposal.replicas;
      why = metric.name + " is " + plain(proposal.filled_ratio) + " of its " + word(metric.target) + " " +
            plain(static_cast<double>(metric.target_milli) / kMilli);
    }
  }
  if (!wanted) return {current, "no metric has a reading"};
  if (failed && *wanted < current) return {current, "a metric has no reading, which prevents a scale-down"};
  const ReplicaCount held = scale::stabilize(memory_, spec_.settings, current, *wanted, now);
  const ReplicaCount desired =
      scale::limit_rate(memory_, spec_.settings, current, held, min, spec_.max_replicas, now).replicas;
  scale::record_change(memory_, spec_.settings, current, desired, now);
  why += ": " + std::to_string(*wanted);
  if (held != *wanted) why += ", stabilized to " + std::to_string(held);
  if (desired != held) why += ", limited to " + std::to_string(desired);
  return {desired, std::move(why)};
}

/// Runs KEDA's operator every polling interval. Returns nothing if the operator leaves the count to the HPA.
std::optional<Recommendation> HpaAutoscaler::activate(const ClusterView& view, Instant now) {
  if (!spec_.keda || now < next_poll_) return std::nullopt;
  next_poll_ = now + spec_.polling_interval;
  keda::Triggers triggers;
  for (std::size_t i = 0; i < spec_.metrics.size(); ++i) {
    const HpaMetric& metric = spec_.metrics[i];
    // cpu and memory cannot wake a workload. The reader accepts them only if the workload is never scaled to 0.
    if (metric.is_resource()) continue;
    const std::optional<double> value = ask(i, view, now);
    const bool cron = metric.source == HpaMetric::Source::cron;
    triggers.error = triggers.error || !value;
    triggers.active =
        triggers.active || (cron ? metric.cron.active(now) : value && *value > metric.activation_threshold);
  }
  const std::optional<Duration> idle_for = last_active_ ? std::optional(now - *last_active_) : std::nullopt;
  const keda::Activation activation =
      keda::activate(*spec_.keda, triggers, view.role.current, idle_for, now.since_start);
  if (triggers.active) last_active_ = now;
  if (activation.replicas == view.role.current) return std::nullopt;
  return Recommendation{activation.replicas, triggers.active ? "a trigger is active" : "no trigger is active"};
}

Recommendation HpaAutoscaler::recommend(const ClusterView& view, Instant now) {
  if (std::optional<Recommendation> activation = activate(view, now)) return std::move(*activation);
  return sync(view, now);
}

std::vector<std::string> HpaAutoscaler::warnings() const {
  std::vector<std::string> out;
  for (std::size_t i = 0; i < spec_.metrics.size(); ++i) {
    const HpaMetric& metric = spec_.metrics[i];
    if (metric.is_resource()) {
      out.emplace_back(bad_resource(metric.source));
      continue;
    }
    if (metric.source == HpaMetric::Source::cron) continue;
    if (const std::optional<std::string> bad = metric.query.bad_signal()) out.push_back(*bad);
    if (states_[i].ever_found) continue;
    const std::string cause = states_[i].last_error.empty()
                                  ? "; the labels that it selects must be in `labels` of the policy"
                                  : " (" + states_[i].last_error + ")";
    out.push_back("the query of " + metric.name + " never found a series: " + metric.query.text() + cause);
  }
  return out;
}

}  // namespace capstan::peers

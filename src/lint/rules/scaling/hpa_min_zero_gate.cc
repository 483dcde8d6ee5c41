#include <fmt/format.h>

#include <algorithm>

#include "lint/facts.h"
#include "lint/rule.h"
#include "lint/scalers.h"

namespace capstan::lint {
namespace hpa_min_zero_gate {
namespace {

constexpr std::string_view kGate = "HPAScaleToZero";

/// Returns the minor version of Kubernetes that the user or a ClusterConfig of eksctl states; none if neither does.
std::optional<std::uint32_t> stated_minor(const Subject& s) {
  if (s.settings.kube.is_stated) return s.settings.kube.minor;
  for (const Object* cluster : s.set.in_closest_folder("ClusterConfig", s.object)) {
    if (const auto minor = minor_of(at(*cluster, "metadata.version").text)) return minor;
  }
  return std::nullopt;
}

/// Returns true if all metrics come from the pods. They have no value while there is no pod.
bool uses_own_metrics(const Scaler& scaler) {
  return !scaler.signals.empty() && std::ranges::all_of(scaler.signals, [](const ScalingSignal& signal) {
    return signal.source == SignalSource::resource || signal.source == SignalSource::pods;
  });
}

void check(const Subject& s) {
  const std::optional<Scaler> scaler = scaler_of(s.object);
  if (!scaler->min->is("0")) return;
  const std::string_view since = since_version("hpa-scale-to-zero");
  const std::optional<std::uint32_t> minor = stated_minor(s);
  // A comment that names the gate shows that it is switched on where this HPA is applied.
  const bool knows_the_gate = s.object.file->text.find(kGate) != std::string::npos;
  if (minor && *minor < minor_of(since) && !knows_the_gate) {
    s.report(*scaler->min,
             fmt::format("Kubernetes 1.{} refuses minReplicas 0 ({} is enabled from {})", *minor, kGate, since))
        .replace(*scaler->min, "1");
  } else if (uses_own_metrics(*scaler)) {
    s.report(*scaler->min, "minReplicas is 0 but all metrics come from the pods, so at zero no metric scales them up")
        .replace(*scaler->min, "1");
  } else if (!minor || *minor < minor_of(since)) {
    s.report(*scaler->min, fmt::format("Kubernetes before {} refuses minReplicas 0 unless {} is enabled", since, kGate))
        .set_severity(Severity::info)
        .replace(*scaler->min, "1");
  }
}

}  // namespace
}  // namespace hpa_min_zero_gate

extern const Rule rule_hpa_min_zero_gate;
const Rule rule_hpa_min_zero_gate = {
    .id = "hpa-min-zero-gate",
    .severity = Severity::error,
    .kinds = "HorizontalPodAutoscaler",
    .title = "an HPA with minReplicas 0 is refused, or never scales up",
    .why =
        "Before Kubernetes 1.37 the API server refuses 0 unless the feature gate HPAScaleToZero is on. If all metrics "
        "come from the pods, no metric can scale the workload up from zero. For other metrics the finding is advice, "
        "unless --kube-version or a ClusterConfig states a version before 1.37 and the file does not name the gate.",
    .fix = "set minReplicas to 1, or use KEDA with a metric of the gateway or a queue",
    .fix_safety = FixSafety::unsafe,
    .source = "KEP-2021",
    .bad = R"(apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
spec:
  scaleTargetRef: {kind: Deployment, name: a}
  minReplicas: 0
  maxReplicas: 4
  metrics: [{type: Pods, pods: {metric: {name: requests_in_flight}, target: {type: AverageValue, averageValue: "5"}}}]
)",
    .good = R"(apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
spec:
  scaleTargetRef: {kind: Deployment, name: a}
  minReplicas: 1
  maxReplicas: 4
  metrics: [{type: Pods, pods: {metric: {name: requests_in_flight}, target: {type: AverageValue, averageValue: "5"}}}]
)",
    .check = hpa_min_zero_gate::check,
};

}  // namespace capstan::lint

#include <fmt/format.h>

#include <algorithm>

#include "lint/facts.h"
#include "lint/rule.h"
#include "lint/scalers.h"

namespace capstan::lint {
namespace hpa_min_zero_gate {
namespace {

constexpr std::string_view kGate = "HPAScaleToZero";

void check(const Subject& s) {
  const std::optional<Scaler> scaler = scaler_of(s.object);
  if (!scaler->min->is("0")) return;
  const bool uses_own_metrics =
      !scaler->signals.empty() && std::ranges::all_of(scaler->signals, [](const ScalingSignal& signal) {
        return signal.source == SignalSource::resource || signal.source == SignalSource::pods;
      });
  const std::string_view since = since_version("hpa-scale-to-zero");
  if (s.settings.kube.minor < minor_of(since)) {
    Finding& finding =
        s.report(*scaler->min, fmt::format("Kubernetes 1.{} refuses minReplicas 0 ({} is enabled from {})",
                                           s.settings.kube.minor, kGate, since));
    // A comment that names the gate shows that it is switched on where this HPA is applied.
    const bool knows_the_gate = s.object.file->text.find(kGate) != std::string::npos;
    if (knows_the_gate) finding.set_severity(Severity::info);
    finding.replace(*scaler->min, "1");
  } else if (uses_own_metrics) {
    s.report(*scaler->min, "minReplicas is 0 but all metrics come from the pods, so at zero no metric scales them up")
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
        "come from the pods, no metric can scale the workload up from zero. The finding is advice if the file names "
        "the gate.",
    .fix = "set minReplicas to 1, or use KEDA with a metric of the gateway or a queue",
    .fix_safety = FixSafety::unsafe,
    .source = "KEP-2021",
    .bad = R"(apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
spec: {scaleTargetRef: {kind: Deployment, name: a}, minReplicas: 0, maxReplicas: 4}
)",
    .good = R"(apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
spec: {scaleTargetRef: {kind: Deployment, name: a}, minReplicas: 1, maxReplicas: 4}
)",
    .check = hpa_min_zero_gate::check,
};

}  // namespace capstan::lint

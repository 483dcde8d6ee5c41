#include <fmt/format.h>

#include "lint/rule.h"

namespace capstan::lint {
namespace kai_queue_limit_zero {
namespace {

void check(const Subject& s) {
  for (const Value& resource : at(s.object, "spec.resources").children()) {
    if (!resource.is_mapping()) continue;
    const Value& limit = resource["limit"];
    if (limit && !limit.is("0")) continue;
    if (limit) {
      Finding& finding =
          s.report(limit, fmt::format("limit 0 means that pods of this queue never get any {}", resource.key));
      const bool is_intended = !resource["quota"] || resource["quota"].is("0");
      is_intended ? finding.set_severity(Severity::info) : finding.replace(limit, "-1");
    } else {
      Finding& finding =
          s.report_key(resource, fmt::format("without a limit pods of this queue never get any {}", resource.key));
      if (resource.count > 0) finding.add_entry(resource, resource.children().back(), "limit", "-1");
    }
  }
}

}  // namespace
}  // namespace kai_queue_limit_zero

extern const Rule rule_kai_queue_limit_zero;
const Rule rule_kai_queue_limit_zero = {
    .id = "kai-queue-limit-zero",
    .severity = Severity::error,
    .kinds = "Queue",
    .title = "a KAI queue has no limit, which KAI treats as 0",
    .why = "An unset limit is 0, so no pod of the queue starts.",
    .fix = "set limit to -1, which means unlimited",
    .fix_safety = FixSafety::unsafe,
    .source = "KAI documentation, queues",
    .bad = R"(apiVersion: scheduling.run.ai/v2
kind: Queue
metadata: {name: team-a}
spec:
  resources:
    gpu: {quota: 8, limit: 0, overQuotaWeight: 1}
    cpu: {quota: 32}
)",
    .good = R"(apiVersion: scheduling.run.ai/v2
kind: Queue
metadata: {name: team-a}
spec:
  resources:
    gpu: {quota: 8, limit: -1, overQuotaWeight: 1}
    cpu: {quota: 32, limit: -1}
)",
    .check = kai_queue_limit_zero::check,
};

}  // namespace capstan::lint

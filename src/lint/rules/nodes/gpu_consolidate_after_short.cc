#include <fmt/format.h>

#include <chrono>
#include <string>

#include "base/number_text.h"
#include "lint/pools.h"
#include "lint/rule.h"

namespace capstan::lint {
namespace gpu_consolidate_after_short {
namespace {

void check(const Subject& s) {
  const std::optional<Pool> pool = gpu_pool_of(s.object);
  if (!pool) return;
  const Value& disruption = (*pool->spec)["disruption"];
  const Value& after = disruption["consolidateAfter"];
  if (!disruption["consolidationPolicy"].is("WhenEmpty") || after.is("Never")) return;
  const auto seconds = after ? seconds_of(after.text) : std::optional<std::int64_t>(0);
  if (!seconds || *seconds >= kMinEmptyWaitS) return;
  const Value& policy = disruption["consolidationPolicy"];
  const std::string when = *seconds > 0 ? "after " + time_text(std::chrono::seconds(*seconds)) : "at once";
  Finding& finding = s.report(after ? after : policy, fmt::format("an empty GPU node is terminated {}", when));
  if (after) {
    finding.replace(after, kSafeEmptyWait);
  } else {
    finding.add_entry(disruption, policy, "consolidateAfter", kSafeEmptyWait);
  }
}

}  // namespace
}  // namespace gpu_consolidate_after_short

extern const Rule rule_gpu_consolidate_after_short;
const Rule rule_gpu_consolidate_after_short = {
    .id = "gpu-consolidate-after-short",
    .severity = Severity::info,
    .kinds = "NodePool",
    .title = "an empty GPU node is terminated before the next replica needs it",
    .why =
        "Between two bursts the node is terminated, and the next replica has to wait until a new node is launched, has "
        "loaded the image and the model: often 10 min. A new GPU node is also not always available. The finding is "
        "advice for every wait below 10 min. 10 min are enough if bursts follow each other closely, as in "
        "docs/guides/consolidation-kills.md; with 1 h the node is there even if the load is not known, but it is paid "
        "for longer.",
    .fix = "set consolidateAfter to 10 min, or up to 1 h if the load is not known",
    .fix_safety = FixSafety::unsafe,
    .source = "Karpenter documentation, disruption",
    .bad = R"(apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: gpu}
spec: {limits: {nvidia.com/gpu: 8}, disruption: {consolidationPolicy: WhenEmpty, consolidateAfter: 30s}}
)",
    .good = R"(apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: gpu}
spec: {limits: {nvidia.com/gpu: 8}, disruption: {consolidationPolicy: WhenEmpty, consolidateAfter: 1h}}
)",
    .check = gpu_consolidate_after_short::check,
};

}  // namespace capstan::lint

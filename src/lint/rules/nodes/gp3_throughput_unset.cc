#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "lint/pools.h"
#include "lint/rule.h"

namespace capstan::lint {
namespace gp3_throughput_unset {
namespace {

std::int64_t gib_of(std::string_view text) {
  std::int64_t size = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), size);
  return error == std::errc() && std::string_view(end, text.data() + text.size()).starts_with("G") ? size : 0;
}

/// Returns the throughput to suggest, in MiB/s. EBS allows a quarter of a MiB/s per IOPS of the volume. More than
/// 1000 MiB/s is rarely worth its price.
std::int64_t throughput_for(const Value& ebs) {
  constexpr std::int64_t kDefaultIops = 3000;
  constexpr std::int64_t kMaxMibS = 1000;
  return std::min(ebs["iops"].integer().value_or(kDefaultIops) / 4, kMaxMibS);
}

/// Returns true if the IOPS show that the volume should be fast.
bool is_fast(const Value& ebs) { return ebs["iops"].integer().value_or(0) > 3000; }

/// Returns a GPU pool whose nodes have these volumes; null if none is known.
const Object* gpu_pool(const Subject& s) {
  for (const Object* object : s.set.in_closest_folder("NodePool", s.object)) {
    const std::optional<Pool> pool = gpu_pool_of(*object);
    if (pool && at(*pool->node, "nodeClassRef.name").is(s.object.name)) return object;
  }
  return nullptr;
}

void check(const Subject& s) {
  if (s.object["spec"]["instanceStorePolicy"].is("RAID0")) return;  // images and models are on local disks
  for (const Value& mapping : s.object["spec"]["blockDeviceMappings"].children()) {
    const Value& ebs = mapping["ebs"];
    if (!ebs["volumeType"].is("gp3") || ebs["throughput"]) continue;
    constexpr std::int64_t kLargeGib = 200;  // a smaller volume has hardly room for models
    const Object* pool = gpu_pool(s);
    const bool may_hold_models = pool != nullptr && gib_of(ebs["volumeSize"].text) >= kLargeGib;
    if (!may_hold_models && !is_fast(ebs)) continue;
    Finding& finding = s.report(
        ebs["volumeType"],
        "without throughput this volume reads 125 MiB/s: an image and a model of 40 GB together take five minutes");
    finding.add_entry(ebs, ebs.children().back(), "throughput", std::to_string(throughput_for(ebs)));
    // The models may be on another volume, and nodes without GPUs load none.
    if (pool == nullptr || !is_fast(ebs)) finding.set_severity(Severity::info);
  }
}

}  // namespace
}  // namespace gp3_throughput_unset

extern const Rule rule_gp3_throughput_unset;
const Rule rule_gp3_throughput_unset = {
    .id = "gp3-throughput-unset",
    .severity = Severity::warning,
    .kinds = "EC2NodeClass",
    .title = "a large gp3 volume reads 125 MiB/s",
    .why =
        "This is the default for any iops. At this rate, 140 GB of weights take 18 minutes to read, while the GPUs are "
        "idle and cost money. The finding is a warning for raised iops in the class of a GPU pool. "
        "Otherwise it is advice, because the volume may be for other data.",
    .fix = "add throughput: a quarter of the iops; 1000 MiB/s is usually enough",
    .fix_safety = FixSafety::unsafe,
    .source = "Amazon EBS documentation",
    .bad = R"(apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata: {name: a}
spec:
  amiSelectorTerms: [{alias: al2023@v20250519}]
  blockDeviceMappings:
    - {deviceName: /dev/xvda, ebs: {volumeSize: 500Gi, volumeType: gp3, iops: 16000}}
---
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: gpu}
spec:
  limits: {nvidia.com/gpu: 8}
  template: {spec: {nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: a}, requirements: []}}
)",
    .good = R"(apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata: {name: a}
spec:
  amiSelectorTerms: [{alias: al2023@v20250519}]
  blockDeviceMappings:
    - {deviceName: /dev/xvda, ebs: {volumeSize: 500Gi, volumeType: gp3, iops: 16000, throughput: 1000}}
---
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: gpu}
spec:
  limits: {nvidia.com/gpu: 8}
  template: {spec: {nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: a}, requirements: []}}
)",
    .check = gp3_throughput_unset::check,
};

}  // namespace capstan::lint

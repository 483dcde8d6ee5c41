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

/// Returns a GPU pool whose nodes may store models on a volume of this size; null if none is known.
const Object* gpu_pool(const Subject& s, const Value& ebs) {
  if (gib_of(ebs["volumeSize"].text) < 200) return nullptr;
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
    const Object* pool = is_fast(ebs) ? nullptr : gpu_pool(s, ebs);
    if (pool == nullptr && !is_fast(ebs)) continue;
    Finding& finding = s.report(
        ebs["volumeType"],
        "without throughput this volume reads 125 MiB/s: an image and a model of 40 GB together take five minutes");
    finding.add_entry(ebs, ebs.children().back(), "throughput", std::to_string(throughput_for(ebs)));
    if (pool != nullptr) finding.set_severity(Severity::info);  // the models may be on another volume
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
        "idle and cost money. For a large volume without raised iops the finding is advice, because the space may be "
        "for other data.",
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
)",
    .good = R"(apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata: {name: a}
spec:
  amiSelectorTerms: [{alias: al2023@v20250519}]
  blockDeviceMappings:
    - {deviceName: /dev/xvda, ebs: {volumeSize: 500Gi, volumeType: gp3, iops: 16000, throughput: 1000}}
)",
    .check = gp3_throughput_unset::check,
};

}  // namespace capstan::lint

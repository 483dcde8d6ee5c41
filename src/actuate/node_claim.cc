#include "actuate/node_claim.h"

#include <algorithm>
#include <charconv>

#include <nlohmann/json.hpp>

#include "kube/well_known_labels.h"

namespace capstan::actuate {
namespace {

using nlohmann::json;

/// Annotations by which Karpenter detects that the pool has changed. They are copied, because a claim without them
/// never drifts.
constexpr std::string_view kPoolMarks[] = {"karpenter.sh/nodepool-hash", "karpenter.sh/nodepool-hash-version"};
constexpr std::int64_t kCountMax = 100'000;
constexpr std::size_t kNameMax = 63;  // the name becomes the value of a label, which has at most 63 characters

json requirement(const std::string& key, const std::string& op, const std::vector<std::string>& values) {
  json out = {{"key", key}, {"operator", op}};
  if (!values.empty()) out["values"] = values;
  return out;
}

/// Returns the requirements of the pool. A required label of the group replaces the pool's requirement on its key.
json requirements(const ClaimGroup& group) {
  json out = json::array();
  out.push_back(requirement(std::string(kube::labels::kNodePool), "In", {group.pool.meta.name}));
  for (const auto& [key, value] : group.required_labels) out.push_back(requirement(key, "In", {value}));
  for (const kube::Requirement& required : group.pool.node.requirements) {
    const bool picked = std::ranges::find(group.required_labels, required.key, &RequiredLabels::value_type::first) !=
                        group.required_labels.end();
    if (!picked && required.key != kube::labels::kNodePool)
      out.push_back(requirement(required.key, required.op, required.values));
  }
  return out;
}

json taints(const std::vector<kube::Taint>& from) {
  json out = json::array();
  for (const kube::Taint& taint : from) {
    json one = {{"key", taint.key}, {"effect", taint.effect}};
    if (!taint.value.empty()) one["value"] = taint.value;
    out.push_back(std::move(one));
  }
  return out;
}

json requests(const kube::Resources& resources) {
  json out = json::object();
  for (const auto& [name, milli] : resources.milli) {
    out[name] = milli % 1000 == 0 ? std::to_string(milli / 1000) : std::to_string(milli) + "m";
  }
  return out;
}

json metadata(const ClaimGroup& group, std::int64_t index) {
  json labels = {{kClaimGroup, group.name}, {kube::labels::kNodePool, group.pool.meta.name}};
  for (const auto& [key, value] : group.pool.labels.entries()) labels[key] = value;
  json annotations = {{kClaimGroupSize, std::to_string(group.count)}};
  for (const std::string_view mark : kPoolMarks) {
    if (const std::string* value = group.pool.meta.annotations.find(mark)) annotations[std::string(mark)] = *value;
  }
  if (group.is_all_or_none) annotations[std::string(kClaimTogether)] = annotations[std::string(kDoNotDisrupt)] = "true";
  if (!group.domain.empty()) annotations[std::string(kClaimWithin)] = group.domain;
  const json owner = {{"apiVersion", kube::resources::kNodePools.api_version()},
                      {"kind", kube::resources::kNodePools.kind},
                      {"name", group.pool.meta.name},
                      {"uid", group.pool.meta.uid},
                      {"blockOwnerDeletion", true}};
  return {{"name", claim_name(group, index)},
          {"labels", std::move(labels)},
          {"annotations", std::move(annotations)},
          {"ownerReferences", json::array({owner})}};
}

std::string duration_text(const std::optional<Duration>& expire_after) {
  if (!expire_after) return "Never";
  return std::to_string(whole_seconds(*expire_after)) + "s";
}

}  // namespace

std::string claim_name(const ClaimGroup& group, std::int64_t index) {
  const std::string end = "-" + group.name + "-" + std::to_string(index);
  std::string begin = group.pool.meta.name.substr(0, kNameMax - std::min(kNameMax, end.size()));
  while (!begin.empty() && (begin.back() == '-' || begin.back() == '.')) begin.pop_back();
  return begin + end;
}

std::string claim_body(const ClaimGroup& group, std::int64_t index) {
  const kube::NodeTemplate& node = group.pool.node;
  json spec = {
      {"nodeClassRef",
       {{"group", node.node_class.api_version}, {"kind", node.node_class.kind}, {"name", node.node_class.name}}},
      {"requirements", requirements(group)},
      {"resources", {{"requests", requests(group.requests)}}},
      {"expireAfter", duration_text(node.expire_after)}};
  if (!node.taints.empty()) spec["taints"] = taints(node.taints);
  if (!node.startup_taints.empty()) spec["startupTaints"] = taints(node.startup_taints);
  const json body = {{"apiVersion", kube::resources::kNodeClaims.api_version()},
                     {"kind", kube::resources::kNodeClaims.kind},
                     {"metadata", metadata(group, index)},
                     {"spec", std::move(spec)}};
  return body.dump(-1, ' ', false, json::error_handler_t::replace);
}

LaunchMarks launch_marks_of(const kube::StringMap& annotations) {
  LaunchMarks marks;
  const std::string_view count = annotations.get(kClaimGroupSize);
  std::from_chars(count.data(), count.data() + count.size(), marks.count);
  marks.count = std::clamp<std::int64_t>(marks.count, 0, kCountMax);
  marks.is_all_or_none = annotations.get(kClaimTogether) == "true";
  marks.domain = annotations.get(kClaimWithin);
  return marks;
}

Change allow_disruption(const Ref& claim_or_node) {
  return {claim_or_node, [object = claim_or_node.object](kube::Json now) {
            if (!now["metadata"]["annotations"][kDoNotDisrupt].exists()) return Change::Decision::settled();
            const std::string body = R"({"metadata":{"annotations":{")" + std::string(kDoNotDisrupt) + R"(":null}}})";
            return Change::Decision::to_write(
                kube::merge_patch(object, body, now["metadata"]["resourceVersion"].text()).value());
          }};
}

}  // namespace capstan::actuate

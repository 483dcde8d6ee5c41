#include "operator/snapshot/node_resources.h"

#include <algorithm>

#include "base/quantity.h"

namespace capstan::op {
namespace {

constexpr std::int64_t kMilliPerMib = 1'000 * 1'024 * 1'024;
constexpr std::int64_t kUnlimitedSlots = 1'000'000;
/// An upper bound that no node reaches. A sum of up to 31 amounts within this bound cannot overflow.
constexpr std::int64_t kMaxMilli = std::int64_t{1} << 58;

bool is_gpu(std::string_view resource) { return resource.ends_with("/gpu"); }

}  // namespace

std::size_t ExtendedResources::position(std::string_view name) {
  const auto found = std::ranges::find(names_, name);
  const auto position = static_cast<std::size_t>(found - names_.begin());
  if (found == names_.end()) names_.emplace_back(name);
  return position;
}

model::Resources requests_of(const kube::PodSpec& pod, ExtendedResources& extended) {
  model::Resources out{.pod_slots = 1};
  for (const auto& [name, stated] : pod.requests.milli) {
    if (is_gpu(name) || stated <= 0) continue;
    const std::int64_t milli = std::min(stated, kMaxMilli);
    if (name == "cpu") {
      out.cpu_milli = milli;
    } else if (name == "memory") {
      out.memory_mib = ceil_div(milli, kMilliPerMib);
    } else if (name == "ephemeral-storage") {
      out.storage_mib = ceil_div(milli, kMilliPerMib);
    } else {
      const std::size_t at = extended.position(name);
      out.extended.resize(std::max(out.extended.size(), at + 1));
      out.extended[at] = ceil_div(milli, 1'000);
    }
  }
  return out;
}

void NodeUse::remove(const std::string& node, kube::RowId row) {
  const auto found = pods_.find(node);
  if (found == pods_.end()) return;
  found->second.erase(row);
  if (found->second.empty()) pods_.erase(found);
}

std::vector<kube::RowId> NodeUse::pods_on(std::string_view node) const {
  std::vector<kube::RowId> rows;
  if (const auto found = pods_.find(node); found != pods_.end()) {
    for (const auto& [row, pod] : found->second) rows.push_back(row);
  }
  return rows;
}

model::Resources NodeUse::left_on(const kube::Node& node, const ExtendedResources& extended) const {
  kube::Resources used;  // summed again each time, because a sum that has saturated could not be reduced
  if (const auto pods = pods_.find(node.meta.name); pods != pods_.end()) {
    for (const auto& [row, pod] : pods->second) {
      for (const auto& [name, milli] : pod->requests.milli) used.add(name, milli);
      used.add("pods", 1'000);
    }
  }
  const auto left = [&](std::string_view name) {
    return std::clamp<std::int64_t>(node.allocatable.get(name) - used.get(name), 0, kMaxMilli);
  };
  const bool states_slots = node.allocatable.get("pods") > 0;
  model::Resources out{.cpu_milli = left("cpu"),
                       .memory_mib = left("memory") / kMilliPerMib,
                       .storage_mib = left("ephemeral-storage") / kMilliPerMib,
                       .pod_slots = states_slots ? left("pods") / 1'000 : kUnlimitedSlots};
  for (const std::string& name : extended.names()) out.extended.push_back(left(name) / 1'000);
  return out;
}

}  // namespace capstan::op

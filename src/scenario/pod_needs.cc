#include "scenario/pod_needs.h"

#include <fmt/format.h>

#include <algorithm>

#include "manifest/quantity.h"
#include "scenario/scenario.h"

namespace capstan::scenario {
namespace {

using manifest::ErrorList;
using manifest::Fields;
using manifest::Node;

/// Largest amount of a node or pod: a million CPUs, and about a pebibyte of memory. Sums over all nodes cannot
/// overflow.
constexpr std::int64_t kMaxAmount = 1'000'000'000;

/// Checks the bound of an amount.
std::optional<std::int64_t> bounded(std::optional<std::int64_t> amount, Fields& fields, std::string_view key,
                                    ErrorList& errors) {
  if (!amount || *amount <= kMaxAmount) return amount;
  const Node& value = *fields.take(key);
  errors.fail(value.place, fmt::format("{}.{}: found {}, expected at most {}", fields.what(), key, value.words(),
                                       key == "cpu" ? "1M" : "900Ti"));
  return std::nullopt;
}

}  // namespace

std::optional<std::int64_t> read_amount(Fields& fields, std::string_view key, ErrorList& errors) {
  const Node* stated = fields.take(key);
  if (stated == nullptr) return std::nullopt;
  const std::optional<std::int64_t> amount = manifest::read_quantity_milli(stated->text);
  if (amount && *amount > 0) return amount;
  errors.fail(stated->place, fmt::format("{}.{}: found {}, expected a quantity above 0 such as 8, 500m or 64Gi",
                                         fields.what(), key, stated->words()));
  return std::nullopt;
}

std::optional<std::int64_t> read_cpu(Fields& fields, ErrorList& errors) {
  return bounded(read_amount(fields, "cpu", errors), fields, "cpu", errors);
}

std::optional<std::int64_t> read_memory(Fields& fields, ErrorList& errors) {
  constexpr std::int64_t kMilliBytes = 1000LL << 20;  // 1/1000 bytes in a MiB
  std::optional<std::int64_t> amount = read_amount(fields, "memory", errors);
  if (amount) amount = (*amount - 1) / kMilliBytes + 1;
  return bounded(amount, fields, "memory", errors);
}

void read_labels(const Node& node, const std::string& what, Labels& labels, ErrorList& errors) {
  if (node.kind != Node::Kind::mapping) {
    return errors.fail(node.place, fmt::format("{} is {}, expected a mapping", what, node.words()));
  }
  for (const Node::Entry& label : node.entries) {
    if (label.value.kind != Node::Kind::scalar) {
      errors.fail(label.value.place,
                  fmt::format("{}.{}: found {}, expected the value of a label", what, label.key, label.value.words()));
    }
    labels[label.key] = label.value.text;
  }
}

model::PodClassId pod_class_of(Scenario& scenario, const PodNeeds& needs) {
  if (needs == PodNeeds{}) return {};
  const auto found = std::ranges::find(scenario.pod_needs, needs);
  const auto at = static_cast<std::uint32_t>(found - scenario.pod_needs.begin());
  if (found == scenario.pod_needs.end()) scenario.pod_needs.push_back(needs);
  return {at};
}

model::PodClassId read_pod_needs(Fields& fields, Scenario& scenario, ErrorList& errors) {
  PodNeeds needs;
  needs.requests.cpu_milli = read_cpu(fields, errors).value_or(0);
  needs.requests.memory_mib = read_memory(fields, errors).value_or(0);
  fields.check("node_selector", [&](const Node& selector, ErrorList& list) {
    read_labels(selector, fields.what() + ".node_selector", needs.selector, list);
  });
  return pod_class_of(scenario, needs);
}

}  // namespace capstan::scenario

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "scenario/read_parts.h"

namespace capstan::scenario {
namespace {

using manifest::ErrorList;
using manifest::Fields;
using manifest::Node;

constexpr std::size_t kMostQueues = 10'000;
constexpr GpuCount kQueueGpusMost = 1'000'000;

}  // namespace

model::QueueId find_queue(const model::Catalog& catalog, std::string_view name) {
  const auto found = std::ranges::find(catalog.queues, name, &model::Queue::name);
  if (found == catalog.queues.end()) return {};
  return {static_cast<std::uint32_t>(found - catalog.queues.begin())};
}

void read_queue(Fields& fields, const model::Catalog& catalog, model::QueueId& out, ErrorList& errors) {
  std::string name;
  if (!fields.text("queue", name)) return;
  out = find_queue(catalog, name);
  if (out.valid()) return;
  std::vector<std::string_view> known;
  for (const model::Queue& each : catalog.queues) known.push_back(each.name);
  errors.fail(fields.node().find("queue")->place,
              fmt::format("{}.queue: found \"{}\", {}", fields.what(), name,
                          known.empty() ? "and the scenario has no queues"
                                        : fmt::format("expected one of {}", fmt::join(known, ", "))));
}

void read_queues(std::span<const Node> nodes, model::Catalog& catalog, ErrorList& errors) {
  if (nodes.size() > kMostQueues) {
    return errors.fail(nodes[kMostQueues].place, fmt::format("more than {} queues", kMostQueues));
  }
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    Fields fields(nodes[i], fmt::format("queues.{}", i), errors);
    model::Queue queue;
    if (fields.need("name") != nullptr) fields.text("name", queue.name);
    GpuCount limit = 0;
    if (fields.integer("gpu_limit", limit, 0, kQueueGpusMost)) queue.limit = whole_gpus(limit);
    std::string parent;
    if (fields.text("parent", parent)) {
      queue.parent = find_queue(catalog, parent);
      if (!queue.parent.valid()) {
        errors.fail(nodes[i].find("parent")->place,
                    fmt::format("{}.parent: found \"{}\", expected the name of a queue that is listed above it",
                                fields.what(), parent));
      }
    }
    fields.finish();
    if (!queue.name.empty() && find_queue(catalog, queue.name).valid()) {
      errors.fail(nodes[i].find("name")->place, fmt::format("queues: \"{}\" is given twice", queue.name));
    }
    catalog.queues.push_back(std::move(queue));
  }
}

}  // namespace capstan::scenario

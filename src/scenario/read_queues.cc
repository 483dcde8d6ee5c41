#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "manifest/path.h"
#include "scenario/read_parts.h"

namespace capstan::scenario {
namespace {

using manifest::ErrorList;
using manifest::Fields;
using manifest::Node;

constexpr std::size_t kMaxQueues = 10'000;
constexpr GpuCount kMaxQueueGpus = 1'000'000;

/// Keys of rights that queues of a cluster have (model::Queue) and that no decision considers.
constexpr std::string_view kNotHonoured[] = {"gpu_quota", "gpu_weight", "cpu_limit", "memory_limit", "quota",
                                             "limit",     "weight",     "priority",  "preemptible"};

/// Refuses keys that would have no effect.
void refuse_unhonoured(Fields& fields, ErrorList& errors) {
  for (const std::string_view key : kNotHonoured) {
    if (fields.node().find(key) == nullptr) continue;
    if (const Node* found = fields.take(key)) {
      errors.fail(found->place, fmt::format("{}.{}: found a right that no placement policy honours yet, expected only "
                                            "name, parent and gpu_limit",
                                            fields.what(), key));
    }
  }
}

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
  for (const model::Queue& queue : catalog.queues) known.push_back(queue.name);
  errors.fail(fields.node().find("queue")->place,
              fmt::format("{}.queue: found \"{}\", {}", fields.what(), name,
                          known.empty() ? "and the scenario has no queues"
                                        : fmt::format("expected one of {}", fmt::join(known, ", "))));
}

void read_queues(std::span<const Node> nodes, model::Catalog& catalog, ErrorList& errors) {
  if (nodes.size() > kMaxQueues) {
    return errors.fail(nodes[kMaxQueues].place, fmt::format("more than {} queues", kMaxQueues));
  }
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    Fields fields(nodes[i], manifest::item_path("queues", nodes[i], i), errors);
    model::Queue queue;
    if (fields.take_required("name") != nullptr) fields.text("name", queue.name);
    GpuCount limit = 0;
    if (fields.integer("gpu_limit", limit, 0, kMaxQueueGpus)) queue.gpus.limit = whole_gpus(limit);
    std::string parent;
    if (fields.text("parent", parent)) {
      queue.parent = find_queue(catalog, parent);
      if (!queue.parent.valid()) {
        errors.fail(nodes[i].find("parent")->place,
                    fmt::format("{}.parent: found \"{}\", expected the name of a queue that is listed above it",
                                fields.what(), parent));
      }
    }
    refuse_unhonoured(fields, errors);
    fields.finish();
    if (!queue.name.empty() && find_queue(catalog, queue.name).valid()) {
      errors.fail(nodes[i].find("name")->place, fmt::format("queues: \"{}\" is given twice", queue.name));
    }
    catalog.queues.push_back(std::move(queue));
  }
}

}  // namespace capstan::scenario

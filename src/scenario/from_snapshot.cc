#include "scenario/from_snapshot.h"

#include <fmt/format.h>

#include <map>
#include <tuple>

#include <nlohmann/json.hpp>

#include "engine/names.h"
#include "engine/table.h"
#include "manifest/fields.h"
#include "model/snapshot.h"

namespace capstan::scenario {
namespace {

using Json = nlohmann::ordered_json;

/// Returns the name that the engine table uses for a GPU product. If the table lacks the product, returns `name`.
std::string engine_gpu_name(const std::string& name) {
  return engine::gpu_of_product(engine::EngineTable::bundled(), name).value_or(name);
}

Result<model::ServiceId> service_of(const model::Snapshot& snapshot, const std::string& name, const std::string& file) {
  std::vector<model::ServiceId> found;
  std::vector<std::string_view> names;
  snapshot.services.for_each([&](model::ServiceId id, const model::ServiceState&) {
    const std::string& known = snapshot.catalog->service(id).name;
    names.push_back(known);
    if (name.empty() || known == name) found.push_back(id);
  });
  if (found.size() == 1) return found.front();
  const std::string have = names.empty() ? "no service" : manifest::one_of(names);
  if (name.empty()) {
    return std::unexpected(
        Error{.file = file, .message = fmt::format("found {}, expected one service or --service", have)});
  }
  return std::unexpected(
      Error{.file = file, .message = fmt::format("there is no service \"{}\", expected {}", name, have)});
}

/// Returns the GPUs that pods of other services hold, by node.
std::map<model::NodeId, MilliGpu> gpus_of_others(const model::Snapshot& snapshot, model::ServiceId service) {
  std::map<model::NodeId, MilliGpu> sum;
  snapshot.pods.for_each([&](model::PodId, const model::Pod& pod) {
    if (pod.node.valid() && snapshot.gangs.at(pod.gang).service != service) sum[pod.node] += pod.gpus;
  });
  return sum;
}

Json nodes_of(const model::Snapshot& snapshot, model::ServiceId service) {
  const std::map<model::NodeId, MilliGpu> others = gpus_of_others(snapshot, service);
  using Kind = std::tuple<std::string, std::string, GpuCount, std::int64_t>;  // type, GPU, GPUs, price in 1e-6 USD/h
  std::map<Kind, std::int64_t> kinds;
  snapshot.nodes.for_each([&](model::NodeId id, const model::Node& node) {
    const auto used = others.find(id);
    const GpuCount free = (node.gpus - (used == others.end() ? MilliGpu{} : used->second)).count / 1000;
    if (node.phase != model::Node::Phase::ready || free <= 0) return;
    const model::Offering* bought = node.offering.valid() ? &snapshot.catalog->offering(node.offering) : nullptr;
    const std::string type = bought == nullptr || bought->instance_type.empty() ? "node" : bought->instance_type;
    ++kinds[{type, engine_gpu_name(snapshot.catalog->gpu_kind(node.gpu)), free,
             bought == nullptr ? 0 : bought->price_per_hour.count}];
  });
  Json nodes = Json::array();
  for (const auto& [kind, count] : kinds) {
    const auto& [type, gpu, gpus, price] = kind;
    Json row = {{"instance", type}, {"gpu", gpu}, {"gpus", gpus}, {"count", count}};
    // A row without a price gets the price of its instance type in data/instances.csv. The file has no type `node`, so
    // such a row always states its price, even if it is 0.
    if (price != 0 || type == "node")
      row["usd_per_hour"] = fmt::format("{}.{:06}", price / 1'000'000, price % 1'000'000);
    nodes.push_back(std::move(row));
  }
  return nodes;
}

}  // namespace

Result<std::vector<std::string>> changes_of(const model::Snapshot& snapshot, const std::string& service,
                                            const std::string& file) {
  const Result<model::ServiceId> id = service_of(snapshot, service, file);
  if (!id) return std::unexpected(id.error());
  const Json nodes = nodes_of(snapshot, *id);
  if (nodes.empty()) {
    return std::unexpected(Error{.file = file, .message = "no node has a free GPU, expected at least one"});
  }
  return std::vector<std::string>{
      "cluster.existing=" + nodes.dump(),
      fmt::format("service.replicas.initial={}", snapshot.services.at(*id).desired_replicas)};
}

}  // namespace capstan::scenario

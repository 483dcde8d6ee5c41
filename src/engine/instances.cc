#include "engine/instances.h"

#include <utility>

#include "base/assert.h"
#include "engine/csv.h"

namespace capstan::engine {

namespace {

/// Returns the value of a result. The table is part of the program and a test reads it, so an error is a bug.
template <typename Value>
Value good(Result<Value> result) {
  CAPSTAN_ASSERT(result.has_value());
  return std::move(*result);
}

std::optional<MicroUsd> price(const Csv& table, std::size_t row, std::size_t column) {
  if (table.field(row, column).empty()) return std::nullopt;
  return MicroUsd{good(table.scaled(row, column, 0))};
}

std::int64_t count(const Csv& table, std::size_t row, std::size_t column) {
  return table.field(row, column).empty() ? 0 : good(table.scaled(row, column, 0));
}

std::vector<Instance> parse(std::string_view csv) {
  const Csv table = good(Csv::parse(csv, "data/instances.csv"));
  const std::size_t cloud = good(table.column("cloud")), name = good(table.column("instance_type"));
  const std::size_t gpu = good(table.column("gpu")), gpus = good(table.column("gpus"));
  const std::size_t gpu_memory = good(table.column("gpu_memory_gib"));
  const std::size_t on_demand = good(table.column("on_demand_micro_usd_per_hour"));
  const std::size_t spot = good(table.column("spot_micro_usd_per_hour"));
  const std::size_t region = good(table.column("region")), vcpus = good(table.column("vcpus"));
  const std::size_t memory = good(table.column("memory_gib")), nvlink = good(table.column("nvlink_domain_gpus"));
  std::vector<Instance> rows;
  for (std::size_t row = 0; row < table.rows(); ++row) {
    rows.push_back({.cloud = std::string(table.field(row, cloud)),
                    .name = std::string(table.field(row, name)),
                    .gpu = std::string(table.field(row, gpu)),
                    .gpus = good(table.scaled(row, gpus, 0)),
                    .gpu_memory = Bytes{(good(table.scaled(row, gpu_memory, 3)) << 30) / 1000},
                    .on_demand_per_hour = price(table, row, on_demand),
                    .spot_per_hour = price(table, row, spot),
                    .region = std::string(table.field(row, region)),
                    .vcpus = count(table, row, vcpus),
                    .memory_gib = count(table, row, memory),
                    .nvlink_domain_gpus = good(table.scaled(row, nvlink, 0))});
  }
  return rows;
}

}  // namespace

const std::vector<Instance>& instances() {
  static const std::vector<Instance> rows = parse(bundled_instances_csv());
  return rows;
}

const Instance* find_instance(std::string_view name) {
  for (const Instance& row : instances()) {
    if (row.name == name) return &row;
  }
  return nullptr;
}

}  // namespace capstan::engine

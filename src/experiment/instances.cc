#include "experiment/instances.h"

#include <array>
#include <charconv>
#include <utility>

#include "base/assert.h"

namespace capstan::experiment {

namespace {

std::optional<std::int64_t> integer(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<MicroUsd> price(std::string_view text) {
  const std::optional<std::int64_t> value = integer(text);
  return value ? std::optional(MicroUsd{*value}) : std::nullopt;
}

std::string_view take(std::string_view& text, char separator) {
  const std::size_t end = text.find(separator);
  const std::string_view field = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  return field;
}

std::vector<Instance> parse(std::string_view csv) {
  // cloud,region,instance_type,gpu,gpus,gpu_memory_gib,vcpus,memory_gib,nvlink_domain_gpus,on_demand,spot
  constexpr std::size_t kColumns = 11;
  std::vector<Instance> rows;
  take(csv, '\n');
  while (!csv.empty()) {
    std::string_view line = take(csv, '\n');
    if (line.empty()) continue;
    std::array<std::string_view, kColumns> field;
    for (std::string_view& f : field) f = take(line, ',');
    const std::optional<std::int64_t> gpus = integer(field[4]);
    CAPSTAN_ASSERT(gpus.has_value());  // our own file: its test reads every row
    rows.push_back({std::string(field[0]), std::string(field[2]), std::string(field[3]), *gpus, price(field[9]),
                    price(field[10])});
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

}  // namespace capstan::experiment

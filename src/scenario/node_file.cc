#include "scenario/node_file.h"

#include <array>
#include <map>
#include <tuple>
#include <utility>

#include "engine/csv.h"

namespace capstan::scenario {
namespace {

constexpr std::array<std::string_view, 4> kColumns = {"cpu_milli", "memory_mib", "gpu", "model"};
/// Largest values of the first three columns.
constexpr std::array<std::int64_t, 3> kLargest = {1'000'000'000, 1'000'000'000, 1024};

}  // namespace

Result<std::vector<FileNodes>> read_node_file(std::string_view text, const std::string& file) {
  const Result<engine::Csv> table = engine::Csv::parse(text, file);
  if (!table) return std::unexpected(table.error());
  std::array<std::size_t, kColumns.size()> columns{};
  for (std::size_t c = 0; c < kColumns.size(); ++c) {
    const Result<std::size_t> column = table->column(kColumns[c]);
    if (!column) return std::unexpected(column.error());
    columns[c] = *column;
  }
  std::vector<FileNodes> nodes;
  // Positions in `nodes` by the kind and the number of GPUs, CPU and memory.
  std::map<std::tuple<std::string, std::int64_t, std::int64_t, std::int64_t>, std::size_t> groups;
  for (std::size_t row = 0; row < table->rows(); ++row) {
    std::array<std::int64_t, kLargest.size()> amounts{};
    for (std::size_t c = 0; c < amounts.size(); ++c) {
      const Result<std::int64_t> amount = table->scaled(row, columns[c], 0);
      if (!amount) return std::unexpected(amount.error());
      if (*amount > kLargest[c]) return std::unexpected(table->error_at(row, columns[c], "the number is too large"));
      amounts[c] = *amount;
    }
    const auto [cpu, memory, gpus] = amounts;
    if (gpus == 0) continue;
    const std::string model(table->field(row, columns[3]));
    if (model.empty()) return std::unexpected(table->error_at(row, columns[3], "expected the kind of the GPUs"));
    const auto [group, is_new] = groups.try_emplace({model, gpus, cpu, memory}, nodes.size());
    if (is_new) nodes.push_back({.gpu = model, .gpus = gpus, .cpu_milli = cpu, .memory_mib = memory, .count = 0});
    ++nodes[group->second].count;
  }
  return nodes;
}

}  // namespace capstan::scenario

#include "plan/spec/gpu_kinds.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <vector>

#include "base/ascii.h"
#include "engine/instances.h"

namespace capstan::plan {

namespace {

double gpu_gib(Bytes memory) { return static_cast<double>(memory.count) / (1 << 30); }

/// Returns the memory of a GPU kind of data/instances.csv, such as "T4", "nvidia-t4" or "t4"; 0 if it has no such kind.
Bytes catalogue_memory(std::string_view gpu) {
  std::string word(gpu.substr(gpu.find_last_of(" -") == gpu.npos ? 0 : gpu.find_last_of(" -") + 1));
  std::ranges::transform(word, word.begin(), ascii_lower);
  const auto& instances = engine::instances();
  const auto found = std::ranges::find(instances, word, &engine::Instance::gpu);
  return found == instances.end() ? Bytes{0} : found->gpu_memory;
}

}  // namespace

std::string known_gpu_kinds(const engine::EngineTable& table, std::string_view unknown) {
  std::vector<const engine::EngineRow*> kinds;
  for (const engine::EngineRow& row : table.rows()) {
    const auto is_same = [&](const engine::EngineRow* kind) { return kind->gpu == row.gpu; };
    if (std::ranges::none_of(kinds, is_same)) kinds.push_back(&row);
  }
  std::vector<std::string> names;
  for (const engine::EngineRow* kind : kinds) {
    names.push_back(fmt::format("{} ({:g} GiB)", kind->gpu_name, gpu_gib(kind->gpu_memory)));
  }
  std::string words = fmt::format("the engine table has {}", fmt::join(names, ", "));
  const Bytes memory = catalogue_memory(unknown);
  if (memory.count == 0 || kinds.empty()) return words;
  const auto distance = [&](const engine::EngineRow* kind) { return std::abs(kind->gpu_memory.count - memory.count); };
  const engine::EngineRow* nearest = *std::ranges::min_element(kinds, {}, distance);
  return words + fmt::format("; the nearest to the {:g} GiB of {} is {}", gpu_gib(memory), unknown, nearest->gpu_name);
}

}  // namespace capstan::plan

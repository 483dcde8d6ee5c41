#include "scenario/gpu_names.h"

#include <algorithm>

#include "engine/instances.h"
#include "engine/names.h"

namespace capstan::scenario {
namespace {

bool is_equal_without_case(std::string_view a, std::string_view b) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
  return std::ranges::equal(a, b, {}, lower, lower);
}

}  // namespace

std::string gpu_name(const engine::EngineTable& engines, const model::Catalog& catalog, std::string_view text) {
  if (const std::optional<std::string> key = engine::gpu_of_product(engines, text)) return *key;
  const auto is_same = [&](std::string_view name) { return is_equal_without_case(name, text); };
  const auto instance = std::ranges::find_if(engine::instances(), is_same, &engine::Instance::gpu);
  if (instance != engine::instances().end()) return instance->gpu;
  const auto known = std::ranges::find_if(catalog.gpu_kinds, is_same);
  return known != catalog.gpu_kinds.end() ? *known : std::string(text);
}

bool is_known_gpu(const engine::EngineTable& engines, std::string_view name) {
  return engine::gpu_of_product(engines, name).has_value() ||
         std::ranges::find(engine::instances(), name, &engine::Instance::gpu) != engine::instances().end();
}

}  // namespace capstan::scenario

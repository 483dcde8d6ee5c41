#include "lint/container_start.h"

#include <string_view>
#include <vector>

namespace capstan::lint {
namespace {

/// The values that a word's source counts through.
std::vector<const Value*> sources_of(const Value& container) {
  std::vector<const Value*> out;
  for (const std::string_view key : {"command", "args"}) {
    for (const Value& value : container[key].children()) {
      if (value.is_scalar()) out.push_back(&value);
    }
  }
  for (const Value& variable : container["env"].children()) out.push_back(&variable["value"]);
  return out;
}

std::vector<std::string_view> texts_of(const Value& list) {
  std::vector<std::string_view> out;
  for (const Value& value : list.children()) {
    if (value.is_scalar()) out.push_back(value.text);
  }
  return out;
}

}  // namespace

manifest::ContainerStart start_of(const Value& container) {
  manifest::ContainerStart start{
      container["image"].text, texts_of(container["command"]), texts_of(container["args"]), {}};
  for (const Value& variable : container["env"].children()) {
    const Value& value = variable["value"];
    start.environment.push_back({variable["name"].text, std::nullopt});
    if (value.is_scalar()) start.environment.back().value = value.text;
  }
  return start;
}

Span span_of(const File& file, const Value& container, const CommandWord& word) {
  const Value& value = *sources_of(container).at(word.source);
  return word.size == CommandWord::kWhole ? value.span : part_of(file, value, word.offset, word.size);
}

}  // namespace capstan::lint

#include "decide/scale/scale.h"
#include "decide/text.h"

namespace capstan::decide::scale {
namespace {
constexpr std::string_view kVersion = "scale-memory/11";
constexpr std::string_view kVersionOfMix = "scale-memory/12";  // adds the fields that only a mix has
}  // namespace

std::string to_text(const Memory& memory) {
  const bool mix = memory.capstan && has_mix_fields(*memory.capstan);
  TextWriter text(mix ? kVersionOfMix : kVersion);
  text.add(std::int64_t{memory.has_decided});
  text.add(memory.recommended);
  text.add(memory.floor);
  const auto row = [&](const auto& entry) {
    text.add(entry.at);
    text.add(entry.replicas);
  };
  text.rows(memory.recommendations, row);
  text.rows(memory.ups, row);
  text.rows(memory.downs, row);
  text.add(std::int64_t{memory.capstan.has_value()});
  if (memory.capstan) write(*memory.capstan, text, mix);
  return text.take();
}

Result<Memory> parse_memory(std::string_view saved) {
  const bool mix = saved.starts_with(kVersionOfMix);
  TextReader text(saved, mix ? kVersionOfMix : kVersion);
  Memory memory;
  text.read(memory.has_decided);
  text.read(memory.recommended);
  text.read(memory.floor);
  const auto row = [&](auto& entry) {
    text.read(entry.at);
    text.read(entry.replicas);
  };
  text.rows(memory.recommendations, row);
  text.rows(memory.ups, row);
  text.rows(memory.downs, row);
  bool own = false;
  text.read(own);
  if (own) read(memory.capstan.emplace(), text, mix);
  return text.finish(std::move(memory));
}

}  // namespace capstan::decide::scale

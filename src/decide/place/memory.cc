#include "decide/place/place.h"
#include "decide/text.h"

namespace capstan::decide::place {
namespace {

constexpr std::string_view kVersion = "place-memory/1";
constexpr std::string_view kVersionOfBroken = "place-memory/2";  ///< version that has broken gangs at the end

template <typename Each, typename Row>
void assumed_fields(Row& row, Each&& each) {
  each(row.pod);
  each(row.node);
  each(row.gang);
  each(row.gpus.count);
  each(row.until);
}

template <typename Each, typename Row>
void broken_fields(Row& row, Each&& each) {
  each(row.gang);
  each(row.since);
}

}  // namespace

std::string to_text(const Memory& memory) {
  TextWriter text(memory.broken.empty() ? kVersion : kVersionOfBroken);
  const auto add = [&](const auto& field) { text.add(field); };
  text.rows(memory.assumed, [&](const auto& row) { assumed_fields(row, add); });
  if (!memory.broken.empty()) text.rows(memory.broken, [&](const auto& row) { broken_fields(row, add); });
  return text.take();
}

Result<Memory> parse_memory(std::string_view saved) {
  const bool broken = saved.starts_with(kVersionOfBroken);
  TextReader text(saved, broken ? kVersionOfBroken : kVersion);
  Memory memory;
  const auto read = [&](auto& field) { text.read(field); };
  text.rows(memory.assumed, [&](auto& row) { assumed_fields(row, read); });
  if (broken) text.rows(memory.broken, [&](auto& row) { broken_fields(row, read); });
  return text.finish(std::move(memory));
}

}  // namespace capstan::decide::place

#include "decide/place/place.h"
#include "decide/text.h"

namespace capstan::decide::place {
namespace {

constexpr std::string_view kVersion = "place-memory/1";

template <typename Each, typename Row>
void fields(Row& row, Each&& each) {
  each(row.pod);
  each(row.node);
  each(row.gang);
  each(row.gpus.count);
  each(row.until);
}

}  // namespace

std::string to_text(const Memory& memory) {
  TextWriter text(kVersion);
  text.rows(memory.assumed, [&](const auto& row) { fields(row, [&](const auto& field) { text.add(field); }); });
  return text.take();
}

Result<Memory> parse_memory(std::string_view saved) {
  TextReader text(saved, kVersion);
  Memory memory;
  text.rows(memory.assumed, [&](auto& row) { fields(row, [&](auto& field) { text.read(field); }); });
  return text.finish(std::move(memory));
}

}  // namespace capstan::decide::place

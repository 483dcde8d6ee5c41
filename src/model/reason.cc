#include "model/reason.h"

#include <iterator>

#include "base/assert.h"
#include "model/reason_sentence.h"

namespace capstan::model {
namespace {

struct Row {
  std::string_view name;
  std::string_view sentence;
};

constexpr Row kRows[] = {
#define CAPSTAN_REASON(code, sentence) {#code, sentence},
#include "model/reasons.inc"
#undef CAPSTAN_REASON
};

/// Returns what an id of the table stands for: "queue 3", or `queue "research"` where a catalog has its name.
std::string object_name(std::string_view kind, std::int64_t id, const Catalog* catalog) {
  CAPSTAN_ASSERT(kind == "queue");
  const bool known = catalog != nullptr && id >= 0 && id < std::ssize(catalog->queues);
  const std::string name = known ? '"' + catalog->queues[static_cast<std::size_t>(id)].name + '"' : std::to_string(id);
  return std::string(kind) + ' ' + name;
}

/// Returns the text for what stands between braces: "0" is the number, "0:one|many" the word that goes with it,
/// "0@queue" the object that has it as its id.
std::string filled(std::string_view field, const Reason& reason, const Catalog* catalog) {
  CAPSTAN_ASSERT(!field.empty() && field.front() >= '0' && field.front() < '0' + std::ssize(reason.numbers));
  const std::int64_t number = reason.numbers[static_cast<std::size_t>(field.front() - '0')];
  if (field.size() == 1) return std::to_string(number);
  if (field[1] == '@') return object_name(field.substr(2), number, catalog);
  const std::size_t bar = field.find('|');
  CAPSTAN_ASSERT(field[1] == ':' && bar != field.npos);
  return std::string(number == 1 ? field.substr(2, bar - 2) : field.substr(bar + 1));
}

const Row& row(ReasonCode code) { return kRows[static_cast<std::size_t>(code)]; }

std::string fill(const Reason& reason, const Catalog* catalog) {
  std::string text;
  std::string_view rest = row(reason.code).sentence;
  for (std::size_t open = rest.find('{'); open != rest.npos; open = rest.find('{')) {
    const std::size_t close = rest.find('}', open);
    CAPSTAN_ASSERT(close != rest.npos);
    text += rest.substr(0, open);
    text += filled(rest.substr(open + 1, close - open - 1), reason, catalog);
    rest.remove_prefix(close + 1);
  }
  return text += rest;
}

}  // namespace

std::string_view name(ReasonCode code) { return row(code).name; }

std::string sentence(const Reason& reason) { return fill(reason, nullptr); }
std::string sentence(const Reason& reason, const Catalog& catalog) { return fill(reason, &catalog); }

std::size_t reason_count() { return std::size(kRows); }

}  // namespace capstan::model

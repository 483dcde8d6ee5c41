#include "model/reason.h"

#include <fmt/format.h>

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

const Row& row(ReasonCode code) { return kRows[static_cast<std::size_t>(code)]; }

}  // namespace

std::string_view name(ReasonCode code) { return row(code).name; }

std::string sentence(const Reason& reason) {
  return fmt::format(fmt::runtime(row(reason.code).sentence), reason.numbers[0], reason.numbers[1], reason.numbers[2],
                     reason.numbers[3]);
}

std::size_t reason_count() { return std::size(kRows); }

}  // namespace capstan::model

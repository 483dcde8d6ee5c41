#include "model/reason.h"

#include <algorithm>
#include <iterator>

#include "model/reason_sentence.h"
#include "model/reason_template.h"

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
static_assert(std::ranges::all_of(kRows, is_template, &Row::sentence), "a sentence has a field of an unknown form");

const Row& row(ReasonCode code) { return kRows[static_cast<std::size_t>(code)]; }

}  // namespace

std::string_view name(ReasonCode code) { return row(code).name; }

std::string_view sentence_template(ReasonCode code) { return row(code).sentence; }

std::string sentence(const Reason& reason) { return fill_template(row(reason.code).sentence, reason.numbers, nullptr); }

std::string sentence(const Reason& reason, const Catalog& catalog) {
  return fill_template(row(reason.code).sentence, reason.numbers, &catalog);
}

std::optional<ReasonSubject> subject_of(const Reason& reason, const Catalog& catalog) {
  return template_subject(sentence_template(reason.code), reason.numbers, catalog);
}

std::size_t reason_count() { return std::size(kRows); }

}  // namespace capstan::model

#include "promql/words.h"

#include <algorithm>

#include "base/similar_names.h"
#include "promql/function.h"

namespace capstan::promql {
namespace {

template <typename Op>
struct Spelling {
  Op op;
  std::string_view text;
};

constexpr Spelling<Binary::Op> kBinary[] = {{Binary::Op::add, "+"},
                                            {Binary::Op::subtract, "-"},
                                            {Binary::Op::multiply, "*"},
                                            {Binary::Op::divide, "/"},
                                            {Binary::Op::modulo, "%"},
                                            {Binary::Op::power, "^"},
                                            {Binary::Op::atan2, "atan2"},
                                            {Binary::Op::equal, "=="},
                                            {Binary::Op::not_equal, "!="},
                                            {Binary::Op::less, "<"},
                                            {Binary::Op::less_equal, "<="},
                                            {Binary::Op::greater, ">"},
                                            {Binary::Op::greater_equal, ">="},
                                            {Binary::Op::and_, "and"},
                                            {Binary::Op::or_, "or"},
                                            {Binary::Op::unless, "unless"}};

constexpr Spelling<Aggregation::Op> kAggregations[] = {{Aggregation::Op::sum, "sum"},
                                                       {Aggregation::Op::avg, "avg"},
                                                       {Aggregation::Op::count, "count"},
                                                       {Aggregation::Op::min, "min"},
                                                       {Aggregation::Op::max, "max"},
                                                       {Aggregation::Op::group, "group"},
                                                       {Aggregation::Op::stddev, "stddev"},
                                                       {Aggregation::Op::stdvar, "stdvar"},
                                                       {Aggregation::Op::topk, "topk"},
                                                       {Aggregation::Op::bottomk, "bottomk"},
                                                       {Aggregation::Op::count_values, "count_values"},
                                                       {Aggregation::Op::quantile, "quantile"}};

constexpr Spelling<LabelMatcher::Op> kMatches[] = {{LabelMatcher::Op::equal, "="},
                                                   {LabelMatcher::Op::not_equal, "!="},
                                                   {LabelMatcher::Op::matches, "=~"},
                                                   {LabelMatcher::Op::not_matches, "!~"}};

template <typename Op, std::size_t size>
std::optional<Op> find_op(const Spelling<Op> (&all)[size], const Token& token) {
  for (const Spelling<Op>& spelling : all) {
    if (token.is(spelling.text) || token.is_keyword(spelling.text)) return spelling.op;
  }
  return std::nullopt;
}

template <typename Op, std::size_t size>
std::string_view find_text(const Spelling<Op> (&all)[size], Op op) {
  return std::ranges::find(all, op, &Spelling<Op>::op)->text;
}

}  // namespace

std::string_view text(Binary::Op op) { return find_text(kBinary, op); }
std::string_view text(Aggregation::Op op) { return find_text(kAggregations, op); }
std::string_view text(LabelMatcher::Op op) { return find_text(kMatches, op); }

std::optional<Binary::Op> binary_operator(const Token& token) { return find_op(kBinary, token); }
std::optional<Aggregation::Op> aggregation_operator(const Token& token) { return find_op(kAggregations, token); }
std::optional<LabelMatcher::Op> match_operator(const Token& token) { return find_op(kMatches, token); }

bool is_comparison(Binary::Op op) { return op >= Binary::Op::equal && op <= Binary::Op::greater_equal; }
bool is_set_operator(Binary::Op op) { return op >= Binary::Op::and_; }

int precedence(Binary::Op op) {
  switch (op) {
    case Binary::Op::or_:
      return 1;
    case Binary::Op::and_:
    case Binary::Op::unless:
      return 2;
    case Binary::Op::add:
    case Binary::Op::subtract:
      return 4;
    case Binary::Op::multiply:
    case Binary::Op::divide:
    case Binary::Op::modulo:
    case Binary::Op::atan2:
      return 5;
    case Binary::Op::power:
      return 6;
    default:
      return 3;  // all comparisons
  }
}

bool takes_parameter(Aggregation::Op op) { return op >= Aggregation::Op::topk; }

bool is_reserved(const Token& token) {
  constexpr std::string_view kReserved[] = {"atan2", "bool", "on", "ignoring", "group_left", "group_right"};
  return std::ranges::any_of(kReserved, [&](std::string_view word) { return token.is_keyword(word); });
}

std::string suggested_function(std::string_view name) {
  constexpr std::size_t kMaxLength = 64;
  constexpr std::size_t kMaxEdits = 2;
  std::string_view best;
  std::size_t best_edits = kMaxEdits + 1;
  for (const Function& function : functions()) {
    const std::size_t edits = name.size() > kMaxLength ? best_edits : edit_distance(name, function.name);
    if (edits < best_edits) best = function.name, best_edits = edits;
  }
  return best.empty() ? "" : ", did you mean \"" + std::string(best) + "\"?";
}

}  // namespace capstan::promql

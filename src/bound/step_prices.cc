#include "bound/step_prices.h"

#include <algorithm>
#include <vector>

#include "base/assert.h"
#include "bound/linear_program.h"
#include "bound/step_corners.h"

namespace capstan::bound {
namespace {

constexpr int kRounds = 200;         // most rounds in which conditions are added to the program
constexpr int kIterations = 10'000;  // most iterations of a round; the program has about a dozen columns
constexpr double kPsPerUs = 1e6;     // the program uses microseconds, so that its numbers have similar magnitudes
constexpr double kTolerated = 1e-9;  // largest excess of a price that is accepted, relative to a corner's time
// All prices are lowered by this share, because the step model rounds times down by a few picoseconds. A step takes
// milliseconds.
constexpr double kRoundedDown = 1e-6;

/// One constraint on the prices: one line of the prompt price at one corner. If the prompt is only begun in the step,
/// the line's `discount_ps` is not subtracted.
struct Condition {
  StepCorner at;
  std::size_t line = 0;
  bool begun = false;

  double priced(const StepPrices& prices) const {
    const StepPrices::Line& l = prices.prompt_lines[line];
    const bool has_prompt = at.work.prompt_tokens > 0;
    const double prompt = l.token_ps * static_cast<double>(at.work.prompt_tokens);
    return prompt - (begun || !has_prompt ? 0 : l.discount_ps) + prices.other_work(at.work);
  }
};
constexpr std::size_t kConditions = kCornerKinds * StepPrices::kLines * 2;

/// Calls `visit(condition, kind)` for every condition; the kind is below kConditions.
template <typename Visit>
void for_each_condition(const std::vector<StepCorner>& corners, const StepLimits& limits, const Visit& visit) {
  for (const StepCorner& at : corners) {
    const std::size_t lines = at.work.prompt_tokens > 0 ? StepPrices::kLines : 1;
    for (std::size_t line = 0; line < lines; ++line) {
      const std::size_t kind = (at.kind * StepPrices::kLines + line) * 2;
      visit(Condition{at, line, false}, kind);
      if (at.work.prompt_tokens >= limits.min_full_prompt_tokens()) visit(Condition{at, line, true}, kind + 1);
    }
  }
}

class PriceProgram {
 public:
  PriceProgram(const std::vector<StepCorner>& corners, const StepLimits& limits, const WorkTotals& totals)
      : corners_(corners), limits_(limits) {
    double most = std::max({totals.decode_tokens, totals.kv_tokens, 1.0});
    for (const WorkTotals::Prompts& prompts : totals.prompts) most = std::max(most, prompts.tokens);
    constexpr double kPriceMax = 1e9;  // microseconds; above every price that the corners allow
    for (std::size_t i = 0; i < StepPrices::kLines; ++i) {
      token_[i] = program_.add_column(-totals.prompts[i].tokens / most, 0, kPriceMax);
      discount_[i] = program_.add_column(totals.prompts[i].count / most, 0, kPriceMax);
    }
    decode_ = program_.add_column(-totals.decode_tokens / most, 0, kPriceMax);
    kv_ = program_.add_column(-totals.kv_tokens / most, 0, kPriceMax);
    tpot_weight_ = program_.add_column(0, 0, limits.tpot > Duration{} ? 1 : 0);
  }

  /// Adds a row for the most violated condition of each kind. Returns false if none is violated.
  bool add_missed(const StepPrices& prices) {
    std::vector<double> worst(kConditions, kTolerated);
    std::vector<Condition> missed(kConditions);
    for_each_condition(corners_, limits_, [&](const Condition& condition, std::size_t kind) {
      const double allowed = prices.allowed(condition.at.time_ps, condition.at.work.decoding, limits_.tpot);
      const double excess = (condition.priced(prices) - allowed) / condition.at.time_ps;
      if (excess <= worst[kind]) return;
      worst[kind] = excess;
      missed[kind] = condition;
    });
    bool added = false;
    for (std::size_t kind = 0; kind < kConditions; ++kind) {
      if (worst[kind] <= kTolerated) continue;
      add(missed[kind], prices.prompt_ps);
      added = true;
    }
    return added;
  }

  StepPrices solve(StepPrices prices) const {
    const std::vector<double> found = program_.minimise(kIterations).columns;
    const auto price = [&](std::size_t column) { return std::max(found[column], 0.0) * kPsPerUs; };
    for (std::size_t i = 0; i < StepPrices::kLines; ++i)
      prices.prompt_lines[i] = {price(token_[i]), price(discount_[i])};
    prices.decode_token_ps = price(decode_);
    prices.kv_token_ps = price(kv_);
    prices.tpot_weight = std::max(found[tpot_weight_], 0.0);
    return prices;
  }

 private:
  void add(const Condition& condition, double prompt_ps) {
    const StepWork& work = condition.at.work;
    const double time = condition.at.time_ps;
    const double own = prompt_ps * static_cast<double>(work.prompts);
    const std::size_t row = program_.add_row(-LinearProgram::kFree, (time - own) / kPsPerUs);
    if (work.prompt_tokens > 0) {
      program_.set(row, token_[condition.line], static_cast<double>(work.prompt_tokens));
      if (!condition.begun) program_.set(row, discount_[condition.line], -1);
    }
    program_.set(row, decode_, static_cast<double>(work.decoding));
    program_.set(row, kv_, static_cast<double>(work.kv_tokens));
    const double over_tpot = time - static_cast<double>(limits_.tpot.count()) * 1e3;
    program_.set(row, tpot_weight_, -static_cast<double>(work.decoding) * over_tpot / kPsPerUs);
  }

  const std::vector<StepCorner>& corners_;
  const StepLimits& limits_;
  LinearProgram program_;
  std::array<std::size_t, StepPrices::kLines> token_{}, discount_{};
  std::size_t decode_ = 0, kv_ = 0, tpot_weight_ = 0;
};

/// Returns the largest factor, at most 1, by which the prices can be multiplied so that every condition holds.
double allowed_factor(const std::vector<StepCorner>& corners, const StepLimits& limits, const StepPrices& prices) {
  double part = 1;
  for_each_condition(corners, limits, [&](const Condition& condition, std::size_t) {
    const double priced = condition.priced(prices);
    const double allowed = prices.allowed(condition.at.time_ps, condition.at.work.decoding, limits.tpot);
    if (priced > 0) part = std::min(part, allowed / priced);
  });
  return std::max(part, 0.0) * (1 - kRoundedDown);
}

void scale(StepPrices& prices, double part) {
  for (StepPrices::Line& line : prices.prompt_lines) line = {line.token_ps * part, line.discount_ps * part};
  for (double* price : {&prices.doubled_pair_ps, &prices.prompt_ps, &prices.decode_token_ps, &prices.kv_token_ps}) {
    *price *= part;
  }
}

}  // namespace

double StepPrices::prompt(std::int64_t tokens) const {
  double price = 0;
  for (const Line& line : prompt_lines) {
    price = std::max(price, line.token_ps * static_cast<double>(tokens) - line.discount_ps);
  }
  return price;
}

double StepPrices::begun_token() const { return std::ranges::max(prompt_lines, {}, &Line::token_ps).token_ps; }

double StepPrices::other_work(const StepWork& work) const {
  return doubled_pair_ps * static_cast<double>(work.doubled_pairs) + prompt_ps * static_cast<double>(work.prompts) +
         decode_token_ps * static_cast<double>(work.decoding) + kv_token_ps * static_cast<double>(work.kv_tokens);
}

double StepPrices::allowed(double time_ps, std::int64_t decoding, Duration tpot) const {
  const double over_tpot = time_ps - static_cast<double>(tpot.count()) * 1e3;
  return time_ps + tpot_weight * static_cast<double>(decoding) * over_tpot;
}

StepPrices best_prices(const engine::StepModel& model, const StepLimits& limits, const WorkTotals& totals) {
  CAPSTAN_ASSERT(limits.max_seqs >= 1 && limits.max_batched_tokens >= limits.max_seqs);
  const engine::StepCoefficients& c = model.coefficients();
  StepPrices fixed;  // work whose time does not depend on the batch has a fixed price
  fixed.doubled_pair_ps = static_cast<double>(c.kappa_milli) / 1000 * static_cast<double>(c.prefill_per_pair_fs) / 2000;
  fixed.prompt_ps = static_cast<double>(c.per_request_ps);
  const std::vector<StepCorner> corners = step_corners(model, limits);
  PriceProgram program(corners, limits, totals);
  StepPrices prices = program.solve(fixed);
  for (int round = 0; round < kRounds && program.add_missed(prices); ++round) prices = program.solve(fixed);

  double part = allowed_factor(corners, limits, prices);
  if (part < 0.5) {  // the program did not converge; with a tpot_weight of 0, any prices become valid by scaling
    prices.tpot_weight = 0;
    part = allowed_factor(corners, limits, prices);
  }
  scale(prices, part);
  return prices;
}

}  // namespace capstan::bound

#include "experiment/verdict.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <functional>
#include <utility>
#include <vector>

#include "experiment/words.h"

namespace capstan::experiment {

namespace {

constexpr std::int64_t kPoint = 10'000;                // millionths
constexpr std::int64_t kShownPoint = kPoint / 20;      // half of the last digit that is shown
constexpr std::int64_t kShownGpuNs = 180'000'000'000;  // half of a tenth of a GPU-hour
constexpr std::size_t kMostTerms = 3;                  // of a kind in a difference

std::string met_and_price(const RunResult& r) {
  return fmt::format("{} % met for {} USD", tenths(r.attainment_ppm(), kPoint), usd(r.total_micro_usd()));
}

/// "33 % less", "4 % more", "the same"; `than` is not 0.
std::string money_words(std::int64_t micro_usd, std::int64_t than) {
  const auto percent = static_cast<std::int64_t>(static_cast<__int128>(than - micro_usd) * 100 / than);
  return percent > 0 ? fmt::format("{} % less money", percent)
                     : (percent < 0 ? fmt::format("{} % more money", -percent) : "the same money");
}

std::string more_or_less(std::int64_t difference, std::int64_t unit, const char* more, const char* less) {
  return fmt::format("{} {}", tenths(std::abs(difference), unit), difference > 0 ? more : less);
}

std::string of_one(const Comparison& c) {
  const RunResult& r = c.results.front();
  return fmt::format("{} {} the SLO: {}, {} % asked; {} late, {} never answered, score {}.", r.policy,
                     holds_slo(r, c.slo) ? "holds" : "misses", met_and_price(r), tenths(c.slo.attainment_ppm, kPoint),
                     grouped(r.requests.late()), grouped(r.requests.unmet()), tenths(r.score_milli(), 1000));
}

/// Who else there is to choose where the best by score does not settle it.
std::string alternative(const Comparison& c) {
  const RunResult& best = c.results.front();
  const RunResult* cheapest = cheapest_that_holds(c);
  if (cheapest == nullptr) {
    const auto closest = std::ranges::max_element(c.results, {}, &RunResult::attainment_ppm);
    if (&*closest == &best) return " No policy holds it, and none comes closer.";
    return fmt::format(" No policy holds it; {} comes closest: {}.", closest->policy, met_and_price(*closest));
  }
  if (cheapest == &best) return "";
  return fmt::format(" The cheapest that holds it is {}: {}.", cheapest->policy, met_and_price(*cheapest));
}

struct Term {
  GpuNanoseconds difference;  // or requests
  std::string words;
};

/// Returns the absolute value; std::abs has no overload for 128 bits.
GpuNanoseconds size_of(GpuNanoseconds number) { return number < 0 ? -number : number; }

/// The largest first, as many as anybody reads, joined by commas.
std::string largest(std::vector<Term> terms) {
  std::ranges::stable_sort(terms, std::ranges::greater{}, [](const Term& t) { return size_of(t.difference); });
  if (terms.size() > kMostTerms) terms.resize(kMostTerms);
  std::string text;
  for (const Term& term : terms) text += (text.empty() ? "" : ", ") + term.words;
  return text;
}

std::string request_terms(const RunResult& a, const RunResult& b) {
  const std::array<std::pair<const char*, std::int64_t>, 4> kCauses = {
      {{"late", a.requests.late() - b.requests.late()},
       {"rejected", a.requests.rejected - b.requests.rejected},
       {"failed", a.requests.failed - b.requests.failed},
       {"timed out", a.requests.timed_out - b.requests.timed_out}}};
  std::vector<Term> terms;
  for (const auto& [cause, difference] : kCauses) {
    if (difference == 0) continue;
    terms.push_back(
        {difference, fmt::format("{} {} {}", grouped(std::abs(difference)), difference > 0 ? "more" : "fewer", cause)});
  }
  return largest(std::move(terms));
}

std::string gpu_terms(const RunResult& a, const RunResult& b) {
  std::vector<Term> terms;
  for (std::size_t s = 0; s < kGpuStates; ++s) {
    const GpuNanoseconds difference = a.gpu_ns[s] - b.gpu_ns[s];
    if (size_of(difference) < kShownGpuNs) continue;
    terms.push_back({difference, fmt::format("{} {} {}", gpu_hours(size_of(difference)),
                                             difference > 0 ? "more" : "less", name(static_cast<GpuState>(s)))});
  }
  return largest(std::move(terms));
}

}  // namespace

bool holds_slo(const RunResult& result, const model::Slo& slo) { return result.attainment_ppm() >= slo.attainment_ppm; }

const RunResult* cheapest_that_holds(const Comparison& c) {
  const RunResult* cheapest = nullptr;
  for (const RunResult& r : c.results) {
    if (!holds_slo(r, c.slo)) continue;
    if (cheapest == nullptr || r.total_micro_usd() < cheapest->total_micro_usd()) cheapest = &r;
  }
  return cheapest;
}

std::string difference_words(const RunResult& a, const RunResult& b) {
  std::string text;
  const std::int64_t points = a.attainment_ppm() - b.attainment_ppm();
  const std::string requests = request_terms(a, b);
  if (std::abs(points) >= kShownPoint) text += more_or_less(points, kPoint, "points more met", "points fewer met");
  if (!requests.empty()) text += text.empty() ? requests : " (" + requests + ")";
  const GpuNanoseconds time = a.paid_gpu_ns() - b.paid_gpu_ns();
  const std::string states = gpu_terms(a, b);
  if (states.empty()) return text;
  text += text.empty() ? "" : "; ";
  text += size_of(time) < kShownGpuNs ? "as many GPU-hours"
                                      : gpu_hours(size_of(time)) + (time > 0 ? " GPU-hours more" : " GPU-hours less");
  return text + ": " + states;
}

std::string verdict_words(const Comparison& c) {
  const RunResult& best = c.results.front();
  if (best.requests.arrived == 0) return "No request arrived.";
  if (c.results.size() == 1) return of_one(c);
  const RunResult& last = c.results.back();
  const std::string asked = tenths(c.slo.attainment_ppm, kPoint);
  if (best.score_milli() == last.score_milli()) {
    return fmt::format("All {} policies score {}: nothing in this load tells them apart.", c.results.size(),
                       tenths(best.score_milli(), 1000));
  }
  std::string text = fmt::format("{} wins by score: {}", best.policy, met_and_price(best));
  if (!holds_slo(best, c.slo)) return text + fmt::format(", but misses the SLO of {} %.", asked) + alternative(c);
  text += fmt::format(", and holds the SLO of {} %", asked);
  const std::int64_t points = best.attainment_ppm() - last.attainment_ppm();
  text += "; ";
  text += std::abs(points) < kShownPoint ? "as many as"
                                         : more_or_less(points, kPoint, "points more than", "points fewer than");
  text += " " + last.policy;
  if (last.total_micro_usd() > 0) text += " for " + money_words(best.total_micro_usd(), last.total_micro_usd());
  return text + "." + alternative(c);
}

}  // namespace capstan::experiment

#include "plan/measure/measured_load.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <optional>
#include <utility>

#include "base/number_text.h"
#include "plan/measure/use_measured_load.h"

namespace capstan::plan {

namespace {

using namespace std::chrono_literals;
using Source = MeasuredFigure::Source;

std::string rate_words(double per_s) {
  return decimal_text(static_cast<std::int64_t>(std::llround(per_s * 1000))) + " requests/s";
}

std::string length_words(const LengthRanges& ranges) {
  return fmt::format("median {}, P90 {}, P99 {}, mean {} tokens", grouped_text(length_quantile(ranges, 0.5)),
                     grouped_text(length_quantile(ranges, 0.9)), grouped_text(length_quantile(ranges, 0.99)),
                     grouped_text(std::llround(mean_length(ranges))));
}

/// Makes the load of one service.
class LoadMeasurement {
 public:
  LoadMeasurement(const ServiceSpec& service, const MeasureQueries& queries,
                  std::span<const signals::ApiAnswer> answers, MeasuredSpan span)
      : service_(service), queries_(queries), answers_(answers), span_(span) {}

  Result<LoadSpec> run() {
    const MeasureQuery& query = *queries_.find(MeasuredPart::rate);
    auto rate = rate_series(*answer_of(MeasuredPart::rate), span_.start_ms, span_.end_ms, service_.load.measure.step);
    if (!rate) return std::unexpected(measure_error(service_, query.promql, rate.error()));
    rate_ = std::move(*rate);
    add_rate(query);
    const std::optional<double> in_flight = add_in_flight();
    const auto prompts = lengths({"prompt", MeasuredPart::prompt_lengths, MeasuredPart::prompt_sum,
                                  MeasuredPart::prompt_tokens, service_.load.prompt, service_.load.has_stated_prompt});
    if (!prompts) return std::unexpected(prompts.error());
    const auto answers = lengths({"answer", MeasuredPart::answer_lengths, MeasuredPart::answer_sum,
                                  MeasuredPart::answer_tokens, service_.load.answer, service_.load.has_stated_answer});
    if (!answers) return std::unexpected(answers.error());
    if (in_flight) add_mean_time(*in_flight, mean_length(*answers));
    add("pairs of lengths", "independent", "histograms do not say which answer belongs to which prompt",
        Source::assumed);
    add_warnings();
    LoadSpec load = service_.load;
    load.source = LoadSpec::Source::profile;
    load.from = measured_load_file(service_.name);
    load.duration = Duration{};
    load.prompt = load.answer = TokenSpec{};  // unset, because the profile states the lengths
    const RateSeries part = simulated_part();
    load.profile_text =
        profile_text(fmt::format("{} on {} from {} of {} steps of {}", query.promql, service_.load.measure.url,
                                 utc_text(part.start_ms), part.per_s.size(), time_text(part.step)),
                     part, *prompts, *answers);
    load.measured = std::move(figures_);
    return load;
  }

 private:
  /// The queries for the lengths of prompts or of answers, and the lengths to use if the server lacks the metrics.
  struct Lengths {
    std::string name;  ///< "prompt"
    MeasuredPart buckets, sum, tokens;
    const TokenSpec& spec;
    bool is_stated;
  };

  void add(std::string name, std::string value, std::string how, Source source = Source::measured) {
    figures_.push_back({std::move(name), std::move(value), std::move(how), source});
  }

  const signals::ApiAnswer* answer_of(MeasuredPart part) const {
    const MeasureQuery* query = queries_.find(part);
    return query == nullptr ? nullptr : &answers_[static_cast<std::size_t>(query - queries_.queries.data())];
  }

  void add_rate(const MeasureQuery& query) {
    const MeasureSpec& measure = service_.load.measure;
    const std::string of_model =
        queries_.model.empty() || queries_.model == service_.served_model_name ? "" : " of " + queries_.model;
    add("requests",
        fmt::format("{}{} in {}: {} on the mean, {} in the busiest {}", grouped_text(std::llround(rate_.requests())),
                    of_model, time_text(rate_.length()), rate_words(rate_.mean_per_s()),
                    rate_words(rate_.highest_per_s()), time_text(rate_.step)),
        fmt::format("{} on {}, every {} from {} to {}; a request counts when it ends, so that more may have arrived "
                    "while requests waited or failed",
                    query.promql, measure.url, time_text(measure.step), utc_text(rate_.start_ms),
                    utc_text(span_.end_ms)));
    const Duration missing = measure.history_length - rate_.length();
    if (missing > measure.history_length / 20) {
      add("history", fmt::format("{} of {}", time_text(rate_.length()), time_text(measure.history_length)),
          "the counter has no earlier value");
    }
    if (rate_.gaps > 0) {
      add("gaps",
          fmt::format("{} of {} steps", grouped_text(rate_.gaps),
                      grouped_text(static_cast<std::int64_t>(rate_.per_s.size()))),
          "steps without a value have values between their neighbours", Source::assumed);
    }
  }

  /// Adds the requests in flight and returns their mean; nothing if the server has none.
  std::optional<double> add_in_flight() {
    const signals::ApiAnswer* answer = answer_of(MeasuredPart::in_flight);
    if (answer == nullptr || answer->series.empty()) return {};
    double sum = 0, highest = 0;
    std::int64_t count = 0;
    for (const signals::ApiPoint& point : answer->series.front().points) {
      if (!std::isfinite(point.value) || point.value < 0) continue;
      sum += point.value;
      highest = std::max(highest, point.value);
      ++count;
    }
    if (count == 0) return {};
    const double mean = sum / static_cast<double>(count);
    const auto milli = [](double value) { return decimal_text(std::llround(value * 1000)); };
    add("requests in flight", fmt::format("{} on the mean, {} at most", milli(mean), milli(highest)),
        queries_.find(MeasuredPart::in_flight)->promql + "; the simulated fleet has its own");
    return mean;
  }

  /// Adds the mean time of a request, by which rate, requests in flight and lengths can be checked against each other.
  /// @param answer_tokens  mean length of an answer
  void add_mean_time(double in_flight, double answer_tokens) {
    constexpr double kFastestTokenMs = 1;  // no engine of the table generates a token in less
    const double ms = in_flight / rate_.mean_per_s() * 1000;
    const bool is_too_short = in_flight > 0 && ms < kFastestTokenMs * answer_tokens;
    const std::string doubt =
        is_too_short ? fmt::format(
                           "; no engine generates {:.0f} tokens in this time, so that one of the metrics is not in "
                           "requests, seconds and tokens",
                           answer_tokens)
                     : std::string();
    add("mean time of a request", fmt::format("{:.2f} s{}", ms / 1000, is_too_short ? ", too short" : ""),
        fmt::format("{:.4g} requests in flight / {:.4g} requests/s{}", in_flight, rate_.mean_per_s(), doubt));
    figures_.back().is_doubtful = is_too_short;
  }

  /// Reads the lengths from a histogram. Without one, a counter gives their mean; without that, the spec states them.
  Result<LengthRanges> lengths(const Lengths& of) {
    if (const signals::ApiAnswer* buckets = answer_of(of.buckets)) {
      const std::string& query = queries_.find(of.buckets)->promql;
      auto ranges = ranges_of_histogram(*buckets, *answer_of(of.sum));
      if (!ranges) return std::unexpected(measure_error(service_, query, ranges.error()));
      add(of.name + " length", length_words(*ranges), query + "; inside a bucket, the mean fits the measured sum");
      return std::move(*ranges);
    }
    if (const signals::ApiAnswer* tokens = answer_of(of.tokens)) return lengths_of_mean(of, *tokens);
    if (of.is_stated) {
      const LengthRanges ranges = ranges_of(of.spec);
      add(of.name + " length", length_words(ranges), "the engine has no metric of it", Source::stated);
      return ranges;
    }
    return std::unexpected(
        measure_error(service_, inventory_query(service_),
                      fmt::format("the server holds no metric of the length of a {0}, expected it in the spec: state "
                                  "load.{0}_tokens",
                                  of.name)));
  }

  Result<LengthRanges> lengths_of_mean(const Lengths& of, const signals::ApiAnswer& tokens) {
    const std::string& query = queries_.find(of.tokens)->promql;
    const bool has_value = !tokens.series.empty() && !tokens.series.front().points.empty();
    const double all = has_value ? tokens.series.front().points.back().value : 0;
    if (!std::isfinite(all) || all <= 0) {
      return std::unexpected(measure_error(
          service_, query, fmt::format("the counter of {} tokens did not grow, expected growth", of.name)));
    }
    const double mean = std::max(1.0, all / rate_.requests());
    TokenSpec spec = of.spec;
    const double median = mean / std::exp(spec.sigma * spec.sigma / 2);
    spec.median = static_cast<std::int32_t>(std::clamp(std::round(median), 1.0, 1e6));
    spec.longest = std::max(spec.longest, spec.median * 2);
    LengthRanges ranges = ranges_of(spec);
    add(of.name + " length", length_words(ranges),
        fmt::format("mean of {} tokens from {}; the engine has no histogram, so that a log-normal shape with sigma {} "
                    "is assumed",
                    grouped_text(std::llround(mean)), query, spec.sigma));
    return ranges;
  }

  void add_warnings() {
    constexpr std::size_t kShown = 3;
    for (const signals::ApiAnswer& answer : answers_) {
      for (std::size_t i = 0; i < std::min(kShown, answer.warnings.size()); ++i) {
        add("warning of the server", answer.warnings[i], "series may be missing");
      }
    }
  }

  /// Returns the part of the history that is simulated: all of it, or the busiest part of the stated length.
  RateSeries simulated_part() {
    if (service_.load.duration == 0s || service_.load.duration >= rate_.length()) return rate_;
    RateSeries part = busiest_part(rate_, service_.load.duration);
    figures_.push_back({"simulated part",
                        fmt::format("{} from {}: {} on the mean", time_text(part.length()), utc_text(part.start_ms),
                                    rate_words(part.mean_per_s())),
                        "load.duration; the part of the history with the most requests", Source::measured});
    return part;
  }

  const ServiceSpec& service_;
  const MeasureQueries& queries_;
  std::span<const signals::ApiAnswer> answers_;
  MeasuredSpan span_;
  RateSeries rate_;
  std::vector<MeasuredFigure> figures_;
};

}  // namespace

MeasuredSpan measured_span(const MeasureSpec& measure, std::int64_t now_ms) {
  const std::int64_t step_ms = std::max<std::int64_t>(1, measure.step / 1ms);
  const std::int64_t end = now_ms - now_ms % step_ms;
  return {.start_ms = end - measure.history_length / 1ms + step_ms, .end_ms = end};
}

Result<LoadSpec> measured_load(const ServiceSpec& service, const MeasureQueries& queries,
                               std::span<const signals::ApiAnswer> answers, MeasuredSpan span) {
  return LoadMeasurement(service, queries, answers, span).run();
}

std::string utc_text(std::int64_t unix_ms) {
  const std::chrono::sys_time<std::chrono::milliseconds> time{std::chrono::milliseconds(unix_ms)};
  const auto day = std::chrono::floor<std::chrono::days>(time);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss clock(time - day);
  return fmt::format("{:04}-{:02}-{:02} {:02}:{:02} UTC", static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()), clock.hours().count(),
                     clock.minutes().count());
}

}  // namespace capstan::plan

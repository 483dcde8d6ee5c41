#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "signals/prometheus_api.h"
#include "signals/target_reader.h"

namespace capstan::signals {

/// Which series of a Prometheus server are a service's.
struct PrometheusQuery {
  std::vector<Matcher> matchers;                 ///< `namespace="chat"`; without one, all that the server has
  std::string target_label = "pod";              ///< tells the targets apart; without it on a series: ""
  Duration lookback = std::chrono::seconds(90);  ///< at least the window of percentiles and a scrape interval
  TargetOptions reader;                          ///< of each target
  std::size_t targets_max = 10'000;
};

/// Turns raw samples that a Prometheus server has stored into the signals of each target, as if we had scraped it
/// ourselves: with the times of its scrapes, so that a stopped scrape shows as age and not as a constant. The query
/// asks for samples, not for a calculation of the server's: rates and percentiles are ours, the same on both ways.
class PrometheusSignals {
 public:
  explicit PrometheusSignals(PrometheusQuery query) : query_(std::move(query)) {}

  /// An instant query whose answer is a matrix: `{__name__=~"...",namespace="chat"}[90s]`.
  std::string expression() const;

  /// Takes an answer, asked at `unix_ms`, which on our clock is `now`. Samples that are known already do nothing.
  void take(const ApiAnswer& answer, Instant now, std::int64_t unix_ms);
  /// There was no answer.
  void failed(const Error& error);

  std::vector<std::string> targets() const;  ///< by name
  TargetReadings readings(const std::string& target, Instant now) const;
  /// What the server warned of with its last answer: series may be missing.
  const std::vector<std::string>& warnings() const { return warnings_; }

 private:
  struct Target {
    TargetReader reader;
    std::optional<std::int64_t> last_ms;  ///< of the samples that were taken
  };
  using Moments = std::map<std::int64_t, std::vector<std::pair<const ApiSeries*, double>>>;

  void take_target(Target& target, const Moments& moments, Instant now, std::int64_t unix_ms) const;

  PrometheusQuery query_;
  std::map<std::string, Target> targets_;
  std::vector<std::string> warnings_;
};

}  // namespace capstan::signals

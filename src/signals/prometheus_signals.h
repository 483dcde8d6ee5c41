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

/// Selects the series of one service on a Prometheus server.
struct PrometheusQuery {
  std::vector<Matcher> matchers;                 ///< conditions such as `namespace="chat"`; none: all series
  std::string target_label = "pod";              ///< label with the target's name; a series without it belongs to ""
  Duration lookback = std::chrono::seconds(90);  ///< time span of the query; >= percentile window + scrape interval
  TargetOptions reader;                          ///< options for every target
  std::size_t targets_max = 10'000;
};

/// Turns raw samples of a Prometheus server into the signals of every target, as if the controller had scraped it. Each
/// sample has the time of its scrape, so that signals grow old when scrapes stop. The query asks for raw samples. Rates
/// and percentiles are computed here, in the same way as for scraped targets.
class PrometheusSignals {
 public:
  explicit PrometheusSignals(PrometheusQuery query) : query_(std::move(query)) {}

  /// Returns the instant query whose answer is a matrix: `{__name__=~"...",namespace="chat"}[90000ms]`.
  std::string expression() const;

  /// Takes the answer to a query that was sent at `unix_ms`, which is `now` on the local clock. Samples that an earlier
  /// answer already contained are ignored.
  void take(const ApiAnswer& answer, Instant now, std::int64_t unix_ms);
  /// Records that a query failed.
  void failed(const Error& error);

  std::vector<std::string> targets() const;  ///< names, sorted
  TargetReadings readings(const std::string& target, Instant now) const;
  /// Returns the warnings of the last answer. If there are any, series may be missing.
  const std::vector<std::string>& warnings() const { return warnings_; }

 private:
  struct Target {
    TargetReader reader;
    std::optional<std::int64_t> last_ms;  ///< time of the newest sample taken, in milliseconds since 1970
  };
  using Moments = std::map<std::int64_t, std::vector<std::pair<const ApiSeries*, double>>>;

  void take_target(Target& target, const Moments& moments, Instant now, std::int64_t unix_ms) const;

  PrometheusQuery query_;
  std::map<std::string, Target> targets_;
  std::vector<std::string> warnings_;
};

}  // namespace capstan::signals

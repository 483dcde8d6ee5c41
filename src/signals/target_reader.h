#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/time.h"
#include "model/gang.h"
#include "model/signal.h"
#include "signals/cells.h"
#include "signals/exposition.h"
#include "signals/histogram.h"
#include "signals/metric_catalog.h"

namespace capstan::signals {

/// Whom a target is expected to be, and how its pages are understood.
struct TargetOptions {
  const MetricCatalog* catalog = &MetricCatalog::bundled();  ///< outlives the reader
  std::optional<std::uint16_t> engine;                       ///< none: found out from the names of the metrics
  std::vector<std::string> models;  ///< names under which the model may be served; empty: whichever one it serves
  std::string pod;                  ///< where not empty: series that name another pod are another's
  Duration window = std::chrono::seconds(60);         ///< of percentiles
  Duration gap_max = std::chrono::seconds(60);        ///< of two pages further apart nobody knows what was when
  std::int64_t percentile_ppm = 990'000;              ///< of the signals *_p99_us
  Duration ttft_bound{};                              ///< of `ttft_late_ppm`; 0: nobody asks
  Duration queue_bound{};                             ///< of `queue_late_ppm`; 0: nobody asks
  Duration tpot_bound{};                              ///< of `tpot_late_ppm`; 0: nobody asks
  Duration stale_after = std::chrono::seconds(3);     ///< a value of this age still counts; three intervals are usual
  Duration missing_after = std::chrono::seconds(30);  ///< beyond this it is not even told as stale
  ExpositionLimits limits;
  std::size_t cells_max = 20'000;  ///< values of a page that are looked at
};

/// When a page was read: on our clock, and, where timestamps on it shall count, in milliseconds since 1970 (else 0).
struct ReadAt {
  Instant at;
  std::int64_t unix_ms = 0;
};

struct SignalReading {
  model::Signal signal;
  Missing why = Missing::never_scraped;  ///< why the last page did not give it; none where it did
};

/// Everything of one subject: a model on an engine, a pod on a DCGM exporter, a pool of a gateway.
struct SubjectReadings {
  std::string subject;
  std::array<SignalReading, kSignalCount> signals;

  const SignalReading& operator[](SignalName name) const { return signals[static_cast<std::size_t>(name)]; }
};

struct TargetReadings {
  std::string engine;                     ///< empty as long as it is not known
  Missing page = Missing::never_scraped;  ///< why the last page gave nothing at all; none where it gave something
  std::optional<Error> error;             ///< of a page that could not be had or read
  std::uint64_t restarts = 0;             ///< of the engine, as seen
  std::vector<SubjectReadings> subjects;  ///< by name

  /// The one subject; where there are several, or none, one in which every signal is missing and says why.
  SubjectReadings single() const;
};

/// The fields of a replica that the decisions know.
model::ReplicaSignals replica_signals(const SubjectReadings& readings);

/// Turns the pages of one target into signals. Remembers what takes memory: counters (which may start again at zero:
/// the totals told here never fall), the observations within the window, and the last good value of every signal,
/// which ages until it is stale and then missing; a percentile of nothing is missing at once. A plain value: copies are
/// independent.
class TargetReader {
 public:
  explicit TargetReader(TargetOptions options) : options_(std::move(options)) {}

  /// Reads a page. One bad line discards all of it.
  void read(std::string_view page, Exposition format, std::string_view source, const ReadAt& at);
  /// The same where the samples come from elsewhere, a Prometheus server; all of one moment.
  void read(CellCollector& collected, const ReadAt& at);
  CellCollector collector() const;
  /// There was no page, or none that may be used.
  void failed(Missing why, std::optional<Error> error = {}) {
    page_ = why;
    error_ = std::move(error);
  }

  /// Why the last page gave nothing at all; none where it gave something.
  Missing page() const { return page_; }
  TargetReadings readings(Instant now) const;

 private:
  struct SeriesKey {
    std::uint16_t row;
    std::uint64_t series;
    friend auto operator<=>(const SeriesKey&, const SeriesKey&) = default;
  };
  struct State {
    std::optional<std::int64_t> value;  ///< the last good one
    Instant at;
    Missing why = Missing::no_metric;
    std::optional<std::uint16_t> row;  ///< that gave it
    std::int64_t total = 0;            ///< counters
    WindowedHistogram window;          ///< histograms
  };
  struct Subject {
    std::array<State, kSignalCount> states;
    std::map<SeriesKey, std::int64_t> counters;  ///< as last seen
    std::map<SeriesKey, Histogram> histograms;   ///< as last seen
    std::optional<Instant> last_page;            ///< that named it
  };
  using Cells = std::span<Cell>;
  using Outcome = std::expected<std::int64_t, Missing>;
  /// A signal that is the share of a histogram's observations beyond a bound, beside the one that is its percentile.
  struct Late {
    SignalName of;
    SignalName name;
    Duration bound;
  };

  std::optional<std::uint16_t> find_engine(const std::vector<Cell>& cells) const;
  bool accepts(const std::string& subject) const;
  void note_restart(std::optional<double> process_start_seconds);
  void read_subject(Subject& subject, Cells cells, const ReadAt& at);
  void tell_late(Subject& subject, const Late& late, Instant at) const;
  Outcome evaluate(Subject& subject, SignalName name, Cells cells, Instant at);
  Outcome gauge(const MetricRow& row, Cells cells) const;
  Outcome counter(Subject& subject, State& state, const MetricRow& row, Cells cells) const;
  Outcome histogram(Subject& subject, State& state, Cells cells, Instant at);
  Outcome share(SignalName name, Cells cells) const;

  TargetOptions options_;
  std::optional<std::uint16_t> engine_;
  Missing page_ = Missing::never_scraped;
  std::optional<Error> error_;
  std::optional<double> process_start_;
  std::uint64_t restarts_ = 0;
  std::map<std::string, Subject> subjects_;
};

}  // namespace capstan::signals

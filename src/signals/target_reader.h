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
#include "model/replica_signals.h"
#include "model/signal.h"
#include "signals/cells.h"
#include "signals/exposition.h"
#include "signals/histogram.h"
#include "signals/metric_catalog.h"

namespace capstan::signals {

/// Expected identity of a target, and options for reading its pages.
struct TargetOptions {
  const MetricCatalog* catalog = &MetricCatalog::bundled();  ///< outlives the reader
  std::optional<std::uint16_t> engine;                       ///< engine of the target; none: detected from metric names
  std::vector<std::string> models;                           ///< names under which the model may be served; empty: any
  std::string pod;                                           ///< expected pod in the labels of series; empty: any
  Duration window = std::chrono::seconds(60);                ///< window of the percentiles
  Duration gap_max = std::chrono::seconds(60);        ///< longest gap between pages; observations of a longer gap
                                                      ///< cannot be dated and are dropped
  std::int64_t percentile_ppm = 990'000;              ///< percentile of the signals *_p99_us, millionths
  Duration ttft_bound{};                              ///< bound of `ttft_late_ppm`; 0: the signal is not computed
  Duration queue_bound{};                             ///< bound of `queue_late_ppm`; 0: the signal is not computed
  Duration tpot_bound{};                              ///< bound of `tpot_late_ppm`; 0: the signal is not computed
  Duration stale_after = std::chrono::seconds(3);     ///< age up to which a value is fresh; three intervals are usual
  Duration missing_after = std::chrono::seconds(30);  ///< age up to which a value is stale; beyond, it is missing
  ExpositionLimits limits;
  std::size_t cells_max = 20'000;  ///< largest number of values from one page; metrics not in the catalog do not count
};

/// Time at which a page was read.
struct ReadAt {
  Instant at;                ///< time on the local clock
  std::int64_t unix_ms = 0;  ///< milliseconds since 1970; 0: timestamps on the page are ignored
};

struct SignalReading {
  model::Signal signal;
  MissingReason why =
      MissingReason::never_scraped;  ///< reason why the last page did not give the signal; `none` if it did
};

/// All signals of one subject: a model on an engine, a pod on a DCGM exporter, or a pool of a gateway.
struct SubjectReadings {
  std::string subject;
  std::array<SignalReading, kSignalCount> signals;

  const SignalReading& operator[](SignalName name) const { return signals[static_cast<std::size_t>(name)]; }
};

struct TargetReadings {
  std::string engine;                                 ///< name of the engine; empty while not known
  MissingReason page = MissingReason::never_scraped;  ///< reason why the last page gave no signal at all; else `none`
  std::optional<Error> error;                         ///< error of a page that could not be fetched or parsed
  std::uint64_t restarts = 0;                         ///< observed restarts of the engine
  std::vector<SubjectReadings> subjects;              ///< sorted by name

  /// Returns the subject if there is exactly one. Otherwise it returns a subject in which every signal is missing, with
  /// the reason.
  SubjectReadings single() const;
};

/// Returns the signals that the decision core uses.
model::ReplicaSignals replica_signals(const SubjectReadings& readings);

/// Turns the pages of one target into signals. Between pages it remembers:
/// - counters: a restart of the engine sets its counters to zero, but the totals of this reader never fall;
/// - the observations within the window;
/// - the last good value of every signal, which grows old until it is stale and then missing. A percentile without
///   observations is missing at once.
/// The reader is a plain value: copies are independent.
class TargetReader {
 public:
  explicit TargetReader(TargetOptions options) : options_(std::move(options)) {}

  /// Reads a page. One bad line discards the whole page.
  void read(std::string_view page, Exposition format, std::string_view source, const ReadAt& at);
  /// Reads samples of one time that come from a Prometheus server.
  void read(CellCollector& collected, const ReadAt& at);
  CellCollector collector() const;
  /// Records that there was no page, or none that may be used.
  void failed(MissingReason why, std::optional<Error> error = {}) {
    page_ = why;
    error_ = std::move(error);
  }

  /// Returns the reason why the last page gave no signal at all, or `none` if it gave any.
  MissingReason page_failure() const { return page_; }
  TargetReadings readings(Instant now) const;

 private:
  struct SeriesKey {
    std::uint16_t row;
    std::uint64_t series;
    friend auto operator<=>(const SeriesKey&, const SeriesKey&) = default;
  };
  struct State {
    std::optional<std::int64_t> value;  ///< last good value
    Instant at;                         ///< time of `value`
    MissingReason why = MissingReason::no_metric;
    std::optional<std::uint16_t> row;  ///< row of the catalog that gave the value
    std::int64_t total = 0;            ///< total of a counter
    WindowedHistogram window;          ///< observations of a histogram
  };
  struct Subject {
    std::array<State, kSignalCount> states;
    std::map<SeriesKey, std::int64_t> counters;  ///< values on the last page
    std::map<SeriesKey, Histogram> histograms;   ///< values on the last page
    std::optional<Instant> last_page;            ///< time of the last page with this subject
  };
  using Cells = std::span<Cell>;
  using Outcome = std::expected<std::int64_t, MissingReason>;
  /// A signal that is the share of a histogram's observations above a bound.
  struct LateShare {
    SignalName percentile;  ///< signal with the percentile of the same histogram
    SignalName share;
    Duration bound;
  };

  /// A sum of times that is the difference of two others, for engines that do not export it.
  struct SumDifference {
    SignalName result;
    SignalName whole;
    SignalName part;
  };

  std::optional<std::uint16_t> find_engine(const std::vector<Cell>& cells) const;
  bool accepts(const std::string& subject) const;
  void note_restart(std::optional<double> process_start_seconds);
  void read_subject(Subject& subject, Cells cells, const ReadAt& at);
  void update_late_share(Subject& subject, const LateShare& late, Instant at) const;
  static void update_difference(Subject& subject, const SumDifference& sums);
  static void merge_unknown_phases(Subject& subject);
  Outcome evaluate(Subject& subject, SignalName name, Cells cells, Instant at);
  Outcome gauge(const MetricRow& row, Cells cells) const;
  Outcome counter(Subject& subject, State& state, const MetricRow& row, Cells cells) const;
  Outcome histogram(Subject& subject, State& state, Cells cells, Instant at);
  Outcome share(SignalName name, Cells cells) const;

  TargetOptions options_;
  std::optional<std::uint16_t> engine_;
  MissingReason page_ = MissingReason::never_scraped;
  std::optional<Error> error_;
  std::optional<double> process_start_;
  std::uint64_t restarts_ = 0;
  std::map<std::string, Subject> subjects_;
};

}  // namespace capstan::signals

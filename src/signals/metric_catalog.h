#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/error.h"
#include "signals/signal_name.h"

namespace capstan::signals {

/// What a metric is, and hence how it becomes a signal.
enum class MetricKind : std::uint8_t {
  gauge,      ///< its value now
  counter,    ///< its first value and all that it grew since, whatever resets it
  histogram,  ///< a percentile of what was observed within the window; the metric is `NAME_bucket`
  share_used,
  share_rest,
  share_whole,  ///< parts of a quotient: used / (used + rest), or used / whole
};

/// How several series of one metric (ranks of an engine, GPUs of a pod) become one value.
enum class Combine : std::uint8_t { sum, max };

/// One row: this metric of this engine means that signal.
struct MetricRow {
  std::uint16_t engine = 0;  ///< index into MetricCatalog::engines
  SignalName signal{};
  std::string metric;
  MetricKind kind = MetricKind::gauge;
  std::string unit;  ///< of the metric: requests, tokens, ratio, percent, mebibytes, seconds, ... microseconds
  double scale = 1;  ///< from `unit` to the signal's
  std::vector<std::pair<std::string, std::string>> where;  ///< labels that a series must have
  Combine combine = Combine::sum;
  /// Which labels say whose series it is: alternatives between '|', the first whose labels are all there; parts of one
  /// between '/'. Empty: the whole page is about one.
  std::string subject;
  std::vector<std::vector<std::string>> subject_labels;  ///< `subject`, taken apart
  std::string versions;                                  ///< of the engine that have it, for people
};

/// A row as somebody wrote it, before anything of it is believed. `engine: custom` is a list of these.
struct MetricText {
  std::string engine, signal, metric, kind, unit, where, combine, subject, versions;
};

/// Which metrics mean which signals: of several rows for one signal of an engine the first whose metric is on the page
/// counts, so that the newest name stands first. A ':' and a '_' are the same in a name, and a prefix "kserve_" is
/// looked through: gateways and adapters rewrite names so.
class MetricCatalog {
 public:
  /// Reads schema/metrics.csv or a table like it.
  static Result<MetricCatalog> parse(std::string_view csv, const std::string& file);

  /// A user's own server: every row is of the engine "custom". `combine` may be empty (sum; max of a share), `unit`
  /// too (what the signal has), `subject` and `where` as well. Errors name the row, counted from 0, and the field:
  /// "metrics[2].unit: ...".
  static Result<MetricCatalog> custom(std::span<const MetricText> rows, const std::string& where_written);

  /// The table that the program carries.
  static const MetricCatalog& bundled();

  const std::vector<std::string>& engines() const { return engines_; }
  const std::vector<MetricRow>& rows() const { return rows_; }
  /// The number of an engine, or Error: not one of those that are known.
  Result<std::uint16_t> engine(std::string_view name) const;

  /// The rows (indexes into `rows`, ascending) of a series' name; of histograms, of the name with "_bucket".
  std::span<const std::uint16_t> find(std::string_view series_name) const;

 private:
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view name) const;
  };
  struct Same {
    using is_transparent = void;
    bool operator()(std::string_view a, std::string_view b) const;
  };

  /// Adds a row, or says what is wrong with it: the field and the message.
  std::expected<void, std::pair<std::string, std::string>> add(const MetricText& text);

  std::vector<std::string> engines_;
  std::vector<MetricRow> rows_;
  std::unordered_map<std::string, std::vector<std::uint16_t>, Hash, Same> by_name_;
};

}  // namespace capstan::signals

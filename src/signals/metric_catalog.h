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

/// Kind of a metric, which decides how it becomes a signal.
enum class MetricKind : std::uint8_t {
  gauge,        ///< the current value
  counter,      ///< the first value plus all growth since then, across resets
  histogram,    ///< a percentile of the observations within the window; the series are `METRIC_bucket`
  share_used,   ///< used part of a capacity; the signal is used / whole, or used / (used + rest) if the page has no
                ///< `share_whole`
  share_rest,   ///< unused part of the capacity
  share_whole,  ///< the capacity
};

/// Operation that combines several series of one metric (ranks of an engine, GPUs of a pod) into one value.
enum class Combine : std::uint8_t { sum, max };

/// One row of the catalog: a metric of an engine and the signal that it gives.
struct MetricRow {
  std::uint16_t engine = 0;  ///< index into MetricCatalog::engines
  SignalName signal{};
  std::string metric;
  MetricKind kind = MetricKind::gauge;
  std::string unit;  ///< unit of the metric, such as requests, tokens, ratio, percent, mebibytes or seconds
  double scale = 1;  ///< factor from `unit` to the signal's unit
  std::vector<std::pair<std::string, std::string>> where;  ///< labels that a series must have
  Combine combine = Combine::sum;
  /// Labels that name the subject of a series. '|' separates alternatives, of which the first with all labels present
  /// is used; '/' separates the labels of one alternative. Empty: the whole page has one subject.
  std::string subject;
  std::vector<std::vector<std::string>> subject_labels;  ///< `subject`, split
  std::string versions;                                  ///< versions of the engine with this metric, for people
};

/// A row as written by a person, not validated. `engine: custom` takes a list of these.
struct MetricText {
  std::string engine, signal, metric, kind, unit, where, combine, subject, versions;
};

/// Maps metrics to signals. If an engine has several rows for one signal, the first row whose metric is on the page is
/// used, so the newest name is listed first. Names match if they differ only in ':' and '_' or in a prefix "kserve_",
/// because gateways and adapters rewrite names in this way.
class MetricCatalog {
 public:
  /// Parses schema/metrics.csv or a table with the same columns.
  static Result<MetricCatalog> parse(std::string_view csv, const std::string& file);

  /// Builds the catalog of a user's own server; every row belongs to the engine "custom". These fields may be empty:
  /// `combine` (default: sum; max for gauges of shares and times), `unit` (default: unit of the signal), `subject` and
  /// `where`. Errors name the row, counted from 0, and the field: "metrics[2].unit: ...".
  static Result<MetricCatalog> custom(std::span<const MetricText> rows, const std::string& where_written);

  /// Returns the catalog that is built into the program.
  static const MetricCatalog& bundled();

  const std::vector<std::string>& engines() const { return engines_; }
  const std::vector<MetricRow>& rows() const { return rows_; }
  /// Returns the index of an engine, or an error if the catalog does not have it.
  Result<std::uint16_t> engine(std::string_view name) const;

  /// Returns the rows (indexes into `rows`, ascending) for the name of a series. Histograms are found by the name with
  /// "_bucket".
  std::span<const std::uint16_t> find(std::string_view series_name) const;

 private:
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view name) const;
  };
  struct NameEqual {
    using is_transparent = void;
    bool operator()(std::string_view a, std::string_view b) const;
  };

  /// Adds a row. Returns the name of the wrong field and a message if the row is invalid.
  std::expected<void, std::pair<std::string, std::string>> add(const MetricText& text);

  std::vector<std::string> engines_;
  std::vector<MetricRow> rows_;
  std::unordered_map<std::string, std::vector<std::uint16_t>, Hash, NameEqual> by_name_;
};

}  // namespace capstan::signals

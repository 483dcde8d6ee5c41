#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "signals/exposition.h"
#include "signals/metric_catalog.h"

namespace capstan::signals {

/// One value on a metrics page for which the catalog has a row.
struct Cell {
  std::uint16_t row = 0;
  std::uint32_t subject = 0;       ///< index into CellCollector::subjects
  std::uint64_t series = 0;        ///< hash of the labels without `le`; equal for the same series on every page
  std::int64_t bound = 0;          ///< upper bound of a histogram's bucket in the signal's unit, or kBadBound
  double value = 0;                ///< value in the metric's unit
  std::int64_t timestamp_ms = -1;  ///< timestamp on the page, in milliseconds since 1970; -1: none
  bool is_not_gauge = false;       ///< the page declares this metric a counter, a histogram or a summary

  static constexpr std::int64_t kBadBound = INT64_MIN;
};

/// Collects the cells among the samples of pages. A sample without a row in the catalog costs one lookup of its name.
class CellCollector {
 public:
  /// @param engine        the engine whose rows are used; none: the engine is not known yet, and all rows are used
  /// @param expected_pod  if not empty, a series that names another pod sets `names_other_pod`
  /// @param cells_max     largest number of cells; one more sets `has_too_many_cells`
  CellCollector(const MetricCatalog& catalog, std::optional<std::uint16_t> engine, std::string_view expected_pod,
                std::size_t cells_max);

  /// Takes a metadata line, which describes the samples after it. Its texts must stay valid while samples are taken.
  void declare(const Metadata& metadata);
  /// Takes a sample. Its name must stay valid until the next call.
  void take(const Sample& sample);

  const std::vector<Cell>& cells() const { return cells_; }
  std::vector<Cell>& cells() { return cells_; }
  const std::vector<std::string>& subjects() const { return subjects_; }
  std::optional<double> process_start_seconds() const { return process_start_; }
  bool names_other_pod() const { return names_other_pod_; }
  bool has_too_many_cells() const { return has_too_many_cells_; }

 private:
  void take_row(const Sample& sample, std::uint16_t row_index);
  std::uint32_t subject_of(const Sample& sample, const MetricRow& row);

  const MetricCatalog& catalog_;
  std::optional<std::uint16_t> engine_;
  std::string_view expected_pod_;
  std::size_t cells_max_;
  std::string_view declared_family_;  // the last declared family if it is a counter, histogram or summary
  std::string_view last_name_;
  std::span<const std::uint16_t> last_rows_;
  bool last_is_start_ = false;
  std::vector<Cell> cells_;
  std::vector<std::string> subjects_;
  std::string scratch_;
  std::optional<double> process_start_;
  bool names_other_pod_ = false;
  bool has_too_many_cells_ = false;
};

}  // namespace capstan::signals

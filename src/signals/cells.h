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

/// One value of a page that some row of the catalog asks for.
struct Cell {
  std::uint16_t row = 0;
  std::uint32_t subject = 0;       ///< index into CellCollector::subjects
  std::uint64_t series = 0;        ///< a hash of its labels but `le`: the same series has the same one on every page
  std::int64_t bound = 0;          ///< of a histogram's bucket, in the signal's unit; kBadBound where it has none
  double value = 0;                ///< in the metric's unit
  std::int64_t timestamp_ms = -1;  ///< that the page states; -1: none
  bool no_gauge = false;           ///< the page says that it counts up, and is no value of now

  static constexpr std::int64_t kBadBound = INT64_MIN;
};

/// Picks the cells out of samples, page after page; what nobody asks for costs one look-up of its name.
class CellCollector {
 public:
  /// @param engine        only rows of this one; none: of all, as long as nobody knows which it is
  /// @param expected_pod  where not empty: a series that says another pod of itself sets `other_pod`
  CellCollector(const MetricCatalog& catalog, std::optional<std::uint16_t> engine, std::string_view expected_pod,
                std::size_t cells_max);

  /// What the page says of the samples that follow. Its views must live as long as the collector takes samples.
  void declare(const Metadata& metadata);
  /// Names stay the same until the next sample: a sample's name must live until then.
  void take(const Sample& sample);

  const std::vector<Cell>& cells() const { return cells_; }
  std::vector<Cell>& cells() { return cells_; }
  const std::vector<std::string>& subjects() const { return subjects_; }
  std::optional<double> process_start_seconds() const { return process_start_; }
  bool other_pod() const { return other_pod_; }
  bool too_many() const { return too_many_; }

 private:
  void take_row(const Sample& sample, std::uint16_t row_index);
  std::uint32_t subject_of(const Sample& sample, const MetricRow& row);

  const MetricCatalog& catalog_;
  std::optional<std::uint16_t> engine_;
  std::string_view expected_pod_;
  std::size_t cells_max_;
  std::string_view no_gauge_;  // the family that was declared last, where it is something else
  std::string_view last_name_;
  std::span<const std::uint16_t> last_rows_;
  bool last_is_start_ = false;
  std::vector<Cell> cells_;
  std::vector<std::string> subjects_;
  std::string scratch_;
  std::optional<double> process_start_;
  bool other_pod_ = false;
  bool too_many_ = false;
};

}  // namespace capstan::signals

#include "experiment/report/sparklines.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

#include "base/number_text.h"
#include "experiment/report/frontier.h"
#include "experiment/report/verdict.h"
#include "experiment/run/timeline.h"
#include "experiment/text/layout.h"
#include "experiment/text/words.h"

namespace capstan::experiment {
namespace {

constexpr std::array<const char*, 8> kBars = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
constexpr std::size_t kKindWidth = 7;   ///< columns for "arrived", "ready" and "missed"
constexpr std::size_t kNoteWidth = 15;  ///< columns for "  at most 1,234"

constexpr std::size_t kOtherColumns =
    2 + 2 + kKindWidth + 1 + kNoteWidth;   ///< columns for the mark, the kind, the note and gaps
constexpr std::size_t kMinSparkName = 12;  ///< least width of a policy's name
constexpr std::size_t kMinBars = 20;

using Numbers = std::vector<std::int64_t>;

/// The numbers of one row of the table.
struct RowSeries {
  std::string name;
  bool is_marked = false;
  Numbers ready_milli;
  Numbers missed;
};

std::int64_t largest_of(const Numbers& numbers) { return numbers.empty() ? 0 : std::ranges::max(numbers); }

RowSeries series_of(const RunResult& result, Duration bucket, bool is_marked) {
  RowSeries row{.name = result.policy, .is_marked = is_marked, .ready_milli = {}, .missed = {}};
  for (const TimelineBucket& slice : timeline(result, bucket)) {
    row.ready_milli.push_back(slice.ready_mean_milli);
    row.missed.push_back(slice.missed());
  }
  return row;
}

/// Writes lines such as "name  kind  bars  at most 12".
class LineDrawer {
 public:
  LineDrawer(std::size_t name_width, std::size_t width, std::size_t buckets) {
    const std::size_t room = width > kOtherColumns ? width - kOtherColumns : 0;
    // If the lines are too long, the bars get narrower first, down to one column for each bucket. Then names are cut.
    columns_each_ = std::max<std::size_t>(1, kMaxTimelineBuckets / std::max<std::size_t>(1, buckets));
    while (columns_each_ > 1 && buckets * columns_each_ + name_width > room) --columns_each_;
    bars_ = buckets * columns_each_;
    name_ = std::clamp(room > bars_ ? room - bars_ : 0, kMinSparkName, std::max(kMinSparkName, name_width));
  }

  std::string line(bool is_marked, const std::string& name, const char* kind, const Numbers& numbers, std::int64_t most,
                   const std::string& note) const {
    const std::string bars = pad_right(spark_bars(numbers, most, columns_each_), bars_);
    return fmt::format("{}{}  {} {}  {}\n", is_marked ? "▶ " : "  ", pad_right(shortened_name(name, name_), name_),
                       pad_right(kind, kKindWidth), bars, note);
  }

 private:
  std::size_t columns_each_ = 1;
  std::size_t bars_ = 0;
  std::size_t name_ = kMinSparkName;
};

}  // namespace

std::string spark_bars(std::span<const std::int64_t> numbers, std::int64_t most, std::size_t columns_each) {
  std::string bars;
  for (const std::int64_t number : numbers) {
    const auto levels = static_cast<std::int64_t>(kBars.size());
    const std::int64_t level = most <= 0 ? 0 : std::min(levels, (number * levels + most - 1) / most);
    for (std::size_t i = 0; i < columns_each; ++i) {
      bars += level <= 0 ? " " : kBars[static_cast<std::size_t>(level - 1)];
    }
  }
  return bars;
}

std::string sparklines(const Comparison& c, std::size_t name_width, std::size_t width) {
  const std::size_t taken = kOtherColumns + kMinSparkName;
  const std::size_t bars = width > taken + kMinBars ? width - taken : kMinBars;
  const Duration bucket = bucket_length(c.results, std::min(bars, kMaxTimelineBuckets));
  Numbers arrivals;
  for (const TimelineBucket& slice : timeline(c.results.front(), bucket)) arrivals.push_back(slice.arrived);
  if (arrivals.empty()) return "";

  std::vector<RowSeries> rows;
  for (const RunResult& result : c.results) {
    if (shown(c, result))
      rows.push_back(series_of(result, bucket, &result == marked_policy(c) && c.results.size() > 1));
  }
  if (c.constant_fleet) rows.push_back(series_of(c.constant_fleet->result, bucket, false));
  std::int64_t most_ready = 0, most_missed = 0;
  std::size_t buckets = 0;
  for (const RowSeries& row : rows) {
    most_ready = std::max(most_ready, largest_of(row.ready_milli));
    most_missed = std::max(most_missed, largest_of(row.missed));
    buckets = std::max(buckets, row.missed.size());
  }

  const LineDrawer drawer(name_width, width, buckets);
  std::string text = drawer.line(false, "one bar is " + time_text(bucket), "arrived", arrivals, largest_of(arrivals),
                                 "at most " + grouped_text(largest_of(arrivals)));
  for (const RowSeries& row : rows) {
    text += drawer.line(row.is_marked, row.name, "ready", row.ready_milli, most_ready,
                        "at most " + tenths(largest_of(row.ready_milli), 1000));
    const std::int64_t missed = largest_of(row.missed);
    text += drawer.line(false, "", "missed", row.missed, most_missed,
                        missed == 0 ? std::string("none") : "at most " + grouped_text(missed));
  }
  return text;
}

}  // namespace capstan::experiment

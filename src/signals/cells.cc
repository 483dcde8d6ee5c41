#include "signals/cells.h"

#include <algorithm>
#include <cstring>

#include "base/hash.h"
#include "signals/histogram.h"
#include "signals/number.h"

namespace capstan::signals {
namespace {

constexpr std::string_view kPodLabels[] = {"pod", "pod_name", "kubernetes_pod_name"};

/// Hashes eight bytes at a time. The result is used only inside this process, so it may change between versions.
std::uint64_t quick_hash(std::string_view text, std::uint64_t state) {
  for (; text.size() >= 8; text.remove_prefix(8)) {
    std::uint64_t word;
    std::memcpy(&word, text.data(), 8);
    state = (state ^ word) * 0x9e3779b97f4a7c15ULL;
    state ^= state >> 32;
  }
  std::uint64_t rest = text.size() + 1;
  for (const char c : text) rest = rest << 8 | static_cast<unsigned char>(c);
  state = (state ^ rest) * 0xbf58476d1ce4e5b9ULL;
  return state ^ state >> 29;
}

/// Returns a hash that does not depend on the order of the labels. It leaves `le` out, because all buckets of a
/// histogram belong to one series.
std::uint64_t series_hash(const Sample& sample) {
  std::uint64_t sum = 0;
  for (const Label& label : sample.labels) {
    if (label.name == "le") continue;
    sum += mix64(quick_hash(label.value, quick_hash(label.name, 1)));
  }
  return sum;
}

bool has_labels(const Sample& sample, const MetricRow& row) {
  return std::ranges::all_of(row.where, [&](const auto& condition) {
    const std::optional<std::string_view> value = sample.label(condition.first);
    return value && *value == condition.second;
  });
}

std::int64_t bound_of(const Sample& sample, double scale) {
  const std::optional<std::string_view> written = sample.label("le");
  const std::optional<double> bound = written ? parse_number(*written) : std::nullopt;
  if (!bound || *bound != *bound) return Cell::kBadBound;
  const double scaled = *bound * scale;
  if (scaled > 9e18) return Histogram::kInfinity;
  if (scaled < -9e18) return Cell::kBadBound;
  return static_cast<std::int64_t>(scaled < 0 ? scaled - 0.5 : scaled + 0.5);
}

}  // namespace

CellCollector::CellCollector(const MetricCatalog& catalog, std::optional<std::uint16_t> engine,
                             std::string_view expected_pod, std::size_t cells_max)
    : catalog_(catalog), engine_(engine), expected_pod_(expected_pod), cells_max_(cells_max) {}

void CellCollector::declare(const Metadata& metadata) {
  if (metadata.kind != Metadata::Kind::type) return;
  const bool is_not_gauge = metadata.text == "counter" || metadata.text == "histogram" || metadata.text == "summary";
  declared_family_ = is_not_gauge ? metadata.name : std::string_view();
}

void CellCollector::take(const Sample& sample) {
  if (sample.name != last_name_) {
    last_name_ = sample.name;
    last_rows_ = catalog_.find(sample.name);
    last_is_start_ = sample.name == "process_start_time_seconds";
  }
  if (last_is_start_) process_start_ = sample.value;
  for (const std::uint16_t row : last_rows_) {
    if (!engine_ || catalog_.rows()[row].engine == *engine_) take_row(sample, row);
  }
}

void CellCollector::take_row(const Sample& sample, std::uint16_t row_index) {
  const MetricRow& row = catalog_.rows()[row_index];
  if (!has_labels(sample, row)) return;
  if (cells_.size() == cells_max_) {
    has_too_many_cells_ = true;
    return;
  }
  if (!expected_pod_.empty()) {
    for (const std::string_view name : kPodLabels) {
      const std::optional<std::string_view> pod = sample.label(name);
      if (pod && *pod != expected_pod_) names_other_pod_ = true;
    }
  }
  cells_.push_back({.row = row_index,
                    .subject = subject_of(sample, row),
                    .series = series_hash(sample),
                    .bound = row.kind == MetricKind::histogram ? bound_of(sample, row.scale) : 0,
                    .value = sample.value,
                    .timestamp_ms = sample.timestamp_ms.value_or(-1),
                    .is_not_gauge = row.kind == MetricKind::gauge && sample.name == declared_family_});
}

std::uint32_t CellCollector::subject_of(const Sample& sample, const MetricRow& row) {
  scratch_.clear();
  for (const std::vector<std::string>& parts : row.subject_labels) {
    const bool all =
        std::ranges::all_of(parts, [&](const std::string& part) { return sample.label(part).has_value(); });
    if (!all) continue;
    for (const std::string& part : parts) {
      if (&part != &parts.front()) scratch_ += '/';
      const std::string_view written = *sample.label(part);
      scratch_ += sample.has_escapes ? unescape(written) : written;
    }
    break;
  }
  if (!cells_.empty() && subjects_[cells_.back().subject] == scratch_) return cells_.back().subject;
  const auto found = std::ranges::find(subjects_, scratch_);
  if (found == subjects_.end()) {
    subjects_.push_back(scratch_);
    return static_cast<std::uint32_t>(subjects_.size() - 1);
  }
  return static_cast<std::uint32_t>(found - subjects_.begin());
}

}  // namespace capstan::signals

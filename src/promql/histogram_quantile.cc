#include "promql/histogram_quantile.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <map>

#include "promql/value.h"

namespace capstan::promql {
namespace {

struct Bucket {
  double bound = 0;
  double count = 0;
};

std::optional<double> read_bound(std::string_view text) {
  if (text == "+Inf" || text == "Inf" || text == "inf" || text == "+inf") return kInfinity;
  if (text.starts_with('+')) text.remove_prefix(1);
  double value = 0;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || fault != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// Sorts the buckets by bound, merges buckets with equal bounds, and raises each count to at least the previous count.
void normalize(std::vector<Bucket>& buckets) {
  std::ranges::stable_sort(buckets, {}, &Bucket::bound);
  std::vector<Bucket> merged;
  for (const Bucket& bucket : buckets) {
    if (!merged.empty() && merged.back().bound == bucket.bound)
      merged.back().count += bucket.count;
    else
      merged.push_back(bucket);
  }
  for (std::size_t i = 1; i < merged.size(); ++i) merged[i].count = std::max(merged[i].count, merged[i - 1].count);
  buckets = std::move(merged);
}

double quantile(double share, std::vector<Bucket> buckets) {
  if (std::isnan(share)) return kNan;
  if (share < 0) return -kInfinity;
  if (share > 1) return kInfinity;
  normalize(buckets);
  if (buckets.back().bound != kInfinity || buckets.size() < 2) return kNan;
  const double observations = buckets.back().count;
  if (observations == 0 || std::isnan(observations)) return kNan;
  double rank = share * observations;
  std::size_t at = 0;
  while (at + 1 < buckets.size() && !(buckets[at].count >= rank)) ++at;
  if (at + 1 == buckets.size()) return buckets[at - 1].bound;
  if (at == 0 && buckets[0].bound <= 0) return buckets[0].bound;
  const double start = at > 0 ? buckets[at - 1].bound : 0;
  double count = buckets[at].count;
  if (at > 0) {
    count -= buckets[at - 1].count;
    rank -= buckets[at - 1].count;
  }
  return start + (buckets[at].bound - start) * (rank / count);
}

}  // namespace

Vector histogram_quantile(double share, const Vector& buckets) {
  std::map<Labels, std::vector<Bucket>> groups;
  for (const Sample& sample : buckets) {
    const std::optional<double> bound = read_bound(get(sample.labels, "le"));
    if (!bound) continue;
    Labels labels = sample.labels;
    remove(labels, kMetricName);
    remove(labels, "le");
    groups[std::move(labels)].push_back({*bound, sample.value});
  }
  Vector out;
  for (auto& [labels, group] : groups) out.push_back({labels, quantile(share, std::move(group))});
  return out;
}

}  // namespace capstan::promql

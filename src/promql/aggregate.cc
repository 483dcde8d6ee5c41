#include "promql/aggregate.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>

#include "promql/range_function.h"

namespace capstan::promql {
namespace {

using Members = std::vector<const Sample*>;

double mean_of(const Members& members) {
  double mean = members.front()->value;
  double count = 1;
  for (std::size_t i = 1; i < members.size(); ++i) {
    const double value = members[i]->value;
    ++count;
    if (std::isinf(mean)) {
      if (std::isinf(value) && (mean > 0) == (value > 0)) continue;
      if (!std::isinf(value) && !std::isnan(value)) continue;
    }
    mean += value / count - mean / count;  // two quotients, so that no sum overflows
  }
  return mean;
}

double variance_of(const Members& members) {
  double mean = members.front()->value;
  double squares = 0;
  double count = 1;
  for (std::size_t i = 1; i < members.size(); ++i) {
    const double value = members[i]->value;
    ++count;
    const double delta = value - mean;
    mean += delta / count;
    squares += delta * (value - mean);
  }
  return squares / count;
}

double extreme_of(const Members& members, auto&& beats) {
  double best = members.front()->value;
  for (const Sample* member : members) {
    if (beats(member->value, best) || std::isnan(best)) best = member->value;
  }
  return best;
}

double sum_of(const Members& members) {
  double sum = members.front()->value;
  for (std::size_t i = 1; i < members.size(); ++i) sum += members[i]->value;
  return sum;
}

double quantile_of_members(const Members& members, double share) {
  std::vector<double> values;
  for (const Sample* member : members) values.push_back(member->value);
  return quantile_of(share, std::move(values));
}

double reduce(Aggregation::Op op, const Members& members, double parameter) {
  switch (op) {
    case Aggregation::Op::sum:
      return sum_of(members);
    case Aggregation::Op::avg:
      return mean_of(members);
    case Aggregation::Op::min:
      return extreme_of(members, std::less<>());
    case Aggregation::Op::max:
      return extreme_of(members, std::greater<>());
    case Aggregation::Op::stdvar:
      return variance_of(members);
    case Aggregation::Op::stddev:
      return std::sqrt(variance_of(members));
    case Aggregation::Op::quantile:
      return quantile_of_members(members, parameter);
    case Aggregation::Op::group:
      return 1;
    default:
      return static_cast<double>(members.size());
  }
}

/// Appends the `count` highest or lowest samples to `out`, best first. NaN comes last.
void pick(Members members, double count, bool highest, Vector& out) {
  if (!(count >= 1)) return;
  std::ranges::stable_sort(members, [&](const Sample* a, const Sample* b) {
    if (std::isnan(a->value) || std::isnan(b->value)) return !std::isnan(a->value) && std::isnan(b->value);
    return highest ? a->value > b->value : a->value < b->value;
  });
  const std::size_t taken =
      count < static_cast<double>(members.size()) ? static_cast<std::size_t>(count) : members.size();
  for (std::size_t i = 0; i < taken; ++i) out.push_back(*members[i]);
}

}  // namespace

std::string value_text(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "+Inf" : "-Inf";
  char digits[400];
  const auto written = std::to_chars(digits, digits + sizeof digits, value, std::chars_format::fixed);
  return {digits, written.ptr};
}

Labels group_labels(const Labels& labels, bool without, const std::vector<std::string>& names) {
  Labels out;
  for (const auto& label : labels) {
    const bool named = std::ranges::find(names, label.first) != names.end();
    if (without ? !named && label.first != kMetricName : named) out.push_back(label);
  }
  return out;
}

Vector aggregate(const Aggregation& node, const Vector& operand, double parameter, const std::string& label) {
  std::map<Labels, Members> groups;
  for (const Sample& sample : operand) {
    Labels labels = group_labels(sample.labels, node.without, node.labels);
    if (node.op == Aggregation::Op::count_values) set(labels, label, value_text(sample.value));
    groups[std::move(labels)].push_back(&sample);
  }
  Vector out;
  for (const auto& [labels, members] : groups) {
    if (node.op == Aggregation::Op::topk || node.op == Aggregation::Op::bottomk)
      pick(members, parameter, node.op == Aggregation::Op::topk, out);
    else
      out.push_back({labels, reduce(node.op, members, parameter)});
  }
  return out;
}

}  // namespace capstan::promql

#include "series.h"

#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <vector>

#include "base/random.h"

namespace capstan::test {
namespace {

using promql::Labels;

Labels labels(const std::string& metric, Labels others) {
  promql::set(others, promql::kMetricName, metric);
  return others;
}

/// An engine whose metrics change with every scrape.
class Engine {
 public:
  Engine(std::uint64_t number, const std::string& model)
      : random_(7, "engine", number), labels_{{"model_name", model}, {"pod", "chat-" + std::to_string(number)}} {}

  void scrape(promql::SeriesStore& store, std::int64_t at_ms) {
    if (random_.chance_ppm(3'000)) requests_ = 0, tokens_ = 0, buckets_ = {};  // a restart
    requests_ += static_cast<double>(random_.below(40));
    tokens_ += static_cast<double>(random_.below(9000)) * 1.25;
    running_ = std::max(0.0, running_ + static_cast<double>(random_.between(-3, 3)));
    for (std::size_t i = 0; i < buckets_.size(); ++i) buckets_[i] += static_cast<double>(random_.below(7 * (i + 1)));
    double odd = random_.normal() * 1e3;
    if (random_.chance_ppm(30'000)) odd = std::nan("");
    if (random_.chance_ppm(20'000)) odd = std::numeric_limits<double>::infinity();
    if (random_.chance_ppm(20'000)) odd = -std::numeric_limits<double>::infinity();
    append(store, "requests_total", at_ms, requests_);
    append(store, "tokens_total", at_ms, tokens_);
    append(store, "running", at_ms, running_);
    append(store, "kv_usage", at_ms, random_.unit());
    append(store, "odd", at_ms, odd);
    double sum = 0;
    for (std::size_t i = 0; i < buckets_.size(); ++i) {
      sum += buckets_[i];
      Labels with = labels_;
      promql::set(with, "le", kBounds[i]);
      store.append(labels("ttft_seconds_bucket", with), {at_ms, sum});
    }
  }

 private:
  static constexpr std::array<const char*, 5> kBounds = {"0.1", "0.5", "1.0", "10.0", "+Inf"};

  void append(promql::SeriesStore& store, const std::string& metric, std::int64_t at_ms, double value) {
    store.append(labels(metric, labels_), {at_ms, value});
  }

  RandomStream random_;
  Labels labels_;
  double requests_ = 0, tokens_ = 0, running_ = 4;
  std::array<double, 5> buckets_{};
};

std::string number_text(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "+Inf" : "-Inf";
  char digits[400];
  const auto written = std::to_chars(digits, digits + sizeof digits, value);
  return {digits, written.ptr};
}

}  // namespace

promql::SeriesStore make_series() {
  promql::SeriesStore store;
  std::vector<Engine> engines;
  for (std::uint64_t i = 0; i < 5; ++i) engines.emplace_back(i, i < 3 ? "m" : "n");
  RandomStream random(7, "scrapes");
  for (std::int64_t at = 0; at <= kLengthMs; at += 15'000) {
    for (std::size_t i = 0; i < engines.size(); ++i) {
      if (random.chance_ppm(50'000)) continue;                                // a failed scrape
      if (i == 2 && at > 1'200'000 && at < 2'000'000) continue;               // a target that was down
      if (i == 4 && at < 2'400'000) continue;                                 // a target that started later
      const std::int64_t late_ms = i == 0 ? 0 : random.between(0, 400) * 10;  // the first target is scraped on time
      engines[i].scrape(store, kFirstMs + at + late_ms);
    }
    store.append(labels("gateway_queue", {}), {kFirstMs + at, static_cast<double>(random.below(20))});
    store.append(labels("constant", {{"zone", "a"}}), {kFirstMs + at, 3});
  }
  return store;
}

std::string openmetrics(const promql::SeriesStore& store) {
  std::string page;
  for (const promql::Series* series : store.select("", {})) {
    for (const promql::Point& point : series->points) {
      const std::string ms = std::to_string(point.at_ms);
      const std::string seconds = ms.substr(0, ms.size() - 3) + "." + ms.substr(ms.size() - 3);
      page += promql::text(series->labels) + " " + number_text(point.value) + " " + seconds + "\n";
    }
  }
  return page + "# EOF\n";
}

}  // namespace capstan::test

#include <algorithm>
#include <cmath>
#include <limits>

#include "peers/formula/wva_queue.h"

namespace capstan::peers::wva {
namespace {

constexpr float kEpsilon = 0.001f;       ///< margin at both ends of the range of rates, as a part of the rate
constexpr float kStabilityShare = 0.1f;  ///< part of the highest rate that stays unused if there is a throughput target
constexpr float kSearchTolerance = 1e-6f;
constexpr int kSearchSteps = 100;

/// The queue with states 0 to K, solved for one rate at a time. Source: pkg/analyzer/mm1modelstatedependent.go.
class Queue {
 public:
  Queue(const QueueConfig& config, const RequestSize& size) : config_(config), size_(size) {
    for (std::int64_t n = 1; n <= config.max_batch; ++n) {
      const auto batch = static_cast<float>(n);
      const float decode = size.avg_output * decode_ms(config.service, size, batch);
      service_.push_back(batch / (prefill_ms(config.service, size, batch) + decode));
    }
    states_.resize(static_cast<std::size_t>(config.max_queue + config.max_batch) + 1);
  }

  float least() const { return service_.front() * kEpsilon; }  ///< requests/ms
  float most() const { return service_.back() * (1 - kEpsilon); }

  QueueFigures solve(float lambda) {
    solve_states(lambda);
    const std::size_t last = states_.size() - 1;
    double in_system = 0, in_service = 0, sum = states_[0];
    for (std::size_t i = 1; i <= last; ++i) {
      in_system += static_cast<double>(i) * states_[i];
      sum += states_[i];
      if (i == service_.size()) in_service = in_system + (1 - sum) * static_cast<double>(service_.size());
    }
    QueueFigures out;
    out.in_service = static_cast<float>(in_service);
    const float throughput = lambda * (1 - static_cast<float>(states_[last]));
    out.response_ms = static_cast<float>(in_system) / throughput;
    const float served_ms = out.in_service / throughput;
    out.wait_ms = std::max(0.0f, out.response_ms - served_ms);
    const float prefill = prefill_ms(config_.service, size_, out.in_service);
    out.token_ms = (served_ms - prefill) / size_.avg_output;
    out.ttft_ms = out.wait_ms + prefill + out.token_ms;
    out.throughput = throughput * 1000;
    return out;
  }

 private:
  /// Implements computeProbabilities: products of ratios, scaled down when they would overflow a double.
  void solve_states(float lambda) {
    const double scale = std::numeric_limits<double>::max() / static_cast<double>(states_.size() - 1);
    states_[0] = 1;
    for (std::size_t n = 0; n + 1 < states_.size(); ++n) {
      const double rate = static_cast<double>(service_[std::min(n, service_.size() - 1)]);
      states_[n + 1] = states_[n] * static_cast<double>(lambda) / rate;
      if (std::isfinite(states_[n + 1])) continue;
      for (std::size_t i = 0; i <= n; ++i) states_[i] /= scale;
      states_[n + 1] = states_[n] * static_cast<double>(lambda) / rate;
    }
    double sum = 0;
    for (std::size_t n = 0; n < states_.size(); ++n) {
      sum += states_[n];
      if (std::isfinite(sum)) continue;
      sum = 0;
      for (std::size_t i = 0; i < states_.size(); ++i) {
        states_[i] /= scale;
        if (i <= n) sum += states_[i];
      }
    }
    for (double& state : states_) state /= sum;
  }

  QueueConfig config_;
  RequestSize size_;
  std::vector<float> service_;  ///< service rate by number of requests in service
  std::vector<double> states_;  ///< probability of each number of requests in the system
};

bool near(float x, float value) {
  if (x == value) return true;
  return value != 0 && std::abs((x - value) / value) <= kSearchTolerance;
}

/// Implements BinarySearch: returns the rate at which a monotone figure reaches its target. Returns the highest rate if
/// the figure stays within the target, and none if the figure is beyond the target at every rate.
template <typename Figure>
std::optional<float> search(Queue& queue, float target, Figure figure) {
  float low = queue.least(), high = queue.most();
  const float at_low = figure(queue.solve(low)), at_high = figure(queue.solve(high));
  if (near(at_low, target)) return low;
  if (near(at_high, target)) return high;
  const bool grows = at_low < at_high;
  if (grows ? target < at_low : target > at_low) return std::nullopt;
  if (grows ? target > at_high : target < at_high) return high;
  float middle = low;
  for (int i = 0; i < kSearchSteps; ++i) {
    middle = 0.5f * (low + high);
    const float value = figure(queue.solve(middle));
    if (near(value, target)) break;
    const bool beyond = grows ? target < value : target > value;
    (beyond ? high : low) = middle;
  }
  return middle;
}

}  // namespace

std::optional<QueueFigures> analyze_queue(const QueueConfig& config, const RequestSize& size,
                                          float requests_per_second) {
  if (!config.valid() || !size.valid() || !(requests_per_second > 0)) return std::nullopt;
  Queue queue(config, size);
  if (requests_per_second > queue.most() * 1000) return std::nullopt;
  return queue.solve(requests_per_second / 1000);
}

std::optional<Sizing> size_queue(const QueueConfig& config, const RequestSize& size, const SizingTargets& targets) {
  if (!config.valid() || !size.valid()) return std::nullopt;
  Queue queue(config, size);
  std::optional<float> by_ttft = queue.most(), by_itl = queue.most();
  if (targets.ttft_ms > 0) by_ttft = search(queue, targets.ttft_ms, [](const QueueFigures& f) { return f.ttft_ms; });
  if (targets.itl_ms > 0) by_itl = search(queue, targets.itl_ms, [](const QueueFigures& f) { return f.token_ms; });
  if (!by_ttft || !by_itl) return std::nullopt;
  const float by_tps = targets.tps > 0 ? queue.most() * (1 - kStabilityShare) : queue.most();
  Sizing sizing{*by_ttft * 1000, *by_itl * 1000, by_tps * 1000, 0, {}};
  const float least = std::min({*by_ttft, *by_itl, by_tps});
  sizing.rate = least * 1000;
  sizing.at_rate = queue.solve(least);
  return sizing;
}

std::int64_t replicas_for(float requests_per_second, const Sizing& sizing) {
  if (!(sizing.rate > 0)) return 0;
  return static_cast<std::int64_t>(std::ceil(requests_per_second / sizing.rate));
}

}  // namespace capstan::peers::wva

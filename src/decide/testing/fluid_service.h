#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "decide/scale/scale.h"

namespace capstan::decide::testing {

/// A service with constant request flow: every ready replica takes an equal share, and starts take a fixed time. It
/// shows one effect at a time; the simulator shows all of them together.
class FluidService {
 public:
  static constexpr Duration kScrape = std::chrono::seconds(15);
  static constexpr double kPrompt = 1000, kOutput = 200;

  explicit FluidService(ReplicaCount replicas, Duration lead = std::chrono::seconds(60)) : lead_(lead) {
    role_.service = {0};
    role_.min = 1;
    role_.max = 100;
    role_.slo = {.ttft = std::chrono::seconds(1), .tpot = std::chrono::milliseconds(50), .e2e = {}};
    role_.engine = &row();
    role_.gateway_waiting = model::Signal::measured(0, std::chrono::seconds(1));
    follow(replicas);
    for (scale::WorkloadView::Replica& replica : role_.replicas) replica.phase = model::Gang::Phase::ready;
  }

  static const engine::EngineRow& row() {
    return **engine::EngineTable::bundled().find("Llama-3.1-8B", "H100", 1, "bfloat16");
  }

  /// Simulates one scrape interval of `requests_per_s` with three decisions, and applies them.
  scale::Decision pass(double requests_per_s, scale::Memory& memory, const scale::Policy& policy = scale::Capstan{}) {
    now_ = now_ + kScrape;
    start();
    scrape(requests_per_s);
    scale::Decision last;
    for (int i = 0; i < 3; ++i) {
      last = scale::decide(role_, policy, memory, now_ + i * std::chrono::seconds(5) + std::chrono::seconds(1));
      if (!last.plan.actions.empty()) follow(last.desired);
    }
    return last;
  }

  /// Sets the seconds between two tokens, at any load. The default is close to the engine table.
  void token_s(double seconds) { token_s_ = seconds; }
  /// Makes this many of the ready replicas give no reading from now on.
  void silence(std::size_t replicas) { silent_ = replicas; }
  /// Makes replicas stop reporting the time to first token.
  void hide_first_tokens() { reports_first_tokens_ = false; }
  void restart_counters() {
    for (scale::WorkloadView::Replica& replica : role_.replicas) replica.signals.generated_tokens_total.value = 0;
    for (scale::WorkloadView::Replica& replica : role_.replicas) replica.signals.prompt_tokens_total.value = 0;
  }

  scale::WorkloadView& role() { return role_; }
  Instant now() const { return now_; }
  ReplicaCount ready() const {
    return std::ranges::count(role_.replicas, model::Gang::Phase::ready, &scale::WorkloadView::Replica::phase);
  }

 private:
  void follow(ReplicaCount replicas) {
    role_.current = replicas;
    while (static_cast<ReplicaCount>(role_.replicas.size()) > replicas) role_.replicas.pop_back();
    while (static_cast<ReplicaCount>(role_.replicas.size()) < replicas) {
      scale::WorkloadView::Replica replica;
      replica.id = {next_++};
      replica.phase = model::Gang::Phase::starting;
      replica.created_at = now_;
      replica.expected_ready_at = now_ + lead_;
      role_.replicas.push_back(replica);
    }
  }

  void start() {
    for (scale::WorkloadView::Replica& replica : role_.replicas) {
      if (replica.phase == model::Gang::Phase::starting && replica.expected_ready_at <= now_) {
        replica.phase = model::Gang::Phase::ready;
      }
    }
  }

  void scrape(double requests_per_s) {
    const double share = requests_per_s / static_cast<double>(std::max<ReplicaCount>(ready(), 1));
    const double interval_s = in_seconds(kScrape);
    std::size_t silent = silent_;
    for (scale::WorkloadView::Replica& replica : role_.replicas) {
      if (replica.phase != model::Gang::Phase::ready) continue;
      model::ReplicaSignals& s = replica.signals;
      const auto grown = [&](const model::Signal& counter, double tokens) {
        return model::Signal::measured(counter.value + static_cast<std::int64_t>(share * tokens * interval_s), kAge);
      };
      s.prompt_tokens_total = grown(s.prompt_tokens_total, kPrompt);
      s.generated_tokens_total = grown(s.generated_tokens_total, kOutput);
      s.running = model::Signal::measured(static_cast<std::int64_t>(share * kOutput * token_s_ + 0.5), kAge);
      s.waiting = model::Signal::measured(0, kAge);
      s.kv_usage_ppm = model::Signal::measured(std::min<std::int64_t>(s.running.value * 2500, 1'000'000), kAge);
      s.ttft_p99_us = reports_first_tokens_ ? model::Signal::measured(100'000, kAge) : model::Signal{};
      s.queue_late_ppm = s.ttft_late_ppm = reports_first_tokens_ ? model::Signal::measured(0, kAge) : model::Signal{};
      if (silent == 0) continue;
      --silent;
      s.waiting.state = s.running.state = model::Signal::State::missing;
    }
  }

  static constexpr Duration kAge = std::chrono::seconds(1);
  scale::WorkloadView role_;
  Duration lead_;
  Instant now_{};
  double token_s_ = 0.011;
  std::size_t silent_ = 0;
  bool reports_first_tokens_ = true;
  std::uint32_t next_ = 0;
};

}  // namespace capstan::decide::testing

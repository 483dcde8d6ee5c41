#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <vector>

#include "base/time.h"
#include "model/ids.h"
#include "promql/series.h"
#include "sim/fleet/fleet.h"

namespace capstan::experiment {

/// The series of a simulated fleet in a Prometheus server: every scrape of engines, GPUs, the gateway and the job
/// queues, under the metric names of vLLM, NVIDIA's DCGM exporter, the Gateway API inference extension and Kueue.
class ScrapedSeries {
 public:
  struct Page {
    const sim::ReplicaReading& engine;
    std::int64_t duty_cycle_percent = 0;
  };

  /// @param labels  labels of every series; series of a replica also have `pod`
  /// @param delay   time from a scrape until queries see it
  ScrapedSeries(std::map<std::string, std::string> labels, Duration delay, std::int64_t memory_used_percent)
      : labels_(std::move(labels)), delay_(delay), memory_used_percent_(memory_used_percent) {}

  void add(model::GangId gang, Instant at, const Page& page);
  void add(Instant at, RequestCount gateway_waiting);
  /// Adds the batch jobs that wait in a queue, as Kueue reports them. The series has no labels of the service.
  void add(Instant at, const std::string& queue, std::int64_t jobs_waiting);
  /// Ends the series of a replica, as Prometheus does when a target vanishes.
  void forget(model::GangId gang);

  /// Returns the data that queries see at `now`, which must not decrease from call to call.
  const promql::SeriesStore& at(Instant now);

 private:
  struct Arrival {
    Instant visible;
    promql::Labels labels;
    promql::Point point;
  };
  void put(std::string_view metric, promql::Labels labels, Instant at, double value);
  void put_first_tokens(const promql::Labels& own, model::GangId gang, Instant at, const sim::TtftBuckets& since_last);

  std::map<std::string, std::string> labels_;
  Duration delay_;
  std::int64_t memory_used_percent_;
  std::deque<Arrival> coming_;
  promql::SeriesStore store_;
  std::map<model::GangId, sim::TtftBuckets> first_tokens_;  ///< counts since each replica began to serve
  std::map<model::GangId, std::vector<promql::Labels>> by_gang_;
  std::vector<promql::Labels> gone_;  ///< series that the next scrape no longer finds
  Instant next_forget_{};
};

}  // namespace capstan::experiment

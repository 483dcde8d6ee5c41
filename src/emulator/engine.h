#pragma once

#include <cstdint>
#include <deque>
#include <expected>
#include <map>
#include <vector>

#include "base/time.h"
#include "emulator/metrics.h"
#include "emulator/prompt.h"
#include "engine/step_model.h"
#include "sim/serving/replica.h"

namespace capstan::emulator {

struct EngineSettings {
  const engine::StepModel* model = nullptr;  ///< must outlive the engine
  sim::ReplicaConfig replica;
  Duration front_end = std::chrono::milliseconds(15);  ///< delay of each token between the engine and the client
  Duration refusing{};                                 ///< time after the start in which connections are refused
  Duration loading{};                                  ///< time after `refusing` in which the engine answers 503
  Dialect dialect = Dialect::vllm;
};

/// A request to generate an answer.
struct Generation {
  Prompt prompt;
  std::int32_t output_tokens = 1;   ///< tokens of the answer, >= 1
  bool stops = false;               ///< true: the answer ends by itself; false: it ends at its client's token limit
  std::int32_t progress_every = 0;  ///< tokens between progress reports; 0: only first and last token
};

using RequestId = std::uint32_t;

/// Progress of a request, as its client receives it.
struct Progress {
  Instant at;  ///< time of arrival at the client
  RequestId id = 0;
  std::int32_t tokens = 0;  ///< tokens generated so far
  bool finished = false;

  friend bool operator==(const Progress&, const Progress&) = default;
};

enum class Phase : std::uint8_t { refusing, loading, ready };
enum class Refusal : std::uint8_t { not_ready, queue_full, too_long };

/// One emulated engine: the simulator's replica behind a front end, with the start phases and the metrics of a server.
/// The engine has no sockets and no clock. Callers call `advance` with `now` before any other call with the same `now`,
/// and `now` never goes back.
class Engine {
 public:
  Engine(const EngineSettings& settings, Instant started);

  Phase phase(Instant now) const;
  Instant accepts_from() const { return started_ + settings_.refusing; }  ///< time of the first accepted connection

  std::expected<RequestId, Refusal> submit(Generation generation, Instant now);
  /// Aborts a request whose client disconnected. No more progress is reported; its place in the batch is free after the
  /// step under way.
  void abort(RequestId id, Instant now);

  /// Returns the time from which advance() has something to do or to report; never() if the engine is idle.
  Instant next_event() const { return next_event_; }
  /// Appends the progress that clients receive up to `to`, in order of time.
  void advance(Instant to, std::vector<Progress>& out);

  const RequestMetrics& metrics() const { return metrics_; }
  sim::ReplicaSample sample(Instant now) { return replica_.sample(now); }
  const EngineSettings& settings() const { return settings_; }

 private:
  struct Request {
    Generation generation;
    std::uint32_t slot = 0;
    Instant arrived;
    Instant scheduled = Instant::never();
    Instant first = Instant::never();
    std::int32_t reported_tokens = 0;
    bool in_replica = true;
  };
  struct AbortedHashes {
    std::vector<std::uint64_t> prefix_hashes;
    Instant until;
  };

  void run_event(Instant at);
  void record_scheduled(Instant at);
  void record_steps(Instant at);
  void report_streams(Instant now);
  void report(Instant at, RequestId id, std::int32_t tokens, bool finished);
  void count_received(const Progress& progress);
  void update_next_event(Instant now);

  EngineSettings settings_;
  Instant started_;
  sim::Replica replica_;
  RequestMetrics metrics_;
  RequestId next_id_ = 0;
  std::map<RequestId, Request> requests_;
  std::deque<RequestId> queue_;                   ///< requests that wait in the replica, in the replica's order
  std::vector<RequestId> streams_;                ///< requests in the batch whose clients want to receive progress
  std::deque<Progress> in_front_end_;             ///< progress on its way from the engine to the client
  std::vector<AbortedHashes> hashes_of_aborted_;  ///< hashes of aborted requests that the step under way may still read
  sim::Emissions emissions_;
  Duration inter_token_total_{};  ///< last value of the replica's counter
  std::int64_t inter_token_count_ = 0;
  Instant next_event_ = Instant::never();
};

}  // namespace capstan::emulator

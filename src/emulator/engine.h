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
  const engine::StepModel* model = nullptr;  ///< outlives the engine
  sim::ReplicaConfig replica;
  Duration front_end = std::chrono::milliseconds(15);  ///< between engine and client, added to every token's time
  Duration refusing{};                                 ///< after its start it refuses connections for so long,
  Duration loading{};                                  ///< then answers 503 for so long, then serves
  Dialect dialect = Dialect::vllm;
};

/// What an engine is asked to generate.
struct Generation {
  Prompt prompt;
  std::int32_t output_tokens = 1;   ///< >= 1
  bool stops = false;               ///< the answer ends by itself, not because its client wanted no more
  std::int32_t progress_every = 0;  ///< tell of progress after so many tokens; 0: of the first and the last
};

using RequestId = std::uint32_t;

/// News of a request, when its client hears it.
struct Progress {
  Instant at;
  RequestId id = 0;
  std::int32_t tokens = 0;  ///< generated so far
  bool finished = false;

  friend bool operator==(const Progress&, const Progress&) = default;
};

enum class Phase : std::uint8_t { refusing, loading, ready };
enum class Refusal : std::uint8_t { not_ready, queue_full, too_long };

/// One emulated engine: the simulator's replica behind a front end, with the life of a server and an engine's metrics.
/// No sockets and no clock. Callers advance it to `now` before any other call with that `now`, which never goes back.
class Engine {
 public:
  Engine(const EngineSettings& settings, Instant started);

  Phase phase(Instant now) const;
  Instant serves_from() const { return started_ + settings_.refusing; }  ///< accepts connections

  std::expected<RequestId, Refusal> submit(Generation generation, Instant now);
  /// The client left. Nothing is told of the request any more; its place in the batch is free after the step under way.
  void abort(RequestId id, Instant now);

  /// When advance() next has something to tell or to do; never() when idle.
  Instant next_event() const { return next_event_; }
  /// Appends what clients hear up to `to`, in order of time.
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
    std::int32_t told = 0;  ///< tokens
    bool in_replica = true;
  };
  struct Lingering {
    std::vector<std::uint64_t> prefix_hashes;
    Instant until;
  };

  void run_event(Instant at);
  void note_scheduled(Instant at);
  void note_steps(Instant at);
  void tell_progress(Instant now);
  void tell(Instant at, RequestId id, std::int32_t tokens, bool finished);
  void heard(const Progress& progress);
  void plan(Instant now);

  EngineSettings settings_;
  Instant started_;
  sim::Replica replica_;
  RequestMetrics metrics_;
  RequestId next_id_ = 0;
  std::map<RequestId, Request> requests_;
  std::deque<RequestId> queue_;       ///< those that wait in the replica, in its order
  std::vector<RequestId> streams_;    ///< in the batch, whose clients want to hear of progress
  std::deque<Progress> on_the_way_;   ///< through the front end; `at` is when the client hears it
  std::vector<Lingering> lingering_;  ///< hashes of aborted requests that the step under way may still read
  sim::Emissions emissions_;
  Duration inter_token_total_{};  ///< as last seen in the replica's counters
  std::int64_t inter_token_count_ = 0;
  Instant next_event_ = Instant::never();
};

}  // namespace capstan::emulator

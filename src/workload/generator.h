#pragma once

#include <cstdint>
#include <queue>
#include <vector>

#include "workload/arrivals.h"
#include "workload/block_arena.h"
#include "workload/source.h"
#include "workload/spec.h"

namespace capstan::workload {

/// Single requests of a generator; `spec.lengths` is complete and the settings are valid.
class RequestGenerator final : public Source {
 public:
  RequestGenerator(const GeneratorSpec& spec, Duration limit, double scale, std::uint64_t seed);

  bool next(Request& request) override;
  std::size_t fill(std::span<Request> out) override;
  double progress() const override;

 private:
  LengthsSpec lengths_spec_;
  Arrivals arrivals_;
  RandomStream lengths_;
  Duration limit_;
  Duration reached_{};
};

/// Conversations of a generator. A session draws all its turns from a stream of its own when it begins, so that its
/// blocks lie in one piece and every turn's prefix is the front of it; only running sessions are held.
class SessionGenerator final : public Source {
 public:
  SessionGenerator(const GeneratorSpec& spec, Duration limit, double scale, std::uint64_t seed);

  bool next(Request& request) override;
  double progress() const override;

 private:
  struct Turn {
    Duration gap;  ///< since the turn before
    std::int32_t prompt;
    std::int32_t answer;
  };
  struct Session {
    std::vector<Turn> turns;
    std::size_t next_turn = 0;
    std::uint32_t client = 0;
    std::span<const std::uint64_t> blocks;  ///< of the longest prompt, whole blocks only
  };
  struct Due {
    Instant at;
    std::uint32_t client;  ///< breaks ties
    std::uint32_t slot;    ///< in `running_`
    bool operator>(const Due& other) const { return at != other.at ? at > other.at : client > other.client; }
  };

  void begin(Instant at);
  Session plan(std::uint32_t index);
  void draw_start() { start_ = arrivals_.next(limit_); }

  GeneratorSpec spec_;
  Arrivals arrivals_;
  std::uint64_t seed_;
  Duration limit_;
  Duration reached_{};
  std::optional<Instant> start_;  ///< of the next session
  std::uint32_t sessions_ = 0;
  std::vector<Session> running_;
  std::vector<std::uint32_t> free_;
  std::priority_queue<Due, std::vector<Due>, std::greater<>> due_;
  BlockArena arena_;
};

}  // namespace capstan::workload

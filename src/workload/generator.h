#pragma once

#include <cstdint>
#include <queue>
#include <vector>

#include "workload/arrivals.h"
#include "workload/block_arena.h"
#include "workload/source.h"
#include "workload/spec.h"

namespace capstan::workload {

/// Generates single requests. `spec.lengths` must be complete and the settings valid.
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

/// Generates conversations. A session draws all its turns from its own random stream when it begins, so that its prefix
/// blocks are contiguous. The prefix of a turn is the first part of these blocks. Of a session that has ended, only the
/// prefix blocks stay in memory.
class SessionGenerator final : public Source {
 public:
  SessionGenerator(const GeneratorSpec& spec, Duration limit, double scale, std::uint64_t seed);

  bool next(Request& request) override;
  double progress() const override;

 private:
  struct Turn {
    Duration gap;  ///< time since the previous turn
    std::int32_t prompt;
    std::int32_t answer;
  };
  struct Session {
    std::vector<Turn> turns;
    std::size_t next_turn = 0;
    std::uint32_t client = 0;
    std::span<const std::uint64_t> blocks;  ///< prefix blocks of the longest prompt, whole blocks only
  };
  struct DueTurn {
    Instant at;
    std::uint32_t client;  ///< number of the client; breaks ties
    std::uint32_t slot;    ///< index in `running_`
    bool operator>(const DueTurn& other) const { return at != other.at ? at > other.at : client > other.client; }
  };

  void begin(Instant at);
  Session plan(std::uint32_t index);
  void draw_start() { start_ = arrivals_.next(limit_); }

  GeneratorSpec spec_;
  Arrivals arrivals_;
  std::uint64_t seed_;
  Duration limit_;
  Duration reached_{};
  std::optional<Instant> start_;  ///< start of the next session
  std::uint32_t sessions_ = 0;
  std::vector<Session> running_;
  std::vector<std::uint32_t> free_;
  std::priority_queue<DueTurn, std::vector<DueTurn>, std::greater<>> due_;
  BlockArena arena_;
};

}  // namespace capstan::workload

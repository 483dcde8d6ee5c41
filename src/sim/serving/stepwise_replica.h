#pragma once

#include <cstdint>
#include <deque>
#include <list>
#include <map>
#include <optional>
#include <vector>

#include "engine/step_model.h"
#include "sim/serving/request.h"

namespace capstan::sim {

/// The slow twin of Replica: the same rules, read off the description of vLLM's scheduler, one step and one request at
/// a time, with nothing kept that can be counted again. Shares only the step model with it. A test oracle.
class StepwiseReplica {
 public:
  StepwiseReplica(const ReplicaConfig& config, const engine::StepModel& model);

  OfferResult offer(const EngineRequest& request, Instant now);
  void advance(Instant to, Emissions& out);
  bool cancel(std::uint32_t id, Instant now);
  void drain() { accepting_ = false; }
  void kill(std::vector<HeldRequest>& held);
  bool idle() const { return running_.empty() && waiting_.empty(); }
  ReplicaSample sample() const;

 private:
  struct Request {
    EngineRequest given;
    std::int64_t generated = 0;
    std::int64_t computed = 0;           ///< tokens whose KV is held
    std::int64_t scheduled = 0;          ///< tokens of the step under way
    std::int64_t groups = 0;             ///< leading prefix groups that it shares
    std::optional<std::int64_t> cached;  ///< tokens of the prompt that were cached when it was first admitted
    engine::WidePicoseconds admitted_ps = 0;
    bool decoding = false;
    bool produced = false;  ///< a token in the step just completed
    bool cancelled = false;
  };
  struct Group {
    std::int64_t users = 0;
  };

  std::int64_t total(const Request& r) const { return r.given.input_tokens + r.generated; }
  std::int64_t private_blocks(const Request& r) const;
  std::int64_t used_blocks() const;
  bool allocate(const Request& r, std::int64_t tokens);
  void make_free(std::int64_t blocks);
  void schedule(Emissions& out);
  bool admit_first(std::int64_t& budget);
  void share_groups(Request& r);
  void give_back(Request& r);
  void complete_step(Emissions& out);

  ReplicaConfig config_;
  const engine::StepModel* model_;
  bool accepting_ = true;
  bool in_step_ = false;
  engine::WidePicoseconds start_ps_ = 0;
  engine::WidePicoseconds end_ps_ = 0;
  std::vector<Request> running_;
  std::deque<Request> waiting_;
  std::map<std::uint64_t, Group> cache_;
  std::list<std::uint64_t> unused_;  ///< groups without users, the first to go in front
  std::int64_t preemptions_ = 0;
  std::int64_t prompt_tokens_ = 0;
  std::int64_t generation_tokens_ = 0;
  std::int64_t queried_ = 0;
  std::int64_t hit_ = 0;
  std::int64_t steps_ = 0;
  std::int64_t inter_token_count_ = 0;
  engine::WidePicoseconds busy_ps_ = 0;
  engine::WidePicoseconds inter_token_ps_ = 0;
};

}  // namespace capstan::sim

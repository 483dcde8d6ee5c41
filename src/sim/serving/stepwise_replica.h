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

/// The test oracle of Replica. Applies the rules of vLLM's scheduler one step and one request at a time and recomputes
/// every number that can be recomputed. Shares only the step model with Replica.
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
    EngineRequest request;
    std::int64_t generated = 0;
    std::int64_t computed = 0;           ///< tokens whose KV is held
    std::int64_t scheduled = 0;          ///< tokens of the step under way
    std::int64_t groups = 0;             ///< leading prefix groups that are shared in the cache
    std::optional<std::int64_t> cached;  ///< prompt tokens found in the cache at the first admission
    engine::WidePicoseconds admitted_ps = 0;
    bool decoding = false;
    bool has_new_token = false;  ///< true: the step just completed generated a token
    bool cancelled = false;
  };
  struct Group {
    std::int64_t users = 0;
  };

  std::int64_t total(const Request& r) const { return r.request.input_tokens + r.generated; }
  std::int64_t private_blocks(const Request& r) const;
  std::int64_t used_blocks() const;
  bool allocate(const Request& r, std::int64_t tokens);
  void make_free(std::int64_t blocks);
  void schedule(Emissions& out);
  bool admit_first(std::int64_t& budget);
  void share_groups(Request& r);
  void release_kv(Request& r);
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
  std::list<std::uint64_t> unused_;  ///< groups without users; the next to be evicted is in front
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

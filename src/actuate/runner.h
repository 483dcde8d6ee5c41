#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "actuate/effect.h"
#include "base/random.h"
#include "kube/backoff.h"
#include "kube/client.h"
#include "model/ids.h"
#include "net/monotonic.h"

namespace capstan::actuate {

/// Runs every effect with a client until it has an outcome. The runner asks the fence when a write is queued and again
/// when it is sent. It repeats a request if the server is busy or unreachable. Effects with the same key run one after
/// the other.
class Runner {
 public:
  struct Options {
    /// Time without a usable answer after which an outcome is reported. It is shorter than the minute after which
    /// control::InFlight gives up, so that the loop gets the reason from here.
    Duration give_up_after = std::chrono::seconds(45);
    std::size_t effects_max = 20'000;  ///< largest number of effects; further effects are refused
  };

  Runner(kube::Client& client, net::Clock clock, Fence fence, RandomStream random, Options options);
  Runner(kube::Client& client, net::Clock clock, Fence fence, RandomStream random)
      : Runner(client, std::move(clock), std::move(fence), random, Options()) {}
  ~Runner();
  Runner(const Runner&) = delete;

  /// @param key    object that the effect changes, such as "scale/deployments.apps/ml/vllm"
  /// @param token  action that gets the outcome; an invalid token: no action gets it
  void submit(std::string key, model::ActionToken token, std::unique_ptr<Effect> effect);
  /// Moves the effect with this key to another action: the old token gets the outcome `superseded`, and `token` gets
  /// the later outcome. Returns false if there is no such effect.
  bool take_over(std::string_view key, model::ActionToken token);
  bool busy(std::string_view key) const;
  /// Reports the outcome of an action that needs no effect.
  void answer(model::ActionToken token, EffectResult verdict);

  /// Takes the next step of every effect that is not waiting. Call it after `kube::Client::run_once`.
  void run_once();
  Instant next_deadline() const { return next_; }

  std::vector<ports::Outcome> take_outcomes();
  std::size_t size() const { return entries_.size(); }

 private:
  struct Entry {
    std::string key;
    model::ActionToken token;
    std::unique_ptr<Effect> effect;
    kube::Client::CallId call = 0;  // request in flight; 0: none
    bool allowed_when_halted = false;
    Permit stopped_by = Permit::all;  // permit that stopped the last write; `all`: none was stopped
    kube::Backoff backoff;
    Instant not_before{};
    Instant failing_since = Instant::never();
  };
  using Id = std::uint64_t;

  bool drive(Id id, Entry& entry, Instant now);
  void send(Id id, Entry& entry, Step step);
  void answered(Id id, const kube::ApiRequest& request, const kube::Outcome& outcome);
  bool stop(Entry& entry, Permit permit, Instant now);
  bool may_send(const Entry& entry, Permit permit) const;
  bool back_off(Entry& entry, const kube::ApiError& error, Instant now);
  bool end_early(Entry& entry, model::Reason why);
  void report(Entry& entry, EffectResult verdict);

  kube::Client& client_;
  net::Clock clock_;
  Fence fence_;
  RandomStream random_;
  Options options_;
  std::map<Id, Entry> entries_;  // effects in order of submission
  Id last_id_ = 0;
  Instant next_ = Instant::never();
  std::vector<ports::Outcome> outcomes_;
};

}  // namespace capstan::actuate

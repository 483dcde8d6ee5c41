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

/// Drives effects over a client, each to its one outcome. It asks the fence before each write is handed over and again
/// when it is sent, repeats what the server was too busy or too far away for, and lets only one effect at a time touch
/// what has the same key.
class Runner {
 public:
  struct Options {
    /// Without one usable answer for so long, the outcome is told as it stands. Shorter than control::InFlight's
    /// patience of a minute, so that the loop hears it from here.
    Duration patience = std::chrono::seconds(45);
    std::size_t effects_max = 20'000;  ///< more are refused
  };

  Runner(kube::Client& client, net::Clock clock, Fence fence, RandomStream random, Options options);
  Runner(kube::Client& client, net::Clock clock, Fence fence, RandomStream random)
      : Runner(client, std::move(clock), std::move(fence), random, Options()) {}
  ~Runner();
  Runner(const Runner&) = delete;

  /// @param key    what it touches: "scale/deployments.apps/ml/vllm"
  /// @param token  whose outcome it is; none: nobody's
  void submit(std::string key, model::ActionToken token, std::unique_ptr<Effect> effect);
  /// The token that waits for the effect of a key is told that a newer decision took its place, and `token` waits from
  /// now on. False where there is none.
  bool take_over(std::string_view key, model::ActionToken token);
  bool busy(std::string_view key) const;
  /// Answers a token without an effect.
  void answer(model::ActionToken token, Verdict verdict);

  /// Takes the next step of every effect that can; to be called after the client's turn.
  void turn();
  Instant next_deadline() const { return next_; }

  std::vector<ports::Outcome> take_outcomes();
  std::size_t size() const { return entries_.size(); }

 private:
  struct Entry {
    std::string key;
    model::ActionToken token;
    std::unique_ptr<Effect> effect;
    kube::Client::CallId call = 0;  // 0: no request is on its way
    bool although_halted = false;
    Permit stopped_by = Permit::anything;  // the last write was not sent because of it
    kube::Backoff backoff;
    Instant not_before{};
    Instant trouble_since = Instant::never();
  };
  using Id = std::uint64_t;

  bool drive(Id id, Entry& entry, Instant now);
  void send(Id id, Entry& entry, Step step);
  void answered(Id id, const kube::ApiRequest& request, const kube::Outcome& outcome);
  bool stopped(Entry& entry, Permit permit, Instant now);
  bool may_send(const Entry& entry, Permit permit) const;
  bool in_trouble(Entry& entry, const kube::ApiError& error, Instant now);
  bool end_as_it_stands(Entry& entry, model::Reason why);
  void tell(Entry& entry, Verdict verdict);

  kube::Client& client_;
  net::Clock clock_;
  Fence fence_;
  RandomStream random_;
  Options options_;
  std::map<Id, Entry> entries_;  // in order of submission
  Id last_id_ = 0;
  Instant next_ = Instant::never();
  std::vector<ports::Outcome> outcomes_;
};

}  // namespace capstan::actuate

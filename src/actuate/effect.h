#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>

#include "base/time.h"
#include "kube/client.h"
#include "kube/request.h"
#include "model/reason.h"
#include "ports/world.h"

namespace capstan::actuate {

/// The writes that are allowed now, which depends on the Lease, the kill switch and the age of the view of the cluster.
enum class Permit : std::uint8_t {
  none,        ///< no writes: this process may have lost the Lease
  finish,      ///< the kill switch is on: only writes that finish a bind transaction
  stale_view,  ///< the view of the cluster is too old: allows the same as `finish`
  all,
};

/// A function that returns the writes that are allowed now. It is called right before each write is sent.
using Fence = std::function<Permit()>;

/// A reference to one object. With a UID, it never means a later object with the same name.
struct Ref {
  kube::ObjectRef object;
  std::string uid;  ///< UID of the object; empty: any object with the name
};

/// The outcome of an effect.
struct EffectResult {
  ports::Outcome::Kind kind = ports::Outcome::Kind::applied;
  model::Reason why;

  static EffectResult applied() { return {}; }
  static EffectResult refused(model::Reason why) { return {ports::Outcome::Kind::refused, why}; }
  static EffectResult unknown(model::Reason why) { return {ports::Outcome::Kind::unknown, why}; }
};

/// The next step of an effect.
struct Step {
  enum class Kind : std::uint8_t { send, wait, done };
  Kind kind = Kind::wait;
  kube::ApiRequest request;          ///< request of a `send`
  bool allowed_when_halted = false;  ///< true if the request of a `send` finishes a bind transaction
  Instant until;                     ///< latest time of the next call, for a `wait`
  EffectResult verdict;              ///< verdict of a `done`

  static Step send(kube::ApiRequest request, bool allowed_when_halted = false) {
    return {Kind::send, std::move(request), allowed_when_halted, {}, {}};
  }
  static Step wait(Instant until) { return {Kind::wait, {}, false, until, {}}; }
  static Step done(EffectResult verdict) { return {Kind::done, {}, false, {}, verdict}; }
};

/// The changes that an effect has made so far.
enum class Progress : std::uint8_t {
  none,      ///< nothing has changed
  in_doubt,  ///< the outcome of a write is unknown
  /// A part has changed. The runner keeps the effect until it is complete or rolled back, or this process may have lost
  /// the Lease.
  partial,
};

/// A state machine that carries out one action with API requests, without a socket or a clock. It has one request in
/// flight at a time, so that a write with an unknown outcome is read back before anything else.
class Effect {
 public:
  virtual ~Effect() = default;
  /// Returns the next step. Never called while a request is in flight.
  virtual Step next(Instant now) = 0;
  /// Takes the answer to the last request: ok, unknown, or a final refusal. The `Runner` repeats a request after any
  /// other answer.
  virtual void answered(const kube::Outcome& outcome, Instant now) = 0;
  virtual Progress progress() const = 0;
  /// Reacts to the kill switch, which has stopped the last step from being sent. An effect with partial progress starts
  /// to roll back.
  virtual void halt() {}
};

}  // namespace capstan::actuate

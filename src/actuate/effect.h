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

/// What may be written at a moment: the Lease, the kill switch and the age of what is seen together say so.
enum class Permit : std::uint8_t {
  nothing,    ///< the Lease is not surely ours
  finish,     ///< halted: a bind transaction that has begun is finished, nothing else is written
  see_first,  ///< what is seen of the cluster is too old: the same
  anything,
};

/// Asked right before each write is sent.
using Fence = std::function<Permit()>;

/// An object that is meant, and not another one of the same name.
struct Ref {
  kube::ObjectRef object;
  std::string uid;  ///< empty: whichever has the name
};

/// How an effect ended.
struct Verdict {
  ports::Outcome::Kind kind = ports::Outcome::Kind::applied;
  model::Reason why;

  static Verdict applied() { return {}; }
  static Verdict refused(model::Reason why) { return {ports::Outcome::Kind::refused, why}; }
  static Verdict unknown(model::Reason why) { return {ports::Outcome::Kind::unknown, why}; }
};

/// What an effect does next.
struct Step {
  enum class Kind : std::uint8_t { send, wait, done };
  Kind kind = Kind::wait;
  kube::ApiRequest request;      ///< of send
  bool although_halted = false;  ///< of send: finishes a bind transaction
  Instant until;                 ///< of wait: when to be asked again at the latest
  Verdict verdict;               ///< of done

  static Step send(kube::ApiRequest request, bool although_halted = false) {
    return {Kind::send, std::move(request), although_halted, {}, {}};
  }
  static Step wait(Instant until) { return {Kind::wait, {}, false, until, {}}; }
  static Step done(Verdict verdict) { return {Kind::done, {}, false, {}, verdict}; }
};

/// What an effect that has to end here would leave behind.
enum class Standing : std::uint8_t {
  nothing,   ///< what was asked for has not happened
  in_doubt,  ///< it may have: a write was sent, and not answered
  in_part,   ///< a part of it has, which must not stay: as long as we may write, the effect goes on
};

/// One action being carried out at the API server: a state machine without a socket or a clock. It has one request on
/// its way at a time, so that a write without an answer is read back before anything else is done.
class Effect {
 public:
  virtual ~Effect() = default;
  /// Never called while a request is on its way.
  virtual Step next(Instant now) = 0;
  /// The answer to the request of the last step: ok, unknown, or a refusal that will not change by asking again soon.
  /// Everything else the `Runner` repeats by itself.
  virtual void answered(const kube::Outcome& outcome, Instant now) = 0;
  virtual Standing standing() const = 0;
  /// The kill switch is on and the last step was not sent. Of an effect in part: takes back what there is.
  virtual void halt() {}
};

}  // namespace capstan::actuate

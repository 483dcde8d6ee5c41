#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "actuate/effect.h"
#include "kube/json.h"

namespace capstan::actuate {

/// Brings one object into a desired state while other clients may write it too. The object is read, and a function
/// decides from its current state whether to write. The write has a precondition: the version or the UID that was read,
/// or a free name. After a conflict or an unknown outcome the object is read again.
class Change {
 public:
  enum class State : std::uint8_t {
    in_progress,
    settled,  ///< the object has the desired state
    gone,     ///< the object does not exist, or another object has its name
    refused,
  };

  /// The next step for the object in its current state.
  struct Decision {
    enum class Kind : std::uint8_t { settled, write, refuse };
    Kind kind = Kind::settled;
    kube::ApiRequest write;
    model::Reason why;

    static Decision settled() { return {}; }
    static Decision to_write(kube::ApiRequest write) { return {Kind::write, std::move(write), {}}; }
    static Decision refuse(model::Reason why) { return {Kind::refuse, {}, why}; }
  };
  using Decide = std::function<Decision(kube::Json object)>;

  /// Largest number of writes; each may fail with a conflict or an unknown outcome.
  static constexpr int kWritesMax = 8;

  /// @param subresource  subresource to read, such as "scale"; empty: the object itself
  Change(Ref ref, Decide decide, std::string subresource = {});
  /// Returns a change that starts with this write, without a read. The write must have a precondition that identifies
  /// the object.
  static Change by_writing(Ref ref, kube::ApiRequest write, Decide decide);
  /// Returns a change that creates an object. If the name is taken, `decide` checks whether the existing object is the
  /// intended one.
  static Change by_creating(kube::ObjectRef object, kube::ApiRequest create, Decide decide);

  kube::ApiRequest request() const;
  void answered(const kube::Outcome& outcome);
  /// Ends the change with a reason of the caller.
  void refuse(model::Reason why) { end(State::refused, why); }

  State state() const { return state_; }
  bool in_progress() const { return state_ == State::in_progress; }
  const model::Reason& why() const { return why_; }        ///< reason, if refused or gone
  const kube::ApiError& error() const { return error_; }   ///< the server's error, if it refused
  bool in_doubt() const { return in_doubt_; }              ///< the outcome of a write is unknown
  EffectResult verdict() const;                            ///< verdict of an ended change; `gone` counts as refused
  const Ref& ref() const { return ref_; }                  ///< the object; has its UID once it was read
  const std::string& version() const { return version_; }  ///< resource version last seen

 private:
  void read(const kube::Outcome& outcome);
  void wrote(const kube::Outcome& outcome);
  void see(kube::Json object);
  void write(kube::ApiRequest request);
  void end(State state, model::Reason why);

  Ref ref_;
  Decide decide_;
  std::string subresource_;
  std::optional<kube::ApiRequest> write_;   // write to send or in flight; if empty, the object is read
  std::optional<kube::ApiRequest> create_;  // request that creates a missing object
  State state_ = State::in_progress;
  model::Reason why_;
  kube::ApiError error_;
  std::string version_;
  bool in_doubt_ = false;
  int writes_ = 0;
  int lost_in_a_row_ = 0;  // consecutive writes without an answer
};

/// Returns the reason for a refusal by the server.
model::Reason refused_by_server(const kube::ApiError& error);

}  // namespace capstan::actuate

#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "actuate/effect.h"
#include "kube/json.h"

namespace capstan::actuate {

/// One object to be brought into a state, while others write it too. It is read; what is seen decides whether something
/// is to be written; the write carries the version that was read; and an answer that leaves open what happened, or says
/// that somebody was faster, leads back to reading.
class Change {
 public:
  enum class State : std::uint8_t {
    going,
    settled,  ///< as wished
    gone,     ///< the object does not exist, or another one has its name
    refused,
  };

  /// What to do about the object as it is.
  struct Wish {
    enum class Kind : std::uint8_t { settled, write, refuse };
    Kind kind = Kind::settled;
    kube::ApiRequest write;
    model::Reason why;

    static Wish settled() { return {}; }
    static Wish make(kube::ApiRequest write) { return {Kind::write, std::move(write), {}}; }
    static Wish refuse(model::Reason why) { return {Kind::refuse, {}, why}; }
  };
  using Look = std::function<Wish(kube::Json object)>;

  /// This many writes may come too late, or stay unanswered without having happened.
  static constexpr int kWritesMax = 8;

  /// @param subresource  what is read: "scale", or empty
  Change(Ref ref, Look look, std::string subresource = {});
  /// Writes without reading first, where the write itself says which object it means.
  static Change by_writing(Ref ref, kube::ApiRequest write, Look look);
  /// Creates an object; `look` says of one that is there already whether it is the one meant.
  static Change by_creating(kube::ObjectRef object, kube::ApiRequest create, Look look);

  kube::ApiRequest request() const;
  void answered(const kube::Outcome& outcome);
  /// Ends it, for a reason that its user knows better.
  void refuse(model::Reason why) { end(State::refused, why); }

  State state() const { return state_; }
  bool going() const { return state_ == State::going; }
  const model::Reason& why() const { return why_; }        ///< of refused and gone
  const kube::ApiError& error() const { return error_; }   ///< of a refusal by the server
  bool in_doubt() const { return in_doubt_; }              ///< a write was sent and not read back
  Verdict verdict() const;                                 ///< of one that is over; what is gone counts as refused
  const Ref& ref() const { return ref_; }                  ///< with the uid, once it was seen
  const std::string& version() const { return version_; }  ///< last seen

 private:
  void read(const kube::Outcome& outcome);
  void wrote(const kube::Outcome& outcome);
  void see(kube::Json object);
  void write(kube::ApiRequest request);
  void end(State state, model::Reason why);

  Ref ref_;
  Look look_;
  std::string subresource_;
  std::optional<kube::ApiRequest> write_;   // to be sent or on its way; else the object is read
  std::optional<kube::ApiRequest> create_;  // sent where there is no object
  State state_ = State::going;
  model::Reason why_;
  kube::ApiError error_;
  std::string version_;
  bool in_doubt_ = false;
  int writes_ = 0;
  bool lost_ = false;  // the last write was not answered
};

/// The reason of a refusal by the server.
model::Reason refused_by_server(const kube::ApiError& error);

}  // namespace capstan::actuate

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "actuate/bind_intent.h"
#include "actuate/change.h"

namespace capstan::actuate {

/// Binds the pods of a gang, all or none. First each pod is told where it goes (`kBindIntent`), then each is bound. If
/// one cannot be, or it takes longer than the grace, all of it is taken back: pods that were bound are deleted, so that
/// their workload makes new ones, and the others forget what they were told. A successor that finds the annotations
/// completes the same placement or takes it back, in the same way: docs/decisions says why they are on the pods.
class GangBind : public Effect {
 public:
  /// From the first intent, or from when a successor found it, by its own clock. As long as KAI lets a gang be stale.
  static constexpr Duration kGrace = std::chrono::seconds(60);
  /// A pod that cannot be taken back is tried again once a second, this often.
  static constexpr int kTakeBackTries = 30;

  /// @param transaction  a name that no other transaction has, of this process or another
  GangBind(std::string transaction, std::vector<Binding> bindings);
  /// Ends what somebody else began.
  explicit GangBind(UnfinishedBind found);

  Step next(Instant now) override;
  void answered(const kube::Outcome& outcome, Instant now) override;
  Standing standing() const override { return begun_ ? Standing::in_part : Standing::nothing; }

 private:
  enum class Phase : std::uint8_t {
    intend,
    bind,
    unbind,  ///< taking back, first those that are bound: as long as one of the others is annotated, it is not over
    forget,  ///< then those that are not
  };

  void begin(Phase phase);
  void finished(Instant now);
  Change change_for(const Binding& binding) const;
  Change::Wish look(const Binding& binding, kube::Json pod) const;

  std::string transaction_;
  std::vector<Binding> bindings_;
  Phase phase_ = Phase::intend;
  std::size_t at_ = 0;  // the binding that the phase is at
  std::optional<Change> change_;
  bool begun_ = false;  // something of it may be on the server
  std::int64_t bound_ = 0;
  std::optional<Instant> begun_at_;
  int tries_ = 0;
  Instant not_before_{};
};

}  // namespace capstan::actuate

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "actuate/bind_intent.h"
#include "actuate/change.h"

namespace capstan::actuate {

/// Binds all pods of a gang or none. First every pod gets an annotation with its node (`kBindIntent`), then every pod
/// is bound. If a pod cannot be bound, or the grace period ends first, the transaction is rolled back. A rollback
/// deletes the bound pods, so that their workload creates new ones, and removes the annotation from the others. A new
/// leader that finds the annotations completes the same placement or rolls it back. docs/decisions explains why the
/// annotations are on the pods.
class GangBind : public Effect {
 public:
  /// Grace period, counted from the first annotation or from the time at which a new leader found the transaction. KAI
  /// uses the same time for stale gangs.
  static constexpr Duration kGrace = std::chrono::seconds(60);
  /// Number of attempts, one per second, to roll back pods.
  static constexpr int kRollbackTries = 30;

  /// @param transaction  name that is unique among the transactions of all processes
  GangBind(std::string transaction, std::vector<Binding> bindings);
  /// Finishes the transaction of an earlier leader.
  explicit GangBind(UnfinishedBind found);

  Step next(Instant now) override;
  void answered(const kube::Outcome& outcome, Instant now) override;
  Progress progress() const override { return begun_ ? Progress::partial : Progress::none; }

 private:
  enum class Phase : std::uint8_t {
    annotate,
    bind,
    unbind,              ///< rollback of the bound pods; the annotations of the other pods still mark the transaction
    remove_annotations,  ///< rollback of the pods that are not bound: removes the annotations
  };

  void begin(Phase phase);
  void finished(Instant now);
  Change change_for(const Binding& binding) const;
  Change::Decision decide(const Binding& binding, kube::Json pod) const;

  std::string transaction_;
  std::vector<Binding> bindings_;
  Phase phase_ = Phase::annotate;
  std::size_t at_ = 0;  // index of the current binding in this phase
  std::optional<Change> change_;
  bool begun_ = false;  // a write of this transaction may have reached the server
  std::int64_t bound_ = 0;
  std::optional<Instant> begun_at_;
  int tries_ = 0;
  Instant not_before_{};
};

}  // namespace capstan::actuate

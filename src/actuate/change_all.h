#pragma once

#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "actuate/change.h"

namespace capstan::actuate {

/// Makes independent changes one after the other. A missing object needs no change, and a refused change does not stop
/// the others.
class ChangeAll : public Effect {
 public:
  explicit ChangeAll(std::vector<Change> changes) : changes_(std::move(changes)) {}

  Step next(Instant now) override;
  void answered(const kube::Outcome& outcome, Instant now) override;
  Progress progress() const override;

 private:
  std::vector<Change> changes_;
  std::size_t at_ = 0;
  bool done_any_ = false;
  std::optional<model::Reason> refused_;
};

}  // namespace capstan::actuate

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include "control/decider.h"

namespace capstan::experiment {

/// A decider that leaves every question to another one. A derived class changes some answers.
class ForwardingDecider : public control::Decider {
 public:
  explicit ForwardingDecider(std::unique_ptr<control::Decider> inner) : inner_(std::move(inner)) {}

  decide::scale::Decision scale(const control::ScaleInputs& inputs, decide::scale::Memory& memory) override {
    return inner_->scale(inputs, memory);
  }
  decide::place::Decision place(const control::PlaceInputs& inputs, decide::place::Memory& memory) override {
    return inner_->place(inputs, memory);
  }
  decide::provision::Decision provision(const control::ProvisionInputs& inputs,
                                        decide::provision::Memory& memory) override {
    return inner_->provision(inputs, memory);
  }

 protected:
  control::Decider& inner() { return *inner_; }

 private:
  std::unique_ptr<control::Decider> inner_;
};

/// Repeats each decision of another decider from memory that was saved and parsed, and counts the decisions that
/// differ (invariant 5).
class ReplayCheck final : public ForwardingDecider {
 public:
  /// `differences` counts the decisions that were not repeatable, and must outlive the decider.
  ReplayCheck(std::unique_ptr<control::Decider> inner, std::int64_t& differences)
      : ForwardingDecider(std::move(inner)), differences_(differences) {}

  decide::scale::Decision scale(const control::ScaleInputs& inputs, decide::scale::Memory& memory) override;
  decide::place::Decision place(const control::PlaceInputs& inputs, decide::place::Memory& memory) override;
  decide::provision::Decision provision(const control::ProvisionInputs& inputs,
                                        decide::provision::Memory& memory) override;

 private:
  template <typename Memory, typename Decide, typename Parse>
  auto decide_twice(Memory& memory, Decide&& decide, Parse&& parse);

  std::int64_t& differences_;
};

/// An autoscaler of another project. It is called whenever the replicas of a service are due, and its number replaces
/// the answer of the service's policy. If it returns nothing, the policy decides.
using Autoscaler =
    std::function<std::optional<ReplicaCount>(const model::Snapshot&, const decide::scale::WorkloadView&)>;

/// Lets an autoscaler decide about replicas. The policy `Fixed` applies each of its numbers.
class OutsideAutoscaler final : public ForwardingDecider {
 public:
  OutsideAutoscaler(std::unique_ptr<control::Decider> inner, Autoscaler autoscaler)
      : ForwardingDecider(std::move(inner)), autoscaler_(std::move(autoscaler)) {}

  decide::scale::Decision scale(const control::ScaleInputs& inputs, decide::scale::Memory& memory) override;

 private:
  Autoscaler autoscaler_;
};

}  // namespace capstan::experiment

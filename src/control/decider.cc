#include "control/decider.h"

namespace capstan::control {

decide::scale::Decision PolicyDecider::scale(const ScaleInputs& question, decide::scale::Memory& memory) {
  return decide::scale::decide(question.role, question.policy, memory, question.now);
}

decide::place::Decision PolicyDecider::place(const PlaceInputs& question, decide::place::Memory& memory) {
  return decide::place::decide(question.index, question.snapshot, question.planned, question.policy, memory,
                               question.now, {.leaving = question.leaving, .options = options_});
}

decide::provision::Decision PolicyDecider::provision(const ProvisionInputs& question,
                                                     decide::provision::Memory& memory) {
  return decide::provision::decide(question.index, question.snapshot, question.placed, question.policy, memory,
                                   question.now, options_);
}

}  // namespace capstan::control

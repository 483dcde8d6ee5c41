#include "serve/last_decisions.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "fleet/testing/world.h"
#include "serve/recorded.h"

namespace capstan::serve {
namespace {

/// A world with a fixed snapshot that accepts every action.
class AcceptingWorld final : public ports::World {
 public:
  explicit AcceptingWorld(model::Snapshot snapshot) : snapshot_(std::move(snapshot)) {}
  Instant now() const override { return snapshot_.at; }
  ports::Observation observe() override { return {snapshot_, {}, {}}; }
  model::ActionToken submit(const model::Action&) override { return model::ActionToken{next_++}; }

 private:
  model::Snapshot snapshot_;
  std::uint32_t next_ = 0;
};

RC_GTEST_PROP(LastDecisions, AreShownLikeThoseOfARecording, ()) {
  fleet::testing::World world = fleet::testing::random_world();
  world.snapshot.at = fleet::testing::at(100);
  control::Policies policies{"any", {}, {}, {}};
  const decide::scale::Policy fixed = decide::scale::Fixed{*rc::gen::inRange(0, 20)};
  policies.scale.assign(world.snapshot.catalog->services.size(), fixed);
  policies.place.emplace();
  policies.provision = *rc::gen::element(decide::provision::whole_groups(), decide::provision::karpenter());
  AcceptingWorld port(world.snapshot);
  ShownState recorded;
  const auto command = replay_command("a.rec");
  const auto input_observer = [&](const model::Snapshot& snapshot, const control::Memory& memory,
                                  const control::DueDecisions& due) {
    const archive::SavedState state{snapshot, {}, policies, memory, due};
    recorded = show_state(7, state, archive::redecide(state), command);
  };
  control::Controller controller(
      policies, port,
      {.input_observer = input_observer,
       .decider = std::make_unique<control::PolicyDecider>(decide::Options{.detail = decide::Detail::candidates})});
  controller.tick();
  const archive::SavedState now{world.snapshot, {}, policies, {}};
  const ShownState shown = show_state(7, now, last_decisions(controller, 0), command);
  RC_ASSERT(shown.numbers == recorded.numbers);
  RC_ASSERT(shown.decisions == recorded.decisions);
  // An action that was shown before is not shown again.
  const std::uint64_t next = controller.log().count();
  RC_ASSERT(show_state(8, now, last_decisions(controller, next), command).decisions.empty());
}

}  // namespace
}  // namespace capstan::serve

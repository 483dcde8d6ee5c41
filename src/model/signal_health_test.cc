#include "model/signal_health.h"

#include <gtest/gtest.h>

namespace capstan::model {
namespace {

using std::chrono::seconds;

TEST(SignalHealth, CountsReadyReplicasWithoutAReadingAndTheOldestOne) {
  Snapshot snapshot;
  const auto gang = [&](std::uint32_t id, std::uint32_t service, Gang::Phase phase, const Signal& waiting) {
    Gang row;
    row.service = {service};
    row.phase = phase;
    snapshot.gangs.set({id}, row);
    ReplicaSignals signals;
    signals.waiting = waiting;
    snapshot.signals.set({id}, signals);
  };
  gang(0, 0, Gang::Phase::ready, Signal::measured(3, seconds(5)));
  gang(1, 0, Gang::Phase::ready, {Signal::State::stale, 3, seconds(40)});
  gang(2, 0, Gang::Phase::starting, {Signal::State::missing, 0, seconds(90)});
  gang(3, 1, Gang::Phase::ready, {Signal::State::missing, 0, seconds(70)});
  gang(4, 2, Gang::Phase::pending, {});
  const std::map<ServiceId, SignalHealth> expected = {{ServiceId{0}, {1, seconds(40)}},
                                                      {ServiceId{1}, {1, seconds(70)}}};
  EXPECT_EQ(signal_health(snapshot), expected);
}

}  // namespace
}  // namespace capstan::model

// Three candidates with different wall clocks, faults, and pauses like SIGSTOP. At no time may two of them write.
// Soon after the faults have ended, one of them must be allowed to write.
#include <gtest/gtest.h>

#include <memory>

#include "bench.h"
#include "kube/election.h"

namespace capstan::kube::fake {
namespace {

using namespace std::chrono_literals;

struct Candidate {
  Candidate(FakeServer& server, std::uint64_t seed, int number)
      : credentials(config_with_token("token"), no_file, nullptr, [] { return WallTime{1}; }),
        client(server, credentials, server.clock(), RandomStream(seed, "client", static_cast<std::uint64_t>(number)),
               Client::Options()),
        election({.lease = {resources::kLeases, "ns", "capstan"}, .identity = "c" + std::to_string(number)},
                 RandomStream(seed, "election", static_cast<std::uint64_t>(number))),
        wall_skew_us(number * 3'600'000'000) {}

  void run_once(Instant now) {
    if (now < paused_until) return;
    const WallTime wall{1'795'277'733'000'000 + now.since_start / 1us + wall_skew_us};
    if (std::optional<ApiRequest> request = election.poll(now, wall)) {
      client.call(std::move(*request), [this](const Outcome& outcome) { arrived = outcome; });
    }
    if (arrived) election.answered(*std::exchange(arrived, std::nullopt), now);
    client.run_once();
  }

  Credentials credentials;
  Client client;
  Election election;
  std::int64_t wall_skew_us;
  Instant paused_until;
  std::optional<Outcome> arrived;  // waits while the process is paused
};

struct Party {
  explicit Party(std::uint64_t seed) : server(seed), random(seed, "party") {
    for (int i = 0; i < 3; ++i) candidates.push_back(std::make_unique<Candidate>(server, seed, i));
  }

  void run(Duration duration) {
    for (Duration passed{}; passed < duration; passed += 100ms) {
      server.advance(100ms, [this] {
        for (const auto& candidate : candidates) candidate->run_once(server.now());
        check();
      });
    }
  }

  void check() {
    int writers = 0;
    for (const auto& candidate : candidates) writers += candidate->election.may_write(server.now()) ? 1 : 0;
    writers_max = std::max(writers_max, writers);
    led += writers > 0 ? 1 : 0;
    ++checks;
  }
  const Candidate* leader() const {
    for (const auto& candidate : candidates) {
      if (candidate->election.may_write(server.now())) return candidate.get();
    }
    return nullptr;
  }

  FakeServer server;
  RandomStream random;
  std::vector<std::unique_ptr<Candidate>> candidates;
  int writers_max = 0;
  int led = 0;
  int checks = 0;
};

TEST(ElectionSwarm, NeverHasTwoLeadersAndSoonHasOne) {
  int changes = 0;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Party party(seed);
    const auto ppm = static_cast<std::uint32_t>(party.random.below(400'000));
    party.server.faults = Faults::all(ppm);
    party.server.faults.delay_max = Duration(party.random.between(0, Duration(6s).count()));
    for (int i = 0; i < 30; ++i) {
      const std::size_t index = party.random.below(3);
      if (party.random.below(4) == 0) {
        party.candidates[index]->paused_until =
            party.server.now() + Duration(party.random.between(0, Duration(40s).count()));
      }
      party.run(5s);
    }
    ASSERT_LE(party.writers_max, 1);
    party.server.faults = {};
    party.run(100s);  // pauses end, lost requests time out, and the last lease expires
    ASSERT_LE(party.writers_max, 1);
    ASSERT_NE(party.leader(), nullptr);
    const json& lease = party.server.objects("/apis/coordination.k8s.io/v1/leases").at("ns/capstan");
    changes += lease["spec"]["leaseTransitions"].get<int>();
  }
  EXPECT_GT(changes, 60) << "there are too few faults to test anything";
}

TEST(ElectionSwarm, WithoutFaultsTheLeaderStays) {
  Party party(1);
  party.run(10s);
  const Candidate* leader = party.leader();
  ASSERT_NE(leader, nullptr);
  party.led = party.checks = 0;
  party.run(300s);
  EXPECT_EQ(party.leader(), leader);
  EXPECT_EQ(party.led, party.checks);
}

TEST(ElectionSwarm, AStandbyTakesOverAfterTheLeaseExpires) {
  Party party(2);
  party.run(10s);
  for (const auto& candidate : party.candidates) {
    if (candidate.get() == party.leader()) candidate->paused_until = Instant::never();
  }
  party.run(10s);
  EXPECT_EQ(party.leader(), nullptr) << "the old leader is past its deadline, and the lease has not expired";
  party.run(10s);
  EXPECT_NE(party.leader(), nullptr);
}

}  // namespace
}  // namespace capstan::kube::fake

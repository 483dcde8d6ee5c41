#include "bound/lower_bound.h"

#include <gtest/gtest.h>

#include "engine/table.h"

namespace capstan::bound {
namespace {

using namespace std::chrono_literals;

class LowerBoundOf8b : public ::testing::Test {
 protected:
  static const engine::EngineRow& row() {
    return **engine::EngineTable::bundled().find("Llama-3.1-8B", "H100", 1, "bf16");
  }
  LowerBoundOf8b() {
    service_.model = &model_;
    service_.slo = {.ttft = 1s, .tpot = 50ms, .e2e = {}, .attainment_ppm = 990'000};
    service_.front_end = 15ms;
    service_.kv_blocks = *engine::kv_capacity_blocks(row());
  }

  /// Makes `per_second` evenly spaced requests per second with 1155 input and 211 output tokens.
  static std::vector<KnownRequest> even(std::int64_t per_second, std::int64_t seconds) {
    std::vector<KnownRequest> requests;
    for (std::int64_t i = 0; i < per_second * seconds; ++i) {
      requests.push_back({.arrival = {Duration{i * 1'000'000'000 / per_second}},
                          .input_tokens = 1155,
                          .output_tokens = 211,
                          .cached_tokens = 0});
    }
    return requests;
  }
  LowerBound bound_of(const std::vector<KnownRequest>& requests, const FleetTerms& fleet = {}) const {
    return lower_bound(requests, service_, fleet, {1h});
  }

  engine::StepModel model_{row().coefficients};
  ServiceTerms service_;
};

TEST_F(LowerBoundOf8b, FollowsTheLoad) {
  const LowerBound once = bound_of(even(20, 60));
  const LowerBound twice = bound_of(even(40, 60));
  EXPECT_TRUE(once.solved);
  EXPECT_EQ(once.unattainable_requests, 0);
  EXPECT_EQ(once.allowed_misses, 12);
  EXPECT_NEAR(once.least_replica_s, 0.99 * once.work_replica_s, 0.01 * once.work_replica_s);
  EXPECT_NEAR(twice.least_replica_s, 2 * once.least_replica_s, 0.02 * twice.least_replica_s);
}

TEST_F(LowerBoundOf8b, LongBinsAreShortenedDownToAThird) {
  const std::vector<KnownRequest> hour = even(1, 3600);
  const auto bin = [&](Duration long_bin) {
    return lower_bound(hour, service_, {}, {2h}, {.bin = 1s, .most_bins = 10, .long_bin = long_bin}).bin;
  };
  EXPECT_GT(bin(10min), 6min) << "ten bins";
  EXPECT_LT(bin(10min), 7min);
  EXPECT_GT(bin(1min), 2min) << "at most thirty bins";
  EXPECT_LT(bin(1min), 3min);
}

TEST_F(LowerBoundOf8b, ALowerAttainmentAndCheaperStartsCostLess) {
  const FleetTerms starts{.start_s = 30};
  const double promised = bound_of(even(20, 60), starts).least_replica_s;
  // The plan pays for more than a third of a start of 30 s. It may start a fraction of a replica.
  EXPECT_GT(promised, bound_of(even(20, 60)).least_replica_s + 10);
  service_.slo.attainment_ppm = 900'000;
  EXPECT_LT(bound_of(even(20, 60), starts).least_replica_s, 0.95 * promised);
}

TEST_F(LowerBoundOf8b, ARequestThatMissesTheSloAloneIsLeftOut) {
  std::vector<KnownRequest> requests = even(20, 60);
  const LowerBound before = bound_of(requests);
  requests[500].input_tokens = 100'000;  // nine seconds of prefill
  EXPECT_FALSE(holds_alone(requests[500], service_));
  const LowerBound after = bound_of(requests);
  EXPECT_EQ(after.unattainable_requests, 1);
  EXPECT_NEAR(after.least_replica_s, before.least_replica_s, 0.01 * before.least_replica_s);
}

TEST_F(LowerBoundOf8b, CachedTokensCostNothing) {
  std::vector<KnownRequest> requests = even(20, 60);
  const double cold = bound_of(requests).least_replica_s;
  for (KnownRequest& request : requests) request.cached_tokens = 1024;
  EXPECT_LT(bound_of(requests).least_replica_s, 0.6 * cold);
}

TEST_F(LowerBoundOf8b, WithoutRequestsOnlyStandingReplicasArePaid) {
  const FleetTerms fleet{.start_s = 30, .standing = 2, .initial = 2, .span = 100s};
  EXPECT_EQ(bound_of({}, fleet).least_replica_s, 200);
  EXPECT_NEAR(bound_of(even(20, 60), fleet).least_replica_s, 200, 1e-6);
}

}  // namespace
}  // namespace capstan::bound
